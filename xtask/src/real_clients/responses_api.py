"""OpenAI's responses API: its rules, its answers, and requests as plain blocks. The functions are those of `messages_api`."""

import json
import re

WORD = re.compile(r"[a-zA-Z0-9_-]+")
# The longest id of a call that the API accepts.
LONGEST_CALL_ID = 64
CALLS = {"function_call": "function_call_output", "local_shell_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
PARTS = {"input_text": "text", "output_text": "text", "input_image": "image_url"}
# The last item of a request for a summary of what stands before it, and the text that `history` makes of it.
TRIGGER, SUMMARIZE = "compaction_trigger", "<compaction_trigger>"
# Members of items that the client adds when it sends them.
ADDED = {"id", "status", "metadata", "internal_chat_message_metadata_passthrough"}


def items(body):
    """Returns the items of a request; a string is one message of the user."""
    value = body.get("input")
    return [{"role": "user", "content": value}] if isinstance(value, str) else [item for item in value or [] if isinstance(item, dict)]


def kind_of(item):
    return item.get("type", "message")


def parts(content):
    """Returns the parts of a message or an output; a string is one text."""
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else [part for part in content or [] if isinstance(part, dict)]


def violations(body):
    """Returns the rules of the API that a request breaks. The real API answers such a request with 400.

    That the API refuses reasoning without `encrypted_content` is not verified, so it is not a rule here.
    """
    faults, calls, answered = [], {}, set()
    for n, item in enumerate(items(body)):
        where, kind, call = f"input[{n}]", kind_of(item), item.get("call_id")
        if "id" in item and item["id"] is not None and not WORD.fullmatch(str(item["id"])):
            faults.append(f"{where}.id: string does not match pattern")
        if kind == "message":
            for m, part in enumerate(parts(item.get("content"))):
                member = PARTS.get(part.get("type"))
                if member is None or not isinstance(part.get(member), str):
                    faults.append(f"{where}.content[{m}]: invalid value {part.get('type')!r}")
        if kind in CALLS or kind.endswith("_call_output"):
            if not isinstance(call, str) or not call:
                faults.append(f"{where}.call_id: string expected")
            elif len(call) > LONGEST_CALL_ID:
                faults.append(f"{where}.call_id: string too long")
        if kind in ("function_call", "custom_tool_call") and not WORD.fullmatch(str(item.get("name"))):
            faults.append(f"{where}.name: string does not match pattern")
        if kind in CALLS:
            calls[call] = CALLS[kind]
        elif kind.endswith("_call_output"):
            if calls.get(call) != kind:
                faults.append(f"{where}: no tool call found for {kind} with call_id {call}")
            answered.add(call)
    return faults + [f"input: no tool output found for call {call}" for call in calls if call not in answered]


def turns(body):
    """Returns the messages of a request: role, joined text, and whether there is a result."""
    out = []
    for item in items(body):
        kind = kind_of(item)
        if kind == "message":
            text = "\n".join(str(part.get("text", "")) for part in parts(item.get("content")))
            turn = {"role": item.get("role"), "text": text, "has_result": False}
        elif kind.endswith("_output"):
            turn = {"role": "user", "text": "", "has_result": True}
        else:
            turn = {"role": "assistant", "text": "", "has_result": False}
        # The items of one response are one turn.
        if turn["role"] == "assistant" and out and out[-1]["role"] == "assistant":
            out[-1]["text"] += turn["text"]
        elif turn["role"] in ("user", "assistant"):
            out.append(turn)
    return out


def tools(body):
    """Returns the names and schemas of the tools that a request offers, in its own member or in an item."""
    offered = list(body.get("tools") or [])
    for item in items(body):
        if kind_of(item) == "additional_tools":
            offered += item.get("tools") or []
    flat = [tool for entry in offered for tool in entry.get("tools") or [entry]]
    return [(tool.get("name", ""), tool.get("parameters")) for tool in flat]


def message(blocks, seed, body):
    """Returns an answer in the form of the API."""
    if any(kind_of(item) == TRIGGER for item in items(body)):
        blocks, made = [], [{"type": "compaction", "id": f"cmp_{seed[:22]}", "encrypted_content": "mocksummary"}]
    else:
        made = []
    for n, block in enumerate(blocks):
        uid = f"{n}{seed[:22]}"
        if block["kind"] == "thinking":
            summary = [{"type": "summary_text", "text": block["text"]}]
            made.append({"type": "reasoning", "id": f"rs_{uid}", "summary": summary, "encrypted_content": block["signature"]})
        elif block["kind"] == "call":
            call = {"call_id": block["id"], "name": block["name"], "arguments": json.dumps(block["input"], ensure_ascii=False)}
            made.append({"type": "function_call", "id": f"fc_{uid}", **call, "status": "completed"})
        else:
            content = [{"type": "output_text", "text": block["text"], "annotations": []}]
            made.append({"type": "message", "id": f"msg_{uid}", "role": "assistant", "status": "completed", "content": content})
    usage = {
        "input_tokens": 7,
        "input_tokens_details": {"cached_tokens": 3},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 16,
    }
    return {
        "id": f"resp_{seed[:24]}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body.get("model"),
        "output": made,
        "usage": usage,
    }


def events(message):
    """Yields the events of a streamed answer."""
    yield "response.created", {"type": "response.created", "response": {**message, "status": "in_progress", "output": []}}
    for n, item in enumerate(message["output"]):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": n, "item": item}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": n, "item": item}
    yield "response.completed", {"type": "response.completed", "response": message}


def result_text(value):
    """Returns the texts of an output, joined, and the number of its images."""
    if isinstance(value, str) or value is None:
        return value or "", 0
    texts = [str(part.get("text", "")) for part in parts(value) if part.get("type") != "input_image"]
    return "\n".join(texts), sum(part.get("type") == "input_image" for part in parts(value))


def plain_part(part):
    """Returns a part of a message in the form that `history` compares."""
    if part.get("type") in ("input_text", "output_text"):
        return {"kind": "text", "text": part.get("text")}
    if part.get("type") == "input_image":
        head, _, data = str(part.get("image_url")).partition(",")
        return {"kind": "image", "media_type": head.removeprefix("data:").split(";")[0], "data": data}
    return {"kind": "other", "value": part}


def plain_item(item):
    """Returns the role and the blocks of an item; None for what is not part of a history."""
    kind = kind_of(item)
    if kind == "message":
        if item.get("role") not in ("user", "assistant"):
            return None
        return item["role"], [plain_part(part) for part in parts(item.get("content"))]
    if kind == "additional_tools":
        return None
    if kind == TRIGGER:
        return "user", [{"kind": "text", "text": SUMMARIZE}]
    if kind == "reasoning":
        texts = [part.get("text", "") for part in item.get("summary") or item.get("content") or []] or [""]
        signature = item.get("encrypted_content") or ""
        return "assistant", [{"kind": "thinking", "text": text, "signature": signature} for text in texts]
    if kind in ("function_call", "custom_tool_call"):
        name = tool_name(item.get("namespace") or "", item.get("name") or "")
        return "assistant", [{"kind": "call", "id": item.get("call_id"), "name": name, "input": input_of(item)}]
    if kind in ("function_call_output", "custom_tool_call_output"):
        text, n_images = result_text(item.get("output"))
        # The API has no flag for a failure.
        result = {"kind": "result", "id": item.get("call_id"), "text": text, "images": n_images, "is_error": False}
        return "user", [{**result, "has_no_flag": True}]
    if kind == "tool_search_call":
        return "assistant", [{"kind": "call", "id": item.get("call_id"), "name": "tool_search", "input": item.get("arguments")}]
    if kind == "tool_search_output":
        text = json.dumps(item.get("tools"), ensure_ascii=False)
        return "user", [{"kind": "result", "id": item.get("call_id"), "text": text, "is_error": False, "has_no_flag": True}]
    return "assistant", [{"kind": "other", "value": {key: value for key, value in item.items() if key not in ADDED}}]


def tool_name(namespace, name):
    """Returns the name of a tool as one word, as Codex spells it in its code mode."""
    is_separated = namespace.endswith("__") or namespace.startswith("mcp__codex_apps__") and name.startswith("_")
    return namespace + ("" if is_separated or not namespace else "__") + name


def input_of(item):
    """Returns the input of a call as an object."""
    if kind_of(item) == "custom_tool_call":
        return {"input": item.get("input")}
    try:
        value = json.loads(item.get("arguments"))
    except (TypeError, ValueError):
        value = None
    return value if isinstance(value, dict) else {"arguments": item.get("arguments")}


def history(body):
    """Returns the messages of a request as plain blocks."""
    found = [plain_item(item) for item in items(body)]
    return [{"role": role, "blocks": blocks} for role, blocks in filter(None, found)]
