"""Commands run with every kernel that the CPU supports, and no others."""

from __future__ import annotations

import sys

import each_kernel

COMMAND = [sys.executable, "-c", "import os, sys; sys.exit('NUMBA_CPU_NAME' in os.environ)"]


def test_unsupported_kernels_are_skipped_by_name(monkeypatch, capfd):
    monkeypatch.setattr(each_kernel, "cpu_flags", lambda: {"sse2", "avx2"})
    assert each_kernel.main([sys.executable, "-c", "print('ran')"]) == 0
    said = capfd.readouterr().out
    assert "Haswell kernels: skipped, this CPU has no fma" in said
    assert "SkylakeX kernels: skipped, this CPU has no avx512bw" in said
    assert said.count("\nran\n") == 1


def test_failing_run_is_named(monkeypatch, capfd):
    monkeypatch.setattr(each_kernel, "cpu_flags", set)
    assert each_kernel.main(COMMAND) == 1
    assert "failed under these kernels: generic" in capfd.readouterr().out
