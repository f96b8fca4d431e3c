"""Converts the units of a plan with one engine, and checks the receipts. Runs in its environment.

usage: drive.py ENGINE PLAN [kill]
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import session_convert
from archive import words_of
from kills import N_PARTITIONS, enough, kill_at_work, parent_of


def main(engine, plan, *kills):
    package = Path(session_convert.__file__)
    assert package.is_relative_to(sys.prefix), f"{package} is not the package of the wheel"
    units = Path(plan).read_text().splitlines()
    # The plan has the largest units first. Shuffling them gives all partitions a similar amount of work.
    random.Random(0).shuffle(units)
    killed = []

    def kill(root, title):
        if kills:
            n_bytes = enough([json.loads(unit) for unit in units])
            arguments = (root, title, n_bytes, killed)
            threading.Thread(target=kill_at_work, args=arguments, daemon=True).start()

    receipts = {"sail": sail, "spark": spark, "ray": ray}[engine](units, kill)
    ids, words = words_of(receipts)
    # Each unit has exactly one receipt.
    assert len(ids) == len(set(ids)) == len(units), (len(ids), len(set(ids)), len(units))
    # Units that were already done are those that the killed process did.
    n_again = words.get("skip", 0)
    if kills:
        assert killed, "nothing was killed"
        assert n_again, "who was killed had done nothing"
    seen = f"{len(ids)} receipts"
    print(f"{seen}, 1 killed, {n_again} units begun twice" if kills else seen)


def receipts_of(session, units):
    from session_convert.spark import convert_df

    frame = session.createDataFrame([(unit,) for unit in units], "unit string")
    return [row.receipt for row in convert_df(frame.repartition(N_PARTITIONS)).collect()]


def sail(units, _kill):
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    receipts = receipts_of(session, units)
    session.stop()
    server.stop()
    return receipts


def spark(units, kill):
    import pyspark
    from pyspark.sql import SparkSession

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(SPARK_HOME=str(home), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    os.environ["SPARK_WORKER_DIR"] = str(Path(sys.prefix) / "work")
    url = f"spark://127.0.0.1:{port}"

    def start(kind, *arguments):
        command = [home / "bin/spark-class", f"org.apache.spark.deploy.{kind}", "--webui-port", "0"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*command, *arguments], **quiet)

    parts = [start("master.Master", "--host", "127.0.0.1", "--port", str(port))]
    wait_for(port)
    for _ in range(2):
        parts.append(start("worker.Worker", "--cores", "1", "--memory", "1g", url))
    try:
        builder = SparkSession.builder.master(url).config("spark.executor.memory", "600m")
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
        kill(parts[1].pid, b"CoarseGrainedExecutorBackend")
        receipts = receipts_of(session, units)
        session.stop()
        return receipts
    finally:
        for part in reversed(parts):
            end(part)


def ray(units, kill):
    import ray
    from session_convert.ray import convert_batch

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.from_items([{"unit": unit} for unit in units]).repartition(N_PARTITIONS)
    kill(os.getpid(), b"ray::MapBatches")
    rows = data.map_batches(convert_batch, batch_size=1024).take_all()
    ray.shutdown()
    return [row["receipt"] for row in rows]


def wait_for(port):
    """Waits until a process listens on the port."""
    for _ in range(600):
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("Spark does not start")


def end(part):
    """Ends a process and its children."""
    parents = dict(process for process in map(parent_of, Path("/proc").glob("[0-9]*")) if process)
    below = [part.pid]
    for process in below:
        below += [it for it, parent in parents.items() if parent == process]
    for process in reversed(below):
        try:
            os.kill(process, signal.SIGTERM)
        except OSError:
            pass
    part.wait()


main(*sys.argv[1:])
