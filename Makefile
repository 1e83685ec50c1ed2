# `make test` on a fresh machine needs Python 3.11 or newer, git and make; everything else it fetches itself.

PYTHON ?= python3
BIN := .venv/bin
RUNS := .venv/.runs
READY := .venv/.installed
OURS := assistant skills_store curator prompts
WEBUI := .cache/open-webui

.PHONY: chat demo test test-model test-openwebui bench crash fuzz shape lint golden readme clean

chat: $(RUNS)                   ## talk
	@$(BIN)/assistant chat

demo: $(RUNS)                   ## a conversation with a scripted model that shows the learning
	@$(BIN)/assistant demo

test: lint                      ## all that must hold; under five minutes
	$(BIN)/pytest -m "not model and not long"

lint: $(READY)                  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-model: $(READY)            ## the built-in model, from `assistant setup --local` to an answer that goes on
	XDG_CACHE_HOME=$(CURDIR)/.cache OMP_WAIT_POLICY=passive $(BIN)/pytest -m model tests/model

test-openwebui: $(READY) $(WEBUI)/.installed   ## the pipe inside a real Open WebUI
	OPEN_WEBUI=$(WEBUI)/bin/open-webui $(BIN)/pytest -m long tests/openwebui

bench: $(READY)                 ## measure against DESIGN 12; the last result stays in the folder
	$(BIN)/python tests/benchmarks/run.py

crash: $(READY)                 ## kill the process at every commit point of longer journeys
	$(BIN)/pytest -m long -k "crash or kill"

fuzz: $(READY)                  ## property tests with many more examples
	$(BIN)/pytest -m long -k fuzz

shape: $(READY)                 ## the law, then the numbers of STYLE part 3
	$(BIN)/pytest tests/style
	$(BIN)/python -m tests.style.report

golden: $(READY)                ## write the rendered prompts anew; then read the diff
	$(BIN)/python -m tests.prompts.write_golden

readme: $(READY)                ## write the README's tables anew
	$(BIN)/python -m tests.style.write_readme

clean:                          ## forget the virtual environment and all caches
	rm -rf .venv .cache .mypy_cache .ruff_cache .hypothesis

$(RUNS): pyproject.toml
	@echo "Installing into .venv; this takes a minute, once …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(READY): $(RUNS)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

$(WEBUI)/.installed:
	$(PYTHON) -m venv $(WEBUI)
	$(WEBUI)/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(WEBUI)/bin/pip install --quiet --disable-pip-version-check --prefer-binary open-webui==0.12.4
	touch $@
