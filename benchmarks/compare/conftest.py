"""Configuration of the comparison with earlier runs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def pytest_benchmark_update_machine_info(config, machine_info):
    """Remove the host name; all runs are on the same machine."""
    machine_info.pop("node", None)
