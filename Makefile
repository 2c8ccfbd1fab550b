# Few verbs. Each one alone sets up .venv on a fresh machine with Python 3.11 and make, then does its job.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export OMP_WAIT_POLICY := PASSIVE

.PHONY: run test check bench docs

run: $(READY)  ## the main job on the embedded demo corpus
	$(BIN)/probative run

test: $(READY)  ## every test
	$(BIN)/pytest -q -n 2 --dist loadfile --durations 15

check: $(READY)  ## lint, format, types, the order of the rooms, the documented names
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/unit/test_public_names.py

bench: $(READY)  ## side by side with peers, ratios in one run
	$(BIN)/python -m benchmarks

docs: $(READY)  ## rewrite the generated pages
	$(BIN)/python scripts/docs.py

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "probative needs Python 3.11 or newer; say which one: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[models,tune,dedup,dev]'
	@touch $@
