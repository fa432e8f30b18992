# `make demo` and `make test` create .venv with everything they need.

PYTHON ?= python3
BIN := .venv/bin
DOCS := .venv-docs/bin

.PHONY: demo test test-kernels test-slow test-sktime test-aeon test-torch test-dask test-gpu bench-gpu lint types format bench bench-page bench-compare speed-check bench-forecast bench-panels bench-retail bench-classification prior figures paper-page playground test-playground docs docs-check docs-links dist test-lowest clean

demo: .venv/demo.stamp
	$(BIN)/eigenecho reproduce --quick --out results/quick

# loadfile keeps the tests of a file in one process, so that shared fixtures are created once.
test: lint types
	$(BIN)/pytest -m "not slow" -n auto --dist loadfile

# The numerical tests under the kernels that BLAS and numba have for several CPUs.
test-kernels: .venv/dev.stamp
	$(BIN)/python tools/each_kernel.py $(BIN)/pytest -m "numerics and not slow" -n auto --dist loadfile

test-slow: .venv/dev.stamp
	$(BIN)/pytest -m slow -n auto

# sktime requires an older pandas, so it has its own environment.
test-sktime: .venv-sktime/stamp
	.venv-sktime/bin/pytest tests/interop/test_sktime.py tests/test_docs.py -k "test_sktime or sktime.md" -n auto

# aeon requires an older numba, so it has its own environment.
test-aeon: .venv-aeon/stamp
	.venv-aeon/bin/pytest tests/interop/test_aeon.py tests/test_docs.py -k "test_aeon or classification.md" -n auto

# Test torch tensors on the CPU, and the Triton kernels with the interpreter.
test-torch: .venv-torch/stamp
	SCIPY_ARRAY_API=1 .venv-torch/bin/pytest tests/tensors tests/test_docs.py -k "tensors or devices.md" -n auto --ignore tests/tensors/test_triton.py
	TRITON_INTERPRET=1 .venv-torch/bin/pytest tests/tensors/test_triton.py tests/tensors/test_kept_on_devices.py -n auto

# Run one test at a time, because the tests start and kill worker processes.
test-dask: .venv-dask/stamp
	.venv-dask/bin/pytest tests/test_docs.py tests/dask -k "dask or clusters.md" -p no:cacheprovider

# Run on a machine with a GPU, with its Python; nothing is installed.
test-gpu:
	SCIPY_ARRAY_API=1 PYTHONPATH=src $(PYTHON) -m pytest tests/tensors

# Write docs/benchmarks-gpu.md, or only a part: make bench-gpu BENCH="--only states".
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

# Run all benchmarks and write docs/benchmarks.md, or only some: make bench BENCH="--only fit forecast".
bench: .venv-bench/stamp
	.venv-bench/bin/python benchmarks/run.py $(BENCH)

# Write docs/benchmarks.md from stored results.
bench-page: .venv-bench/stamp
	.venv-bench/bin/python benchmarks/run.py --render

# Compare our own times with the previous run, stored in .benchmarks.
bench-compare: .venv-bench/stamp
	.venv-bench/bin/pytest benchmarks/compare --benchmark-autosave --benchmark-compare --benchmark-columns=median,iqr,rounds --benchmark-group-by=name $(BENCH)

# Compare the speed with the last release; run this before a release.
speed-check: .venv/dev.stamp
	$(BIN)/python tools/speed_stays_the_same.py $(BENCH)

# Compare forecasts of real series with statsforecast; an interrupted run can be resumed.
# To write the page: make bench-forecast BENCH=--write.
bench-forecast: .venv-peers/stamp
	.venv-peers/bin/python benchmarks/real_series.py $(BENCH)

# Compare forecasts of public sets of series with statsforecast; an interrupted run can be resumed.
# For example: make bench-panels BENCH="FOLDER --only M1"
bench-panels: .venv-peers/stamp
	.venv-peers/bin/python benchmarks/public_panels.py $(BENCH)

# Compare forecasts of a simulated retail panel with LightGBM and statsforecast.
bench-retail: .venv-peers/stamp
	.venv-peers/bin/python benchmarks/retail.py $(BENCH)

# Compare classifiers on a folder of sets with aeon; an interrupted run can be resumed.
# For example: make bench-classification BENCH="FOLDER --write"
bench-classification: .venv-aeon/stamp
	.venv-aeon/bin/python benchmarks/classification.py $(BENCH)

# Fit the prior of the forecaster to synthetic series, and write it into the package.
prior: .venv/dev.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/make_prior.py

figures: .venv/dev.stamp
	$(BIN)/python docs/make_figures.py

# Write docs/paper.md from stored results of `eigenecho reproduce`.
paper-page: .venv/dev.stamp
	$(BIN)/python docs/make_paper_page.py results/reproduce

# Write the modules of docs/playground.md that are generated from the library.
playground: .venv/dev.stamp
	$(BIN)/python docs/make_playground.py

# Test the playground in node and in a headless Chromium.
test-playground: .venv/dev.stamp
	$(BIN)/pytest tests/test_playground.py

# Build the site in build/site. Warnings are errors, and no network access is needed.
docs: .venv-docs/stamp
	$(DOCS)/python -m sphinx -b html -W --keep-going -n docs build/site
	$(DOCS)/python tools/site_is_whole.py build/site

# Run every example and command of the pages and docstrings, without skipping any. Those that use
# sktime and statsforecast need the environment with older packages.
docs-check: docs .venv-peers/stamp
	EVERY_EXAMPLE=1 $(DOCS)/pytest tests/test_docs.py tests/test_reference.py tests/test_commands.py -k "not sktime or test_commands"
	EVERY_EXAMPLE=1 .venv-peers/bin/python -m pytest tests/test_docs.py -k sktime

# Check external links without running the gallery. This needs network access.
docs-links: .venv-docs/stamp
	$(DOCS)/python -m sphinx -b linkcheck -D plot_gallery=0 --quiet docs build/links

# Build the sdist and the wheel, and test them in an empty environment.
dist: .venv-dist/stamp
	rm -rf dist build/lib build/bdist.*
	.venv-dist/bin/python -m build --outdir dist .
	.venv-dist/bin/python -m twine check --strict dist/*
	.venv-dist/bin/python tools/dist_is_whole.py dist

# Test with the minimum versions in pyproject.toml and the oldest Python.
test-lowest: .venv-lowest/stamp
	.venv-lowest/bin/pytest -m "not slow" -n auto

.venv/bin/python .venv-bench/bin/python .venv-sktime/bin/python .venv-aeon/bin/python .venv-torch/bin/python .venv-dask/bin/python .venv-docs/bin/python .venv-dist/bin/python .venv-lowest/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'eigenecho needs Python 3.11 or newer. Select one with: make PYTHON=python3.12')"
	$(PYTHON) -m venv $(@:/bin/python=)

# A stamp newer than pyproject.toml means that its requirements are installed.
.venv/demo.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli]"
	touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,reservoirpy,dev]"
	touch $@ .venv/demo.stamp

# Dask and torch are not installed in .venv, where `make test` would run the tests that need them.
.venv-bench/stamp: .venv-bench/bin/python pyproject.toml
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,dask,peers]"
	touch $@

# A separate environment, because these libraries require other versions.
.venv-peers/stamp: pyproject.toml
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,forecast-peers]" "pytest>=8"
	touch $@

.venv-sktime/stamp: .venv-sktime/bin/python pyproject.toml
	.venv-sktime/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[sktime,dev]"
	touch $@

.venv-aeon/stamp: .venv-aeon/bin/python pyproject.toml
	.venv-aeon/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[aeon,dev]"
	touch $@

.venv-dist/stamp: .venv-dist/bin/python pyproject.toml
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check build twine
	touch $@

.venv-lowest/stamp: .venv-lowest/bin/python pyproject.toml tools/lowest_versions.py
	.venv-lowest/bin/python tools/lowest_versions.py > .venv-lowest/versions.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-lowest/versions.txt --editable ".[cli,reservoirpy,dev]"
	touch $@

# Includes torch and PyRCN, because examples that need a missing package are not run.
.venv-docs/stamp: .venv-docs/bin/python pyproject.toml
	$(DOCS)/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0"
	$(DOCS)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,parquet,reservoirpy,docs]" "pyrcn==0.1.0"
	touch $@

.venv-dask/stamp: .venv-dask/bin/python pyproject.toml
	.venv-dask/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cli,dask,dev]" "zarr>=3"
	touch $@

# torch is pinned; a build without CUDA is used if one is available.
.venv-torch/stamp: .venv-torch/bin/python pyproject.toml
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check "torch==2.13.0" "triton==3.9.0"
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv .venv-aeon .venv-bench .venv-dask .venv-dist .venv-docs .venv-lowest .venv-peers .venv-sktime .venv-torch build dist results .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/api/names docs/examples
	find . -name __pycache__ -prune -exec rm -rf {} +
