"""Files that appear whole or not at all, and leave nothing else behind."""

from __future__ import annotations

import os
import re
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # no such locks on this system: what a killed process left, stays
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".eigenecho.part"
KEPT = 40
"""Characters of the file's name in that of the temporary one, so that it never gets too long."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that takes its place when it is complete.

    A full disk or an interrupt in the middle leaves the file that was there before. Nothing is
    left of the temporary file beside it, unless the process is killed outright; then the next
    write of the same file removes it.
    """
    _sweep(path)
    with _temporary(path) as part:
        part.write_bytes(data)
        os.replace(part, path)


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """A new file of this process beside ``path``, locked, and removed if it is still there."""
    part, lock = _claim(path)
    try:
        with _ended_by_sigterm(part):
            yield part
    except BaseException:  # an interrupt too
        with suppress(OSError):
            part.unlink()
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _claim(path: Path) -> tuple[Path, int | None]:
    """A file that nobody else has, and a descriptor that holds its lock while we live."""
    while True:
        part = path.with_name(f"{path.name[:KEPT]}.{secrets.token_hex(8)}{SUFFIX}")
        lock = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:
            os.close(lock)  # an open file could not be renamed there
            return part, None
        with suppress(OSError):  # a file system without locks, where nobody sweeps either
            fcntl.flock(lock, fcntl.LOCK_EX)
        if part.exists():
            return part, lock
        os.close(lock)  # another process swept it away before it was locked


def _sweep(path: Path) -> None:
    """Remove what killed processes have left of earlier writes of a file.

    Only names of ours, and only files that no process has locked: the system releases the locks
    of a process that ends, however it ends.
    """
    if fcntl is None:
        return
    ours = re.compile(re.escape(path.name[:KEPT]) + r"\.[0-9a-f]{16}" + re.escape(SUFFIX))
    with suppress(OSError), os.scandir(path.parent) as entries:  # a folder may not be listed
        for entry in entries:
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_abandoned(entry.path)


def _remove_if_abandoned(part: str) -> None:
    with suppress(OSError):  # gone by now, another user's, or locked: it is being written
        lock = os.open(part, os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(part)
        finally:
            os.close(lock)


@contextmanager
def _ended_by_sigterm(part: Path) -> Iterator[None]:
    """Remove a file when the process is asked to end, which it then does as it would have.

    Where the program has a handler of its own, that decides, and what it raises removes the file.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(number: int, frame: Any) -> None:
        with suppress(OSError):
            part.unlink()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
