"""Installs pinned clients with npm and pip, one folder each. Installed clients are kept."""

import os
import shutil
import subprocess
import sys


def install(client, folder, programs):
    """Installs a client below a folder. Returns whether it runs."""
    for name, installer, package, version in client.packages():
        place = os.path.join(folder, name)
        mark = os.path.join(place, ".version")
        if installer == "program":
            if name not in programs:
                return False
            os.makedirs(place, exist_ok=True)
            shutil.copy(programs[name], os.path.join(place, name))
        elif not is_there(mark, version):
            print(f"installing {package} {version}", file=sys.stderr)
            shutil.rmtree(place, ignore_errors=True)
            os.makedirs(place)
            {"npm": npm, "pip": pip}[installer](place, package, version)
            with open(mark, "w", encoding="utf-8") as file:
                file.write(version)
        subprocess.run(["chmod", "-R", "a+rX", place], check=True)
    return True


def is_there(mark, version):
    try:
        with open(mark, encoding="utf-8") as file:
            return file.read().strip() == version
    except OSError:
        return False


def npm(place, package, version):
    options = ["--silent", "--no-audit", "--no-fund", "--no-save", "--engine-strict=false", "--prefix", place]
    subprocess.run(["npm", "install", *options, f"{package}@{version}"], check=True, stdout=sys.stderr)
    if package == "node":
        os.makedirs(os.path.join(place, "bin"))
        for base, _, files in os.walk(os.path.join(place, "node_modules")):
            if base.endswith("/bin") and "node" in files and not os.path.islink(os.path.join(base, "node")):
                os.symlink(os.path.relpath(os.path.join(base, "node"), os.path.join(place, "bin")), os.path.join(place, "bin/node"))
                return


def pip(place, package, version):
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([f"{place}/bin/pip", "install", "-q", f"{package}=={version}"], check=True, stdout=sys.stderr)
