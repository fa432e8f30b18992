"""Every file either loads and works or raises a StorageError; no file crashes the process."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("resource")
pytest.importorskip("pandas")

CRAFTED = Path(__file__).with_name("crafted.py")
BATCH = 1000


def outcomes(first, count):
    """Return {case: outcome} from a separate process, which is restarted if it dies."""
    found, stop = {}, first + count
    while first < stop:
        command = [sys.executable, str(CRAFTED), str(first), str(stop - first)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        found |= dict(map(json.loads, done.stdout.splitlines()))
        begun = [case for case, what in found.items() if what == "begun"]
        assert begun or done.returncode == 0, done.stderr
        for case in begun:
            found[case] = f"the process ended with {done.returncode}"
        first = max(found) + 1
    return found


def check(result, count):
    assert len(result) == count
    messages = list(result.values())
    shares = {what: messages.count(what) / count for what in ("loaded", "refused")}
    failed = {case: what for case, what in result.items() if what not in shares}
    shown = "\n".join(f"python tests/crafted.py {case} 1: {failed[case]}" for case in failed)
    assert not failed, f"{len(failed)} of {count} files:\n{shown[:5000]}"
    # Neither almost all files nor almost none may load.
    assert min(shares.values()) > 0.1


def test_sample_of_crafted_files():
    check(outcomes(0, 120), 120)


@pytest.mark.slow
def test_ten_thousand_crafted_files():
    result, starts = {}, range(1000, 11_000, BATCH)
    with ThreadPoolExecutor(2) as pool:
        for part in pool.map(lambda first: outcomes(first, BATCH), starts):
            result |= part
    check(result, 10_000)
