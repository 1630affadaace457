# `make demo` and `make test` work from a fresh clone: each makes .venv, installs, runs.
# Another interpreter: `make test PYTHON=python3.13 VENV=.venv313`.

PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= auto
# `make test CACHE=1` finds compiled programs that an earlier run has kept, for work in between.
CACHE ?= 0

.PHONY: demo test quick core lint format drawing names bench clean

demo: $(VENV)/.installed
	$(BIN)/python examples/babyboot_digits.py
	$(BIN)/diffmech demo
	$(BIN)/python examples/babyboot_bands.py

test: $(VENV)/.installed-test lint
	DIFFMECH_CACHE=$(CACHE) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=10

# After a change in a room: its tests and those of the rooms that import it; documents, examples and
# notebooks are left to `make test`. The room is found from what differs from the last commit, or named:
# `make quick ROOM=lanes`.
quick: $(VENV)/.installed-test
	tests=$$($(BIN)/python -m tests.house.rooms quick $(ROOM)) && \
		DIFFMECH_CACHE=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $$tests

# A part of it, of a few minutes: enough to see whether another Python and JAX are understood.
CORE := tests/scalars/test_scalars.py tests/motion/test_scalar_machines.py \
	$(addprefix tests/simulation/test_,unseen_lagrangians.py simulate.py) \
	$(addprefix tests/lanes/test_,collect.py control.py ensemble.py ensemble_input.py) \
	tests/house/test_exports.py tests/cli/test_cli.py tests/tuning/test_cache.py

core: $(VENV)/.installed-test
	DIFFMECH_CACHE=$(CACHE) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(CORE)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The drawing of the rooms in CONTRIBUTING.md and the page of public names, from the sources.
drawing:
	$(BIN)/python -m tests.house.rooms drawing

names:
	$(BIN)/python -m tests.house.names

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/cold_start.py
	$(BIN)/python benchmarks/first_trajectory.py
	$(BIN)/python benchmarks/long_energy.py
	$(BIN)/python benchmarks/parts_cost.py
	$(BIN)/python benchmarks/constraint_cost.py
	$(BIN)/python benchmarks/stability.py
	$(BIN)/python benchmarks/identification.py
	$(BIN)/python benchmarks/ensemble_scaling.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/equations.py
	$(BIN)/python benchmarks/ensemble.py

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "diffmech needs Python 3.11 or newer, and none was found: install it, or say 'make PYTHON=/path/to/python'."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist results .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
