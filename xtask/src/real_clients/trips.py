"""Converts one session to a client, or to a client and back, and compares histories. Each trip returns an outcome."""

import collections
import json
import os
import shutil
import tempfile

import clido_rules
import history
import streams
from resume import resume

# The scripts of the three prompts with which a client goes on: calls that run and fail, then texts.
TURNS = ("work", "hello", None)
# What the lines of a compacted session have, by format.
COMPACTED = {"claude-code": b'"compact_boundary"', "codex": b'"type":"compacted"', "pi": b'"type":"compaction"', "qwen": b'"chat_compression"',
             "copilot": b'"session.compaction_complete"', "opencode": b'"compaction"', "gemini": b"<state_snapshot>"}
# The formats whose files are one document, which ends behind its last message.
DOCUMENTS = {"opencode"}

# The fields of a loss report that name a difference of each kind.
NAMED = {
    "text": {"block", "content", "image", "message", "message.content", "prompt", "text", "line", "tool_result", "branch", "compacted"},
    "thinking": {"thinking", "thinking.signature", "redacted_thinking", "block", "unsigned_thinking"},
    "signature": {"thinking.signature"},
    "call": {"block", "payload.namespace", "server_tool_use", "tool_use.id", "tool_use.input", "tool_use.name", "message"},
    "result": {"block", "message", "tool_result", "tool_result.content", "tool_result.tool_use_id", "image"},
    "error flag": {"tool_result.is_error"},
    "image": {"image", "block"},
    "other": {"block", "payload.replacement_history"},
}


def is_named(field, kind):
    """Returns whether a loss names a difference of a kind. Blocks are named by their type: `block.server_tool_use`."""
    return ("block" if field.startswith("block.") else field) in NAMED.get(kind, ())


class Any:
    """A set that contains everything."""

    def __contains__(self, _):
        return True


ANY = Any()


def thinking_of(form, path):
    """Returns the texts of thinking in a session of pi or OpenCode."""
    if form not in ("pi", "opencode"):
        return ()
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    waiting = []
    for part in [text] if form == "opencode" else text.split("\n"):
        try:
            waiting.append(json.loads(part))
        except ValueError:
            continue
    found = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            kind = value.get("type")
            name = {"reasoning": "text", "thinking": "thinking"}.get(kind) if isinstance(kind, str) else None
            found.add(history.text_of(value.get(name) or ""))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found - {""}


class Outcome:
    """The result of a trip of one session."""

    def __init__(self, path):
        self.path = path
        self.is_loaded = self.is_equal = False
        self.is_listed = None
        # Whether converting back kept the old bytes and added the new turns.
        self.is_prefix = self.has_new = None
        self.n_violations = 0
        self.differences = collections.Counter()
        self.named = collections.Counter()
        self.notes = []

    def compare(self, was, now, losses=None, unsendable=(), thinking=()):
        """Compares histories. Reported losses, and thinking that cannot be sent, are counted separately."""
        missing, added, is_reordered = history.differences(was, now)
        # pi and OpenCode send thinking that another model signed, or none, as a text.
        for item in [item for item in missing if item[1] == "text" and item[2] in thinking]:
            self.named["thinking that the client does not send"] += missing.pop(item)
        # They send it as text or not at all; other clients send it as thinking.
        for item in [item for item in added if item[1] == "thinking" and item[2] in thinking]:
            self.named["thinking that its own client does not send"] += added.pop(item)
        # Some clients make up results of calls that the session left open, as the API demands.
        left_open = {item[2] for item in was if item[1] == "call"} - {item[2] for item in was if item[1] == "result"}
        for item in [item for item in added if item[1] == "result" and item[2] in left_open]:
            self.named["result that the client makes up"] += added.pop(item)
        # Gemini CLI sends the start of long old results, and names a file with the rest.
        masked = {item[2]: item for item in added if item[1] == "result" and item[3].startswith("<tool_output_masked>")}
        for item in [item for item in missing if item[1] == "result" and item[2] in masked]:
            self.named["result that the client masks"] += missing.pop(item)
            added.pop(masked[item[2]], None)
        # Codex sends the start and the end of long results.
        for short, long, name in ((missing, added, "result that its own client shortens"), (added, missing, "result that the client shortens")):
            whole = {item[2]: item for item in long if item[1] == "result"}
            for item in [item for item in short if item[1] == "result" and item[2] in whole]:
                if history.is_shortened(whole[item[2]][3], item[3]):
                    self.named[name] += short.pop(item)
                    long.pop(whole[item[2]], None)
        for item in [item for item in missing if item[1] == "thinking"]:
            # pi sends thinking that another model signed as a text.
            as_text = (item[0], "text", item[2])
            n = min(missing[item], added[as_text])
            self.named["thinking that the client sends as a text"] += n
            missing[item] -= n
            added[as_text] -= n
        for item in [item for item in missing if item[1] == "thinking" and item[2] in unsendable]:
            self.named["thinking that the client does not send"] += missing.pop(item)
        missing, added, self.named = +missing, +added, +self.named
        for kind, n in history.kinds(missing, added).items():
            n_named = sum(n for field, n in (losses or {}).items() if is_named(field, kind))
            if n_named >= n:
                self.named[kind] += n
            else:
                self.differences[kind] += n
        if is_reordered:
            self.differences["order"] += 1
        self.is_equal = not missing and not added and not is_reordered and not self.named
        for word, items in (("missing", missing), ("added", added)):
            self.notes += [f"{word} x{n} {str(item)[:300]}" for item, n in list(items.items())[:4]]

    def resumed(self, what):
        self.is_loaded, self.is_listed, self.n_violations = what.is_loaded, what.listed, len(what.violations)
        self.notes += [f"breaks a rule of the API: {rule}" for rule in what.violations[:2]]
        if not what.is_loaded:
            self.notes.append(f"status {what.status}: {what.words}")


class Trips:
    """The trips of sessions through the clients that are installed."""

    def __init__(self, kit, program, clients, runnable):
        self.kit, self.program = kit, program
        self.clients, self.runnable = clients, runnable
        # The first installed client of each format, which computes histories.
        self.native = {clients[name].format: clients[name] for name in reversed(list(clients)) if name in runnable}

    def folder(self):
        return tempfile.mkdtemp(prefix="trip-", dir=self.kit.scratch)

    def history(self, form, path):
        """Returns the history of a session, from its own client if installed; None if there is none."""
        if form in self.native:
            with resume(self.kit, self.native[form], path) as done:
                return done.history or None if done.is_loaded else None
        with open(path, "rb") as file:
            data = file.read()
        if form == "clido":
            return None if self.program.stops(form, path) else history.flat(clido_rules.messages(data)) or None
        return history.flat(streams.messages(data)) or None

    def comparable(self, items, form, client):
        """Returns the items that both the client of a format and another client can send and do not add by themselves."""
        clients = [client, *([self.native[form]] if form in self.native else [])]
        unseen = {kind for one in clients for kind in one.unseen}
        out = []
        for item in items:
            if item[1] == "text" and any(one.is_injected(item[2]) for one in clients):
                continue
            if item[1] == "result" and "error flag" in unseen:
                item = (*item[:5], False)
            out.append(item)
        return out

    def unsendable(self, client, form, path):
        """Returns the texts of thinking that the new client does not send.

        A signature is of one API: no client can send thinking with the signature of another one.
        """
        if "codex" in (client.format, form):
            return ANY
        if client.format != "claude-code" or not form.startswith("sdk-stream"):
            return ()
        with open(path, "rb") as file:
            return streams.unsendable_thinking(file.read())

    def as_it_is(self, client, form, path):
        """Resumes the session in its own client. A failure here is no fault of a conversion."""
        outcome = Outcome(path)
        with resume(self.kit, client, path, listed=True) as done:
            outcome.resumed(done)
        outcome.is_equal = outcome.is_loaded
        return outcome

    def to_client(self, client, form, path):
        """Resumes the converted session in another client, which must send the same history."""
        was = self.history(form, path)
        if was is None:
            return None
        outcome, folder = Outcome(path), self.folder()
        try:
            there = self.target(client.format, path, folder)
            is_written, losses, words = self.program.convert(client.format, path, there, *options_for(form, path))
            if not is_written:
                outcome.notes.append(words)
                return outcome
            if client.name in self.runnable:
                with resume(self.kit, client, there, listed=True) as done:
                    outcome.resumed(done)
                    now = done.history
            else:
                outcome.is_loaded = not self.program.stops(client.format, there)
                now = self.history(client.format, there)
            if now is not None:
                both = [self.comparable(items, form, client) for items in (was, now)]
                outcome.compare(*both, losses, self.unsendable(client, form, path), thinking_of(form, path))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return outcome

    def home_again(self, client, form, path):
        """Converts a session, adds turns in another client, and converts it back: old lines, new turns and history must be there."""
        was = self.history(form, path)
        if was is None:
            return None
        outcome, folder = Outcome(path), self.folder()
        try:
            there, back = self.target(client.format, path, f"{folder}/there"), self.target(form, path, f"{folder}/back")
            is_written, _, words = self.program.convert(client.format, path, there)
            if not is_written:
                outcome.notes.append(words)
                return outcome
            new = self.go_on(client, there, outcome)
            if new is None:
                return outcome
            is_written, _, words = self.program.convert(form, there, back)
            if not is_written:
                outcome.notes.append(words)
                return outcome
            with open(path, "rb") as file:
                old = file.read()
            with open(back, "rb") as file:
                outcome.is_prefix = file.read().startswith(records_of(old) if form in DOCUMENTS else old)
            now = self.history(form, back)
            outcome.is_loaded = now is not None
            if now is not None:
                was, now, new = [self.comparable(items, form, client) for items in (was, now, new)]
                added = collections.Counter(map(key_of_new, now)) - collections.Counter(map(key_of_new, was))
                outcome.has_new = all(added[key_of_new(item)] for item in new if item[1] != "thinking")
                outcome.compare(was, without(now, new))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return outcome

    def go_on(self, client, path, outcome):
        """Adds a few turns to a converted session in a client. Returns the items of the new turns."""
        if client.name not in self.runnable:
            if self.program.stops(client.format, path):
                outcome.notes.append("check: stops")
                return None
            lines, messages = clido_rules.turns()
            os.chmod(path, 0o600)
            with open(path, "ab") as file:
                file.write(lines)
            return history.flat(messages)
        with resume(self.kit, client, path, scripts=TURNS) as done:
            if not done.is_loaded:
                outcome.resumed(done)
                return None
            before = done.history
            shutil.copyfile(done.after, f"{path}.after")
        os.replace(f"{path}.after", path)
        with resume(self.kit, client, path) as done:
            after = done.history or []
        new = list((collections.Counter(after) - collections.Counter(before)).elements())
        # Gemini CLI masks old results in a later request, and Copilot makes up results of calls that the session left open.
        calls = {item[2] for item in new if item[1] == "call"}
        return [item for item in new if item[1] != "result" or item[2] in calls]

    def target(self, form, path, folder):
        """Returns the path for a session. Claude Code needs a UUID as name, and a folder beside it keeps its name."""
        stem = os.path.basename(path).split(".jsonl")[0]
        return os.path.join(folder, f"{stem}.jsonl")


def records_of(document):
    """Returns a document up to the end of its last message: new ones follow it."""
    for end in (b"}", b"]"):
        document = document.rstrip()
        if not document.endswith(end):
            return document
        document = document[:-1]
    return document.rstrip()


def key_of_new(item):
    """Returns the items of a new turn that must be found after converting back.

    Thinking of another client may lose its signature. An error flag is not always sent with the newest results.
    """
    return item[: {"thinking": 3, "result": 4}.get(item[1])]


def without(items, new):
    """Returns a history without new turns, whose thinking may be sent as texts."""
    new = collections.Counter(map(key_of_new, new))
    out = []
    for item in reversed(items):
        key = key_of_new(item)
        if not new[key] and item[1] == "text":
            key = (item[0], "thinking", item[2])
        if new[key]:
            new[key] -= 1
        else:
            out.append(item)
    return out[::-1]


def options_for(form, path):
    """Returns options that convert a compacted session from its last compaction on, as its client resumes it."""
    with open(path, "rb") as file:
        is_compacted = form in COMPACTED and COMPACTED[form] in file.read()
    return ["--from-last-compaction"] if is_compacted else []
