"""Reads the sessions that `convert` writes with the Agent SDK.

usage: sdk_reader CONVERT HOME FOLDER...
"""

import sys

from convert import counts, failures, sessions

import agents
import installed
import round_trips
import streams


def main():
    for n, (form, path) in enumerate(sessions(sys.argv[3:])):
        if form != "claude-code":
            installed.check(n, form, path)
        elif not path.name.startswith("agent-"):
            round_trips.check(n, path)
            agents.check(n, path)
        streams.check(form, path)
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    for failure in failures:
        print(f"FAILED {failure}")
    return 1 if failures else 0


sys.exit(main())
