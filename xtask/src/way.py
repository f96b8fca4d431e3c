"""Prints the functions of our crates on the stack at the first reads of a source. A script for gdb.

The environment names the source (WAY_SOURCE), our crates (WAY_CRATES), the most calls (WAY_MOST), and
the file to write to (WAY_OUTPUT): gdb has the terminal.
The first read of all is of a lookup or of detection; the first one below `archive` begins the
conversion. Status 3: more calls than allowed. Status 4: no such read was seen.
"""

import os
import re

import gdb

SOURCE = os.path.realpath(os.environ["WAY_SOURCE"])
CRATES = os.environ["WAY_CRATES"].split()
MOST = int(os.environ["WAY_MOST"])
OUTPUT = open(os.environ["WAY_OUTPUT"], "w", encoding="utf-8")
OURS = re.compile(r"<*(?:dyn |&mut |&)?(?:%s)(?:\[[0-9a-f]+\])?::" % "|".join(CRATES))


class Read(gdb.Breakpoint):
    """A breakpoint in the functions of the C library that read, if they read the source."""

    def stop(self):
        descriptor = int(gdb.parse_and_eval("(int) $rdi" if is_x86() else "(int) $x0"))
        process = gdb.selected_inferior().pid
        try:
            return os.readlink(f"/proc/{process}/fd/{descriptor}") == SOURCE
        except OSError:
            return False


def is_x86():
    return "x86" in gdb.newest_frame().architecture().name()


def calls():
    """Returns the names of our functions on the stack, innermost first."""
    frame, names = gdb.newest_frame(), []
    while frame is not None:
        name = re.sub(r"::h[0-9a-f]{16}$", "", frame.name() or "")
        if OURS.match(name):
            names.append(name)
        frame = frame.older()
    return names


def show(title, names):
    print(f"{title}: {len(names)} calls of our crates, at most {MOST} are allowed", file=OUTPUT)
    for name in reversed(names):
        print(f"  {name}", file=OUTPUT)


for setting in ["pagination off", "breakpoint pending on", "debuginfod enabled off"]:
    gdb.execute(f"set {setting}")
Read(function="__libc_read", qualified=True)
gdb.execute("run", to_string=True)
most, is_first = None, True
while gdb.selected_inferior().pid and most is None:
    names = calls()
    if is_first:
        show("first read of the source", names)
        is_first = False
    if any("archive" in name for name in names):
        show("first read of the conversion", names)
        most = len(names)
        gdb.execute("kill")
    else:
        gdb.execute("continue", to_string=True)
if most is None:
    print("no conversion read the source", file=OUTPUT)
OUTPUT.close()
gdb.execute("quit %d" % (4 if most is None else 3 if most > MOST else 0))
