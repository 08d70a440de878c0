# Every target prints the commands it runs. PYTHON may name another interpreter (>= 3.11).
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: plan test lint types reports bench all clean

plan: $(VENV)/.plan            ## set up and plan the example scenario
	$(BIN)/budget plan scenarios/gpt5.toml

test: $(VENV)/.test            ## set up and run all tests
	$(BIN)/pytest -n 2

lint: $(VENV)/.test            ## style, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.test           ## strict types of laws/ and budget/
	$(BIN)/mypy

reports: $(VENV)/.plan         ## regenerate the committed reports and the catalogue of laws
	$(BIN)/budget plan scenarios/*.toml -o reports/ -q
	$(BIN)/budget laws -f md > docs/laws.md

bench: $(VENV)/.test           ## speed, as ratios and seconds measured in one run
	$(BIN)/python benchmarks/plan.py

all: lint types test

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.plan: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@ $(VENV)/.plan
