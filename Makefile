PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint bench bench-peers audit fuzz soak docs pictures clean

demo: $(VENV)/.installed
	$(BIN)/locentropy demo

# One more than there are processors: some tests mostly wait, for kills to happen or for Spark to start.
WORKERS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
test: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/profiles.py
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/sensitivity.py
	$(BIN)/python benchmarks/utility.py
	$(BIN)/python benchmarks/ranks.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/scale.py

# Other programs, each in an environment of its own, which this installs.
bench-peers: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/peers.py

# Our own promises attacked: half an hour on two processors.
audit: $(VENV)/.installed
	$(BIN)/locentropy audit --out audit.html

# Hostile input for every reader; the tests do the same for half a minute each. `.ci/nightly` is for a scheduled job.
SEED         ?= 0
SECONDS_EACH ?= 600
PUBLICATIONS ?= 1000
fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.fuzz.running --seconds $(SECONDS_EACH) --seed $(SEED)

# Publications on random data with random faults: no spend is lost, no error unexplained, no private value shown.
soak: $(VENV)/.installed-dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.faults.soaking --publications $(PUBLICATIONS) --seed $(SEED)

# A link that leads nowhere stops it (but not with --quiet). To read: python3 -m http.server --directory site
docs: $(VENV)/.installed-dev
	$(BIN)/mkdocs build --strict

# Pictures of a release's page for the documentation; needs Chromium.
pictures: $(VENV)/.installed-dev
	$(BIN)/python -m tests.release.report.pictures

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The stamps are older than pyproject.toml exactly when something it names may be missing.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ $(VENV)/.installed
