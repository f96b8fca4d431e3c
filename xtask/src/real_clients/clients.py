"""The clients, one class each: what is installed, where a session goes, the commands that go on with it.

A client with versions is listed once for each of them in `CLIENTS`. A new client is a new class and a new row; if it
speaks another API, also a row of `mock.APIS`.
"""

import os
import re
import shutil
import uuid

API = "http://127.0.0.1:8377"
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NODE = ("node", "24.21.0")


class Client:
    """A pinned client. `home` is the folder that is /home/user inside the namespace."""

    needs = ()  # packages that the client runs on: (npm name, version)
    environment = ()
    # Whether a request has the new prompt. A client that only goes on with the last turn sends none.
    sends_prompt = True

    def __init__(self, name, version):
        self.name, self.version = name, version

    def packages(self):
        """Returns what to install: (folder, installer, package, version)."""
        raise NotImplementedError

    def place(self, home, path):
        """Puts a session where the client looks for it, and returns its id."""
        raise NotImplementedError

    def file(self, home, session):
        """Returns the session's file, which the client appends to."""
        raise NotImplementedError

    def resume(self, session, prompt):
        """Returns the command that goes on with a session."""
        raise NotImplementedError

    def go_on_with_newest(self, prompt):
        """Returns the command that goes on with the newest session that the client lists."""
        raise NotImplementedError

    def is_injected(self, text):
        """Returns whether the client puts this text into every request by itself."""
        return False


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

    Without it, `clido_rules` stands in: the history that the loading rules give, and turns as clido writes them.
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


def platform():
    """Returns the name that npm packages with programs give this machine."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    return f"linux-{machine}"


CLIENTS = {
    "claude-code": ClaudeCode("claude-code", "2.1.330"),
    "claude-code-old": ClaudeCode("claude-code-old", "2.0.77"),
    "clido": Clido("clido", "1.0.15"),
}
