"""Records the answers of clients to sessions with one fault each, or compares them with recorded answers.

A case is a line of JSON: {"case", "place", "client", "version", "verdict", "session"}. `session` is the file. The verdict
is "stops" (the client does not load it, or the API refuses what is sent), "goes on", or "changes" (it goes on, and what
is sent is not what the same file without the fault says). `faults` makes the files, and the tests of format-claude-code
hold `check` against the verdicts.
"""

import concurrent.futures
import json
import os
import tempfile

import faults
import history
from resume import resume


def verdict(kit, client, case):
    """Returns the verdict of a client on a case, and its message."""
    done = run(kit, client, case["session"])
    if not done.is_loaded or done.answered_history is None:
        return "stops", " ".join((done.violations or [done.words])[0].split())[-160:]
    if case["without"]:
        plain = run(kit, client, case["without"])
        missing, added, is_reordered = history.differences(plain.answered_history, done.answered_history)
        if missing or added or is_reordered:
            return "changes", str([*missing, "->", *added])[:300]
    if done.violations:
        return "goes on", f"sent again after: {done.violations[0]}"
    return "goes on", ""


def run(kit, client, session):
    folder = tempfile.mkdtemp(prefix="case-", dir=kit.scratch)
    path = os.path.join(folder, "00000000-0000-4000-8000-000000000000.jsonl")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(session)
    with resume(kit, client, path, strict=True) as done:
        return done


def answers(kit, args, clients):
    """Yields each case with the verdict and the message of its client."""
    pairs = [(client, case) for client in clients if client.format == "claude-code" for case in faults.all_cases(client)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (_, case), (found, words) in zip(pairs, pool.map(lambda pair: verdict(kit, *pair), pairs)):
            yield case, found, words


def record(kit, args, clients):
    """Writes the cases with the answers of the clients to a file, in ASCII.

    A fault that does not stop the client on the sent chain is written for that place only.
    """
    stopping = set()
    with open(args.record_cases, "w", encoding="ascii") as file:
        for case, found, words in answers(kit, args, clients):
            print(f"{found:8} {case['place']:10} {case['case']}: {words}", flush=True)
            if case["place"] == "sent" and found == "stops":
                stopping.add((case["case"], case["version"]))
            if case["place"] == "sent" or found != "goes on" or (case["case"], case["version"]) in stopping:
                del case["without"]
                file.write(json.dumps({**case, "verdict": found}, separators=(",", ":")) + "\n")
    return 0


def hold(kit, args, clients):
    """Prints each case to which its client gives another answer than the recorded one; returns the exit status."""
    with open(args.cases, encoding="utf-8") as file:
        recorded = [json.loads(line) for line in file]
    known = {(case["case"], case["place"], case["version"]): case["verdict"] for case in recorded}
    n_asked = n_wrong = 0
    for case, found, words in answers(kit, args, clients):
        was = known.get((case["case"], case["place"], case["version"]))
        n_asked += was is not None
        if was is not None and was != found:
            n_wrong += 1
            print(f"{case['case']}, {case['place']}: {case['version']}: {found}, not {was}: {words}")
    print(f"{n_asked} cases, {n_wrong} with another answer than the recorded one")
    return 1 if n_wrong or not n_asked else 0
