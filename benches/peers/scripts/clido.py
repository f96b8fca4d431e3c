"""The simpler job on orjson."""

import sys

import orjson


def block(b):
    kind = b.get("type")
    if kind == "text":
        return {"type": "text", "text": b.get("text")}
    if kind == "thinking":
        return {"type": "thinking", "thinking": b.get("thinking")}
    if kind == "tool_use":
        return {"type": kind, "id": b.get("id"), "name": b.get("name"), "input": b.get("input")}
    if kind == "image":
        source = b.get("source") or {}
        return {
            "type": "image",
            "media_type": source.get("media_type"),
            "base64_data": source.get("data"),
        }
    return None


def blocks(content):
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [made for b in content if isinstance(b, dict) and (made := block(b))]
    return None


def flat(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(b["text"] for b in content if b.get("type") == "text")
    return ""


def convert(record, write):
    if not isinstance(record, dict):
        return
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    kind = record.get("type")
    if kind == "assistant":
        made = blocks(content)
        if made is None:
            return
        write({"type": "assistant_message", "content": made})
        for b in made:
            if b["type"] == "tool_use":
                write({
                    "type": "tool_call",
                    "tool_use_id": b["id"],
                    "tool_name": b["name"],
                    "input": b["input"],
                })
    elif kind == "user":
        if isinstance(content, list):
            for b in content:
                if isinstance(b, dict) and b.get("type") == "tool_result":
                    write({
                        "type": "tool_result",
                        "tool_use_id": b.get("tool_use_id"),
                        "content": flat(b.get("content")),
                        "is_error": b.get("is_error") is True,
                    })
        made = blocks(content)
        if made:
            write({"type": "user_message", "role": "user", "content": made})


def main():
    out = sys.stdout.buffer
    dumps, option = orjson.dumps, orjson.OPT_APPEND_NEWLINE
    unread = 0
    for name in sys.argv[1:]:
        with open(name, "rb", buffering=1 << 20) as file:
            for line in file:
                try:
                    record = orjson.loads(line)
                except orjson.JSONDecodeError:
                    unread += 1
                    continue
                convert(record, lambda value: out.write(dumps(value, option=option)))
    if unread:
        print(f"{unread} lines not read", file=sys.stderr)


main()
