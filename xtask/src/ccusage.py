"""Counts the same sessions with ccusage and with `convert usage`, and explains each difference.

usage: ccusage.py CONVERT CCUSAGE SCRATCH FOLDER...

The sessions of the folders are linked into the layout of Claude Code below SCRATCH. A third count,
by this script, reads each line: it knows which responses only one of both tools counts, and why. A
difference that these responses do not explain to the token is a failure.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# Members that ccusage refuses if they are null.
REFUSED_NULLS = "id cwd model speed costUSD version sessionId requestId isApiErrorMessage " \
    "cache_read_input_tokens cache_creation_input_tokens"
NULL = re.compile(r'"(%s)":null' % REFUSED_NULLS.replace(" ", "|"))
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")
KINDS = ["inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens"]
OURS = ["input_tokens", "output_tokens", "cache_write_tokens", "cache_read_tokens"]
MEMBERS = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
LONG_CONTEXT = 200_000

REASONS = {
    "mentioned": "the session of a parent mentions how a response of its sub-agent begins; the sub-agent "
    "has no file, so the counts are preliminary. ccusage counts them by day, and not by session; `usage` "
    "prints them apart",
    "blank": 'ccusage reads only lines with the bytes "usage":{, without a blank after the colon',
    "null": "ccusage leaves out lines in which a member such as requestId is null",
    "time": "ccusage leaves out lines whose time is absent, or has other than no or three decimals",
    "no id": "ccusage leaves out lines with empty ids",
}


def layout(folders, projects):
    """Links the sessions of the folders into the layout of Claude Code."""
    for folder in folders:
        for file in sorted(pathlib.Path(folder).rglob("*.jsonl")):
            if not file.is_file():
                continue
            parts = [pathlib.Path(folder).name, *file.relative_to(folder).parts]
            at = parts.index("subagents") - 1 if "subagents" in parts[2:] else len(parts) - 1
            target = projects.joinpath("-".join(parts[:at]), *parts[at:])
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                sys.exit(f"two files would be {target.name} of one project: {file}")
            try:
                os.link(file, target)
            except OSError:
                shutil.copyfile(file, target)


def session_of(file, projects):
    """Returns the id of a file's session: of its lines, or its name. A sub-agent belongs to the session
    whose folder it is in."""
    parts = file.relative_to(projects).parts
    main = file if len(parts) == 2 else projects.joinpath(*parts[:2]).with_suffix(".jsonl")
    if not main.exists():
        return parts[1]
    with main.open(errors="replace") as lines:
        for line in lines:
            found = re.search(r'"sessionId": ?"([^"]+)"', line)
            if found:
                return found.group(1)
    return main.stem


def refused(line, record, message):
    """Returns why ccusage leaves out a line; `None` if it reads it."""
    if '"usage":{' not in line:
        return "blank"
    if NULL.search(line):
        return "null"
    if not TIME.fullmatch(record.get("timestamp") or ""):
        return "time"
    if "" in (record.get("sessionId"), record.get("requestId"), message.get("id"), message.get("model")):
        return "no id"
    return None


def responses(projects):
    """Reads all lines. Returns the responses of transcripts and the mentioned ones by key: the places
    in which they are."""
    found, mentioned = collections.defaultdict(list), collections.defaultdict(list)
    for file in sorted(projects.rglob("*.jsonl")):
        lines = file.read_bytes().decode(errors="replace").split("\n")
        session, day = session_of(file, projects), "unknown"
        for line in lines:
            if '"usage"' not in line and '"timestamp"' not in line:
                continue
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if not isinstance(record, dict):
                continue
            # A line without a time has the time of the line before it.
            day = (record.get("timestamp") or day)[:10]
            is_mentioned = record.get("type") == "progress"
            inner = (record.get("data") or {}).get("message") if is_mentioned else record
            if not isinstance(inner, dict) or not isinstance(inner.get("message"), dict):
                continue
            message = inner["message"]
            usage = message.get("usage")
            if not isinstance(usage, dict):
                continue
            if message.get("id"):
                key = (message["id"], inner.get("requestId"))
            else:
                key = (record.get("uuid") or session, None)
            tokens = [usage.get(member) or 0 for member in MEMBERS]
            place = {
                "tokens": tokens,
                "day": day,
                "model": message.get("model") or "unknown",
                "session": session,
                "refused": refused(line, inner if is_mentioned else record, message),
            }
            (mentioned if is_mentioned else found)[key].append(place)
    ids = {key[0] for key in found}
    return found, {key: it for key, it in mentioned.items() if key[0] not in ids}


def largest(places):
    return max(places, key=lambda place: sum(place["tokens"]))


def expected(projects):
    """Returns the responses that only one of both tools counts: tuples of a reason, the sign of
    "ccusage minus usage", and the response."""
    found, mentioned = responses(projects)
    only, shared = [], set()
    for places in found.values():
        read = [place for place in places if not place["refused"]]
        sessions = {place["session"] for place in places}
        if not read:
            only.append((places[0]["refused"], -1, largest(places)))
        if len(sessions) > 1:
            shared.update(sessions)
    for places in mentioned.values():
        read = [place for place in places if not place["refused"]]
        if read:
            only.append(("mentioned", 1, largest(read)))
    return found, only, shared


def ask_ccusage(program, scratch, report):
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    variables = {
        "PATH": os.environ["PATH"], "HOME": str(home), "CLAUDE_CONFIG_DIR": str(scratch / "config"),
        "TZ": "UTC", "LOG_LEVEL": "0",
    }
    command = [program, "claude", report, "--offline", "--json", "-z", "UTC"]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def ask_convert(program, projects, by):
    command = [program, "usage", "--json", "--utc", "--by", by, "--from", "claude-code", projects]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode > 1:
        sys.exit(f"convert usage: status {done.returncode}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return rows[:-1], rows[-1]


def compare(name, ours, theirs, only, group):
    """Compares sums by groups. Returns the unexplained differences."""
    reasons, unexplained, n_equal, n_explained = collections.Counter(), [], 0, 0
    by_group = collections.defaultdict(list)
    for reason, sign, place in only:
        by_group[group(place)].append((reason, sign, place["tokens"]))
    for key in sorted(set(ours) | set(theirs)):
        mine, other = ours.get(key, [0] * 4), theirs.get(key, [0] * 4)
        difference = [b - a for a, b in zip(mine, other)]
        if not any(difference):
            n_equal += 1
            continue
        rest = list(difference)
        for reason, sign, tokens in by_group[key]:
            rest = [a - sign * b for a, b in zip(rest, tokens)]
        if any(rest):
            unexplained.append((key, difference, rest))
        else:
            n_explained += 1
            for reason, _, _ in by_group[key]:
                reasons[reason] += 1
    why = ", ".join(f"{n} responses {reason}" for reason, n in reasons.items())
    print(f"by {name}: {n_equal} equal, {n_explained} explained" + (f" ({why})" if why else "")
          + f", {len(unexplained)} others")
    return unexplained


def main():
    convert, ccusage = sys.argv[1:3]
    scratch = pathlib.Path(sys.argv[3]).absolute()
    projects = scratch / "config" / "projects"
    layout([pathlib.Path(it).absolute() for it in sys.argv[4:]], projects)
    found, only, shared = expected(projects)
    n_unexplained = 0

    daily = ask_ccusage(ccusage, scratch, "daily")
    rows, total = ask_convert(convert, projects, "day,model")
    theirs, costs = {}, {}
    for day in daily["daily"]:
        for row in day["modelBreakdowns"]:
            # A fast response is a model of its own in ccusage.
            key = (day["date"], row["modelName"].removesuffix("-fast"))
            theirs[key] = [a + row[kind] for a, kind in zip(theirs.get(key, [0] * 4), KINDS)]
            costs[key] = costs.get(key, 0) + row["cost"]
    ours = {(row["day"], row["model"]): [row[kind] for kind in OURS] for row in rows}
    our_costs = {(row["day"], row["model"]): row["cost_usd"] for row in rows}
    for what, it in [("usage", [total[kind] for kind in OURS]),
                     ("ccusage", [daily["totals"][kind] for kind in KINDS])]:
        print(f"{what:8}" + "".join(f"{name} {n:,}  " for name, n in
                                    zip(["input", "output", "cache write", "cache read"], it)))
    print(f"responses by message id and request id: {len(found):,}, of `usage` {total['responses']:,}")
    by_day = compare("day and model", ours, theirs, only, lambda it: (it["day"], it["model"]))
    models = lambda table: {
        model: [sum(it) for it in zip(*(row for (_, other), row in table.items() if other == model))]
        for _, model in table
    }
    by_model = compare("model", models(ours), models(theirs), only, lambda it: it["model"])

    sessions = ask_ccusage(ccusage, scratch, "session")
    rows, _ = ask_convert(convert, projects, "session")
    ours = {}
    for row in rows:
        ours[row["session"]] = [a + row[kind] for a, kind in zip(ours.get(row["session"], [0] * 4), OURS)]
    names = {}
    for file in sorted(projects.rglob("*.jsonl")):
        parts = file.relative_to(projects).parts
        name = file.stem if len(parts) == 2 else parts[1]
        names.setdefault((parts[0], name), session_of(file, projects))
    theirs = {}
    for row in sessions["sessions"]:
        key = names.get((row["projectPath"].split("/")[0], row["sessionId"]), row["sessionId"])
        theirs[key] = [a + row[kind] for a, kind in zip(theirs.get(key, [0] * 4), KINDS)]
    # ccusage counts mentioned responses in its reports by day, and not in those by session.
    found_only = [it for it in only if it[0] != "mentioned"]
    by_session = compare("session", ours, theirs, found_only, lambda it: it["session"])
    # A response that several sessions have counts for one of them, and both tools choose.
    moved = [it for it in by_session if it[0] in shared]
    if moved and not any(sum(it) for it in zip(*(rest for _, _, rest in moved))):
        print(f"  {len(moved)} of the others share responses, each of which counts for one of them; the sum is equal")
        by_session = [it for it in by_session if it[0] not in shared]

    for reason in sorted({reason for reason, _, _ in only}):
        places = [place for other, _, place in only if other == reason]
        sums = [sum(it) for it in zip(*(place["tokens"] for place in places))]
        who = "ccusage" if reason == "mentioned" else "usage"
        print(f"{reason}: {len(places)} responses only in {who}, input {sums[0]:,}, output {sums[1]:,}, "
              f"cache write {sums[2]:,}, cache read {sums[3]:,}: {REASONS[reason]}")
    differs = {(place["day"], place["model"]) for _, _, place in only}
    prices = [key for key in costs if key not in differs and abs(costs[key] - our_costs.get(key, 0)) > 1e-6]
    for key in prices:
        long = [place for places in found.values() for place in [largest(places)]
                if (place["day"], place["model"]) == key and sum(place["tokens"]) - place["tokens"][1] > LONG_CONTEXT]
        print(f"cost of {' '.join(key)}: ccusage ${costs[key]:.2f}, usage ${our_costs.get(key, 0):.2f}; "
              f"{len(long)} responses have more than {LONG_CONTEXT:,} tokens of context"
              + ("" if long else ": unexplained"))
        n_unexplained += not long
    print(f"cost: ccusage ${daily['totals']['totalCost']:,.2f}, usage ${total['cost_usd']:,.2f}")
    for key, difference, rest in by_day + by_model + by_session:
        print(f"unexplained: {key}: ccusage minus usage {difference}, of them unexplained {rest}")
    n_unexplained += len(by_day) + len(by_model) + len(by_session)
    sys.exit(1 if n_unexplained else 0)


main()
