"""Runs the program `convert` in this process: `python -m session_convert`."""

from __future__ import annotations

import signal
import sys

from session_convert import _native


def main() -> None:
    """Runs the program with the arguments of this process, and exits with its status."""
    # The program ends itself when it is interrupted, and does not wait for Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = "convert" if sys.argv[0].endswith(".py") else sys.argv[0]
    sys.exit(_native.main([program, *sys.argv[1:]]))


if __name__ == "__main__":
    main()
