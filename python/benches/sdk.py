"""Reads all sessions of folders with the Agent SDK and with session_convert, and prints a table.

usage: python sdk.py FOLDER...     (pip install claude-agent-sdk pyarrow, and the wheel of this package)

The SDK finds a session by its id in the folder of a project, so the transcripts are copied into such a folder under
new ids. Each job runs in a fresh process, five times, in turns; the table has the medians.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

ROUNDS = 5


def sdk_messages(_folder, ids):
    """The SDK: every message of every session."""
    from claude_agent_sdk import get_session_messages

    def run():
        return sum(len(get_session_messages(it)) for it in ids)

    return run


def json_lines(folder, _ids):
    """`json.loads` of every line, and nothing else."""

    def run():
        count = 0
        for path in sorted(folder.glob("*.jsonl")):
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    try:
                        json.loads(line)
                    except ValueError:
                        continue
                    count += 1
        return count

    return run


# The fields of the messages that the SDK returns.
SDK_COLUMNS = ["event_type", "uuid", "session_id", "role", "block_type", "text", "tool_use_id", "tool_name", "tool_input", "is_error"]


def events(threads, columns=None):
    def job(folder, _ids):
        import pyarrow
        import session_convert as sc

        def run():
            return pyarrow.table(sc.events(folder, threads=threads, columns=columns)).num_rows

        return run

    return job


def summaries(folder, _ids):
    import pyarrow
    import session_convert as sc

    def run():
        return pyarrow.table(sc.summaries(folder)).num_rows

    return run


def usage(folder, _ids):
    import session_convert as sc

    def run():
        return len(sc.usage(folder, by=["model"]))

    return run


JOBS = {
    "Agent SDK: `get_session_messages` of each session": sdk_messages,
    "`json.loads` of each line": json_lines,
    "`events`, one thread, into pyarrow": events(1),
    "`events`, a thread for each core, into pyarrow": events(None),
    "`events` with the fields that the SDK returns, one thread": events(1, SDK_COLUMNS),
    "`events` with the fields that the SDK returns, a thread for each core": events(None, SDK_COLUMNS),
    "`events` with the names of the tools, one thread": events(1, ["tool_name"]),
    "`events` with the names of the tools, a thread for each core": events(None, ["tool_name"]),
    "`summaries` into pyarrow: title, times, tokens": summaries,
    "`usage`: tokens and cost by model": usage,
}


def measure(name, home):
    """Runs a job twice, so that imports and the cache of the system are warm, and prints its second run."""
    folder = Path(home) / ".claude/projects/-all"
    run = JOBS[name](folder, sorted(path.stem for path in folder.glob("*.jsonl")))
    run()
    cpu, wall = time.process_time(), time.perf_counter()
    count = run()
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu, count]))


def main(folders):
    import session_convert as sc

    with tempfile.TemporaryDirectory() as home:
        projects = Path(home) / ".claude/projects/-all"
        projects.mkdir(parents=True)
        n_bytes = n_files = 0
        for folder in folders:
            for session in sc.sessions(folder):
                if session.format == "claude-code":
                    n_bytes += session.path.stat().st_size
                    name = f"{uuid.uuid5(uuid.NAMESPACE_URL, str(n_files))}.jsonl"
                    shutil.copy(session.path, projects / name)
                    n_files += 1
        times = {name: [] for name in JOBS}
        environment = {**os.environ, "HOME": home}
        environment.pop("CLAUDE_CONFIG_DIR", None)
        for _ in range(ROUNDS):
            for name in JOBS:
                command = [sys.executable, __file__, "--measure", name, home]
                run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                times[name].append(json.loads(run.stdout.splitlines()[-1]))
    print(f"{n_files} sessions, {n_bytes / 1e6:.1f} MB, {os.cpu_count()} cores\n")
    print("| job | seconds | CPU seconds | MB/s | times as fast as the SDK | by CPU seconds |\n|---|---|---|---|---|---|")
    medians = {name: [statistics.median(column) for column in zip(*runs)] for name, runs in times.items()}
    sdk = next(iter(medians.values()))
    for name, (wall, cpu, _count) in medians.items():
        print(f"| {name} | {wall:.3f} | {cpu:.3f} | {n_bytes / 1e6 / wall:,.0f} | {sdk[0] / wall:.1f} | {sdk[1] / cpu:.1f} |")


if sys.argv[1] == "--measure":
    measure(*sys.argv[2:])
else:
    main(sys.argv[1:])
