"""Reads the content of sessions without our code: texts, tool uses and results.

An item is `("text", role, text)`, `("use", id, name, input)` or `("result", id, text, is_error)`.
"""

import json

# The types of clido's lines. Records of other formats on damaged lines have a message.
LINE_TYPES = {"meta", "user_message", "assistant_message", "tool_call", "tool_result", "result"}


def pieces(text):
    """Returns the complete records at the start or the end of a line that is not JSON."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while (at := text.find("{", at)) != -1:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            at += 1
            continue
        if value.get("type") in LINE_TYPES or "message" in value:
            found.append((at, end, value))
        at = end
    kept, end = {}, 0
    for start, stop, value in found:
        if is_between(text[end:start]):
            kept[start], end = value, stop
    end = len(text)
    for start, stop, value in reversed(found):
        if is_between(text[stop:end]):
            kept[start], end = value, start
    return [kept[start] for start in sorted(kept)]


def is_between(text):
    return not text.strip(" \t\r\0\x1e,[]")


def objects(data):
    """Returns the records of a file, and whether some of them are on damaged lines."""
    records, is_damaged = [], False
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            value = json.loads(line.decode())
        except UnicodeDecodeError:
            is_damaged = True
        except ValueError:
            found = pieces(line.decode())
            is_damaged |= bool(found)
            records += found
        else:
            records += [value] if isinstance(value, dict) else []
    return records, is_damaged


def result_text(content):
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def blocks(role, content):
    """Yields the items of a message's content, in any of the formats."""
    if isinstance(content, str):
        content = [content]
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text" or kind is None and "text" in block:
            if str(block.get("text")).strip():
                yield ("text", role, block.get("text"))
        elif kind in ("tool_use", "server_tool_use") or kind is None and "input" in block:
            yield ("use", block.get("id"), block.get("name"), json.dumps(block.get("input")))
        elif kind == "tool_result" or kind is None and "tool_use_id" in block:
            text = result_text(block.get("content"))
            yield ("result", block.get("tool_use_id"), text, bool(block.get("is_error")))


def content_of(message):
    return message.get("content") if isinstance(message, dict) else message


def of_file(data):
    """Returns the content of a session in a format other than Claude Code's, without its sub-agents."""
    items, is_answered, last = [], False, None
    for line in objects(data)[0]:
        kind, content = line.get("type"), line.get("content")
        if isinstance(line.get("parent_tool_use_id"), str):
            continue
        if isinstance(line.get("result"), str) and "session_id" in line:
            # If a run has no message of the assistant, its result is the answer. A run may end twice with
            # the same result.
            if not is_answered and line["result"] != last:
                items += blocks("assistant", line["result"])
            is_answered, last = False, line["result"]
        is_answered |= kind == "assistant" or kind is None and "model" in line
        if kind == "tool_result":
            items += blocks("user", [line])
        elif kind in ("user_message", "assistant_message"):
            items += blocks(kind.split("_")[0], content)
        elif kind in ("user", "assistant"):
            items += blocks(kind, content_of(line.get("message")))
        elif kind is None and content is not None:
            items += blocks("assistant" if "model" in line else "user", content)
    return items


def of_messages(messages):
    """Returns the content of messages from the SDK."""
    items = []
    for message in messages:
        items += blocks(message.type, content_of(message.message))
    return items


def aside(data):
    """Returns the texts of lines that the client wrote itself, which the SDK hides."""
    texts = set()
    for line in objects(data)[0]:
        if line.get("isMeta") or line.get("isSynthetic"):
            texts.update(text for _, _, text in texts_of(line))
    return texts


def by_client(data):
    """Returns the texts of a transcript that its client wrote as the user or as the model.

    Claude Code 2.1.330 never sends API errors, and marks notifications. They are not from the user or the
    model, so a target may show them as lines of its own.
    """
    texts = set()
    for line in objects(data)[0]:
        message = line.get("message")
        is_error = isinstance(message, dict) and message.get("model") == "<synthetic>"
        is_origin = isinstance(line.get("origin"), dict) and line["origin"].get("kind") != "human"
        for _, _, text in texts_of(line):
            if is_error or is_origin or line.get("isApiErrorMessage") or is_notification(text):
                texts.add(text)
    return texts


def is_notification(text):
    return str(text).startswith("<task-notification>")


def strings(value):
    """Yields every string of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def queued(line):
    """Returns the prompts that a person typed while the agent worked. The client keeps them as attachments."""
    held = line.get("attachment")
    if not isinstance(held, dict) or held.get("type") != "queued_command":
        return []
    if held.get("commandMode", "prompt") != "prompt":
        return []
    return [item for item in blocks("user", held.get("prompt")) if not is_notification(item[-1])]


def texts_of(line):
    return [item for item in blocks("user", content_of(line.get("message"))) if item[0] == "text"]
