"""Google's API for Gemini: its rules, its answers, and requests as plain blocks. The functions are those of `messages_api`."""

import json
import re


def contents(body):
    """Returns the contents of a request."""
    return [content for content in body.get("contents") or [] if isinstance(content, dict)]


def parts(content):
    return [part for part in content.get("parts") or [] if isinstance(part, dict)]


def violations(body):
    """Returns the rules of the API that a request breaks: each response follows its call, and has the name of its tool."""
    faults, calls = [], {}
    for n, content in enumerate(contents(body)):
        if content.get("role") not in ("user", "model"):
            faults.append(f"contents[{n}].role: valid roles are user and model")
        if not parts(content):
            faults.append(f"contents[{n}].parts: must not be empty")
        for m, part in enumerate(parts(content)):
            where = f"contents[{n}].parts[{m}]"
            call, response = part.get("functionCall"), part.get("functionResponse")
            if call is not None:
                calls[call.get("id")] = call.get("name")
                if not isinstance(call.get("args", {}), dict):
                    faults.append(f"{where}.functionCall.args: must be an object")
            if response is not None:
                if response.get("id") not in calls:
                    faults.append(f"{where}: a response to no call: {response.get('id')}")
                elif calls[response.get("id")] != response.get("name"):
                    faults.append(f"{where}: the call has another name than {response.get('name')}")
                if not isinstance(response.get("response"), dict):
                    faults.append(f"{where}.functionResponse.response: must be an object")
    return faults


def turns(body):
    """Returns the messages of a request: role, joined text, and whether there is a result."""
    out = []
    for content in contents(body):
        said = [part for part in parts(content) if not part.get("thought")]
        text = "\n".join(str(part.get("text", "")) for part in said)
        role = "assistant" if content.get("role") == "model" else "user"
        out.append({"role": role, "text": text, "has_result": any("functionResponse" in part for part in said)})
    return out


def tools(body):
    """Returns the names and schemas of the tools that a request offers."""
    declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
    return [(one.get("name", ""), one.get("parametersJsonSchema") or one.get("parameters")) for one in declared]


def message(blocks, seed, body):
    """Returns an answer in the form of the API. Calls have no ids: the client makes them."""
    made = []
    for block in blocks:
        if block["kind"] == "thinking":
            made.append({"text": f"**Thinking**\n{block['text']}", "thought": True})
        elif block["kind"] == "call":
            made.append({"functionCall": {"name": block["name"], "args": block["input"]}, "thoughtSignature": "c2lnbmF0dXJl"})
        else:
            made.append({"text": block["text"]})
    usage = {
        "promptTokenCount": 7,
        "candidatesTokenCount": 9,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 3,
        "totalTokenCount": 18,
    }
    candidate = {"content": {"role": "model", "parts": made}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock", "responseId": seed[:12]}


def events(message):
    """Yields the events of a streamed answer: one for each part, without names."""
    candidate = message["candidates"][0]
    made = candidate["content"]["parts"]
    for n, part in enumerate(made):
        last = {"finishReason": "STOP"} if n == len(made) - 1 else {}
        yield None, {**message, "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0, **last}]}


def id_of(part):
    """Returns the id of a call as the session has it: the client sends its own ids without the name before them."""
    name, call = part.get("name"), part.get("id")
    is_own = isinstance(call, str) and re.fullmatch(re.escape(str(name)) + r"_[0-9]+_[0-9]+", call)
    return f"{name}__{call}" if is_own else call


def result_of(response):
    """Returns a response to a call in the form that `history` compares."""
    value = response.get("response") or {}
    words = value.get("error", value.get("output", value))
    text = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
    return {"kind": "result", "id": id_of(response), "text": text, "images": 0, "is_error": "error" in value}


def history(body):
    """Returns the messages of a request as plain blocks. Pictures behind a response belong to it.

    After a second resume the client sends each result twice, also of its own sessions. The repeated ones are left out.
    """
    out, answered = [], set()
    for content in contents(body):
        blocks, is_repeated = [], False
        for part in parts(content):
            if "functionResponse" in part:
                call = part["functionResponse"].get("id")
                is_repeated = call in answered
                answered.add(call)
            elif "inlineData" not in part:
                is_repeated = False
            if is_repeated:
                continue
            if "functionCall" in part:
                call = part["functionCall"]
                blocks.append({"kind": "call", "id": id_of(call), "name": call.get("name"), "input": call.get("args", {})})
            elif "functionResponse" in part:
                blocks.append(result_of(part["functionResponse"]))
            elif "inlineData" in part:
                data = part["inlineData"]
                if blocks and blocks[-1]["kind"] == "result":
                    blocks[-1]["images"] += 1
                else:
                    blocks.append({"kind": "image", "media_type": data.get("mimeType"), "data": data.get("data")})
            elif part.get("thought"):
                blocks.append({"kind": "thinking", "text": part.get("text"), "signature": part.get("thoughtSignature", "")})
            elif "text" in part:
                blocks.append({"kind": "text", "text": part["text"]})
            else:
                blocks.append({"kind": "other", "value": part})
        out.append({"role": "assistant" if content.get("role") == "model" else "user", "blocks": blocks})
    return out
