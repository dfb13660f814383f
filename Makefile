# Everything below needs make and Python 3.11 or newer. The tools go into .venv; an installation
# is repeated only when pyproject.toml changes, so that later runs need no network.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# One thread for each of the processes: threads of BLAS that wait for each other cost more than
# they bring on matrices as small as those of the tests.
WORKERS ?= 2
PYTEST_IN_PARALLEL := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

READY := $(VENV)/.ready
PACKAGE := $(VENV)/.package-installed
DEV := $(VENV)/.dev-installed
PLOT := $(VENV)/.plot-installed
DOCS := $(VENV)/.docs-installed
RELEASE := $(VENV)/.release-installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo docs test test-quick test-matrix test-oldest coverage mutation soak paper dist try-dist lint format clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

install: $(DEV) $(DOCS) ## the tools of "make test docs" into .venv, where they are missing or old

demo: $(PLOT) ## select words on docstrings, print a table, draw demo_output/
	$(BIN)/python -m scoresieve.demo

docs: $(DOCS) ## the documentation with its examples, into docs/_build/html; a warning is an error
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

test: lint ## style and types, then every test, with the slow ones and the doctests
	$(PYTEST_IN_PARALLEL)

test-quick: $(DEV) ## the tests that take less than about two seconds each
	$(PYTEST_IN_PARALLEL) -m "not slow"

test-matrix: ## the tests on the oldest and newest Python and libraries; PYTEST="-m 'not slow'" for less
	$(PYTHON) tools/test_matrix.py $(PYTHONS) --pytest="$(PYTEST)"

test-oldest: ## the tests with the lower bounds of pyproject.toml, those of the extras too
	$(PYTHON) tools/test_matrix.py $(PYTHONS) --only oldest --pytest="$(PYTEST)"

coverage: $(DEV) ## every test with branch coverage of src; fails below the share in pyproject.toml
	$(BIN)/coverage erase
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/coverage run -m pytest -n $(WORKERS) --dist worksteal $(PYTEST)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

mutation: $(DEV) ## faults put into the core, one at a time, then docs/testing.md; MUTATION="--share 0.1" for less
	$(BIN)/python -m studies.mutation $(MUTATION); status=$$?; \
		$(BIN)/python -m studies.mutation.page && exit $$status

soak: $(DEV) ## long runs that try to break the package, then docs/soak.md; SOAK="--seconds 60" for less
	$(BIN)/python -m studies.soak all --results studies/soak/results $(SOAK); status=$$?; \
		$(BIN)/python -m studies.soak.page && exit $$status

paper: $(PLOT) ## the paper's experiments on real data: make paper DATA=folder (about an hour)
	$(BIN)/python -m studies.paper all --data "$(or $(DATA),$(error make paper needs DATA=folder; see docs/experiments.md))"

dist: $(RELEASE) ## the wheel and the sdist, into dist/, with their metadata checked
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

try-dist: ## install what is in dist/ into clean environments and use it as a new user would
	$(PYTHON) tools/try_dist.py dist $(TRY)

lint: $(DEV) ## style and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV) ## rewrite the files in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove caches and build products, keep .venv
	rm -rf build dist demo_output docs/_build docs/gallery docs/generated .pytest_cache .ruff_cache .hypothesis .mutation
	rm -f .coverage .coverage.*
	find . -path './$(VENV)*' -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environments, too
	rm -rf $(VENV) .venv-matrix

$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is missing or older than Python 3.11; try make PYTHON=python3.11" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"
	@touch $@

$(PACKAGE): pyproject.toml $(READY)
	$(PIP) install --quiet --editable .
	@touch $@

$(DEV): pyproject.toml $(PACKAGE)
	$(PIP) install --quiet --group dev
	@touch $@

$(PLOT): pyproject.toml $(PACKAGE)
	$(PIP) install --quiet --editable ".[plot]"
	@touch $@

$(DOCS): pyproject.toml $(PACKAGE)
	$(PIP) install --quiet --group docs
	@touch $@

$(RELEASE): pyproject.toml $(READY)
	$(PIP) install --quiet --group release
	@touch $@
