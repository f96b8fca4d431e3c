"""Changes transcripts so that the SDK reads them as the client does.

The SDK ends a conversation at a missing parent and at a line of an unknown type, ignores the line of a byte
order mark, and leaves out the lines of teams. The client reads on. In addition, `convert` reads records on
damaged lines, and messages without an id.
"""

import json

import words


LINKS = ("user", "assistant", "system", "attachment", "progress")


def mended(data):
    """Returns a transcript in which the SDK finds what the client finds, and a list of the changes."""
    lines, is_damaged = words.objects(data)
    mends = {"byte order mark"} if data.startswith(b"\xef\xbb\xbf") else set()
    mends |= {"damaged lines"} if is_damaged else set()
    kept = without_replaced(lines)
    mends |= {"lines replaced by others of their id"} if len(kept) < len(lines) else set()
    lines = kept
    ids = {line.get("uuid") for line in lines}
    before, new_ids = {}, {}
    for n, line in enumerate(lines):
        if line.get("type") not in LINKS:
            if not isinstance(line.get("uuid"), str):
                continue
            line["type"] = "system"
            mends.add("types that are not known")
        thread, parent = bool(line.get("isSidechain")), line.get("parentUuid")
        if not isinstance(line.get("uuid"), str):
            if line["type"] not in ("user", "assistant"):
                continue
            # This line becomes the parent of the next one.
            line["uuid"] = new_ids[before.get(thread)] = f"line {n}"
            line["parentUuid"] = before.get(thread)
            mends.add("messages without an id")
        elif parent in new_ids:
            line["parentUuid"] = new_ids.pop(parent)
        elif parent not in ids and parent is not None or "parentUuid" not in line:
            line["parentUuid"] = before.get(thread)
            mends.add("parents that are not there")
        before[thread] = line["uuid"]
        if line.pop("teamName", None):
            mends.add("lines of a team")
    if not mends:
        return data, mends
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return text.encode(), mends


def without_replaced(lines):
    """Returns the lines without those whose id a later line has with another content."""
    last = {line.get("uuid"): line.get("message") for line in lines}
    has_id = [isinstance(line.get("uuid"), str) for line in lines]
    return [
        line
        for line, has_id in zip(lines, has_id)
        if not has_id or line.get("message") == last[line["uuid"]]
    ]


def is_compacted(data):
    return any(line.get("subtype") == "compact_boundary" for line in words.objects(data)[0])


def preserved(lines):
    """Returns the earlier messages that the last compaction keeps, by the id of its summary. The client sends
    them after the summary, and the SDK does not show them."""
    by_id = {line.get("uuid"): line for line in lines}
    boundaries = [line for line in lines if line.get("subtype") == "compact_boundary"]
    kept = (boundaries or [{}])[-1].get("compactMetadata", {}).get("preservedMessages", {})
    said = []
    for line in (by_id.get(uuid, {}) for uuid in kept.get("uuids", [])):
        if line.get("type") in ("user", "assistant"):
            said += words.blocks(line["type"], words.content_of(line.get("message")))
    return kept.get("anchorUuid"), said


def said(data, messages):
    """Returns the messages that the SDK shows, in the order of the client: the lines of a response in the
    order of the file. The SDK puts parallel ones after the last."""
    lines = words.objects(data)[0]
    place = {line.get("uuid"): n for n, line in enumerate(lines)}
    places = {}
    for n, message in enumerate(messages):
        is_response = message.type == "assistant" and isinstance(message.message, dict)
        response = message.message.get("id") if is_response else None
        if response is not None:
            places.setdefault(response, []).append(n)
    ordered = list(messages)
    for taken in places.values():
        in_file = sorted(taken, key=lambda n: place.get(messages[n].uuid, 0))
        for n, m in zip(taken, in_file):
            ordered[n] = messages[m]
    summary, kept = preserved(lines)
    # The client sends queued prompts, and the SDK does not show them. Each is inserted before the first
    # message after it in the file.
    waiting = [(n, words.queued(line)) for n, line in enumerate(lines) if words.queued(line)]
    shown = {place.get(message.uuid, 0) for message in ordered}
    waiting = [(n, items) for n, items in waiting if shown and n > min(shown)]
    items = []
    for message in ordered:
        while waiting and waiting[0][0] < place.get(message.uuid, 0):
            items += waiting.pop(0)[1]
        items += words.of_messages([message])
        items += kept if message.uuid == summary else []
    return items + [item for _, queued in waiting for item in queued]
