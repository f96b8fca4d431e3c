"""Lets a client go on with a session in the namespace, and returns what it understood."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile

import history
import messages_api

HERE = os.path.dirname(os.path.abspath(__file__))
APIS = {"/messages": messages_api}
PROMPT = "NEXTPROMPT"


class Resumed:
    """What came of a resume. `history` is None if the client sent no request with one."""

    def __init__(self, client, step):
        self.status, self.listed, self.after = step["status"], None, None
        self.history, self.violations = None, []
        self.words = (step["stderr"] or step["stdout"])[-400:]
        main = [request for request in step["requests"] if APIS[request["api"]].tools(request["body"])]
        # A client that was refused may send the history again without what was refused.
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
        ends = [n for n, message in enumerate(messages) if message["role"] == "user" and any(map(is_prompt, message["blocks"]))]
        if not ends:
            return None
        messages = messages[: ends[-1] + 1]
        messages[-1]["blocks"] = [block for block in messages[-1]["blocks"] if not is_prompt(block)]
    for message in messages:
        message["blocks"] = [block for block in message["blocks"] if not is_injected(client, block)]
    return history.flat(messages)


def is_prompt(block):
    return block["kind"] == "text" and isinstance(block["text"], str) and PROMPT in block["text"]


def is_injected(client, block):
    return block["kind"] == "text" and isinstance(block["text"], str) and client.is_injected(block["text"])


@contextlib.contextmanager
def resume(kit, client, path, script=None, strict=False, listed=False, timeout=120):
    """Yields what came of a resume; the session's file as the client left it is there until the block ends.

    `script` is a name of `mock.SCRIPTS` for the client's new turns. `listed` asks too whether the client finds the
    session by itself.
    """
    run = tempfile.mkdtemp(prefix="resume-", dir=kit.scratch)
    try:
        home = f"{run}/home"
        os.makedirs(f"{home}/project")
        session = client.place(home, path)
        prompt = f"{PROMPT} @@mock:{script}" if script else PROMPT
        steps = [{"name": "resume", "argv": client.resume(session, prompt), "timeout": timeout}]
        if listed:
            steps.append({"name": "newest", "argv": client.go_on_with_newest(PROMPT), "timeout": timeout})
        environment = dict(pair.split("=", 1) for pair in client.environment)
        with open(f"{run}/steps.json", "w", encoding="utf-8") as file:
            json.dump({"strict": strict, "environment": environment, "steps": steps}, file)
        done = subprocess.run([f"{HERE}/namespace.sh", run, kit.clients], capture_output=True, text=True)
        try:
            with open(f"{run}/out.json", encoding="utf-8") as file:
                out = json.load(file)
        except OSError:
            raise SystemExit(f"the namespace failed: {done.stderr[-2000:]}") from None
        result = Resumed(client, out["resume"])
        if listed:
            newest = Resumed(client, out["newest"])
            if result.history:
                both = set(newest.history or ()) & set(result.history)
                result.listed = bool(both) and newest.status == 0
        result.after = client.file(home, session)
        yield result
    finally:
        shutil.rmtree(run, ignore_errors=True)
