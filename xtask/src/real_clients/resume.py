"""Resumes a session in a client inside the namespace, and returns the history that the client sends."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile

import history
from mock import APIS

HERE = os.path.dirname(os.path.abspath(__file__))
PROMPT = "NEXTPROMPT"


class Resumed:
    """The result of resuming a session. `history` is None if the client sent no request with one."""

    def __init__(self, client, step):
        self.status, self.listed, self.after = step["status"], None, None
        self.history, self.violations = None, []
        self.words = (step["stderr"] or step["stdout"])[-400:]
        main = [request for request in step["requests"] if APIS[request["api"]].tools(request["body"])]
        # After a refusal, a client may send the history again without the refused part.
        self.is_answered = any(request["answered"] for request in main)
        self.n_requests = len(main)
        for request in main:
            found = read_request(client, request)
            if found is not None:
                self.history, self.violations = found, request["violations"]
                break
        answered = [read_request(client, request) for request in main if request["answered"]]
        self.answered_history = next((found for found in answered if found is not None), None)

    @property
    def is_loaded(self):
        return self.history is not None and self.status == 0 and self.is_answered


def read_request(client, request):
    """Returns the history in a request, without the new prompt and what the client always adds."""
    messages = APIS[request["api"]].history(request["body"])
    if client.sends_prompt:
        ends = [n for n, message in enumerate(messages) if message["role"] == "user" and any(is_prompt(client, block) for block in message["blocks"])]
        if not ends:
            return None
        messages = messages[: ends[-1] + 1]
        messages[-1]["blocks"] = [block for block in messages[-1]["blocks"] if not is_prompt(client, block)]
    for message in messages:
        message["blocks"] = [block for block in message["blocks"] if not is_injected(client, block)]
        for block in message["blocks"]:
            if isinstance(block.get("text"), str):
                block["text"] = client.unwrapped(block["text"])
    return history.flat(messages)


def is_prompt(client, block):
    if block["kind"] != "text" or not isinstance(block["text"], str):
        return False
    return PROMPT in block["text"] or client.is_own_prompt(block["text"])


def is_injected(client, block):
    return block["kind"] == "text" and isinstance(block["text"], str) and client.is_injected(block["text"])


@contextlib.contextmanager
def resume(kit, client, path, scripts=(None,), strict=False, listed=False, timeout=120):
    """Resumes a session and yields the result. The session's file exists until the end of the block.

    The client is started once for each of `scripts`, names of `mock.SCRIPTS` or None; the history is that of the
    first start. With `listed`, also checks that the client finds the session in its list.
    """
    run = tempfile.mkdtemp(prefix="resume-", dir=kit.scratch)
    try:
        home = f"{run}/home"
        os.makedirs(f"{home}/project")
        session = client.place(home, path)
        prompts = [f"{PROMPT} @@mock:{script}" if script else PROMPT for script in scripts]
        commands = [(f"resume {n}", client.resume(session, prompt)) for n, prompt in enumerate(prompts)]
        if listed:
            commands.append(("list", client.list_command() or client.go_on_with_newest(PROMPT)))
        steps = [{"name": name, "argv": argv, "timeout": timeout} for name, argv in commands]
        environment = dict(pair.split("=", 1) for pair in client.environment)
        with open(f"{run}/steps.json", "w", encoding="utf-8") as file:
            folder = client.folder_of(path)
            json.dump({"strict": strict, "environment": environment, "folder": folder, "steps": steps}, file)
        done = subprocess.run([f"{HERE}/namespace.sh", run, kit.clients, folder], capture_output=True, text=True)
        try:
            with open(f"{run}/out.json", encoding="utf-8") as file:
                out = json.load(file)
        except OSError:
            raise SystemExit(f"the namespace failed: {done.stderr[-2000:]}") from None
        result = Resumed(client, out["resume 0"])
        later = [out[f"resume {n}"] for n in range(1, len(prompts))]
        for step in (step for step in later if result.status == 0):
            result.status, result.words = step["status"], (step["stderr"] or step["stdout"])[-400:]
        if listed and client.list_command():
            result.listed = client.is_listed(session, out["list"]["stdout"])
        elif listed:
            newest = Resumed(client, out["list"])
            if result.history:
                both = set(newest.history or ()) & set(result.history)
                result.listed = bool(both) and newest.status == 0
        result.after = client.file(home, session)
        yield result
    finally:
        shutil.rmtree(run, ignore_errors=True)
