"""A transcript with sub-agents, to another format and back without a carry: the reader lists them."""

import shutil
import uuid

import claude_agent_sdk as sdk

import accounts
import words
from convert import Project, convert, counts, fail, fresh

FORMATS = ("clido",)


def check(n, path):
    folder = path.with_suffix("")
    files = sorted((folder / "subagents").rglob("agent-*.jsonl"))
    if not files or not is_id(path.stem):
        return
    project = Project(f"project {n}")
    shutil.copy(path, project.sessions)
    shutil.copytree(folder, project.sessions / path.stem)
    was = said(project, path.stem)
    project.clear()
    names = {file.stem.removeprefix("agent-") for file in files}
    if set(was) != names:
        fail(path, f"the reader lists the sub-agents {sorted(was)}, not {sorted(names)}")
    for form in FORMATS:
        there = fresh("there")
        _, forth = convert("--to", form, "--carry", "none", path, "-o", f"{there}/")
        to = ("--to", "claude-code", "--carry", "none", there / path.name)
        _, back = convert(*to, "-o", f"{project.sessions}/")
        now = said(project, path.stem)
        project.clear()
        # A sub-agent that says nothing is no session of its own.
        if set(now) != {agent for agent, items in was.items() if items}:
            fail(path, f"back from {form}: sub-agents {sorted(now)}, not {sorted(was)}")
        for agent in set(was) & set(now):
            verdict = accounts.compare(was[agent], now[agent], accounts.losses(forth + back))
            if verdict.startswith("the same"):
                counts[f"sub-agents back from {form}: {verdict}"] += 1
            else:
                fail(path, f"sub-agent {agent}, back from {form}: {verdict}")


def is_id(text):
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def said(project, session):
    """Returns what each sub-agent of a session says, by its id, as the reader shows it."""
    directory = str(project.path)
    return {
        agent: words.of_messages(sdk.get_subagent_messages(session, agent, directory))
        for agent in sdk.list_subagents(session, directory)
    }
