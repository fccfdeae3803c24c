# Each target gets what it needs by itself (scripts/bootstrap); `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test check bench experiments campaign clean venv

BIN := .venv/bin
PYTEST_ARGS ?=
SEEDS ?= 100000
SCALE ?= paper

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: ## .venv with the locked dependencies, Spark's among them, and weft itself, editable; Java if there is none
	@scripts/bootstrap --extra spark
	@command -v java >/dev/null 2>&1 || scripts/bootstrap --debian openjdk-17-jre-headless

demo: venv ## a broker with a publish and a subscribe; a simulated ring, in which one message reaches its range; an experiment
	@$(BIN)/python scripts/demo.py
	@$(BIN)/weft sim run examples/first-ring.toml
	@if command -v java >/dev/null 2>&1; then \
		$(BIN)/weft experiments run relay-fig10 --scale small --out out/demo; \
	else \
		echo "demo: Java is missing (apt-get install openjdk-17-jre-headless): the experiment is left out" >&2; \
	fi

check: venv ## lint, format, types, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

test: check ## check, then every test except those marked slow
	@scripts/live-clients
	@$(BIN)/pytest -m "not slow" $(PYTEST_ARGS)

bench: venv ## measure simulator, models, planner, store and broker (bench/)
	@$(BIN)/python bench/des.py
	@$(BIN)/python bench/vector.py
	@$(BIN)/python bench/planner.py
	@$(BIN)/python bench/store.py
	@$(BIN)/python bench/broker.py --quick

experiments: venv ## every experiment at the papers' sizes, on Spark, and the report (docs/experiments); SCALE=paper
	@$(BIN)/weft experiments all --scale $(SCALE)
	@$(BIN)/weft experiments report --scale $(SCALE)

campaign: venv ## seeded fault schedules; SEEDS=100000
	@$(BIN)/weft sim campaign --seeds $(SEEDS)

clean: ## remove .venv and every cache
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
