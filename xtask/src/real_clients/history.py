"""Histories: lists of (role, kind, ..) items, and how two of them differ.

These are no differences: the boundaries between messages of one role, spaces at the end of a text, and the order of
results between two messages of the assistant.
"""

import collections
import json
import re

# The texts that Claude Code adds after the last result that it sends.
REMINDER = re.compile(r"(?:\s*<system-reminder>\s*(?:<total_tokens>|The task tools haven't been used).*?</system-reminder>)+\s*$", re.S)
# The text that Copilot adds to a prompt: the tables of the session, the date.
COPILOT_REMINDER = re.compile(r"\s*<system_reminder>\n(?:<sql_tables>|<current_datetime>).*?</system_reminder>\s*$", re.S)
# Results that clients and convert invent for a call without a result. They are not part of a history.
MADE_UP = ("No result provided", "[Tool call interrupted", "[interrupted — tool execution", "[Tool execution was interrupted]", "[no result recorded]", "[Request interrupted", "[Tool result missing")
# The texts that Claude Code sends instead of an empty message, a result without its call, and the missing answer to a
# last message of the user.
PLACEHOLDERS = ("(no content)", "[Orphaned tool result removed", "[Tool use interrupted]", "No response requested.")

# What Codex writes between the start and the end of an output that is longer than it sends.
LEFT_OUT = re.compile(r"…(\d+) tokens truncated…")


def text_of(value):
    return value.rstrip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def flat(messages):
    """Returns plain messages as one list of comparable items, without texts that clients invent."""
    items, calls = [], set()
    for message in messages:
        for block in message["blocks"]:
            item = item_of(message["role"], block)
            if item is None:
                continue
            if item[1] == "call":
                calls.add(item[2])
            # The API refuses a result without its call. Clients replace it or leave it out.
            if item[1] != "result" or item[2] in calls:
                items.append(item)
    return items


def item_of(role, block):
    kind = block["kind"]
    if kind == "text":
        text = COPILOT_REMINDER.sub("", text_of(block["text"])).rstrip()
        return (role, "text", text) if text and not text.startswith(PLACEHOLDERS) else None
    if kind == "thinking":
        return (role, "thinking", text_of(block["text"]), block["signature"])
    if kind == "call":
        # 2.1 has another name for the tool.
        name = "Agent" if block["name"] == "Task" else block["name"]
        return (role, "call", str(block["id"]), name, json.dumps(block["input"], ensure_ascii=False, sort_keys=True))
    if kind == "result":
        text = REMINDER.sub("", text_of(block["text"])).rstrip()
        # The responses API has no flag for a failure, and Codex gives a call without a result this word.
        may_fail = block["is_error"] or block.get("has_no_flag")
        if may_fail and (text.startswith(MADE_UP) or text == "aborted"):
            return None
        return (role, "result", str(block["id"]), text, block.get("images", 0), block["is_error"])
    if kind == "image":
        return (role, "image", block["media_type"], block["data"])
    return (role, "other", json.dumps(block["value"], ensure_ascii=False, sort_keys=True))


def ordered(items):
    """Returns items with the results between two messages of the assistant sorted, before the other items there."""
    out, group = [], []
    for item in [*items, None]:
        if item is not None and item[0] == "user":
            group.append(item)
            continue
        out += sorted((one for one in group if one[1] == "result"), key=repr)
        out += [one for one in group if one[1] != "result"]
        group = []
        if item is not None:
            out.append(item)
    return out


def differences(was, now):
    """Returns the items that only one of the histories has: (missing, added), and whether the rest is in another order."""
    was, now = ordered(was), ordered(now)
    missing = collections.Counter(was) - collections.Counter(now)
    added = collections.Counter(now) - collections.Counter(was)

    def rest(items, without):
        without, out = collections.Counter(without), []
        for item in items:
            if without[item]:
                without[item] -= 1
            else:
                out.append(item)
        return out

    return missing, added, rest(was, missing) != rest(now, added)


def is_shortened(long, short):
    """Returns whether a text is what Codex sends of a long output: half of 48,000 bytes from its start, half from its
    end, and between them how many tokens of four bytes are left out (0.169 with gpt-5.5: 12,000 tokens)."""
    for mark in LEFT_OUT.finditer(short):
        head, tail = short[: mark.start()], short[mark.end() :]
        n_left_out = len(long.encode()) - len((head + tail).encode())
        # Codex cuts between characters, and counts a last token that is not whole.
        is_counted = abs(n_left_out - 4 * int(mark[1])) < 8
        if is_counted and long.startswith(head) and long.endswith(tail):
            return True
    return False


def kinds(missing, added):
    """Returns the number of different items by kind. A result that differs only in its error flag is an `error flag`."""
    counts = collections.Counter()
    missing, added = collections.Counter(missing), collections.Counter(added)
    for item in list(missing):
        if item[1] == "result":
            twin = (*item[:5], not item[5])
            n = min(missing[item], added[twin])
            counts["error flag"] += n
            missing[item] -= n
            added[twin] -= n
        elif item[1] == "thinking":
            twins = [one for one in added if one[:3] == item[:3] and added[one]]
            for twin in twins[:1]:
                counts["signature"] += 1
                missing[item] -= 1
                added[twin] -= 1
    for kind in {item[1] for item in [*missing, *added]}:
        n_missing = sum(n for item, n in missing.items() if item[1] == kind)
        n_added = sum(n for item, n in added.items() if item[1] == kind)
        if max(n_missing, n_added):
            counts[kind] += max(n_missing, n_added)
    return +counts
