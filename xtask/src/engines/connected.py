"""Workers as Sail, Spark and Ray start them: a script in the environment of each does it."""

import os
import subprocess
import sys
from pathlib import Path

from kills import is_large

# What each engine is, from PyPI; versions that were tried.
PACKAGES = {
    "sail": ["pysail==0.7.2", "pyspark-client==4.1.*", "pyarrow"],
    "spark": ["pyspark==4.3.0", "pyarrow", "pandas"],
    "ray": ["ray[data]"],
}


def engine(archive, name, wheel):
    """Works on an archive with an engine; once more, and one of its processes is killed."""
    python = python_of(archive.scratch / name, name, wheel)

    def drive(*kills):
        def work(plan, _):
            # The wheel's own program is meant.
            environment = {key: value for key, value in os.environ.items() if key != "CONVERT"}
            script = Path(__file__).with_name("drive.py")
            done = subprocess.run(
                [python, script, name, plan, *kills], env=environment, capture_output=True, text=True
            )
            if done.returncode != 0:
                raise SystemExit(f"{name}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}")
            return done.stdout.strip().splitlines()[-1]

        return work

    plan, _ = archive.work(name, drive())
    # Sail is one process.
    if name != "sail" and is_large(plan.read_bytes().splitlines()):
        archive.work(f"{name}, one killed", drive("kill"))


def python_of(venv, name, wheel):
    """Returns the interpreter of an engine's environment, with the wheel installed."""
    if not venv.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [venv / "bin/python", "-m", "pip", "install", "-q"]
        subprocess.run([*pip, *PACKAGES[name], wheel], check=True)
    return venv / "bin/python"
