# `make demo` and `make test` set up all they need in .venv, then do their job.

PYTHON ?= python3
BIN := .venv/bin
DOCS := .venv-docs/bin

.PHONY: demo test test-kernels test-slow test-sktime test-torch test-dask test-gpu bench-gpu lint types format bench bench-page bench-compare speed-check bench-forecast figures paper-page docs docs-check docs-links dist test-lowest clean

demo: .venv/demo.stamp
	$(BIN)/eigenecho reproduce --quick --out results/quick

# Files stay whole (loadfile), so that what the tests of one share is made once.
test: lint types
	$(BIN)/pytest -m "not slow" -n auto --dist loadfile

# The numerical tests under the kernels that BLAS and numba have for several CPUs.
test-kernels: .venv/dev.stamp
	$(BIN)/python tools/each_kernel.py $(BIN)/pytest -m "numerics and not slow" -n auto --dist loadfile

test-slow: .venv/dev.stamp
	$(BIN)/pytest -m slow -n auto

# sktime holds other packages back (pandas), so that it has an environment of its own.
test-sktime: .venv-sktime/stamp
	.venv-sktime/bin/pytest tests/interop/test_sktime.py tests/test_docs.py -k "test_sktime or sktime.md" -n auto

# Tensors of torch on the CPU, as if it were a device, and the kernels in Triton, interpreted.
test-torch: .venv-torch/stamp
	SCIPY_ARRAY_API=1 .venv-torch/bin/pytest tests/tensors tests/test_docs.py -k "tensors or devices.md" -n auto --ignore tests/tensors/test_triton.py
	TRITON_INTERPRET=1 .venv-torch/bin/pytest tests/tensors/test_triton.py tests/tensors/test_kept_on_devices.py -n auto

# Workers of a Dask cluster are processes of their own, and some are killed: one test after another.
test-dask: .venv-dask/stamp
	.venv-dask/bin/pytest tests/test_docs.py tests/dask -k "dask or clusters.md" -p no:cacheprovider

# On a machine with a GPU, by the Python that is there: nothing is installed.
test-gpu:
	SCIPY_ARRAY_API=1 PYTHONPATH=src $(PYTHON) -m pytest tests/tensors

# docs/benchmarks-gpu.md, likewise; a part of it: make bench-gpu BENCH="--only states".
bench-gpu:
	PYTHONPATH=src $(PYTHON) benchmarks/on_a_gpu.py $(BENCH)

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp
	$(BIN)/mypy

format: .venv/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# All of it, then docs/benchmarks.md; a part of it: make bench BENCH="--only fit forecast".
bench: .venv-bench/stamp
	.venv-bench/bin/python benchmarks/run.py $(BENCH)

# docs/benchmarks.md from the results of the last run.
bench-page: .venv-bench/stamp
	.venv-bench/bin/python benchmarks/run.py --render

# Our own times, stored in .benchmarks, against those of the run before.
bench-compare: .venv-bench/stamp
	.venv-bench/bin/pytest benchmarks/compare --benchmark-autosave --benchmark-compare --benchmark-columns=median,iqr,rounds --benchmark-group-by=name $(BENCH)

# Our own speed against that of the last release, before the next one.
speed-check: .venv/dev.stamp
	$(BIN)/python tools/speed_stays_the_same.py $(BENCH)

# Forecasts of real series against statsforecast; goes on where it was interrupted. The page:
# make bench-forecast BENCH=--write.
bench-forecast: .venv-peers/stamp
	.venv-peers/bin/python benchmarks/real_series.py $(BENCH)

figures: .venv/dev.stamp
	$(BIN)/python docs/make_figures.py

# docs/paper.md from what `eigenecho reproduce` has stored.
paper-page: .venv/dev.stamp
	$(BIN)/python docs/make_paper_page.py results/reproduce

# The site, in build/site: no warning is let through, and nothing is asked of any network.
docs: .venv-docs/stamp
	$(DOCS)/python -m sphinx -b html -W --keep-going -n docs build/site
	$(DOCS)/python tools/site_is_whole.py build/site

# Every example and command of pages and docstrings: none is skipped. Those of sktime and statsforecast
# run beside the packages that these hold back.
docs-check: docs .venv-peers/stamp
	EVERY_EXAMPLE=1 $(DOCS)/pytest tests/test_docs.py tests/test_reference.py tests/test_commands.py -k "not sktime or test_commands"
	EVERY_EXAMPLE=1 .venv-peers/bin/python -m pytest tests/test_docs.py -k sktime

# Links to other hosts, without running the gallery; the only target here that needs a network.
docs-links: .venv-docs/stamp
	$(DOCS)/python -m sphinx -b linkcheck -D plot_gallery=0 --quiet docs build/links

# The sdist and the wheel, built apart from the clone, and tried as somebody would who has nothing else.
dist: .venv-dist/stamp
	rm -rf dist build/lib build/bdist.*
	.venv-dist/bin/python -m build --outdir dist .
	.venv-dist/bin/python -m twine check --strict dist/*
	.venv-dist/bin/python tools/dist_is_whole.py dist

# The oldest versions of what pyproject.toml asks for, on the oldest Python.
test-lowest: .venv-lowest/stamp
	.venv-lowest/bin/pytest -m "not slow" -n auto

.venv/bin/python .venv-bench/bin/python .venv-sktime/bin/python .venv-torch/bin/python .venv-dask/bin/python .venv-docs/bin/python .venv-dist/bin/python .venv-lowest/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'eigenecho needs Python 3.11 or newer; say which with: make PYTHON=python3.12')"
	$(PYTHON) -m venv $(@:/bin/python=)

# The stamps are newer than pyproject.toml once what it asks for is installed.
.venv/demo.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli]"
	touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,reservoirpy,dev]"
	touch $@ .venv/demo.stamp

# Dask and torch stay out of .venv, where `make test` would run the tests that need them.
.venv-bench/stamp: .venv-bench/bin/python pyproject.toml
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,dask,peers]"
	touch $@

# An environment apart: these peers ask for other versions than we do.
.venv-peers/stamp: pyproject.toml
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,forecast-peers]" "pytest>=8"
	touch $@

.venv-sktime/stamp: .venv-sktime/bin/python pyproject.toml
	.venv-sktime/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[sktime,dev]"
	touch $@

.venv-dist/stamp: .venv-dist/bin/python pyproject.toml
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check build twine
	touch $@

.venv-lowest/stamp: .venv-lowest/bin/python pyproject.toml tools/lowest_versions.py
	.venv-lowest/bin/python tools/lowest_versions.py > .venv-lowest/versions.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-lowest/versions.txt --editable ".[cli,reservoirpy,dev]"
	touch $@

# With torch and PyRCN, for the examples that use them; without, these are shown and not run.
.venv-docs/stamp: .venv-docs/bin/python pyproject.toml
	$(DOCS)/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0"
	$(DOCS)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,parquet,reservoirpy,docs]" "pyrcn==0.1.0"
	touch $@

.venv-dask/stamp: .venv-dask/bin/python pyproject.toml
	.venv-dask/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,dask,dev]" "zarr>=3"
	touch $@

# Torch is pinned, and comes without CUDA where such a build can be had.
.venv-torch/stamp: .venv-torch/bin/python pyproject.toml
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0" "triton==3.9.0"
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv .venv-bench .venv-dask .venv-dist .venv-docs .venv-lowest .venv-peers .venv-sktime .venv-torch build dist results .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/api/names docs/examples
	find . -name __pycache__ -prune -exec rm -rf {} +
