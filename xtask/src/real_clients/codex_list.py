"""Asks Codex's app server for its list of sessions, as its picker does: codex_list.py CODEX... prints the answer."""

import json
import subprocess
import sys

REQUESTS = [
    ("initialize", {"clientInfo": {"name": "real-clients", "version": "1"}}),
    # The lists show the sessions of every provider, but only those that a user started.
    ("thread/list", {"limit": 50, "modelProviders": []}),
]


def main():
    server = subprocess.Popen([*sys.argv[1:], "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    answer = ""
    for n, (method, params) in enumerate(REQUESTS):
        messages = [{"id": n, "method": method, "params": params}]
        if n == 0:
            messages.append({"method": "initialized"})
        server.stdin.writelines(json.dumps(message) + "\n" for message in messages)
        server.stdin.flush()
        for answer in server.stdout:
            if json.loads(answer).get("id") == n:
                break
    print(answer)
    server.kill()


main()
