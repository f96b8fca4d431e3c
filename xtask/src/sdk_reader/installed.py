"""Installs sessions of other formats for Claude Code, then lists, shows, forks and renames them."""

import claude_agent_sdk as sdk

import accounts
import words
from convert import Project, counts, fail


def visible(data):
    """Returns the ids of the messages of a transcript, in the order of the file."""
    return [
        line.get("uuid")
        for line in words.objects(data)[0]
        if line.get("type") in ("user", "assistant")
        and not line.get("isMeta")
        and not line.get("isSidechain")
    ]


def title_of(data):
    """Returns the title that the client shows: the last of each kind, titles by the user first."""
    titles = {}
    for line in words.objects(data)[0]:
        titles[line.get("type")] = line.get("customTitle") or line.get("aiTitle")
    return titles.get("custom-title") or titles.get("ai-title")


def check(n, form, path):
    project = Project(f"project {n}")
    session, why, reports = project.install(path)
    if session is None:
        counts["nothing to install"] += 1
        if "nothing of it shows" not in why and "no message in it" not in why:
            fail(path, why)
        return
    counts[f"{form}: installed"] += 1
    written = project.sessions / f"{session}.jsonl"
    data = written.read_bytes()
    messages = sdk.get_session_messages(session, str(project.path))
    check_shown(form, path, project, session, data, messages)
    if messages:
        check_edits(form, path, project, session, data, messages)
    was, now = words.of_file(path.read_bytes()), words.of_messages(messages)
    hidden = words.aside(path.read_bytes()) | words.aside(data)
    verdict = accounts.compare(was, now, accounts.losses(reports), hidden)
    if verdict.startswith("the same"):
        counts[f"{form}: says {verdict}"] += 1
    else:
        fail(path, f"says something else: {verdict}")
    project.clear()


def check_shown(form, path, project, session, data, messages):
    infos = [info for info in sdk.list_sessions(str(project.path)) if info.session_id == session]
    title = title_of(data)
    if len(infos) == 1:
        counts[f"{form}: listed"] += 1
        if title and infos[0].summary == title:
            counts[f"{form}: listed with its title"] += 1
        elif title:
            fail(path, f"listed as {infos[0].summary!r}, not {title!r}")
    elif any(item[0] == "text" and item[1] == "user" for item in words.of_messages(messages)):
        fail(path, "not listed")
    else:
        counts[f"{form}: not listed for want of a prompt in words"] += 1
    expected = visible(data)
    if [message.uuid for message in messages] == expected:
        counts[f"{form}: every message visible in order"] += 1
        counts["messages"] += len(messages)
    else:
        fail(path, f"{len(messages)} of {len(expected)} messages visible")


def check_edits(form, path, project, session, data, messages):
    try:
        fork = sdk.fork_session(session, str(project.path)).session_id
        copy = sdk.get_session_messages(fork, str(project.path))
        if words.of_messages(copy) == words.of_messages(messages):
            counts[f"{form}: forked"] += 1
        elif len(data.decode().splitlines()) != data.count(b"\n"):
            # The fork of the SDK ends lines at U+2028 and similar characters. The client does not.
            counts[f"{form}: torn by the reader's own fork"] += 1
        else:
            fail(path, "the fork says something else")
        sdk.rename_session(session, "A new title", str(project.path))
        info = sdk.get_session_info(session, str(project.path))
        if info and info.custom_title == "A new title":
            counts[f"{form}: renamed"] += 1
        else:
            fail(path, "not renamed")
    except Exception as error:  # noqa: BLE001  (whatever the reader raises is a finding)
        fail(path, f"{type(error).__name__}: {error}")
