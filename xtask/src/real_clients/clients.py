"""The clients, one class each: package, place of sessions, commands that resume a session.

A client with versions is listed once for each of them in `CLIENTS`. A new client is a new class and a new row; if it
speaks another API, also a row of `mock.APIS`.
"""

import glob
import json
import os
import re
import shutil
import uuid

import responses_api

API = "http://127.0.0.1:8377"
PROJECT = "/home/user/project"
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NODE = ("node", "24.21.0")


class Client:
    """A pinned client. `home` is the folder that is /home/user inside the namespace."""

    needs = ()  # packages that the client runs on: (npm name, version)
    environment = ()
    # Kinds of differences, as `history.kinds` names them, that a request of the client cannot show.
    unseen = ()
    # Whether a request has the new prompt. A client that only resumes the last turn sends none.
    sends_prompt = True

    def __init__(self, name, version):
        self.name, self.version = name, version

    def packages(self):
        """Returns what to install: (folder, installer, package, version)."""
        raise NotImplementedError

    def place(self, home, path):
        """Copies a session to the folder of the client, and returns its id."""
        raise NotImplementedError

    def file(self, home, session):
        """Returns the session's file, which the client appends to."""
        raise NotImplementedError

    def resume(self, session, prompt):
        """Returns the command that resumes a session."""
        raise NotImplementedError

    def go_on_with_newest(self, prompt):
        """Returns the command that resumes the newest session in the list of the client."""
        raise NotImplementedError

    def list_command(self):
        """Returns the command that prints the client's list of sessions; None if it has none."""
        return None

    def is_listed(self, session, words):
        """Returns whether a session is in the output of `list_command`."""
        raise NotImplementedError

    def is_injected(self, text):
        """Returns whether the client adds this text to every request."""
        return False

    def is_own_prompt(self, text):
        """Returns whether the client asks this by itself before the new prompt, such as for a summary."""
        return False

    def folder_of(self, path):
        """Returns the folder in which a session goes on. It is made inside the namespace."""
        return PROJECT

    def unwrapped(self, text):
        """Returns a text of the session without the words that the client puts around it."""
        return text


class ClaudeCode(Client):
    format = "claude-code"
    environment = (
        f"ANTHROPIC_BASE_URL={API}",
        "ANTHROPIC_API_KEY=dummy",
        "DISABLE_TELEMETRY=1",
        "DISABLE_ERROR_REPORTING=1",
        "DISABLE_AUTOUPDATER=1",
        "DISABLE_BUG_COMMAND=1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
    )

    def packages(self):
        return [("node", "npm", *NODE), (self.folder(), "npm", "@anthropic-ai/claude-code", self.version)]

    def folder(self):
        return f"claude-code-{self.version}"

    def command(self):
        modules = f"/mnt/clients/{self.folder()}/node_modules/@anthropic-ai"
        if self.version.startswith("2.0."):  # a script; newer packages bring a program for each platform
            return ["node", f"{modules}/claude-code/cli.js"]
        return [f"{modules}/claude-code-{platform()}/claude"]

    def place(self, home, path):
        stem = os.path.basename(path).removesuffix(".jsonl")
        session = stem if UUID.fullmatch(stem) else str(uuid.uuid5(uuid.NAMESPACE_URL, stem))
        target = self.file(home, session)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
        beside = path.removesuffix(".jsonl")
        if beside != path and os.path.isdir(beside):
            shutil.copytree(beside, target.removesuffix(".jsonl"))
        return session

    def file(self, home, session):
        return f"{home}/.claude/projects/-home-user-project/{session}.jsonl"

    def start(self, prompt, *more):
        return [*self.command(), "-p", prompt, "--output-format", "json", "--dangerously-skip-permissions", *more]

    def resume(self, session, prompt):
        return self.start(prompt, "--resume", session)

    def go_on_with_newest(self, prompt):
        return self.start(prompt, "--continue")

    def is_injected(self, text):
        return text.lstrip().startswith("<system-reminder>")


class Clido(Client):
    """clido is in no package registry: `--clido PATH` names a program built from its source.

    Without it, `clido_rules` computes the history by the loading rules, and writes turns as clido does.
    """

    format = "clido"
    environment = ("ANTHROPIC_API_KEY=dummy", "CLIDO_PERMISSION_MODE=accept-all")
    sends_prompt = False

    def packages(self):
        return [("clido", "program", "clido", self.version)]

    def place(self, home, path):
        session = os.path.basename(path).removesuffix(".jsonl")
        target = self.file(home, session)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
        config = f"{home}/.config/clido/config.toml"
        os.makedirs(os.path.dirname(config), exist_ok=True)
        with open(config, "w", encoding="utf-8") as file:
            file.write(
                'default_profile = "default"\n[profile.default]\nprovider = "anthropic"\n'
                f'model = "claude-sonnet-4-5"\napi_key_env = "ANTHROPIC_API_KEY"\nbase_url = "{API}"\n'
            )
        return session

    def file(self, home, session):
        return f"{home}/.local/share/clido/sessions/_home_user_project/{session}.jsonl"

    def resume(self, session, prompt):
        return ["/mnt/clients/clido/clido", "-p", prompt, "--resume", session]

    def go_on_with_newest(self, prompt):
        return ["/mnt/clients/clido/clido", "-p", prompt, "--continue"]


class Pi(Client):
    """pi sends the signatures of thinking only with the provider, the API and the model of the last response, so these
    are defined with the address of the mock."""

    format = "pi"
    environment = ("PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1")
    # What pi puts around the summary of a compaction or of a branch.
    SUMMARY = re.compile(r"The (?:conversation history before|following is a summary)[^<]*<summary>\n(.*?)\n?</summary>", re.S)

    def packages(self):
        return [("node", "npm", *NODE), ("pi", "npm", "@earendil-works/pi-coding-agent", self.version)]

    def place(self, home, path):
        head, last = {}, {}
        for line in read_objects(path):
            message = line.get("message") or {}
            if line.get("type") == "session":
                head = head or line
            elif message.get("role") == "assistant" and message.get("api") == "anthropic-messages":
                last = message
        session = str(head.get("id"))
        folder = re.sub(r"[/\\:]", "-", re.sub(r"^[/\\]", "", head.get("cwd") or PROJECT))
        target = f"{home}/.pi/agent/sessions/--{folder}--/{session}.jsonl"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
        name, provider = last.get("model", "claude-sonnet-4-5"), last.get("provider", "anthropic")
        model = {
            "id": name,
            "name": name,
            "reasoning": True,
            "input": ["text", "image"],
            "contextWindow": 200000,
            "maxTokens": 8000,
            "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
        }
        settings = {"baseUrl": API, "apiKey": "dummy", "api": "anthropic-messages", "models": [model]}
        with open(f"{home}/.pi/agent/models.json", "w", encoding="utf-8") as file:
            json.dump({"providers": {provider: settings}}, file)
        with open(f"{home}/.pi/agent/settings.json", "w", encoding="utf-8") as file:
            json.dump({"defaultProvider": provider, "defaultModel": name}, file)
        return session

    def file(self, home, session):
        return glob.glob(f"{home}/.pi/agent/sessions/*/{glob.escape(session)}.jsonl")[0]

    def start(self, prompt, *more):
        program = "/mnt/clients/pi/node_modules/@earendil-works/pi-coding-agent/dist/cli.js"
        return ["node", program, "--offline", *more, "-p", prompt]

    def resume(self, session, prompt):
        return self.start(prompt, "--session", session)

    def go_on_with_newest(self, prompt):
        return self.start(prompt, "--continue")

    def folder_of(self, path):
        head = next((line for line in read_objects(path) if line.get("type") == "session"), {})
        # A folder of Windows has a relative path here.
        return os.path.join(PROJECT, head.get("cwd") or PROJECT)

    def unwrapped(self, text):
        found = self.SUMMARY.fullmatch(text)
        # pi gives a result that is an image alone these words.
        return found.group(1) if found else "" if text == "(see attached image)" else text


class OpenCode(Client):
    """OpenCode keeps sessions in a database: a session is imported before a run, and exported after it.

    It sends the signatures of thinking only with the provider and the model of the response, so that the last model of
    the session is the one that goes on, with the address of the mock.
    """

    format = "opencode"
    environment = ("OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1")
    PROGRAM = "/mnt/clients/opencode/node_modules/.bin/opencode"
    EXPORT = "/home/user/.export.json"
    # An import that failed half-way must not count as a session. An export to a pipe ends after 64 KiB.
    RUN = f"""[ -e {EXPORT} ] || {PROGRAM} import /home/user/.session.json || exit 9
{PROGRAM} run --model "$1" --auto -s "$2" "$3"; status=$?
{PROGRAM} export "$2" > /home/user/.export.txt 2>/dev/null
sed -n '/^{{/,$p' /home/user/.export.txt > {EXPORT}
exit $status"""

    def packages(self):
        return [("node", "npm", *NODE), ("opencode", "npm", "opencode-ai", self.version)]

    def place(self, home, path):
        with open(path, encoding="utf-8-sig") as file:
            document = json.load(file)
        infos = [message.get("info") or {} for message in document.get("messages") or []]
        models = [info.get("modelID") for info in infos if info.get("providerID") == "anthropic"]
        name = next((model for model in reversed(models) if model), "claude-sonnet-4-5")
        shutil.copyfile(path, f"{home}/.session.json")
        options = {
            "name": name,
            "reasoning": True,
            "attachment": True,
            "tool_call": True,
            "limit": {"context": 200000, "output": 8000},
            "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
        }
        provider = {"options": {"apiKey": "dummy", "baseURL": f"{API}/v1"}, "models": {name: options}}
        model = f"anthropic/{name}"
        settings = {"model": model, "small_model": model, "autoupdate": False, "share": "disabled", "permission": "allow"}
        os.makedirs(f"{home}/.config/opencode")
        with open(f"{home}/.config/opencode/opencode.json", "w", encoding="utf-8") as file:
            json.dump({**settings, "provider": {"anthropic": provider}}, file)
        # Trips run at the same time, so the model is a part of the session's name.
        return f"{model} {document['info']['id']}"

    def file(self, home, session):
        return f"{home}/.export.json"

    def resume(self, session, prompt):
        return ["/bin/sh", "-c", self.RUN, "opencode", *session.split(" "), prompt]

    def list_command(self):
        return [self.PROGRAM, "session", "list"]

    def is_listed(self, session, words):
        return session.split(" ")[1] in words


class Codex(Client):
    """Codex resumes a session only with the provider that the session names, so this one is defined with the address of the
    mock. Its request has no flag for a failed call."""

    format = "codex"
    environment = ("MOCK_KEY=dummy", "CODEX_HOME=/home/user/.codex")
    unseen = ("error flag",)
    CONFIG = f"""model = "gpt-5.5"
model_provider = PROVIDER
model_reasoning_summary = "auto"
check_for_update_on_startup = false
openai_base_url = "{API}/v1"
[analytics]
enabled = false
"""
    # The provider `openai` is built in, and no other can have its name.
    PROVIDER = f"""[model_providers.PROVIDER]
name = "mock"
base_url = "{API}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""
    INJECTED = (
        "<environment_context",
        "<permissions",
        "<user_instructions",
        "# AGENTS.md",
        "<skills_instructions",
        "<model_switch",
        "<collaboration_mode",
        "<personality",
        "<apps_instr",
        "<multi_agent",
        "<token_budget",
        "<tools>",
    )
    # With a model of a newer family, Codex compacts before it asks the new prompt.
    OWN_PROMPTS = ("You are performing a CONTEXT CHECKPOINT COMPACTION", responses_api.SUMMARIZE)

    def packages(self):
        return [("codex", "npm", "@openai/codex", self.version)]

    def command(self):
        # npm brings a program for each platform.
        found = "/mnt/clients/codex/node_modules/@openai/codex*/vendor/$(uname -m)*linux*/*/codex"
        return ["/bin/sh", "-c", f'exec "$(ls -d {found} | head -1)" "$@"', "codex"]

    def place(self, home, path):
        meta = next((line.get("payload") for line in read_objects(path) if line.get("type") == "session_meta"), None)
        meta = meta if isinstance(meta, dict) else {}
        provider = str(meta.get("model_provider") or "mock")
        os.makedirs(f"{home}/.codex")
        with open(f"{home}/.codex/auth.json", "w", encoding="utf-8") as file:
            json.dump({"OPENAI_API_KEY": "dummy"}, file)
        config = self.CONFIG + (self.PROVIDER if provider != "openai" else "")
        with open(f"{home}/.codex/config.toml", "w", encoding="utf-8") as file:
            file.write(config.replace("PROVIDER", json.dumps(provider)))
        self.copy(home, path, str(meta.get("id")))
        # A fork begins with lines of another file.
        base = (meta.get("history_base") or {}).get("thread_id")
        for source in glob.glob(f"{glob.escape(os.path.dirname(path))}/*{base}.jsonl") if base else []:
            self.copy(home, source, str(base))
        return str(meta.get("id"))

    def copy(self, home, path, session):
        name = os.path.basename(path)
        if not name.startswith("rollout-"):
            name = f"rollout-2026-01-01T00-00-00-{session}.jsonl"
        folder = f"{home}/.codex/sessions/2026/01/01"
        os.makedirs(folder, exist_ok=True)
        shutil.copyfile(path, f"{folder}/{name}")

    def file(self, home, session):
        found = glob.glob(f"{home}/.codex/sessions/2026/01/01/*{glob.escape(session)}.jsonl")
        return (found or glob.glob(f"{home}/.codex/sessions/2026/01/01/*"))[0]

    def start(self, *more):
        return [*self.command(), "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", *more]

    def resume(self, session, prompt):
        return self.start("resume", session, prompt)

    def go_on_with_newest(self, prompt):
        return self.start("resume", "--last", prompt)

    def list_command(self):
        return ["python3", "/mnt/kit/codex_list.py", *self.command()]

    def is_listed(self, session, words):
        return session in words

    def is_injected(self, text):
        return text.lstrip().startswith(self.INJECTED)

    def is_own_prompt(self, text):
        return text.startswith(self.OWN_PROMPTS)


class Copilot(Client):
    """Copilot has no list of sessions that prints. Its requests have no flag for a failed call, and no picture of a result."""

    format = "copilot"
    MODEL = "claude-sonnet-4-5"
    environment = (
        "COPILOT_OFFLINE=true",
        "COPILOT_PROVIDER_TYPE=anthropic",
        f"COPILOT_PROVIDER_BASE_URL={API}",
        "COPILOT_PROVIDER_API_KEY=dummy",
        f"COPILOT_MODEL={MODEL}",
        "COPILOT_AUTO_UPDATE=false",
    )
    unseen = ("error flag",)
    INJECTED = re.compile(r"\s*<(?:system_reminder|system_notification|reminder|todo_status)>")
    # What Copilot puts around the summary of a compaction, and before each of its prompts.
    SUMMARY = re.compile(r"Some of the conversation history has been summarized.*<summary>\n?(.*?)\n?</summary>", re.S)
    TIME = re.compile(r"<current_datetime>[^<]*</current_datetime>\n\n")

    def packages(self):
        return [("node", "npm", *NODE), ("copilot", "npm", "@github/copilot", self.version)]

    def place(self, home, path):
        start = next((line for line in read_objects(path) if line.get("type") == "session.start"), {})
        session = str((start.get("data") or {}).get("sessionId"))
        target = self.file(home, session)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
        return session

    def file(self, home, session):
        return f"{home}/.copilot/session-state/{session}/events.jsonl"

    def start(self, prompt, *more):
        program = "/mnt/clients/copilot/node_modules/.bin/copilot"
        return [program, "--allow-all-tools", "--allow-all-paths", "--model", self.MODEL, *more, "-p", prompt]

    def resume(self, session, prompt):
        return self.start(prompt, f"--resume={session}")

    def go_on_with_newest(self, prompt):
        return self.start(prompt, "--continue")

    def is_injected(self, text):
        return bool(self.INJECTED.match(text)) or text == "Attached image"

    def unwrapped(self, text):
        found = self.SUMMARY.fullmatch(text)
        return found.group(1) if found else self.TIME.sub("", text)


class Qwen(Client):
    """Qwen Code over the messages API, which shows the signatures of thinking and the flags of errors. It goes on with the
    model of the last response, because Claude Code does not send thinking of another model than that of its last one."""

    format = "qwen"
    environment = (
        f"ANTHROPIC_BASE_URL={API}",
        "ANTHROPIC_API_KEY=dummy",
    )
    SETTINGS = {
        "security": {"auth": {"selectedType": "anthropic"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "telemetry": {"enabled": False},
    }
    INJECTED = re.compile(r"\s*(This is the Qwen Code\.|<system-reminder>|# auto memory|Got it\. Thanks for the context)")

    def packages(self):
        return [("node", "npm", *NODE), ("qwen", "npm", "@qwen-code/qwen-code", self.version)]

    def place(self, home, path):
        # The client finds a session by the folder and the id in its first line.
        first = next((line for line in read_objects(path) if line.get("sessionId")), {})
        session = str(first.get("sessionId"))
        folder = re.sub("[^a-zA-Z0-9]", "-", self.folder_of(path))
        target = f"{home}/.qwen/projects/{folder}/chats/{session}.jsonl"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
        models = [line.get("model") for line in read_objects(path) if line.get("type") == "assistant"]
        model = {"name": next((model for model in reversed(models) if model), "claude-sonnet-4-5")}
        with open(f"{home}/.qwen/settings.json", "w", encoding="utf-8") as file:
            json.dump({**self.SETTINGS, "model": model}, file)
        return session

    def file(self, home, session):
        return glob.glob(f"{home}/.qwen/projects/*/chats/{glob.escape(session)}.jsonl")[0]

    def start(self, prompt, *more):
        program = "/mnt/clients/qwen/node_modules/@qwen-code/qwen-code/cli.js"
        return ["node", program, "--auth-type", "anthropic", "--yolo", *more, prompt]

    def resume(self, session, prompt):
        return self.start(prompt, "--resume", session)

    def go_on_with_newest(self, prompt):
        return self.start(prompt, "--continue")

    def is_injected(self, text):
        return bool(self.INJECTED.match(text))

    def folder_of(self, path):
        first = next((line for line in read_objects(path) if line.get("sessionId")), {})
        # A folder of Windows has a relative path here.
        return os.path.join(PROJECT, first.get("cwd") or PROJECT)


class Gemini(Client):
    """Gemini CLI over Google's API. It sends no thoughts of earlier turns, and deletes old sessions unless told not to."""

    format = "gemini"
    environment = (f"GOOGLE_GEMINI_BASE_URL={API}", "GEMINI_API_KEY=dummy", "GEMINI_CLI_TRUST_WORKSPACE=true")
    SETTINGS = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    # The answer that the client makes up for results at the end of a session.
    INTERRUPTED = "[The previous response was interrupted before it completed.]"

    def packages(self):
        return [("node", "npm", *NODE), ("gemini", "npm", "@google/gemini-cli", self.version)]

    def place(self, home, path):
        head = next((line for line in read_objects(path) if line.get("sessionId")), {})
        session = str(head.get("sessionId"))
        folder = f"{home}/.gemini/tmp/project"
        os.makedirs(f"{folder}/chats")
        with open(f"{folder}/.project_root", "w", encoding="utf-8") as file:
            file.write(PROJECT)
        shutil.copyfile(path, f"{folder}/chats/session-{session}.jsonl")
        with open(f"{home}/.gemini/settings.json", "w", encoding="utf-8") as file:
            json.dump(self.SETTINGS, file)
        return session

    def file(self, home, session):
        return f"{home}/.gemini/tmp/project/chats/session-{session}.jsonl"

    def start(self, *more):
        program = "/mnt/clients/gemini/node_modules/@google/gemini-cli/bundle/gemini.js"
        return ["node", program, "-m", "gemini-2.5-pro", "--skip-trust", "--yolo", *more]

    def resume(self, session, prompt):
        return self.start("--resume", session, "-p", prompt)

    def go_on_with_newest(self, prompt):
        return self.start("--resume", "latest", "-p", prompt)

    def list_command(self):
        # The list is on the stream for errors.
        return ["/bin/sh", "-c", 'exec "$@" 2>&1', "gemini", *self.start("--list-sessions")]

    def is_listed(self, session, words):
        return session in words

    def is_injected(self, text):
        return text.lstrip().startswith("<session_context>") or text == self.INTERRUPTED


def read_objects(path):
    """Yields the lines of a file that are objects."""
    with open(path, "rb") as file:
        for line in file:
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def platform():
    """Returns the name that npm packages with programs give this machine."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    return f"linux-{machine}"


CLIENTS = {
    "claude-code": ClaudeCode("claude-code", "2.1.330"),
    "claude-code-old": ClaudeCode("claude-code-old", "2.0.77"),
    "clido": Clido("clido", "1.0.15"),
    "pi": Pi("pi", "0.87.1"),
    "codex": Codex("codex", "0.169.0"),
    "copilot": Copilot("copilot", "1.0.102"),
    "qwen": Qwen("qwen", "0.24.4"),
    "opencode": OpenCode("opencode", "1.18.33"),
    "gemini": Gemini("gemini", "0.61.0"),
}
