PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo quick test nightly lint bench bench-peers audit fuzz soak docs dist bare pictures notebooks clean

demo: $(VENV)/.installed
	$(BIN)/locentropy demo

# One more than there are processors: some tests mostly wait, for kills to happen or for Spark to start.
WORKERS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
PYTEST   = $(BIN)/pytest -n $(WORKERS) --dist worksteal

# While you work: about two minutes on two processors. Every package, and every mechanism's privacy check.
quick: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow and not nightly"

# Before you push: everything but what is only worth its time once a night.
test: $(VENV)/.installed-dev
	$(PYTEST) -m "not nightly"

# The rest: long sweeps, and every property test and every test marked longer_at_night once more with many examples.
nightly: $(VENV)/.installed-dev
	LOCENTROPY_EXAMPLES=nightly $(PYTEST) -m nightly

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
	$(BIN)/python benchmarks/inference_time.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/scale.py

# Other programs, each in an environment of its own, which this installs.
bench-peers: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/peers.py

# Our own guarantees attacked: half an hour on two processors.
audit: $(VENV)/.installed-lab
	$(BIN)/locentropy audit --out audit.html

# Hostile input for every reader; `make test` gives each some dozens of inputs. `.ci/nightly` is for a scheduled job.
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
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# What a release uploads: wheels and sources of both distributions. The product's wheel has the site in it.
dist: docs
	rm -rf dist
	$(BIN)/python -m hatchling build
	cd lab && $(abspath $(BIN))/python -m hatchling build -d ../dist

# What users install, in environments that have nothing else, follows the pages; their wheelhouse is made once.
bare: dist
	$(BIN)/python -m tests.bare

# Pictures of a release's page for the documentation; needs Chromium.
pictures: $(VENV)/.installed-dev
	$(BIN)/python -m tests.release.report.pictures

# The outputs of the example notebooks, in a fresh kernel.
notebooks: $(VENV)/.installed-dev
	$(BIN)/python -m tests.notebooks.executing

clean:
	rm -rf $(VENV) site dist .bare .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# A stamp is older than a pyproject.toml exactly when something that file names may be missing.
PIP = $(BIN)/pip install --quiet --disable-pip-version-check

# The product alone, as its users have it.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

# With the laboratory, which adds `locentropy audit` and `locentropy reproduce`.
$(VENV)/.installed-lab: pyproject.toml lab/pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable . --editable ./lab
	touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml lab/pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[dev]' --editable ./lab
	touch $@ $(VENV)/.installed-lab $(VENV)/.installed
