"""Runs inside the namespace: answers the model API, and runs the commands of /mnt/run/steps.json one after the other.

steps.json: {"strict": bool, "environment": {}, "folder": the folder to start in, "steps": [{"name", "argv", "timeout"}]}
out.json:   {NAME: {"status", "stdout", "stderr", "requests": [{"api", "body", "violations", "answered"}]}}
"""

import json
import os
import signal
import subprocess

import mock

RUN = "/mnt/run"


def run(step, environment, folder):
    """Runs a command in a folder, and kills all of its processes at the timeout."""
    process = subprocess.Popen(
        step["argv"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=step.get("timeout", 120))
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        status = "timeout"
    return {
        "status": status,
        "stdout": output.decode("utf-8", "replace"),
        "stderr": errors.decode("utf-8", "replace"),
    }


def main():
    with open(f"{RUN}/steps.json", encoding="utf-8") as file:
        plan = json.load(file)
    server = mock.start(plan["strict"])
    out = {}
    for step in plan["steps"]:
        server.log.clear()
        out[step["name"]] = run(step, plan["environment"], plan["folder"])
        out[step["name"]]["requests"] = list(server.log)
    with open(f"{RUN}/out.json", "w", encoding="utf-8") as file:
        json.dump(out, file)


main()
