"""Checks of workers that read and write objects."""

import json
import os
import pathlib
import time

import session_convert
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession
from session_convert.spark import convert_df

from stage import JOURNAL, RECEIPTS, expect, files


def workers(stage):
    """Workers convert objects like a run. An unreachable store gives a failed receipt."""
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
    # Only the changed source is converted again.
    key = "in/" + stage.sessions()[0]
    body = stage.get(key)
    stage.put(key, body + body.splitlines(keepends=True)[-1])
    changed = [it["id"] for it in stage.receipts("plan") if it["status"] == "ok"]
    expect(changed == [key.removeprefix("in/")], f"also done: {changed}")
    stage.put(key, body)
    # Units in a missing bucket or an unreachable store fail, and the others are converted.
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


def workers_away(stage):
    """Workers write the same objects as a run, each once, also if one of them is killed."""
    plan = pathlib.Path("plan-away")
    out = "s3://logs/worked/"
    plan.write_text(stage.run("plan", "s3://logs/in/", "--to", "clido", "-o", out, "-q").stdout)
    # Two workers share the plan, and one is killed.
    killed, other = (stage.start("work", "-j", "1", "--shard", f"{n}/2", str(plan)) for n in (1, 2))
    before = []
    while not before and killed.poll() is None:
        time.sleep(0.05)
        before = [name for name in stage.objects("worked/") if name.startswith(RECEIPTS)]
    killed.kill()
    killed.wait()
    expect(other.wait() == 0, "the other worker failed")
    first = {it["id"] for it in stage.receipts(plan) if it["status"] == "ok"}
    expect(first, "nothing was left to do")
    stage.same("worked/", pathlib.Path("plain-there"), but=RECEIPTS)
    # A second pass has nothing to do, and `merge` needs only the stored receipts.
    written = outputs(stage)
    again = {it["status"] for it in stage.receipts(plan)}
    expect("ok" not in again, f"done again: {again}")
    expect(outputs(stage) == written, "objects were written again")
    stage.run("merge", "--plan", str(plan))
    # A run finds all outputs in the journal.
    report = stage.report("s3://logs/in/", "--to", "clido", "-o", out)
    anew = [source for source, it in report.items() if "bytes_out" in it]
    expect(not anew, f"done again by a run: {anew[:5]}")
    # From one store to another, only the changed source is converted again, and an edited output stays.
    names = stage.sessions()
    body = stage.get(f"in/{names[0]}")
    stage.put(f"in/{names[0]}", body + body.splitlines(keepends=True)[-1])
    mine = stage.get(f"worked/{names[1]}") + b"\n"
    stage.put(f"worked/{names[1]}", mine)
    told = {it["id"]: it for it in stage.receipts(plan)}
    done = [name for name, it in told.items() if it["status"] == "ok"]
    expect(done == names[:1], f"also done: {done}")
    expect("exists" in told[names[1]].get("error", ""), f"an edited output: {told[names[1]]}")
    expect(stage.get(f"worked/{names[1]}") == mine, "an edited output was overwritten")
    stage.put(f"in/{names[0]}", body)
    # Each receipt reports a missing bucket, and so does `plan`.
    lost = [json.loads(line) for line in plan.read_text().splitlines()][-3:]
    away = [{**it, "out": it["out"].replace("/logs/", "/nowhere/"), "root": "s3://nowhere/"} for it in lost]
    plan.write_text("".join(json.dumps(it) + "\n" for it in away))
    told = stage.receipts(plan)
    expect(all("no such bucket" in it.get("error", "") for it in told) and len(told) == 3, str(told))
    planned = stage.run("plan", "s3://logs/in/", "--to", "clido", "-o", "s3://nowhere/", status=(2,))
    expect("no such bucket" in planned.stderr, planned.stderr)


def sail(stage):
    """Workers of Sail, which are like those of Spark, convert from store to store."""
    os.environ.update(stage.environment, RUST_LOG="error")
    units = session_convert.plan("s3://logs/in/", "--to", "clido", "-o", "s3://logs/sail/")
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    address = f"sc://127.0.0.1:{server.listening_address[1]}"
    session = SparkSession.builder.remote(address).getOrCreate()
    frame = session.createDataFrame([(unit,) for unit in units], "unit string")
    receipts = convert_df(frame.repartition(4)).collect()
    session.stop()
    server.stop()
    expect(len(receipts) == len(units), f"{len(receipts)} receipts of {len(units)} units")
    stage.same("sail/", pathlib.Path("plain-there"), but=RECEIPTS)


def outputs(stage):
    """Returns the objects that workers wrote, without their receipts."""
    found = stage.objects("worked/").items()
    return {name: it for name, it in found if not name.startswith(RECEIPTS)}
