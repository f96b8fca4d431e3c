"""Anthropic's messages API: its rules, its answers, and requests as plain blocks."""

import json
import re

WORD = re.compile(r"[a-zA-Z0-9_-]+")
SERVER_RESULTS = ("web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_result")

# The members of each kind of block. The API refuses a block with any other.
MEMBERS = {
    "text": {"type", "text", "citations", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
    "search_result": {"type", "source", "title", "content", "citations", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "caller", "cache_control"},
    "server_tool_use": {"type", "id", "name", "input", "caller", "cache_control"},
    "mcp_tool_use": {"type", "id", "name", "input", "server_name", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}
OF_USERS = {"text", "image", "document", "search_result", "tool_result", "container_upload"}
# It is not known whether the API refuses images of the assistant, so they are accepted.
OF_ASSISTANTS = {"text", "image", "document", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", *SERVER_RESULTS}
IN_RESULTS = {"text", "image", "document", "search_result", "tool_reference"}


def content(message):
    """Returns the blocks of a message; a string is one text."""
    value = message.get("content")
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def block_faults(block, where, allowed):
    """Yields the faults of a single block. It is not known whether a result may have an empty text, so it is accepted."""
    if not isinstance(block, dict):
        yield f"{where}: input should be an object"
        return
    kind = block.get("type")
    if kind not in allowed:
        yield f"{where}: block type {kind!r} is not allowed here"
        return
    for name in block.keys() - MEMBERS.get(kind, block.keys()):
        yield f"{where}.{kind}.{name}: extra inputs are not permitted"
    if kind == "text" and not isinstance(block.get("text"), str):
        yield f"{where}.text.text: input should be a string"
    elif kind == "text" and not block["text"].strip() and allowed is not IN_RESULTS:
        yield f"{where}: text content blocks must contain non-whitespace text"
    elif kind == "thinking" and not isinstance(block.get("thinking"), str):
        yield f"{where}.thinking.thinking: input should be a string"
    elif kind == "thinking" and not block.get("signature"):
        yield f"{where}.thinking.signature: field required"
    elif kind in ("tool_use", "server_tool_use"):
        call, name = block.get("id"), block.get("name")
        if not isinstance(call, str) or not WORD.fullmatch(call):
            yield f"{where}.{kind}.id: string should match pattern"
        if not isinstance(name, str) or not WORD.fullmatch(name) or len(name) > 128:
            yield f"{where}.{kind}.name: string should match pattern"
        if not isinstance(block.get("input"), dict):
            yield f"{where}.{kind}.input: input should be an object"
    elif kind == "tool_result":
        inner = block.get("content")
        if inner is not None and not isinstance(inner, (str, list)):
            yield f"{where}.tool_result.content: input should be a string or a list"
        for n, part in enumerate(inner if isinstance(inner, list) else []):
            yield from block_faults(part, f"{where}.tool_result.content.{n}", IN_RESULTS)
    elif kind == "image" and not isinstance(block.get("source"), dict):
        yield f"{where}.image.source: field required"


def violations(body):
    """Returns the public rules of the API that a request breaks. The real API answers such a request with 400."""
    faults, seen, open_calls = [], set(), []
    messages = [message for message in body.get("messages") or [] if message.get("role") != "system"]
    for n, message in enumerate(messages):
        where, is_user = f"messages.{n}", message.get("role") == "user"
        blocks = content(message)
        if not isinstance(blocks, list):
            faults.append(f"{where}.content: input should be a string or a list")
            blocks = []
        elif not blocks and n + 1 < len(messages):
            faults.append(f"{where}: content must be non-empty")
        if n == 0 and not is_user:
            faults.append("messages: first message must use the user role")
        calls, results, has_other = [], [], False
        for m, block in enumerate(blocks):
            at = f"{where}.content.{m}"
            faults += block_faults(block, at, OF_USERS if is_user else OF_ASSISTANTS)
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use":
                calls.append(block.get("id"))
                if block.get("id") in seen:
                    faults.append(f"{at}: tool_use ids must be unique")
                seen.add(block.get("id"))
            elif kind == "tool_result":
                if has_other:
                    faults.append(f"{at}: tool_result blocks must come first")
                if block.get("tool_use_id") not in open_calls:
                    faults.append(f"{at}: unexpected tool_use_id in tool_result blocks")
                if block.get("tool_use_id") in results:
                    faults.append(f"{at}: each tool_use must have a single result")
                results.append(block.get("tool_use_id"))
            has_other |= kind != "tool_result"
        if is_user:
            faults += [f"{where}: tool_use {call} has no tool_result" for call in open_calls if call not in results]
        open_calls = [] if is_user else calls
    return faults


def turns(body):
    """Returns the messages of a request: role, joined text, and whether there is a result."""
    out = []
    for message in body.get("messages") or []:
        if message.get("role") in ("user", "assistant"):
            blocks = [block for block in content(message) or [] if isinstance(block, dict)]
            text = "\n".join(str(block.get("text", "")) for block in blocks)
            has_result = any(block.get("type") == "tool_result" for block in blocks)
            out.append({"role": message["role"], "text": text, "has_result": has_result})
    return out


def tools(body):
    """Returns the names and schemas of the tools that a request offers."""
    return [(tool.get("name", ""), tool.get("input_schema")) for tool in body.get("tools") or []]


def message(blocks, seed, body):
    """Returns an answer in the form of the API."""
    made = []
    for block in blocks:
        if block["kind"] == "thinking":
            made.append({"type": "thinking", "thinking": block["text"], "signature": block["signature"]})
        elif block["kind"] == "call":
            made.append({"type": "tool_use", "id": block["id"], "name": block["name"], "input": block["input"]})
        else:
            made.append({"type": "text", "text": block["text"]})
    usage = {"input_tokens": 7, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 9}
    stop = "tool_use" if any(block["type"] == "tool_use" for block in made) else "end_turn"
    return {
        "id": f"msg_01{seed[:22]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": made,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def events(message):
    """Yields the events of a streamed answer."""

    def event(kind, **members):
        return kind, {"type": kind, **members}

    yield event("message_start", message={**message, "content": [], "stop_reason": None})
    for n, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        elif block["type"] == "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        else:
            start = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"], ensure_ascii=False)}]
        yield event("content_block_start", index=n, content_block=start)
        for delta in deltas:
            yield event("content_block_delta", index=n, delta=delta)
        yield event("content_block_stop", index=n)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage=message["usage"])
    yield event("message_stop")


def result_text(value):
    """Returns the texts of a tool result in any form, joined, and the number of its images."""
    if isinstance(value, str) or value is None:
        return value or "", 0
    texts, n_images = [], 0
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict) and part.get("type") == "image":
            n_images += 1
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            texts.append(json.dumps(part, ensure_ascii=False))
    return "\n".join(texts), n_images


def plain_block(block):
    """Returns a block in the form that `history` compares."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text":
        return {"kind": "text", "text": block.get("text")}
    if kind == "thinking":
        return {"kind": "thinking", "text": block.get("thinking"), "signature": block.get("signature", "")}
    if kind == "redacted_thinking":
        return {"kind": "thinking", "text": "", "signature": block.get("data", "")}
    if kind in ("tool_use", "server_tool_use"):
        return {"kind": "call", "id": block.get("id"), "name": block.get("name"), "input": block.get("input")}
    if kind == "tool_result":
        text, n_images = result_text(block.get("content"))
        is_error = bool(block.get("is_error"))
        return {"kind": "result", "id": block.get("tool_use_id"), "text": text, "images": n_images, "is_error": is_error}
    if kind == "image":
        source = block.get("source") or {}
        return {"kind": "image", "media_type": source.get("media_type"), "data": source.get("data")}
    value = {key: value for key, value in block.items() if key != "cache_control"} if kind else block
    return {"kind": "other", "value": value}


def history(body):
    """Returns the messages of a request as plain blocks."""
    out = []
    for message in body.get("messages") or []:
        if message.get("role") in ("user", "assistant"):
            blocks = [plain_block(block) for block in content(message) or []]
            out.append({"role": message["role"], "blocks": blocks})
    return out
