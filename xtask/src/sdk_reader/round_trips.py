"""Converts transcripts to each other format and back without a carry. The SDK must see the same."""

import claude_agent_sdk as sdk

import accounts
import sources
import words
from convert import Project, convert, counts, fail, fresh

FORMATS = ("clido", "sdk-stream", "sdk-stream:wire")


def check(n, path):
    project = Project(f"project {n}")
    data, mends = sources.mended(path.read_bytes())
    session = project.put(data)
    try:
        messages = sdk.get_session_messages(session, str(project.path))
    except UnicodeDecodeError:
        messages = []
    project.clear()
    if not messages:
        counts["transcripts that the reader does not show"] += 1
        return
    counts["transcripts"] += 1
    for mend in mends:
        counts[f"transcripts, read as their client does: {mend}"] += 1
    # The SDK shows a compacted session from its last compaction on.
    options = ["--from-last-compaction"] if sources.is_compacted(data) else []
    counts["transcripts, compacted"] += len(options)
    was = sources.said(data, messages)
    for form in FORMATS:
        there = fresh("there") / "session.jsonl"
        _, forth = convert("--to", form, "--carry", "none", *options, "-o", there, path)
        there.touch()
        now, back = said_back(project, there)
        hidden = words.aside(data) | words.aside(there.read_bytes())
        by_client = words.by_client(data)
        said = set(words.strings(words.objects(there.read_bytes())[0]))
        if gone := by_client - said:
            fail(path, f"to {form}: {len(gone)} texts of the client are gone")
        hidden |= by_client
        verdict = accounts.compare(was, now, accounts.losses(forth + back), hidden)
        if verdict.startswith("the same"):
            counts[f"back from {form}: {verdict}"] += 1
        else:
            fail(path, f"back from {form}: {verdict}")


def said_back(project, there):
    """Returns what the SDK shows of a session that is converted back, and the reports."""
    session, _, reports = project.install(there, "--carry", "none")
    if session is None:
        # A session without a message is not installed, and the report has the reason.
        back = fresh("back") / "session.jsonl"
        to = ("--to", "claude-code", "--carry", "none", "-o", back, there)
        return [], convert(*to)[1]
    messages = sdk.get_session_messages(session, str(project.path))
    project.clear()
    return words.of_messages(messages), reports
