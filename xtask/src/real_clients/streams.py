"""Reads the history of a stream of the Agent SDK, in its wire form or as a dump: the messages of the main thread."""

import json

import history
import messages_api


def lines(data):
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def messages(data):
    out = []
    for line in lines(data):
        message = line.get("message") if isinstance(line.get("message"), dict) else line
        if line.get("parent_tool_use_id") or not isinstance(message.get("content"), (str, list)):
            continue
        role = role_of(line, message)
        if role is not None:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            out.append({"role": role, "blocks": [messages_api.plain_block(typed(block)) for block in blocks]})
    return out


def role_of(line, message):
    kind = line.get("type")
    if kind in ("user", "assistant"):
        return kind
    if kind == "user_message":
        return "user"
    if kind is not None or "subtype" in line:
        return None
    return "assistant" if "model" in message else "user"


def typed(block):
    """Returns a block of a dump with the type that its members show."""
    if not isinstance(block, dict) or "type" in block:
        return block
    for member, kind in (("thinking", "thinking"), ("tool_use_id", "tool_result"), ("input", "tool_use"), ("text", "text")):
        if member in block:
            return {"type": kind, **block}
    return block


def unsendable_thinking(data):
    """Returns the texts of thinking that Claude Code does not send: unsigned, or of a model that is not Claude."""
    texts = set()
    for line in lines(data):
        message = line.get("message") if isinstance(line.get("message"), dict) else line
        is_foreign = not str(message.get("model", "claude")).startswith("claude")
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            if isinstance(block, dict) and "thinking" in block and (is_foreign or not block.get("signature")):
                texts.add(history.text_of(block["thinking"]))
    return texts
