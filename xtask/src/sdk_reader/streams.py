"""Parses the lines of converted streams with the parser of the SDK."""

import json

from claude_agent_sdk._internal.message_parser import parse_message

from convert import counts, fail, run


def check(form, path):
    if form.startswith("sdk-stream:"):
        return
    done = run("--to", "sdk-stream:wire", "--carry", "none", path)
    lines = [line for line in done.stdout.split("\n") if line]
    for line in lines:
        try:
            parse_message(json.loads(line))
        except Exception as error:  # noqa: BLE001  (whatever the reader raises is a finding)
            fail(path, f"the SDK refuses a line of the stream: {error}")
    counts["stream lines parsed"] += len(lines)
