"""Starts workers with Sail, Spark and Ray, by a script in the environment of each engine."""

import subprocess
import sys
from pathlib import Path

from kills import is_large

# The packages of each engine from PyPI, in tested versions.
PACKAGES = {
    "sail": ["pysail==0.7.2", "pyspark-client==4.1.*", "pyarrow"],
    "spark": ["pyspark==4.3.0", "pyarrow", "pandas"],
    "ray": ["ray[data]"],
}


def engine(archive, name, wheel):
    """Converts an archive with an engine, then again while one of its processes is killed."""
    python = python_of(archive.scratch / name, name, wheel)

    def drive(*kills):
        def work(plan, _):
            script = Path(__file__).with_name("drive.py")
            done = subprocess.run([python, script, name, plan, *kills], capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{name}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}")
            return done.stdout.strip().splitlines()[-1]

        return work

    plan, _ = archive.work(name, drive())
    # Sail is one process.
    if name != "sail" and is_large(plan.read_bytes().splitlines()):
        archive.work(f"{name}, one killed", drive("kill"))


def python_of(venv, name, wheel):
    """Returns the Python of an engine's environment, in which the wheel is installed."""
    if not venv.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [venv / "bin/python", "-m", "pip", "install", "-q"]
        subprocess.run([*pip, *PACKAGES[name], wheel], check=True)
    return venv / "bin/python"
