"""Transcripts of Claude Code with one fault each, in each of three places."""

import json

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
TEXT = {"type": "text", "text": "words"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "notes.txt"}
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
MODEL = "claude-sonnet-4-5"
ABSENT = object()


def without(value, *names):
    return {name: member for name, member in value.items() if name not in names}


class Chain:
    """Lines of a transcript. The parent of each line is the line before it."""

    def __init__(self):
        self.lines, self.parent, self.n = [], None, 0

    def add(self, kind, content=ABSENT, parent=ABSENT, **members):
        """Adds a line. A member `message` replaces the message that is made of the content."""
        self.n += 1
        line = {"parentUuid": self.parent if parent is ABSENT else parent, "type": kind}
        if content is not ABSENT:
            line["message"] = {"role": kind, "content": content}
            if kind == "assistant":
                line["message"] = {"id": f"m{self.n}", "model": MODEL, **line["message"]}
        line |= {"uuid": f"u{self.n}", "timestamp": f"2026-01-01T10:00:{self.n:02}.000Z"}
        line |= members
        line = {name: member for name, member in line.items() if member is not ABSENT}
        self.parent = line.get("uuid", self.parent)
        # Half a surrogate pair cannot be encoded: it stays an escape.
        self.raw(json.dumps(line, ensure_ascii=False, separators=(",", ":")).replace("\ud800", "\\ud800"))
        return line

    def raw(self, text):
        self.lines.append(text)

    def text(self):
        return "".join(line + "\n" for line in self.lines)


def blocks(*lines):
    """Returns a segment of lines. Each is a pair (kind, content)."""

    def segment(chain):
        for kind, content, *members in lines:
            chain.add(kind, content, **(members[0] if members else {}))

    return segment


def user(*content):
    return blocks(("user", list(content)), ("assistant", [TEXT]))


def assistant(*content, model=MODEL):
    def segment(chain):
        chain.add("user", "ask")
        message = {"id": "mx", "role": "assistant", "model": model, "content": list(content)}
        chain.add("assistant", message=message)
        chain.add("user", "next")
        chain.add("assistant", [TEXT])

    return segment


def call(block=CALL, result=RESULT, *more):
    return blocks(("user", "ask"), ("assistant", [block]), ("user", [result, *more]), ("assistant", [TEXT]))


def message(value):
    """Returns a segment in which a line of the user has this message."""

    def segment(chain):
        chain.add("user", "ask")
        chain.add("assistant", [TEXT])
        chain.add("user", message=value)
        chain.add("assistant", [TEXT])

    return segment


def same_uuid(chain):
    line = chain.add("user", "ask")
    chain.add("user", "asked otherwise", uuid=line["uuid"], parent=line["parentUuid"])
    chain.add("assistant", [TEXT])


def own_uuid(chain):
    line = chain.add("user", "ask")
    chain.add("assistant", [TEXT], uuid=line["uuid"])
    chain.add("user", "next")
    chain.add("assistant", [TEXT])


def first_uuid(chain):
    chain.add("user", "ask", uuid="u1")
    chain.add("assistant", [TEXT])


def repeated(chain):
    chain.add("user", "ask")
    chain.raw(chain.lines[-1])
    chain.add("assistant", [TEXT])


def cut(kind, content):
    """Returns a segment whose last line has no parent."""

    def segment(chain):
        chain.add("user", "ask")
        chain.add(kind, content, parent=None)

    return segment


def raw_line(text):
    def segment(chain):
        chain.add("user", "ask")
        chain.raw(text)
        chain.add("assistant", [TEXT])

    return segment


def twice(chain):
    call()(chain)
    call()(chain)


PLAIN = call()
ASKED = blocks(("user", "ask"), ("assistant", [TEXT]))

# The places of a fault: on the chain that the client sends, on an abandoned branch, before the last compaction.
PLACES = ("sent", "left", "compacted")

# The name of a fault, the segment with it, and the segment without it.
FAULTS = [
    ("nothing", PLAIN, PLAIN),
    ("block of an unknown type, user", user(TEXT, {"type": "note", "text": "x"}), user(TEXT)),
    ("block of an unknown type, assistant", assistant(TEXT, {"type": "note", "text": "x"}), assistant(TEXT)),
    ("block of an unknown type, in a result", call(result={**RESULT, "content": [{"type": "note"}]}), PLAIN),
    ("block without a type", user(TEXT, {"text": "x"}), user(TEXT)),
    ("block that is a string", user(TEXT, "x"), user(TEXT)),
    ("block that is a string, assistant", assistant(TEXT, "x"), assistant(TEXT)),
    ("block that is null", user(TEXT, None), user(TEXT)),
    ("member of a text, user", user({**TEXT, "own": 1}), user(TEXT)),
    ("member of a text, assistant", assistant({**TEXT, "own": 1}), assistant(TEXT)),
    ("member of a text in a result", call(result={**RESULT, "content": [{**TEXT, "own": 1}]}), call(result={**RESULT, "content": [TEXT]})),
    ("member of a tool use", call({**CALL, "own": 1}), PLAIN),
    ("member of a result", call(result={**RESULT, "own": 1}), PLAIN),
    ("member of thinking", assistant({**SIGNED, "own": 1}, TEXT), assistant(SIGNED, TEXT)),
    ("image with clido's members", user(TEXT, {**IMAGE, "media_type": "image/png", "base64_data": PIXEL}), user(TEXT, IMAGE)),
    ("image without a source", user(TEXT, {"type": "image"}), user(TEXT)),
    ("image, assistant", assistant(TEXT, IMAGE), assistant(TEXT)),
    ("text that is a number", user(TEXT, {"type": "text", "text": 5}), user(TEXT)),
    ("text that is null, assistant", assistant({"type": "text", "text": None}), assistant(TEXT)),
    ("text that is missing", user(TEXT, {"type": "text"}), user(TEXT)),
    ("text that is empty, user", user(TEXT, {"type": "text", "text": ""}), user(TEXT)),
    ("text that is blank, assistant", assistant({"type": "text", "text": " "}), assistant(TEXT)),
    ("half a surrogate pair", user({"type": "text", "text": "\ud800"}), user(TEXT)),
    ("string that is empty, user", message({"role": "user", "content": ""}), ASKED),
    ("string that is blank, user", message({"role": "user", "content": "  "}), ASKED),
    ("string, assistant", blocks(("user", "ask"), ("assistant", "words")), ASKED),
    ("empty array, user", message({"role": "user", "content": []}), ASKED),
    ("empty array, assistant", assistant(), assistant(TEXT)),
    ("content that is null", message({"role": "user", "content": None}), ASKED),
    ("content that is missing", message({"role": "user"}), ASKED),
    ("content that is a number", message({"role": "user", "content": 5}), ASKED),
    ("content that is an object", message({"role": "user", "content": TEXT}), ASKED),
    ("message that is missing", message(ABSENT), ASKED),
    ("message that is null", message(None), ASKED),
    ("message that is a string", message("words"), ASKED),
    ("line without a uuid", blocks(("user", "ask"), ("assistant", [TEXT]), ("user", "more", {"uuid": ABSENT})), ASKED),
    ("two lines with one uuid", same_uuid, same_uuid),
    ("line that follows itself", own_uuid, own_uuid),
    ("uuid of the first line again", first_uuid, first_uuid),
    ("line that is there twice", repeated, ASKED),
    ("assistant's message without a parent", cut("assistant", [TEXT]), cut("assistant", [TEXT])),
    ("line that is torn", raw_line('{"type":"user","uuid":"x","mess'), ASKED),
    ("line that is a number", raw_line("5"), ASKED),
    ("line of an unknown type", raw_line('{"type":"relocated","relocatedCwd":"/x"}'), ASKED),
    ("tool use without an input", call(without(CALL, "input")), PLAIN),
    ("input that is an array", call({**CALL, "input": []}), PLAIN),
    ("input that is a string", call({**CALL, "input": "ls"}), PLAIN),
    ("input that is null", call({**CALL, "input": None}), PLAIN),
    ("tool use without a name", call(without(CALL, "name")), PLAIN),
    ("tool's name that is no word", call({**CALL, "name": "run it"}), PLAIN),
    ("tool's name of 129 letters", call({**CALL, "name": "x" * 129}), PLAIN),
    ("id that is no word", call({**CALL, "id": "a b"}, {**RESULT, "tool_use_id": "a b"}), PLAIN),
    ("tool use without an id", call(without(CALL, "id")), PLAIN),
    ("tool use, user", user(TEXT, CALL), user(TEXT)),
    ("text before a result", blocks(("user", "ask"), ("assistant", [CALL]), ("user", [TEXT, RESULT]), ("assistant", [TEXT])), PLAIN),
    ("text after a result", call(CALL, RESULT, TEXT), call(CALL, RESULT, TEXT)),
    ("result that is a number", call(result={**RESULT, "content": 5}), PLAIN),
    ("result that is an object", call(result={**RESULT, "content": TEXT}), PLAIN),
    ("result that is null", call(result={**RESULT, "content": None}), call(result={**RESULT, "content": ""})),
    ("result without content", call(result=without(RESULT, "content")), call(result={**RESULT, "content": ""})),
    ("result with an image", call(result={**RESULT, "content": [IMAGE]}), call(result={**RESULT, "content": [IMAGE]})),
    ("string in a result", call(result={**RESULT, "content": [TEXT, "x"]}), call(result={**RESULT, "content": [TEXT]})),
    ("null in a result", call(result={**RESULT, "content": [TEXT, None]}), call(result={**RESULT, "content": [TEXT]})),
    ("text that is a number, in a result", call(result={**RESULT, "content": [TEXT, {"type": "text", "text": 5}]}), call(result={**RESULT, "content": [TEXT]})),
    ("text that is empty, in a result", call(result={**RESULT, "content": [{"type": "text", "text": ""}]}), call(result={**RESULT, "content": ""})),
    ("tool use in a result", call(result={**RESULT, "content": [CALL]}), PLAIN),
    ("empty array as result", call(result={**RESULT, "content": []}), call(result=without(RESULT, "content"))),
    ("error flag that is null", call(result={**RESULT, "is_error": None}), PLAIN),
    ("result without an id", call(result=without(RESULT, "tool_use_id")), PLAIN),
    ("call without a result", blocks(("user", "ask"), ("assistant", [CALL]), ("user", "more"), ("assistant", [TEXT])), call(CALL, RESULT, {"type": "text", "text": "more"})),
    ("result without a call", blocks(("user", "ask"), ("assistant", [TEXT]), ("user", [RESULT]), ("assistant", [TEXT])), blocks(("user", "ask"), ("assistant", [TEXT]), ("user", "more"), ("assistant", [TEXT]))),
    ("two results for one call", call(CALL, RESULT, RESULT), PLAIN),
    ("two results for one call, two lines", blocks(("user", "ask"), ("assistant", [CALL]), ("user", [RESULT]), ("user", [RESULT]), ("assistant", [TEXT])), PLAIN),
    ("two calls with one id", twice, twice),
    ("result, assistant", assistant(TEXT, RESULT), assistant(TEXT)),
    ("thinking, user", user(TEXT, SIGNED), user(TEXT)),
    ("thinking without a signature", assistant(without(SIGNED, "signature"), TEXT), assistant(TEXT)),
    ("thinking of an unknown model", assistant(SIGNED, TEXT, model="gpt-5"), assistant(SIGNED, TEXT)),
    ("thinking alone", assistant(SIGNED), assistant(TEXT)),
    ("redacted thinking alone", assistant({"type": "redacted_thinking", "data": "eA=="}), assistant(TEXT)),
    ("redacted thinking", assistant({"type": "redacted_thinking", "data": "eA=="}, TEXT), assistant({"type": "redacted_thinking", "data": "eA=="}, TEXT)),
    ("thinking without words", assistant({"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}, TEXT), assistant({"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}, TEXT)),
    ("thinking that is a number", assistant({**SIGNED, "thinking": 5}, TEXT), assistant(TEXT)),
    ("thinking that is missing", assistant(without(SIGNED, "thinking"), TEXT), assistant(TEXT)),
    ("redacted thinking, user", user(TEXT, {"type": "redacted_thinking", "data": "eA=="}), user(TEXT)),
    ("server's tool use without a result", assistant({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}, TEXT), assistant(TEXT)),
]


def session(segment, place):
    """Returns a transcript with a segment at a place."""
    chain = Chain()
    chain.add("user", "the first prompt")
    chain.add("assistant", [TEXT])
    fork = chain.parent
    segment(chain)
    if place == "left":
        chain.parent = fork
    elif place == "compacted":
        last = chain.parent
        chain.parent = None
        chain.add("system", subtype="compact_boundary", content="Conversation compacted", logicalParentUuid=last)
        chain.add("user", "What was said, in short.", isCompactSummary=True)
        chain.add("assistant", [TEXT])
    chain.add("user", "the last prompt")
    chain.add("assistant", [{"type": "text", "text": "the end"}])
    return chain.text()


def whole_files():
    """Yields faults of a whole file."""
    chain = Chain()
    chain.add("assistant", [TEXT])
    chain.add("user", "the last prompt")
    chain.add("assistant", [TEXT])
    yield "assistant's message first", chain.text(), None
    snapshot = {"type": "file-history-snapshot", "messageId": "x", "snapshot": {"messageId": "x", "trackedFileBackups": {}}, "isSnapshotUpdate": False}
    yield "snapshots alone", json.dumps(snapshot, separators=(",", ":")) + "\n", None
    chain = Chain()
    chain.add("user", "aside", isSidechain=True)
    chain.add("assistant", [TEXT], isSidechain=True)
    yield "sidechain alone", chain.text(), None
    chain = Chain()
    chain.add("user", message=ABSENT)
    chain.add("assistant", message=None)
    yield "messages that are missing, alone", chain.text(), None
    chain = Chain()
    chain.add("user", "x", uuid=ABSENT)
    yield "line without a uuid, alone", chain.text(), None
    chain = Chain()
    chain.add("user", "the first prompt")
    chain.add("assistant", [CALL])
    yield "call without a result at the end", chain.text(), None


def all_cases(client):
    for name, with_fault, plain in FAULTS:
        for place in PLACES:
            yield case(client, name, place, session(with_fault, place), session(plain, place))
    for name, text, plain in whole_files():
        yield case(client, name, "sent", text, plain)


def case(client, name, place, text, plain):
    head = {"case": name, "place": place, "client": client.format, "version": client.version, "verdict": ""}
    return {**head, "session": text, "without": plain}
