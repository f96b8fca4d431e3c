"""One archive through everything that can start workers: one and the same hash of what is written.

usage: engines.py CONVERT ARCHIVE SCRATCH WHEEL ENGINE...

Each engine has an environment of its own; some are killed in mid-run.
"""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

# What each engine is, from PyPI; versions that were tried.
PACKAGES = {
    "sail": ["pysail==0.7.2", "pyspark-client==4.1.*", "pyarrow"],
    "spark": ["pyspark==4.3.0", "pyarrow", "pandas"],
    "ray": ["ray[data]"],
}
OPTIONS = ["--to", "clido", "--carry", "sidecar"]
N_PARTITIONS = 16


def hash_of(folder):
    """Returns the SHA-256 of what `sha256sum` prints of the files, and how many there are."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    names = sorted(str(path.relative_to(folder)) for path in files)
    names = [name for name in names if not name.startswith(".convert-")]
    total = hashlib.sha256()
    for name in names:
        with open(folder / name, "rb") as file:
            total.update(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n".encode())
    return total.hexdigest()[:16], len(names)


def below(pid):
    """Returns the processes that a process started, and those that these did."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(words[1]), []).append(int(stat.parent.name))
    found, left = [], [pid]
    while left:
        new = children.get(left.pop(), [])
        found += new
        left += new
    return found


def kill_below(pid, word, seconds, killed):
    """Kills a process below another one, which has a word in its command line, after a while."""
    time.sleep(seconds)
    for _ in range(300):
        for process in below(pid):
            try:
                line = Path(f"/proc/{process}/cmdline").read_bytes()
                if word.encode() in line:
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)
                    return
            except OSError:
                continue
        time.sleep(0.05)


class Run:
    """An archive, and what every engine makes of it."""

    def __init__(self, convert, archive, scratch, wheel):
        self.convert, self.archive, self.scratch, self.wheel = convert, archive, scratch, wheel
        self.expected = None
        self.is_fine = True

    def call(self, *arguments, statuses=(0,), **more):
        done = subprocess.run([self.convert, *arguments], **more)
        if done.returncode not in statuses:
            raise SystemExit(f"convert {' '.join(map(str, arguments[:1]))}: {done.returncode}")
        return done

    def plan(self, out):
        plan = self.scratch / "plan"
        with open(plan, "wb") as file:
            self.call("plan", self.archive, *OPTIONS, "-o", out, "-q", stdout=file)
        return plan

    def engine(self, name, work):
        """Plans, lets an engine work, merges, and compares; returns the plan and the folder."""
        out = self.scratch / "out"
        subprocess.run(["rm", "-rf", out], check=True)
        plan = self.plan(out)
        start = time.monotonic()
        word = work(plan, out)
        seconds = time.monotonic() - start
        merged = self.call("merge", "--plan", plan, "-q", statuses=(0, 1))
        # A plan removes what killed workers left under temporary names.
        self.plan(out)
        self.tell(name, out, seconds, word, merged.returncode == 0)
        return plan, out

    def tell(self, name, out, seconds, word="", is_merged=True):
        found = hash_of(out)
        self.expected = self.expected or found
        is_same = found == self.expected and is_merged
        self.is_fine &= is_same
        what = "" if is_same else " DIFFERS" if is_merged else " NOT MERGED"
        print(f"{name:<34} {found[0]} {found[1]} files {seconds:6.1f} s {word or ''}{what}", flush=True)

    def python(self, engine):
        """Returns the interpreter of an engine's environment."""
        venv = self.scratch / engine
        if not venv.exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            pip = [venv / "bin/python", "-m", "pip", "install", "-q"]
            subprocess.run([*pip, *PACKAGES[engine], self.wheel], check=True)
        return venv / "bin/python"


def local(run):
    out = run.scratch / "local"
    start = time.monotonic()
    run.call(run.archive, *OPTIONS, "-o", out, "-q")
    run.tell("one run", out, time.monotonic() - start)
    start = time.monotonic()
    run.call(run.archive, *OPTIONS, "-o", out, "-q")
    run.tell("one run again", out, time.monotonic() - start)
    subprocess.run(["rm", "-rf", out], check=True)


def shell(run):
    def threads(plan, _):
        run.call("work", plan, stdout=subprocess.DEVNULL)

    plan, out = run.engine("plan, work with threads", threads)
    start = time.monotonic()
    run.plan(out)
    run.call("work", plan, stdout=subprocess.DEVNULL)
    run.tell("plan, work again", out, time.monotonic() - start)

    def split(plan, _):
        work = f"{run.convert} work -j 1 > /dev/null"
        subprocess.run(["split", "--number=r/4", f"--filter={work}", plan], check=True)

    run.engine("split --filter, 4 processes", split)

    def parallel(plan, _):
        command = ["parallel", "--pipe", "-N", "500", "-j", "4", run.convert, "work", "-j", "1"]
        with open(plan, "rb") as units:
            subprocess.run(command, stdin=units, stdout=subprocess.DEVNULL, check=True)

    if subprocess.run(["sh", "-c", "command -v parallel"], stdout=subprocess.DEVNULL).returncode == 0:
        run.engine("GNU parallel, 4 processes", parallel)
    else:
        print("GNU parallel is not here")

    def killed(plan, _):
        def start(shard):
            command = [run.convert, "work", "-j", "1", "--shard", shard, plan]
            return subprocess.Popen(command, stdout=subprocess.DEVNULL)

        workers = [start("1/2"), start("2/2")]
        time.sleep(1)
        workers[0].kill()
        status = workers[0].wait()
        workers[1].wait()
        run.call("work", plan, stdout=subprocess.DEVNULL)
        return f"one of two killed: {status}"

    run.engine("2 processes, one killed", killed)


def connected(run, engine):
    """An engine that a script in its own environment talks to."""

    def work(kill):
        def start(plan, _):
            environment = {**os.environ, "RAY_DEDUP_LOGS": "0", "ENGINE_KILLS": "1" if kill else ""}
            command = [run.python(engine), __file__, "drive", engine, plan]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                print(done.stdout[-2000:], done.stderr[-4000:], sep="\n")
                return f"status {done.returncode}"
            return done.stdout.strip().splitlines()[-1]

        return start

    run.python(engine)
    run.engine(engine, work(False))
    if engine != "sail":
        run.engine(f"{engine}, a process killed", work(True))


def drive(engine, plan):
    """Runs in the engine's environment: units of a plan in, receipts out."""
    units = Path(plan).read_text().splitlines()
    kills = bool(os.environ.get("ENGINE_KILLS"))
    killed = []
    receipts = {"sail": drive_sail, "spark": drive_spark, "ray": drive_ray}[engine](units, kills, killed)
    ids = {receipt.split('"id":"', 1)[1].split('"', 1)[0] for receipt in receipts}
    skipped = sum('"status":"skip"' in receipt for receipt in receipts)
    assert len(receipts) == len(ids) == len(units), (len(receipts), len(ids), len(units))
    assert bool(killed) == kills, "nothing was killed"
    print(f"{len(receipts)} receipts, {skipped} of units that were done before" + f", {len(killed)} killed" * kills)


def frame_receipts(spark, units):
    from session_convert.spark import convert_df

    frame = spark.createDataFrame([(unit,) for unit in units], "unit string")
    return [row.receipt for row in convert_df(frame.repartition(N_PARTITIONS)).collect()]


def drive_sail(units, _kills, _killed):
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    receipts = frame_receipts(spark, units)
    spark.stop()
    server.stop()
    return receipts


def drive_spark(units, kills, killed):
    import socket

    import pyspark
    from pyspark.sql import SparkSession

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(SPARK_HOME=str(home), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    os.environ["SPARK_WORKER_DIR"] = str(Path(sys.prefix) / "work")
    deploy = [home / "bin/spark-class", "org.apache.spark.deploy.{0}"]
    url = f"spark://127.0.0.1:{port}"

    def start(kind, *arguments):
        command = [deploy[0], f"org.apache.spark.deploy.{kind}", "--webui-port", "0", *arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    parts = [start("master.Master", "--host", "127.0.0.1", "--port", str(port))]
    time.sleep(4)
    for _ in range(2):
        parts.append(start("worker.Worker", "--cores", "1", "--memory", "1g", url))
    try:
        builder = SparkSession.builder.master(url).config("spark.executor.memory", "600m")
        spark = builder.config("spark.ui.enabled", "false").getOrCreate()
        spark.createDataFrame([(n,) for n in range(8)], "n int").repartition(4).count()
        if kills:
            arguments = (parts[1].pid, "CoarseGrainedExecutorBackend", 2, killed)
            threading.Thread(target=kill_below, args=arguments, daemon=True).start()
        receipts = frame_receipts(spark, units)
        spark.stop()
        return receipts
    finally:
        for part in reversed(parts):
            for process in [*below(part.pid), part.pid]:
                try:
                    os.kill(process, signal.SIGTERM)
                except OSError:
                    pass
            part.wait()


def drive_ray(units, kills, killed):
    import ray
    from session_convert.ray import convert_batch

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.from_items([{"unit": unit} for unit in units]).repartition(N_PARTITIONS)
    if kills:
        arguments = (os.getpid(), "ray::MapBatches", 1, killed)
        threading.Thread(target=kill_below, args=arguments, daemon=True).start()
    receipts = [row["receipt"] for row in data.map_batches(convert_batch, batch_size=256).take_all()]
    ray.shutdown()
    return receipts


def main(convert, archive, scratch, wheel, *engines):
    # What is asked is what is written, not what a power cut leaves of it.
    os.environ["CONVERT_DURABILITY"] = "none"
    run = Run(convert, archive, Path(scratch), wheel)
    local(run)
    for engine in engines:
        shell(run) if engine == "shell" else connected(run, engine)
    raise SystemExit(0 if run.is_fine else 1)


if __name__ == "__main__":
    drive(*sys.argv[2:]) if sys.argv[1] == "drive" else main(*sys.argv[1:])
