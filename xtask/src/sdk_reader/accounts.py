"""Compares the content of two sessions. Each difference must be in a report."""

import collections
import os

# The losses of a report that explain a different text, use or result.
FIELDS = {
    "text": {"block", "message.content", "prompt", "text"},
    "use": {"block", "tool_use.id", "tool_use.input", "tool_use.name"},
    "result": {"block", "tool_result", "tool_result.content", "tool_result.tool_use_id"},
}


def ordered(items, hidden):
    """Returns items without the texts that the reader hides. Results are in the order of their calls,
    because formats write them at different positions."""
    order = {}
    for n, item in enumerate(items):
        if item[0] == "use":
            order.setdefault(str(item[1]), n)
    results = sorted(
        (item for item in items if item[0] == "result"),
        key=lambda item: order.get(str(item[1]), len(items)),
    )
    others = (item for item in items if item[0] != "result")
    return [item for item in others if item[0] != "text" or item[2] not in hidden] + results


def is_joined(text, other):
    return text[:2] == other[:2] and f"\n{text[2]}\n" in f"\n{other[2]}\n"


def compare(was, now, losses, hidden=frozenset()):
    """Returns "the same", "the same, as reported", or the kind of a difference that no report has."""
    was, now = ordered(was, hidden), ordered(now, hidden)
    if was == now:
        return "the same"
    missing = collections.Counter(was) - collections.Counter(now)
    extra = collections.Counter(now) - collections.Counter(was)
    if os.environ.get("VERBOSE"):
        for word, items in (("missing", missing), ("extra", extra)):
            for item in items:
                print(f"    {word} {str(item)[:300]}")
        told = {name for names in FIELDS.values() for name in names}
        print("    reported", {key: n for key, n in losses.items() if key[1] in told})
    if [item for item in was if item not in missing] != [item for item in now if item not in extra]:
        return "in another order"
    # Joining the texts of a message is one change.
    for text in list(missing):
        if text[0] == "text" and any(is_joined(text, other) for other in extra):
            del missing[text]
    for kind, fields in FIELDS.items():
        n_changed = max(
            sum(n for item, n in items.items() if item[0] == kind) for items in (missing, extra)
        )
        n_reported = sum(n for (_, field), n in losses.items() if field in fields)
        if n_changed > n_reported:
            return f"{n_changed} {kind}s differ, {n_reported} reported"
    return "the same, as reported"


def losses(reports):
    """Returns the count of each reported loss by kind and field, over several conversions."""
    counts = collections.Counter()
    for report in reports:
        for loss in report.get("losses", []):
            # A block is lost under its type, such as `block.document`.
            field = "block" if loss["field"].startswith("block.") else loss["field"]
            counts[loss["kind"], field] += loss["count"]
    return counts
