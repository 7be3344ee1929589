# Two commands for everyone: `make demo` and `make test`. Each target sets up .venv once.
PYTHON ?= python3
# `make test TORCH=2.15.0` runs the tests on another version of torch, in an environment of its own beside .venv.
PINNED := $(shell sed -n 's/^torch==//p' constraints.txt)
TORCH ?= $(PINNED)
VENV := .venv$(if $(filter-out $(PINNED),$(TORCH)),-torch-$(TORCH))
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# `make fuzz` searches from another seed each time; `make fuzz SEED=...` repeats what it found.
SEED := $(or $(SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
# A process for each core, each with whole files: what a file trains once is trained once.
SPREAD := --numprocesses auto --maxprocesses 4 --dist loadfile

.PHONY: help setup demo docs test test-slow fuzz check format bench clean

help:
	@echo "make demo       set up, train a small translator on the built-in corpus, show it (minutes)"
	@echo "make test       set up, run the tests (minutes)"
	@echo "make test TORCH=2.15.0   the same on another version of torch"
	@echo "make test-slow  the slow ones as well"
	@echo "make fuzz       property tests with many more examples, from a fresh seed that is printed"
	@echo "make docs       the guides and a reference of the docstrings: build/site/index.html"
	@echo "make check      format, lint, types, import levels, fast unit tests"
	@echo "make format     let ruff rewrite the files"
	@echo "make bench      training steps side by side with other toolkits, in environments of their own"
	@echo "make clean      remove what the other targets made"

setup: $(STAMP)

# torch comes first and by its exact version, so that nothing else pulls another build of it.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	sed 's/^torch==.*/torch==$(TORCH)/' constraints.txt > $(VENV)/constraints.txt
	$(BIN)/python -c "import torch" 2>/dev/null || $(BIN)/pip install --quiet -c $(VENV)/constraints.txt torch numpy
	$(BIN)/pip install --quiet -c $(VENV)/constraints.txt --editable ".[dev]"
	touch $@

demo: $(STAMP)
	$(BIN)/regard demo

test: $(STAMP)
	$(BIN)/python -m pytest $(SPREAD)

test-slow: $(STAMP)
	$(BIN)/python -m pytest $(SPREAD) -m "slow or not slow"

fuzz: $(STAMP)
	@echo "make fuzz SEED=$(SEED) repeats this search"
	$(BIN)/python -m pytest $(SPREAD) -m hypothesis --hypothesis-profile=fuzz --hypothesis-seed=$(SEED)

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_levels.py tests/test_config.py tests/nn

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

$(VENV)/.docs: $(STAMP)
	$(BIN)/pip install --quiet -c $(VENV)/constraints.txt --editable ".[docs]"
	touch $@

bench: $(STAMP)
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.startup

clean:
	rm -rf .venv .venv-torch-* .peers build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
