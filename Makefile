.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
PYTHON := $(VENV)/bin/python
PORT ?= 8000
# Without compiling all that is installed, which takes a third of the time.
PIP := $(PYTHON) -m pip install -qq --no-compile --no-input --disable-pip-version-check --root-user-action=ignore

# One thread for local embeddings: more slow each other down on a busy machine.
export OMP_NUM_THREADS ?= 1
# Keep compiled modules: otherwise each of the many processes of the tests compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run dev setup demo test test-system test-release chaos lint bench

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

run: setup ## start everything: database, migrations, demo data, web at http://127.0.0.1:8000, worker (PORT=…)
	@PORT=$(PORT) exec $(PYTHON) manage.py serve

dev: setup ## the same with DEBUG on: full error pages, edited files are served at once
	@DEBUG=on PORT=$(PORT) exec $(PYTHON) manage.py serve

setup: $(VENV)/.run ## only create the environment, so that bin/mio COMMAND works

demo: setup ## run the pipeline over the demo conversation and print the result
	@exec $(PYTHON) manage.py demo

# Three processes for two cores: each waits a tenth of its time.
test: $(VENV)/.dev ## run the tests of code and database
	@$(PYTHON) -m pytest -n 3 --dist loadgroup -m "not system and not release"

test-system: $(VENV)/.dev ## run the tests of servers, processes and browsers
	@$(PYTHON) -m pytest -n 3 --dist loadgroup -m system

test-release: $(VENV)/.dev ## before a release: run the tests of several database servers, of upgrades and of the commands in docs
	@$(PYTHON) -m pytest -n 2 --dist loadgroup -m release

chaos: $(VENV)/.dev ## inject faults: killed processes, a full disk, clocks that jump (needs faketime, and root for the disk)
	@$(PYTHON) -m pytest -n 0 -o python_files='chaos_*.py' tests/chaos

lint: $(VENV)/.dev ## check format, rules, templates, types, import layers, migrations, translations (needs gettext)
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	find . -path ./$(VENV) -prune -o -name '*.html' -print | xargs -r $(VENV)/bin/djade --check --target-version 5.2
	$(VENV)/bin/mypy .
	$(VENV)/bin/lint-imports
	$(PYTHON) manage.py makemigrations --check --dry-run
	$(PYTHON) -m tools check_translations

bench: setup ## measure the latency of context, search and ingestion, as JSON; progress on stderr
	@exec $(PYTHON) manage.py bench latency

# The distribution's Python first: one that a version manager compiled is often not optimized, and
# takes up to twice the time.
$(VENV)/bin/pip:
	@for python in /usr/bin/python3.13 /usr/bin/python3.12 /usr/bin/python3.11 \
			python3.13 python3.12 python3.11 python3; do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		found=$$python; \
		"$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
		exec "$$python" -m venv $(VENV); \
	done; \
	if [ -z "$$found" ]; then \
		echo "Mio needs Python 3.11 or newer, but none is installed: apt-get install python3 python3-venv" >&2; \
	else \
		echo "$$found cannot make a virtual environment: apt-get install python3-venv" >&2; \
	fi; \
	exit 1

$(VENV)/.run: requirements.txt | $(VENV)/bin/pip
	@echo "Installing the requirements of Mio into $(VENV) (takes a minute or two the first time)" >&2
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements.txt requirements-dev.txt | $(VENV)/bin/pip
	@echo "Installing the requirements of Mio, and the tools of tests and lint, into $(VENV)" >&2
	@$(PIP) -r requirements-dev.txt $(ALSO)
	@touch $(VENV)/.run $@
