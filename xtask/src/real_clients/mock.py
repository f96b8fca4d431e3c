"""A mock of the model APIs on the loopback. It answers each request from the request alone.

* The last prompt has `@@mock:NAME`: the script of that name is played. Its step is the number of the assistant's
  turns since that prompt, so retries and side questions do not put it out of step.
* The request has no tools: it is a side question, such as one for a title. The answer is a fixed text.
* Anything else: "mock reply".
"""

import gzip
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gemini_api
import messages_api
import responses_api

PORT = 8377
MARK = re.compile(r"@@mock:([a-z]+)")
SIGNATURE = "ErUBCkYIBxgCIkD" + "mocksignature" * 6 + "GAE="

# The APIs by the end of the path of a request. An API is a module with the functions of `messages_api`.
APIS = {
    "/messages": messages_api,
    "/responses": responses_api,
    ":generateContent": gemini_api,
    ":streamGenerateContent": gemini_api,
}

# A script is a list of answers, and an answer a list of blocks. `shell` calls the tool of the client that runs commands.
SCRIPTS = {
    "hello": [[{"text": "Hello from the mock."}]],
    "work": [
        [{"think": "Two commands will do."}, {"text": "Two at once."}, {"shell": "echo one"}, {"shell": "echo two; exit 3"}],
        [{"shell": "printf 'é 世界\\n'"}],
        [{"text": "Three commands ran: é ✓"}],
    ],
}


def prompt_of(text):
    """Returns a prompt without the `<tag>..</tag>` blocks that clients put before it."""
    while match := re.match(r"\s*<([a-zA-Z_-]+)[^>]*>.*?</\1>\s*", text, re.S):
        text = text[match.end() :]
    return text.strip()


def script_step(turns):
    """Returns the script that the last marked prompt asks for, and the number of its step."""
    places = [n for n, turn in enumerate(turns) if turn["role"] == "user" and MARK.search(prompt_of(turn["text"]))]
    if not places:
        return None, 0
    rest = turns[places[-1] + 1 :]
    if any(turn["role"] == "user" and not turn["has_result"] and prompt_of(turn["text"]) for turn in rest):
        return None, 0
    step = sum(turn["role"] == "assistant" for turn in rest)
    return MARK.findall(prompt_of(turns[places[-1]]["text"]))[-1], step


def shell_call(tools, command):
    """Returns the name and the input of a call of the client's own tool for commands."""
    for name, schema in tools:
        if re.fullmatch(r"bash|shell|run_shell_command|exec_command", name, re.I):
            members = (schema or {}).get("properties", {})
            arguments = {"cmd" if "cmd" in members else "command": command}
            for member in (schema or {}).get("required", []):
                arguments.setdefault(member, "mock step")
            return name, arguments
    return "Bash", {"command": command}


def answer(api, body):
    """Returns the blocks of the answer to a request, and a seed for ids."""
    turns, tools = api.turns(body), api.tools(body)
    seed = hashlib.sha256(json.dumps(turns, ensure_ascii=False).encode()).hexdigest()
    name, step = script_step(turns) if tools else (None, 0)
    script = SCRIPTS.get(name)
    if not tools:
        blocks = [{"text": "Mock title"}]
    elif script is None:
        blocks = [{"text": "mock reply"}]
    else:
        blocks = script[step] if step < len(script) else [{"text": "The script is over."}]
    done = []
    for n, block in enumerate(blocks):
        if "think" in block:
            done.append({"kind": "thinking", "text": block["think"], "signature": SIGNATURE})
        elif "shell" in block:
            name, arguments = shell_call(tools, block["shell"])
            done.append({"kind": "call", "id": f"toolu_01{seed[n : n + 22]}", "name": name, "input": arguments})
        else:
            done.append({"kind": "text", "text": block["text"]})
    return done, seed


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Prints nothing, because standard error belongs to the client."""

    def reply(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self):
        if self.headers.get("upgrade"):
            # A client that asks for a WebSocket goes on over HTTP.
            return self.reply({}, 426)
        self.reply({"data": [], "models": [], "has_more": False} if "/models" in self.path else {}, 200 if "/models" in self.path else 404)

    do_HEAD = do_GET

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            value = json.loads(raw)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def do_POST(self):
        body, path = self.body(), self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.reply({"input_tokens": 10})
        if path.endswith(":countTokens"):
            return self.reply({"totalTokens": 10})
        name = next((end for end in APIS if path.endswith(end)), None)
        if name is None or body is None:
            return self.reply({"error": {"message": "mock", "type": "not_found_error"}}, 404)
        api = APIS[name]
        violations = api.violations(body)
        refused = bool(violations) and self.server.strict
        self.server.log.append({"api": name, "body": body, "violations": violations, "answered": not refused})
        if refused:
            error = {"type": "invalid_request_error", "message": violations[0]}
            return self.reply({"type": "error", "error": error}, 400)
        blocks, seed = answer(api, body)
        message = api.message(blocks, seed, body)
        if not body.get("stream") and name != ":streamGenerateContent":
            return self.reply(message)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("connection", "close")
        self.end_headers()
        for event, data in api.events(message):
            head = f"event: {event}\n" if event else ""
            self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
        self.close_connection = True


def start(strict):
    """Starts the server in a thread; `log` has the requests for an answer, oldest first."""
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    server.strict, server.log = strict, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
