"""clido by its loading rules (FORMAT.md of format-clido): the history of a session, and turns as clido appends them.

Used if there is no program clido. Expects files in which `convert check` finds no fault that stops clido.
"""

import json

OPEN_CALL = "[interrupted — tool execution did not complete]"

BLOCKS = {
    "text": lambda block: {"kind": "text", "text": block["text"]},
    "thinking": lambda block: {"kind": "thinking", "text": block["thinking"], "signature": ""},
    "tool_use": lambda block: {"kind": "call", "id": block["id"], "name": block["name"], "input": block["input"]},
    "image": lambda block: {"kind": "image", "media_type": block["media_type"], "data": block["base64_data"]},
    "tool_result": lambda block: result(block),
}


def result(line):
    return {"kind": "result", "id": line["tool_use_id"], "text": line["content"], "images": 0, "is_error": line["is_error"]}


def messages(data):
    """Returns the messages that clido makes of the lines of a session."""
    out, results = [], []

    def flush():
        if results:
            out.append({"role": "user", "blocks": list(results)})
            results.clear()
        # A call without a result before the next message gets an invented one.
        if len(out) > 1 and out[-1]["role"] == "user" and out[-2]["role"] == "assistant":
            answer_open(out[-2], out[-1])

    for text in data.decode().split("\n"):
        if not text.strip():
            continue
        line = json.loads(text)
        if line["type"] == "tool_result":
            results.append(result(line))
        elif line["type"] in ("user_message", "assistant_message"):
            flush()
            role = line["type"].removesuffix("_message")
            if role == "assistant" and out and out[-1]["role"] == "assistant":
                close(out)
            out.append({"role": role, "blocks": [BLOCKS[block["type"]](block) for block in line["content"]]})
            if role == "user":
                flush()
    flush()
    close(out)
    return out


def answer_open(asked, answered):
    done = {block["id"] for block in answered["blocks"] if block["kind"] == "result"}
    made = [made_up(block["id"]) for block in asked["blocks"] if block["kind"] == "call" and block["id"] not in done]
    answered["blocks"][:0] = made


def close(out):
    """Adds results for the open calls of a last message of the assistant."""
    if out and out[-1]["role"] == "assistant":
        made = [made_up(block["id"]) for block in out[-1]["blocks"] if block["kind"] == "call"]
        if made:
            out.append({"role": "user", "blocks": made})


def made_up(call):
    return {"kind": "result", "id": call, "text": OPEN_CALL, "images": 0, "is_error": True}


def turns():
    """Returns lines of new turns, as clido spells them, and their messages."""
    first = {"command": "echo one"}, {"command": "echo two; exit 3"}
    ids = "toolu_01clidogoeson1", "toolu_01clidogoeson2"
    said = [
        {"type": "assistant_message", "content": [
            {"text": "Two at once.", "type": "text"},
            *({"id": call, "input": given, "name": "Bash", "type": "tool_use"} for call, given in zip(ids, first)),
        ]},
        *({"type": "tool_call", "tool_use_id": call, "tool_name": "Bash", "input": given} for call, given in zip(ids, first)),
        {"type": "tool_result", "tool_use_id": ids[0], "content": "one\n", "is_error": False, "duration_ms": 4},
        {"type": "tool_result", "tool_use_id": ids[1], "content": "two\nexit 3", "is_error": True, "duration_ms": 5},
        {"type": "assistant_message", "content": [{"text": "Two commands ran: é ✓", "type": "text"}]},
        {"type": "result", "exit_status": "completed", "total_cost_usd": 0.01, "num_turns": 2, "duration_ms": 1200},
    ]
    asked = {"type": "user_message", "role": "user", "content": [{"text": "Go on in clido", "type": "text"}]}
    lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in [asked, *said]]
    return "".join(lines).encode(), messages("".join(lines).encode())
