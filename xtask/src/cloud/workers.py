"""Workers that read objects."""

import json
import pathlib

from stage import JOURNAL, expect, files


def workers(stage):
    """Workers read objects, and write what a run does; a store that is not there is a receipt."""
    out = pathlib.Path("worked").absolute()
    plan = stage.run("plan", "s3://logs/in/", "--to", "clido", "-o", str(out), "-q").stdout
    pathlib.Path("plan").write_text(plan)
    answers = stage.receipts("plan")
    expect(len(answers) == plan.count("\n"), f"{len(answers)} receipts")
    stage.run("merge", "--plan", "plan")
    missing = files(pathlib.Path("plain-there")) - {JOURNAL} - files(out)
    expect(not missing, f"{sorted(missing)[:5]} are missing")
    for name in files(pathlib.Path("plain-there")) - {JOURNAL}:
        same = (out / name).read_bytes() == pathlib.Path("plain-there", name).read_bytes()
        expect(same, f"{name} differs")
    again = {it["status"] for it in stage.receipts("plan")}
    expect("ok" not in again, f"done again: {again}")
    # What changed since is done again, alone.
    key = "in/" + stage.sessions()[0]
    body = stage.get(key)
    stage.put(key, body + body.splitlines(keepends=True)[-1])
    changed = [it["id"] for it in stage.receipts("plan") if it["status"] == "ok"]
    expect(changed == [key.removeprefix("in/")], f"also done: {changed}")
    stage.put(key, body)
    # One unit lies in a store that is not there, one in a bucket; the rest goes on.
    done = {it["id"] for it in answers if it["status"] == "ok"}
    good = [it for it in map(json.loads, plan.splitlines()) if it["id"] in done and not it["subs"]][-1]
    lost = {**good, "id": "lost", "main": "s3://nowhere-at-all/a.jsonl", "subs": []}
    pathlib.Path("plan").write_text(json.dumps(lost) + "\n" + json.dumps(good) + "\n")
    told = {it["id"]: it for it in stage.receipts("plan")}
    expect(told["lost"]["status"] == "fail" and "no such" in told["lost"]["error"], str(told))
    expect(told[good["id"]]["status"] != "fail", str(told))
    here = {**good, "main": str(stage.folder / good["main"].removeprefix("s3://logs/in/")), "subs": []}
    pathlib.Path("plan").write_text(json.dumps(good) + "\n" + json.dumps({**here, "id": "h"}) + "\n")
    told = stage.receipts("plan", AWS_ENDPOINT_URL="http://127.0.0.1:1")
    told = {it["id"]: it for it in told}
    expect("refused" in told[good["id"]]["error"], str(told))
    expect(told["h"]["status"] != "fail", str(told))
