"""Asks the Agent SDK for the sessions that `convert` writes: clients.py CONVERT HOME FOLDER..."""

import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

CONVERT, HOME = sys.argv[1], pathlib.Path(sys.argv[2])
os.environ["CLAUDE_CONFIG_DIR"] = str(HOME / "claude")
os.environ["HOME"] = str(HOME)

import claude_agent_sdk as sdk  # noqa: E402  (it reads the environment)
from claude_agent_sdk._internal.message_parser import parse_message  # noqa: E402

counts = collections.Counter()
failures = []


def convert(*arguments):
    return subprocess.run([CONVERT, "-q", *map(str, arguments)], capture_output=True, text=True)


def sessions(folders):
    """Yields each session file and its format."""
    for folder in folders:
        found = subprocess.run([CONVERT, "detect", folder], capture_output=True, text=True).stdout
        for line in found.splitlines():
            form, path = line.split("\t", 1)
            if form.startswith(("claude-code", "clido", "sdk-stream")) and " or " not in form:
                yield form, pathlib.Path(path)


def objects(path):
    """Returns the objects of a file, one a line; what is no object is passed over."""
    lines = []
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            lines.append(value)
    return lines


def result_text(content):
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def blocks(role, content):
    """Yields what a message says that every format can say."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text" or kind is None and "text" in block:
            if str(block.get("text")).strip():
                yield (role, block.get("text"))
        elif kind in ("tool_use", "server_tool_use") or kind is None and "input" in block:
            yield ("use", block.get("id"), block.get("name"), json.dumps(block.get("input")))
        elif kind == "tool_result" or kind is None and "tool_use_id" in block:
            text = result_text(block.get("content"))
            yield ("result", block.get("tool_use_id"), text, bool(block.get("is_error")))


def said(form, path):
    """Returns what a session of another format says, read without any code of ours."""
    items = []
    for line in objects(path):
        kind, content = line.get("type"), line.get("content")
        if line.get("parent_tool_use_id") is not None:
            continue
        if form == "clido" and kind == "tool_result":
            items += blocks("user", [line])
        elif kind in ("user_message", "assistant_message"):
            items += blocks(kind.split("_")[0], content)
        elif form == "sdk-stream:wire" and kind in ("user", "assistant"):
            items += blocks(kind, content_of(line.get("message")))
        elif form == "sdk-stream" and kind is None and content is not None:
            items += blocks("assistant" if "model" in line else "user", content)
    return items


def content_of(message):
    return message.get("content") if isinstance(message, dict) else message


def sdk_said(messages):
    items = []
    for message in messages:
        items += blocks(message.type, content_of(message.message))
    return items


# What stands where a format has no place for a picture, a server's tool, reasoning that is redacted.
PLACEHOLDER = re.compile(r"^\[(image|document|redacted_thinking|server_tool_use|[a-z_]+_tool_result)\b[^]]*\]$")
NO_PROMPT = "[no prompt recorded]"


def lines_said(text):
    return "\n".join(line for line in str(text).split("\n") if not PLACEHOLDER.match(line))


def normal(items, meta=()):
    """Results in the order of their calls: formats differ in where they stand; no placeholders, and
    no lines of the client's own, which the reader hides."""
    order = {str(item[1]): n for n, item in enumerate(items) if item[0] == "use"}
    others, results = [], []
    for item in items:
        if item[0] == "result":
            results.append((item[0], item[1], lines_said(item[2]), item[3]))
        elif item[0] == "use" and str(item[1]).startswith("srvtoolu"):
            continue
        elif item[0] == "use" or not PLACEHOLDER.match(str(item[1])) and str(item[1]) not in meta:
            others.append(item)
    results.sort(key=lambda item: order.get(str(item[1]), len(items)))
    return [item for item in others if item[1] != NO_PROMPT], results


def show(expected, back):
    """Prints where two sessions differ, if asked for by VERBOSE."""
    for was, now in zip(expected, back) if os.environ.get("VERBOSE") else []:
        missing = [item for item in was if item not in now]
        extra = [item for item in now if item not in was]
        print("    missing", len(missing), str(missing)[:300])
        print("    extra", len(extra), str(extra)[:300])


def preserved(lines):
    """Returns what the last compaction keeps of what was before it, by the id of its summary: the
    client says it after the summary, the reader does not show it."""
    by_id = {line.get("uuid"): line for line in lines}
    boundaries = [line for line in lines if line.get("subtype") == "compact_boundary"]
    kept = (boundaries or [{}])[-1].get("compactMetadata", {}).get("preservedMessages", {})
    said = []
    for line in (by_id.get(uuid, {}) for uuid in kept.get("uuids", [])):
        if line.get("type") in ("user", "assistant"):
            said += blocks(line["type"], content_of(line.get("message")))
    return kept.get("anchorUuid"), said


def fail(path, what):
    failures.append(f"{path}: {what}")


def visible(path):
    """Returns the ids of the messages of a transcript, in the order of the file."""
    return [
        line.get("uuid")
        for line in objects(path)
        if line.get("type") in ("user", "assistant")
        and not line.get("isMeta")
        and not line.get("isSidechain")
    ]


def install(path, project):
    """Installs a session as Claude Code's, and returns its id; None if there is nothing to see."""
    project.mkdir(parents=True, exist_ok=True)
    done = convert("--to", "claude-code", f"--install={project}", path)
    if not done.stdout:
        return None, done.stderr.strip()
    words = shlex.split(done.stdout)
    assert words[:2] == ["cd", str(project)] and words[2:5] == ["&&", "claude", "--resume"], words
    return words[5], ""


def check_installed(n, form, path):
    project = HOME / f"project {n}"
    session, why = install(path, project)
    if session is None:
        counts["nothing to install"] += 1
        if "nothing of it shows" not in why and "no message in it" not in why:
            fail(path, why)
        return
    counts[f"{form}: installed"] += 1
    infos = [info for info in sdk.list_sessions(str(project)) if info.session_id == session]
    written = next((HOME / "claude/projects").glob(f"*/{session}.jsonl"))
    expected = visible(written)
    messages = sdk.get_session_messages(session, str(project))
    if len(infos) == 1:
        counts[f"{form}: listed"] += 1
    elif any(item[0] == "user" for item in sdk_said(messages)):
        fail(path, "not listed")
    else:
        counts[f"{form}: not listed for want of a prompt in words"] += 1
    if [message.uuid for message in messages] == expected:
        counts[f"{form}: every message visible in order"] += 1
        counts["messages"] += len(messages)
    else:
        fail(path, f"{len(messages)} of {len(expected)} messages visible")
    if not expected:
        written.unlink()
        return
    try:
        fork = sdk.fork_session(session, str(project)).session_id
        copy = sdk.get_session_messages(fork, str(project))
        if sdk_said(copy) == sdk_said(messages):
            counts[f"{form}: forked"] += 1
        elif len(written.read_text().splitlines()) != written.read_text().count("\n"):
            # The reader's fork takes U+2028 and its like for the end of a line; the client does not.
            counts[f"{form}: torn by the reader's own fork"] += 1
        else:
            fail(path, "the fork says something else")
        sdk.rename_session(session, "A new title", str(project))
        info = sdk.get_session_info(session, str(project))
        if info and info.custom_title == "A new title":
            counts[f"{form}: renamed"] += 1
        else:
            fail(path, "not renamed")
    except Exception as error:  # noqa: BLE001  (whatever the reader raises is a finding)
        fail(path, f"{type(error).__name__}: {error}")
    expected, back = normal(said(form, path)), normal(sdk_said(messages))
    if back == expected:
        counts[f"{form}: says the same"] += 1
    else:
        counts[f"{form}: says something else"] += 1
        print(f"  other words: {path}")
        show(expected, back)
    for file in written.parent.glob("*.jsonl"):
        file.unlink()


def check_wire(form, path):
    if form.startswith("sdk-stream:"):
        return
    done = convert("--to", "sdk-stream:wire", "--carry", "none", path)
    lines = [line for line in done.stdout.split("\n") if line]
    for line in lines:
        value = json.loads(line)
        try:
            parse_message(value)
        except Exception as error:  # noqa: BLE001
            fail(path, f"the SDK refuses a line of the stream: {error}")
    counts["stream lines parsed"] += len(lines)


def check_round_trip(n, path):
    """A transcript to each other format and back, without a carry."""
    project = HOME / f"project {n}"
    folder = HOME / "claude/projects" / ("".join(c if c.isalnum() else "-" for c in str(project)))
    folder.mkdir(parents=True, exist_ok=True)
    own = "00000000-0000-4000-8000-000000000000"
    (folder / f"{own}.jsonl").write_bytes(path.read_bytes())
    try:
        messages = sdk.get_session_messages(own, str(project))
    except UnicodeDecodeError:
        messages = []
    meta, is_compacted = set(), False
    lines = objects(path)
    for line in lines:
        is_compacted |= line.get("subtype") == "compact_boundary" or bool(line.get("isCompactSummary"))
        if line.get("isMeta"):
            meta.update(item[1] for item in blocks("user", content_of(line.get("message"))))
    summary, kept = preserved(lines)
    said_now = []
    for message in messages:
        said_now += sdk_said([message])
        said_now += kept if message.uuid == summary else []
    # The reader shows a compacted session from its last compaction on.
    options = ["--from-last-compaction"] if is_compacted else []
    counts["transcripts, compacted"] += is_compacted
    (folder / f"{own}.jsonl").unlink()
    if not messages:
        counts["transcripts that the reader does not show"] += 1
        return
    counts["transcripts"] += 1
    for form in ("clido", "sdk-stream", "sdk-stream:wire"):
        there = HOME / f"there-{n}.jsonl"
        there.unlink(missing_ok=True)
        convert("--to", form, "--carry", "none", *options, "-o", there, path)
        # What a stream calls synthetic comes back as the client's own, which the reader hides.
        hidden = set(meta)
        for line in objects(there) if there.exists() else []:
            if line.get("isSynthetic"):
                hidden.update(item[1] for item in blocks("user", content_of(line.get("message"))))
        expected = normal(said_now, hidden)
        session, why = install(there, project) if there.exists() else (None, "not converted")
        if session is None:
            counts[f"back from {form}: nothing"] += 1
            print(f"  nothing back from {form}: {path} {why}")
            continue
        written = folder / f"{session}.jsonl"
        back = normal(sdk_said(sdk.get_session_messages(session, str(project))), hidden)
        written.unlink()
        word = "the same" if back == expected else "something else"
        word += ", compacted" if is_compacted else ""
        counts[f"back from {form}: {word}"] += 1
        if back != expected:
            print(f"  other words back from {form}: {path}")
            show(expected, back)


def main():
    for n, (form, path) in enumerate(sessions(sys.argv[3:])):
        if form == "claude-code":
            if not path.name.startswith("agent-"):
                check_round_trip(n, path)
        else:
            check_installed(n, form, path)
        check_wire(form, path)
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    for failure in failures:
        print(f"FAILED {failure}")
    return 1 if failures else 0


sys.exit(main())
