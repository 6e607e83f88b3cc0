# forearm: everything sets itself up in .venv from python3 and make alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 2
INSTALL := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python

unexport PYTHONDONTWRITEBYTECODE # imports are compiled once, not in every process

.PHONY: demo test test-more soak setup docs bench check clean

demo: $(VENV)/.demo          ## the main job in one minute; the report lands in out/
	$(BIN)/forearm demo --out out

test: $(VENV)/.test          ## format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto

test-more: $(VENV)/.more     ## browser, TeX, long sweeps
	$(BIN)/python -m pytest -n auto -m more

soak: $(VENV)/.test          ## fault injection, every text through every output, then fuzzing: make soak MINUTES=10
	$(BIN)/python -m pytest -n auto -m soak
	$(BIN)/python tests/soak/soak.py $(MINUTES)

setup: $(VENV)/.test         ## set up alone, test extras included

docs: $(VENV)/.more          ## the documentation site, in docs/_build/html
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html

bench: $(VENV)/.test         ## time us and the peers, in one run
	$(BIN)/python benchmarks/run.py

$(VENV)/.venv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	touch $@

$(VENV)/.demo: $(VENV)/.venv pyproject.toml
	$(INSTALL) -e '.[demo]'
	touch $@

$(VENV)/.test: $(VENV)/.venv pyproject.toml
	$(INSTALL) -e '.[demo,test]'
	touch $@

$(VENV)/.more: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0+cpu' || echo 'no PyTorch without CUDA at hand; its tests are skipped'
	$(INSTALL) -e '.[demo,test,test-more]'
	sh tests/install_debian_packages.sh
	sh tests/install_node_packages.sh $(VENV)/node
	sh tests/install_crocoddyl.sh $(VENV)/crocoddyl $(BIN)/python
	touch $@

clean:
	rm -rf $(VENV) out docs/_build .pytest_cache .mypy_cache .ruff_cache
