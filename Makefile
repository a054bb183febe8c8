# Everything a developer needs. Only python3 (3.11 or newer), make and a package registry are
# required: each target makes .venv itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := -f examples/policies -f examples/cluster examples/manifests

# Tests run in as many processes as there are processors (tests/work_units.py). Where CI decides, tests
# that failed are run twice more: servers, sockets and child processes of a machine that is busy with
# other work may be late. Each run says what failed in it. A test that takes twenty minutes never
# ends.
PYTEST := $(BIN)/pytest --numprocesses auto --maxprocesses 4 $(if $(CI),--timeout 1200)
FAILED := --last-failed --last-failed-no-failures none
# pytest with these arguments, and with CI what to do after its exit code 1: tests failed.
tested = $(PYTEST) $(1) $(if $(CI),|| { test $$? = 1 && { $(again) || { test $$? = 1 && $(again); }; }; })
again = $(PYTEST) $(1) $(FAILED)

# What is compiled is kept: each process that a test begins, and each collection of the tests, costs
# twice as much without.
unexport PYTHONDONTWRITEBYTECODE

ON_ETCD := api apply clients defaulting mutating tables watch
ONE_BY_ONE := policy webhook

.PHONY: demo site dist docs pages test test-all shape conformance conformance-etcd fidelity explained check coverage mutants packs man bench bench-server bench-beside bench-growth bench-webhook soak attacks soak-etcd fuzz fuzz-readers fuzz-webhook hostile fuzz-lsp vscode bench-etcd decisions pictures programs clean bench-kube

demo: $(VENV)/.installed
	@echo '$$ celadon check $(DEMO)'
	@$(BIN)/celadon check $(DEMO) || test $$? -eq 1  # 1: denied, as intended
	@$(BIN)/python tools/demo_server.py

# The playground as static files, for `celadon playground`, a wheel or any web server.
SITE := src/celadon/cli/playground/site
SOLVER := build/solver
site: $(VENV)/.installed web/node_modules/.installed $(SOLVER)/.installed
	node web/build.mjs --out $(SITE) $(addprefix --solver ,$(wildcard $(SOLVER)/*.whl)) \
	  --yaml $$($(BIN)/python -c 'import os, yaml; print(os.path.dirname(yaml.__file__))')

# What a release publishes, in dist/: an sdist, and the wheel that is made of it, with the playground,
# the man page, completions and a bill of materials. The same tree gives the same bytes. Packages are
# taken from .venv alone, so the build itself needs no network.
RELEASE := build/release
dist: $(VENV)/.developed site
	@ls $(SITE)/assets-*/prover.bin >/dev/null  # a release proves
	rm -rf dist $(RELEASE)
	export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} && \
	$(BIN)/python -m tools.release_files $(RELEASE) && $(BIN)/python -m build --no-isolation --outdir dist

# The documentation as a site, in build/docs, with the playground beside it. A link or an anchor that
# leads nowhere fails, as does a page that no contents list has.
DOCS := build/docs
docs: $(VENV)/.documented site
	rm -rf $(DOCS)
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs $(DOCS)
	cp -R $(SITE) $(DOCS)/playground

# The pages that are made of the code. Their tests say when one is old.
pages: $(VENV)/.developed
	for page in attacks library options; do \
	  $(BIN)/python -m tools.$${page}_page > docs/$$page.md || exit 1; \
	done
	$(BIN)/python -m celadon.cli.commands.lint > docs/lint.md

# What a developer waits for: the tests of the rooms, with few examples for each property, a sample of
# the recordings, a session of a client.
test: $(VENV)/.developed $(VENV)/.etcd
	export CELADON_HYPOTHESIS=$${CELADON_HYPOTHESIS:-quick}; $(call tested,-m "not thorough")

# All that `make test` leaves out, and the properties in full. What has not begun within so many
# SECONDS is skipped and counted: none, unless said.
test-all: $(VENV)/.developed $(VENV)/.clients $(VENV)/.etcd $(VENV)/.documented \
    web/node_modules/.installed $(SOLVER)/.installed programs editors/vscode/celadon.vsix
	$(call tested,-m "thorough or hypothesis" $(if $(SECONDS),--begin-within $(SECONDS)))

# Every recorded scenario of every release against the server, in process and over HTTPS. Each
# agrees, or tests/recorded/unreached.txt has it with its reason; RECORDED="--release 1.33 api" for
# some of them, RECORDED=--write writes that list anew (tests/recorded/README.md).
conformance: $(VENV)/.developed
	$(BIN)/python -m tests.recorded $(RECORDED)

# Recordings and expressions counted anew, and the page about them (docs/fidelity.md) made of it.
fidelity: $(VENV)/.developed
	$(BIN)/python -m tests.recorded --write
	folder="$${CELADON_SHARED:-../shared}/conformance"; $(BIN)/python -m tests.conformance.cel --write \
	  "$$folder/cel-spec" "$$folder/cel-kubernetes" "$$folder/fuzz/cel"
	$(BIN)/python -m tools.fidelity_page > docs/fidelity.md

# The same in process, with the objects in etcd; half an hour.
conformance-etcd: $(VENV)/.developed $(VENV)/.etcd
	folder="$${CELADON_SHARED:-../shared}/conformance"; for part in $(ON_ETCD); do \
	  $(BIN)/python -m tests.apiserver.replaying --store etcd --jobs 4 "$$folder/$$part" || exit 1; \
	done; for part in $(ONE_BY_ONE); do \
	  $(BIN)/python -m tests.apiserver.replaying --store etcd --jobs 1 "$$folder/$$part" || exit 1; \
	done

# Recorded policies asked of the playground, check, the library, serve and the webhook; ten minutes.
decisions: $(VENV)/.developed web/node_modules/.installed
	$(BIN)/python -m tests.recorded.one_decision

# The small pictures of the playground that its test compares with, taken again: look at them.
pictures: $(VENV)/.developed web/node_modules/.installed $(SOLVER)/.installed
	CELADON_KEEP_PICTURES=1 $(BIN)/pytest tests/playground/test_page.py -k looks

# 100,000 random expressions, each worth the same to the prover as to the engine; claims about 200 random
# policies and their mutants, each tried on 10,000 objects; an hour or so for each. Then
# figures about the policies or definitions in PROVED (`python -m tests.prove.figures --help`).
proofs: $(VENV)/.developed
	$(BIN)/python -m tests.prove.agreement --random 0 100000 --show 20
	$(BIN)/python -m tests.prove.campaign 0 200 --objects 10000
	for what in $(if $(PROVED),questions mutants definitions); do \
	  $(BIN)/python -m tests.prove.figures $$what --objects 10000 $(PROVED) || exit 1; \
	done

# Every recorded policy explained, each part of each expression evaluated alone; ten minutes.
explained: $(VENV)/.developed
	CELADON_EXPLAIN_EVERY=1 $(BIN)/pytest tests/recorded/test_explain.py

check: $(VENV)/.developed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict -p celadon -p tests -p tools.mutants

# The shape of the source in numbers; with `SHAPE=--write` into docs/architecture.md, too.
shape: $(VENV)/.developed
	$(BIN)/python -m tools.shape $(SHAPE)

# Lines and branches that the tests run, per room; takes twice as long as the tests. One test is
# about time alone, and would take minutes.
coverage: $(VENV)/.developed
	$(BIN)/coverage run -m pytest \
	  --deselect tests/kube/protobuf/test_hostile_bytes.py::test_a_megabyte_is_read_in_time
	$(BIN)/python tools/room_coverage.py

# Whether the tests of each room notice mistakes: a sample; half an hour or so (docs/decisions/0011).
# `ROOMS="kube/crd cel/checking"` names others, `MUTANTS="--seed 2 --sample 100"` draws others.
mutants: $(VENV)/.developed
	$(BIN)/python -m tools.mutants $(MUTANTS) $(ROOMS)

# A store whose bytes flip, whose calls fail and whose power is lost; a server that is killed 1,000
# times while clients write; members of etcd likewise; readers of bytes; floods of clients without
# manners. Some hours (`python -m tests.faults` alone: minutes).
soak: $(VENV)/.developed $(VENV)/.etcd
	$(BIN)/python -m tests.faults --rounds 1000

# Each repair of what was found by attacks is undone: its test has to fail.
attacks: $(VENV)/.developed
	$(BIN)/python -m tests.attacks

# Two servers on three members of etcd that are killed, stopped and cut off 100 times each, while
# clients write and watch; two hours (`python -m tests.etcd ROUNDS`).
soak-etcd: $(VENV)/.developed $(VENV)/.etcd
	$(BIN)/python -m tests.etcd

# Random expressions, policies and schemas, five minutes (`python -m tests.fuzz --help`).
fuzz: $(VENV)/.developed
	$(BIN)/python -m tests.fuzz --seconds 300 $(FUZZ)

# Every reader of bytes, guided by the lines it runs; an hour or two (`FUZZ="--inputs 1000000"`).
fuzz-readers: $(VENV)/.developed
	$(BIN)/python -m tests.fuzz.guided $(FUZZ)

# A million damaged reviews for the webhook: each gets a review or a 4xx; half an hour or so.
fuzz-webhook: $(VENV)/.developed
	$(BIN)/python -m tests.faults.fuzzed_webhook

# Inputs that mean harm: each within its bounds of time and memory; then damaged ones, an hour or so.
hostile: $(VENV)/.developed
	$(BIN)/python -m tests.hostile --mutated 100000

# 10,000 random edits of a file of policies, each answered as by a fresh analysis.
fuzz-lsp: $(VENV)/.developed
	$(BIN)/python -m tests.cli.language_server.random_edits --edits 10000

# The extension for Visual Studio Code, editors/vscode/celadon.vsix.
vscode:
	cd editors/vscode && npm install --no-audit --no-fund --silent && npm run --silent package

# The same for tests, where npm can be reached.
editors/vscode/celadon.vsix: $(wildcard editors/vscode/*.js*)
	@$(MAKE) --silent vscode >/dev/null 2>&1 || echo "not built: the extension for editors" >&2

packs: $(VENV)/.installed
	$(BIN)/python tools/build_packs.py

# The man page: for packages of distributions, or for `man -l celadon.1`.
man: $(VENV)/.installed
	$(BIN)/python -m tools.man_page > celadon.1

# Measurements. Each prints its rows with their ratios (median and spread of rounds in turns), writes
# them into docs/performance.md, and fails when a row is under its floor.
bench: $(VENV)-bench/.installed
	$(VENV)-bench/bin/python -m bench --check

# Beside kube-apiserver's own CEL; needs Go and KUBERNETES=, a checkout of 1.36. Two minutes.
bench-kube: $(VENV)-bench/.installed
	$(VENV)-bench/bin/python -m bench.kube_cel $(KUBERNETES) --check --write

# The API server under load, beside a bare handler of the same HTTP server; five minutes.
bench-server: $(VENV)/.developed
	$(BIN)/python -m bench.server --write --check

# The same work done by kube-apiserver; needs the programs KUBE_APISERVER= and ETCD=. Ten minutes.
bench-beside: $(VENV)/.developed
	$(BIN)/python -m bench.server.beside $(KUBE_APISERVER) $(ETCD) --write --check

# What one unit costs when there are many; half an hour.
bench-growth: $(VENV)/.developed
	$(BIN)/python -m bench.growth --write --check

# Durable creates on etcd, beside etcd alone and SQLite; three minutes.
bench-etcd: $(VENV)/.developed $(VENV)/.etcd
	$(BIN)/python -m bench.etcd

# The webhook under load, beside a kopf handler and a FastAPI endpoint; three minutes.
bench-webhook: $(VENV)-bench/.webhooks
	$(VENV)-bench/bin/python -m bench.webhook --write --check

clean:
	rm -rf $(VENV) $(VENV)-bench .coverage .mutants build dist web/node_modules $(SITE)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Celadon needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version 2>&1); use: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[serve]'
	@touch $@

$(VENV)/.developed: pyproject.toml $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

# What the documentation's site is made of; without it, its tests are skipped.
$(VENV)/.documented: pyproject.toml $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]' && \
	  touch $@ || echo "not installed: what the documentation's site is made of" >&2

# kubectl and helm; without them, the tests of sessions with them are skipped.
$(VENV)/.clients: tools/install_clients.py $(BIN)/python
	@$(BIN)/python tools/install_clients.py $(BIN) && touch $@ || \
	  echo "not installed: kubectl and helm" >&2

# etcd, from a package of Debian; without it, the tests of the store on etcd are skipped.
$(VENV)/.etcd: tools/install_etcd.py $(BIN)/python
	@$(BIN)/python tools/install_etcd.py $(BIN) && touch $@ || echo "not installed: etcd" >&2

# What the playground's page is made of; without it, its tests are skipped.
web/node_modules/.installed: web/package.json web/package-lock.json
	@cd web && npm ci --silent && touch node_modules/.installed || \
	  echo "not installed: the packages of the playground's page" >&2

# The solver of the page's proofs, a wheel for Pyodide; without it, the page has no proofs.
$(SOLVER)/.installed: web/solver.txt $(VENV)/bin/python
	@rm -rf $(SOLVER) && mkdir -p $(SOLVER)
	@$(BIN)/python -m pip download --quiet --disable-pip-version-check --dest $(SOLVER) \
	  --no-deps --only-binary :all: --platform pyemscripten_2026_0_wasm32 --python-version 314 \
	  --require-hashes --requirement web/solver.txt && touch $@ || \
	  echo "not installed: the solver of the playground's page" >&2

# Shells whose completion is tested, Neovim, which is a client of `celadon lsp`, and a browser that
# looks at the pages; only where packages can be installed without asking.
programs:
	@command -v zsh >/dev/null && command -v fish >/dev/null && command -v nvim >/dev/null && \
	  command -v chromium >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends zsh fish \
	    neovim chromium; } \
	    >/dev/null 2>&1 || echo "not installed: zsh, fish, neovim and chromium" >&2

# Its own environment: engines to compare with, which nothing else needs. One that cannot be
# installed is left out of the comparison.
$(VENV)-bench/.installed: pyproject.toml bench/requirements.txt $(BIN)/python
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@grep -v '^#' bench/requirements.txt | while read -r peer; do \
	  $(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check "$$peer" || \
	  echo "not installed: $$peer" >&2; \
	done
	@touch $@

$(VENV)-bench/.webhooks: $(VENV)-bench/.installed bench/webhook/requirements.txt
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[serve]' -r bench/webhook/requirements.txt
	@touch $@
