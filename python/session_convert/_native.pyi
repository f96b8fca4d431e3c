"""The types of the extension."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, final

__all__ = [
    "Batches",
    "Converted",
    "ConvertedFile",
    "Error",
    "Problem",
    "Redacted",
    "Session",
    "Worker",
    "check",
    "convert",
    "convert_file",
    "detect",
    "events",
    "formats",
    "main",
    "open",
    "plan",
    "redact",
    "sessions",
    "summaries",
    "usage",
]

_Path: TypeAlias = str | os.PathLike[str]
_Sources: TypeAlias = "Session | _Path | Iterable[_Sources]"

class Error(Exception):
    """A session that cannot be read, converted or checked, with the text that the program prints."""

@final
class Session:
    """A session: its main file, with the files that its client keeps beside it."""

    @property
    def path(self) -> Path | None:
        """The path of the main file."""
    @property
    def files(self) -> list[Path]:
        """The paths of all files, the main one first."""
    @property
    def format(self) -> str | None:
        """The name of the format; `None` for a file without a record."""
    @property
    def id(self) -> str | None:
        """The id in the name of the file, or of its folder."""
    @property
    def size(self) -> int:
        """The size of all files in bytes."""

@final
class Batches:
    """Rows of sessions, for everything that takes the C stream of Arrow: pyarrow, polars, DuckDB, pandas.

    They are read again each time that somebody asks for a stream, on threads of their own, a few batches ahead.
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class Converted:
    """A session that was converted in memory."""

    @property
    def data(self) -> bytes:
        """The bytes in the target format."""
    @property
    def sidecar(self) -> bytes | None:
        """The sidecar, if the carry is in one: as asked for, or because the target shows nothing of the session."""
    @property
    def source(self) -> str:
        """The name of the source format."""
    @property
    def target(self) -> str:
        """The name of the target format."""
    @property
    def lines_in(self) -> int:
        """The number of lines read."""
    @property
    def lines_out(self) -> int:
        """The number of lines written."""
    @property
    def losses(self) -> dict[str, dict[str, int]]:
        """How many values of each field the target does not show: `{"dropped": {"gitBranch": 23}}`."""
    @property
    def needs_attention(self) -> bool:
        """Whether a line was damaged, or something could not be written."""

@final
class ConvertedFile:
    """A file that was converted."""

    @property
    def input(self) -> str:
        """The name of the input."""
    @property
    def output(self) -> str | None:
        """The path of the output."""
    @property
    def source(self) -> str:
        """The name of the source format."""
    @property
    def target(self) -> str:
        """The name of the target format."""
    @property
    def lines_in(self) -> int:
        """The number of lines read."""
    @property
    def lines_out(self) -> int:
        """The number of lines written."""
    @property
    def losses(self) -> dict[str, dict[str, int]]:
        """How many values of each field the target does not show."""
    @property
    def needs_attention(self) -> bool:
        """Whether a line was damaged, or something could not be written."""

@final
class Redacted:
    """Bytes without secrets."""

    @property
    def data(self) -> bytes:
        """The bytes."""
    @property
    def found(self) -> dict[str, int]:
        """The number of removed secrets, by the rule that found them."""
    @property
    def carries(self) -> int:
        """The number of lines whose carry was removed."""

@final
class Problem:
    """Something that a client would refuse or ignore."""

    @property
    def line(self) -> int:
        """The number of the line, from 1."""
    @property
    def offset(self) -> int:
        """The offset of the line in bytes."""
    @property
    def severity(self) -> str:
        """`stops` if the client does not load the session, or `warns`."""
    @property
    def rule(self) -> str:
        """The name of the rule."""
    @property
    def message(self) -> str:
        """The description."""

@final
class Worker:
    """A worker that converts units of plans. The options are the ones of `convert work`."""

    def __new__(cls, *options: str) -> Worker: ...
    def work(self, units: Sequence[str]) -> list[str]:
        """Converts units, and returns a receipt for each, in any order."""

def sessions(folder: _Path | None = None) -> list[Session]:
    """Returns the sessions of all agents on this machine, or below a folder, sorted by path.

    What cannot be read is a warning.
    """

def open(path: _Path) -> Session:
    """Opens the session with this main file."""

def events(
    sources: _Sources,
    *,
    columns: Sequence[str] | None = None,
    raw: bool = False,
    threads: int | None = None,
) -> Batches:
    """Returns the events of sessions, a row for each content block; with `raw`, also the bytes of each line.

    With `columns`, only these columns are built, in this order, and what only others need is not read.
    """

def summaries(
    sources: _Sources,
    *,
    columns: Sequence[str] | None = None,
    threads: int | None = None,
) -> Batches:
    """Returns a row for each file of sessions: title, times, counts, tokens; with `columns`, only these columns."""

def usage(
    sources: _Sources | None = None,
    *,
    by: Sequence[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    prices: _Path | None = None,
    with_copies: bool = False,
) -> list[dict[str, Any]]:
    """Sums up the responses of sessions, each once, as `convert usage` does.

    Without sources, of all sessions of this machine; without groups, by day. Returns a dictionary for each group, and one with
    `"total": True`.
    """

def convert(
    data: bytes,
    to: str,
    *,
    source: str | None = None,
    carry: str = "inline",
    sidecar: bytes | None = None,
) -> Converted:
    """Converts a session in memory.

    A session that was converted from the target format is restored, byte for byte. `source` is the format of the
    bytes; if `None`, it is detected. `carry` is `inline`, `sidecar` or `none`.
    """

def convert_file(source: _Path, to: str, target: _Path) -> list[ConvertedFile]:
    """Converts a session to a new file, with its sub-agents in files beside it.

    Returns the converted files, the main file first. A file that exists is not replaced.
    """

def check(path: _Path, *, format: str | None = None) -> list[Problem]:
    """Returns the problems of a session for its client."""

def redact(data: bytes, *, test_keys: bool = False) -> Redacted:
    """Removes keys, tokens and passwords from a session's bytes, and carries, which may hold them in pieces."""

def detect(data: bytes) -> str | None:
    """Returns the name of the format of a session's bytes; `None` if there is no record."""

def formats() -> list[str]:
    """Returns the names of the formats."""

def plan(*arguments: str) -> list[str]:
    """Returns the units of a plan, one line each. The arguments are the ones of `convert plan`."""

def main(arguments: Sequence[str]) -> int:
    """Runs the program with its arguments, the first of which is its path, and returns its exit status."""
