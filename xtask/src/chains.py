"""Compares our lists and conversations of transcripts with those that the SDK returns.

usage: chains.py EXAMPLE HOME FOLDER...

Compares random transcripts first, then the transcripts of the folders.
"""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys

EXAMPLE, HOME = sys.argv[1], pathlib.Path(sys.argv[2])
os.environ["CLAUDE_CONFIG_DIR"] = str(HOME / "claude")

import claude_agent_sdk as sdk  # noqa: E402  (it reads the environment)

N_RANDOM = 5_000
FOLDER = HOME / "claude/projects/-project"


PROMPTS = [
    "x",
    "Fix the\nparser",
    "",
    " \n ",
    "<command-name>/model</command-name>",
    "<tick>",
    "<local-command-stdout>x</local-command-stdout>",
    "[Request interrupted by user]",
    "[Request interrupted by user",
    "<ide_opened_file>a</ide_opened_file>",
    "<ide_selection>a</ide_selection> and more",
    "é😀 " * 120,
    "say \"tool_result\"",
    "\u001c\u00a0edge\u2028",
]


def title(rng):
    """Returns a random line with a title, a tag, a summary or a last prompt, which lists show."""
    name, kind = rng.choice(
        [
            ("customTitle", "custom-title"),
            ("aiTitle", "ai-title"),
            ("lastPrompt", "last-prompt"),
            ("summary", "summary"),
            ("tag", "tag"),
        ]
    )
    return {"type": kind, name: rng.choice(["One", "Two \"2\"", "", "é\\"]), "sessionId": "s"}


def line(rng, n_lines, n):
    """Returns a random line of a transcript, often an odd one, with one of a few ids."""
    ids = [f"u{k}" for k in range(n_lines)]
    separators = rng.choice([(",", ":")] * 4 + [(", ", ": ")])
    if rng.random() < 0.1:
        return json.dumps(title(rng), separators=separators)
    kinds = ["user"] * 4 + ["assistant"] * 5 + ["system", "progress", "attachment", "summary"]
    entry = {"type": rng.choice(kinds), "uuid": f"u{n}"}
    if rng.random() < 0.05:
        entry["uuid"] = rng.choice(ids)
    if rng.random() < 0.02:
        entry["uuid"] = rng.choice([None, 5, ""])
    way = rng.random()
    if n and way < 0.6:
        entry["parentUuid"] = f"u{n - 1}"
    elif way < 0.9:
        entry["parentUuid"] = rng.choice(ids)
    else:
        entry["parentUuid"] = rng.choice([None, None, "lost", "", 5])
        if rng.random() < 0.3:
            del entry["parentUuid"]
    for name, values in (
        ("isSidechain", [True, False, False, 0, "yes", None]),
        ("isMeta", [True, False, False, [], {}]),
        ("teamName", ["t", "", None]),
        ("agentId", ["a", "b", None]),
    ):
        if rng.random() < 0.08:
            entry[name] = rng.choice(values)
    if rng.random() < 0.8:
        entry["timestamp"] = f"2026-01-01T00:00:{rng.randrange(60):02}.000Z"
    if rng.random() < 0.15:
        entry["sourceToolAssistantUUID"] = rng.choice(ids)
    content = []
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        tool = f"t{rng.randrange(6)}"
        if entry["type"] == "assistant" and rng.random() < 0.7:
            content.append({"type": "tool_use", "id": tool, "name": "n", "input": {}})
        elif entry["type"] == "user" and rng.random() < 0.7:
            content.append({"type": "tool_result", "tool_use_id": tool, "content": ""})
        else:
            content.append({"type": "text", "text": rng.choice(PROMPTS)})
    message = {"role": entry["type"], "content": content}
    if entry["type"] == "assistant" and rng.random() < 0.9:
        message["id"] = rng.choice([f"m{rng.randrange(4)}", f"m{n // 3}"])
    entry["message"] = message
    if rng.random() < 0.03:
        entry["message"] = rng.choice(["text", None, [], {"content": rng.choice(PROMPTS)}])
    for name in ("cwd", "gitBranch"):
        if rng.random() < 0.1:
            entry[name] = rng.choice(["/p", "main", ""])
    line = json.dumps(entry, separators=separators)
    if rng.random() < 0.02:
        line = rng.choice(["", "  ", line[:-5], "[]", "5", "\ufeff" + line, " " + line + "\r"])
    return line


def write(n, data):
    name = f"00000000-0000-4000-8000-{n:012x}"
    path = FOLDER / f"{name}.jsonl"
    path.write_bytes(data)
    return name, path


def transcripts(folders):
    """Yields the bytes of random transcripts, then the bytes of files."""
    for seed in range(N_RANDOM):
        rng = random.Random(seed)
        n_lines = rng.randrange(1, 16)
        lines = [line(rng, n_lines, n) for n in range(n_lines)]
        yield f"seed {seed}", "\n".join(lines).encode()
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.jsonl")):
            yield str(path), path.read_bytes()


def text(value):
    """Replaces each unpaired surrogate by one character, as we and the client do."""
    return value and value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def listed(infos, session):
    """Returns the list entry of the SDK for a session, with its members in our order."""
    info = infos.get(session)
    if info is None:
        return None
    names = (info.summary, info.custom_title, info.first_prompt, info.git_branch, info.cwd, info.tag)
    return [text(name) for name in names]


counts = collections.Counter()


def compare(batch):
    """Returns the names of the transcripts that we show differently."""
    paths = [str(path) for _, _, path in batch]
    ours = subprocess.run([EXAMPLE, *paths], capture_output=True, check=True, text=True).stdout
    infos = {info.session_id: info for info in sdk.list_sessions()}
    differ = []
    for (name, session, path), row in zip(batch, ours.split("\n"), strict=False):
        _, is_listed, *names, created, shown = json.loads(row)
        try:
            messages = [text(message.uuid) for message in sdk.get_session_messages(session)]
        except (UnicodeDecodeError, RecursionError, TypeError):
            # The SDK raises an error for the whole file.
            messages = None
        path.unlink()
        counts["listed"] += session in infos
        counts["messages"] += len(messages or [])
        if listed(infos, session) != (names if is_listed else None):
            differ.append(f"{name}: listed as {names}, not {listed(infos, session)}")
        # Python converts times to floats, which may differ by a millisecond.
        info = infos.get(session)
        if info and created and abs((info.created_at or 0) - created) > 1:
            differ.append(f"{name}: created at {created}, not {info.created_at}")
        if messages is not None and [text(uuid) for uuid in shown] != messages:
            differ.append(f"{name}: other messages")
    return differ


def main():
    FOLDER.mkdir(parents=True)
    n_compared, differ, batch = 0, [], []
    for n, (name, data) in enumerate(transcripts(sys.argv[3:])):
        batch.append((name, *write(n, data)))
        if len(batch) == 500:
            n_compared += len(batch)
            differ += compare(batch)
            batch = []
    differ += compare(batch)
    n_compared += len(batch)
    print(f"{n_compared:8} transcripts, {counts['listed']} listed, {counts['messages']} messages")
    print(f"{n_compared - len(differ):8} shown as the SDK shows them")
    for name in differ[:20]:
        print(f"FAILED {name}")
    return 1 if differ else 0


sys.exit(main())
