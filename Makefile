# Each target gets what it needs by itself (scripts/bootstrap); `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test check bench campaign clean venv

BIN := .venv/bin
PYTEST_ARGS ?=
SEEDS ?= 100000

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: ## .venv with the locked dependencies and weft itself, editable
	@scripts/bootstrap

demo: venv ## a broker with a publish and a subscribe; then a simulated ring, in which one message reaches its range
	@$(BIN)/python scripts/demo.py
	@$(BIN)/weft sim run examples/first-ring.toml

check: venv ## lint, format, types, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

test: check ## check, then every test except those marked slow
	@scripts/live-clients
	@$(BIN)/pytest -m "not slow" $(PYTEST_ARGS)

bench: venv ## measure simulator, models, store and broker (bench/)
	@$(BIN)/python bench/des.py
	@$(BIN)/python bench/vector.py
	@$(BIN)/python bench/store.py
	@$(BIN)/python bench/broker.py --quick

campaign: venv ## seeded fault schedules; SEEDS=100000
	@$(BIN)/weft sim campaign --seeds $(SEEDS)

clean: ## remove .venv and every cache
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
