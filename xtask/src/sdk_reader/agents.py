"""Converts transcripts with sub-agents to other formats and back without a carry. The SDK must list them."""

import shutil
import uuid
from typing import NamedTuple

import claude_agent_sdk as sdk

import accounts
import words
from convert import Project, convert, counts, fail, fresh


class Said(NamedTuple):
    tool_use: str | None
    items: list


FORMATS = ("clido", "sdk-stream", "sdk-stream:wire")


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
        compare(path, form, was, now, accounts.losses(forth + back))


def compare(path, form, was, now, losses):
    # A sub-agent without messages is not a session. A stream names sub-agents by their tool uses.
    by_tool_use = form != "clido"
    said = [(key(agent, it, by_tool_use), it.items) for agent, it in was.items() if it.items]
    was = {agent: items for agent, items in said if agent}
    unlinked = [items for agent, items in said if not agent]
    now = {key(agent, it, by_tool_use): it.items for agent, it in now.items()}
    for agent in sorted(set(now) - set(was)):
        # We find more tool uses than the SDK. A sub-agent that lost its tool use must be reported.
        of = next((it for it in unlinked if is_same(accounts.compare(it, now[agent], losses))), None)
        if of is None:
            fail(path, f"sub-agent {agent}, back from {form}: is none of those that were")
            continue
        unlinked.remove(of)
        counts[f"sub-agents back from {form}: the same, and linked"] += 1
    counts[f"sub-agents back from {form}: of an unknown tool use"] += len(unlinked)
    for agent in sorted(was):
        verdict = accounts.compare(was[agent], now[agent], losses) if agent in now else "missing"
        if is_same(verdict):
            counts[f"sub-agents back from {form}: {verdict}"] += 1
        else:
            fail(path, f"sub-agent {agent}, back from {form}: {verdict}")


def is_same(verdict):
    return verdict.startswith("the same")


def key(agent, said, by_tool_use):
    return said.tool_use if by_tool_use else agent


def is_id(text):
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def said(project, session):
    """Returns the content of each sub-agent of a session by its id, as the SDK shows it."""
    directory, agents = str(project.path), {}
    for agent in sdk.list_subagents(session, directory):
        messages = sdk.get_subagent_messages(session, agent, directory)
        tool_use = messages[0].parent_tool_use_id if messages else None
        agents[agent] = Said(tool_use, words.of_messages(messages))
    return agents
