"""Settings of the comparison over time."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def pytest_benchmark_update_machine_info(config, machine_info):
    """Runs are compared on one machine: its name need not be stored."""
    machine_info.pop("node", None)
