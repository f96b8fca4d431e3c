"""Compares our dumps of random lines with the dumps of the Agent SDK for Python.

usage: dumps.py OUR-PROGRAM FOLDER
"""

import dataclasses
import json
import random
import subprocess
import sys
from pathlib import Path

from claude_agent_sdk._internal.message_parser import parse_message

N_LINES = 20_000

STRINGS = [
    '""', '"x"', '"é"', '"\\u00e9"', '"\\ud83c\\udf89"', '"🎉"', '"\\ud800"', '"a\\/b"', '"\\u0000\\n"',
    '"\x7f"', '"\u2028"', '"s-1"',
]
NUMBERS = [
    "0", "-0", "1", "-1", "1.0", "1e5", "1E-5", "1e-05", "0.1", "123456789012345678901234567890",
    "1e16", "1e15", "123456789.123456789", "5e-324", "1.7976931348623157e308", "-0.0", "1e22",
    "9007199254740993", "0.00001", "0.0001", "100000000000000000000.0",
]
KINDS = ["user", "assistant", "system", "result", "stream_event", "rate_limit_event", "conversation_reset"]
BLOCKS = [
    "text", "thinking", "tool_use", "tool_result", "server_tool_use", "advisor_tool_result", "image", "x",
]
SUBTYPES = [
    "init", "hook_started", "hook_response", "task_started", "task_progress", "task_notification",
    "task_updated", "mirror_error", "compact_boundary",
]
ANSWERS = ["user_message_uuid", "user_message_uuids"]
# The members that the parser reads, by type.
MEMBERS = {
    "user": ["message", "tool_use_result", "origin", "timestamp"],
    "assistant": ["message", "error", *ANSWERS],
    "system": [
        "subtype", "hook_event", "hook_name", "hook_event_name", "task_id", "description", "usage",
        "last_tool_name", "status", "output_file", "summary", "tool_use_id", "task_type", "patch", "key",
        "error",
    ],
    "result": [
        "subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "stop_reason",
        "total_cost_usd", "usage", "result", "structured_output", "modelUsage", "permission_denials",
        "deferred_tool_use", "errors", "api_error_status", "terminal_reason", "origin", *ANSWERS,
    ],
    "stream_event": ["event", *ANSWERS],
    "rate_limit_event": ["rate_limit_info"],
    "conversation_reset": ["new_conversation_id"],
}
INNER = {
    "message": ["id", "role", "model", "content", "stop_reason", "usage"],
    "origin": ["kind", "x"],
    "patch": ["status", "end_time"],
    "deferred_tool_use": ["id", "name", "input"],
    "rate_limit_info": [
        "status", "resetsAt", "rateLimitType", "utilization", "overageStatus", "overageResetsAt",
        "overageDisabledReason", "y",
    ],
}
BLOCK = ["text", "thinking", "signature", "id", "name", "input", "tool_use_id", "content", "is_error", "x"]


class Lines:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, depth=0):
        kind = self.random.randrange(7 if depth < 4 else 5)
        if kind == 0:
            return self.random.choice(["null", "true", "false"])
        if kind < 3:
            return self.random.choice(STRINGS)
        if kind < 5:
            return self.random.choice(NUMBERS)
        n = self.random.randrange(4)
        if kind == 5:
            return f"[{','.join(self.value(depth + 1) for _ in range(n))}]"
        members = (f"{self.random.choice(STRINGS)}:{self.value(depth + 1)}" for _ in range(n))
        return f"{{{','.join(members)}}}"

    def members(self, names, share, kind=None):
        members = [f'"{name}":{self.member(name)}' for name in names if self.random.random() < share]
        if kind:
            members.insert(0, f'"type":"{kind}"')
        if self.random.random() < 0.3:
            self.random.shuffle(members)
        return f"{{{','.join(members)}}}"

    def member(self, name):
        if name == "subtype":
            return f'"{self.random.choice(SUBTYPES)}"'
        if name == "content" and self.random.random() < 0.9:
            n = self.random.randrange(4)
            return f"[{','.join(self.block() for _ in range(n))}]"
        if name in INNER and self.random.random() < 0.9:
            return self.members(INNER[name], 0.97)
        if name in ("uuid", "session_id", "parent_tool_use_id", "id", "name") and self.random.random() < 0.8:
            return self.random.choice(STRINGS)
        return self.value()

    def block(self):
        if self.random.random() < 0.03:
            return self.value()
        names = [name for name in BLOCK if name != "content"]
        block = self.members(names, 0.97, self.random.choice(BLOCKS))
        return f'{block[:-1]},"content":{self.value()}}}'

    def line(self):
        kind = self.random.choice(KINDS)
        names = ["uuid", "session_id", "parent_tool_use_id", *MEMBERS[kind]]
        return self.members(names, self.random.choice([0.98, 0.98, 0.98, 0.6]), kind)


def dumped(line):
    try:
        message = parse_message(json.loads(line))
    except Exception:
        # A line that the parser refuses is not dumped.
        return []
    return [json.dumps(dataclasses.asdict(message))] if message else []


def main(program, folder):
    lines = Lines(1)
    stream = [lines.line() for _ in range(N_LINES)]
    folder = Path(folder)
    folder.mkdir(parents=True)
    (folder / "stream.jsonl").write_text("\n".join(stream) + "\n", encoding="utf-8")
    subprocess.run([program, folder / "stream.jsonl", folder / "dump.jsonl"], check=True)
    expected = [dump for line in stream for dump in dumped(line)]
    written = (folder / "dump.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    for expected_line, written_line in zip(expected, written):
        if expected_line != written_line:
            sys.exit(f"the SDK dumps\n{expected_line}\nand we write\n{written_line}")
    if len(expected) != len(written):
        sys.exit(f"the SDK dumps {len(expected)} lines, and we write {len(written)}")
    print(f"dumps: {len(written)} of {N_LINES} random lines are dumped by the SDK, each as we write it")


main(*sys.argv[1:])
