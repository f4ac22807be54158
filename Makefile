# Two commands do all the set-up: `make demo` shows the main job, `make test` runs the tests.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# axe-core as this package has it, without the driver of browsers that it asks for: 40 MB.
AXE := 'axe-playwright-python>=0.1.8'

.PHONY: demo test exhaustive lint types check docs release bench clean

# The package alone: what a user has.
$(VENV)/package: pyproject.toml
	@echo "Installing shortlist and what it needs into $(VENV); this takes a minute the first time."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --editable .
	@touch $@

# And what tests and linters need.
$(VENV)/tools: $(VENV)/package
	@echo "Installing the tools for tests and linting."
	@$(PIP) install --quiet --upgrade 'pip>=25.1'
	@$(PIP) install --quiet --editable . --group test --group lint
	@$(PIP) install --quiet --no-deps $(AXE)
	@touch $@

# And what builds the site.
$(VENV)/site: $(VENV)/package
	@echo "Installing what builds the site."
	@$(PIP) install --quiet --upgrade 'pip>=25.1'
	@$(PIP) install --quiet --editable '.[report]' --group docs
	@touch $@

demo: $(VENV)/package
	@$(BIN)/python demo/demo.py

test: $(VENV)/tools
	@echo "Left out here, and run by make exhaustive: Spark, and the laws on more and larger inputs."
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Spark, and the same laws on more and larger inputs: minutes more. `make exhaustive MINUTES=60`
# skips what has not begun by then, and says how much that was.
exhaustive: $(VENV)/tools
	@command -v java >/dev/null || echo "There is no Java here: the tests of Spark are left out. A JRE, such as default-jre-headless, brings them back."
	$(BIN)/python -m pytest -n 2 --dist worksteal -m exhaustive $(if $(MINUTES),--minutes=$(MINUTES) -rs)

lint: $(VENV)/tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/tools
	$(BIN)/mypy

check: lint types docs exhaustive test

# The site, in build/site: from nothing, so that no page stays of one that is gone.
docs: $(VENV)/site
	rm -rf build/site build/doctrees
	$(BIN)/python -m sphinx --fail-on-warning --quiet -c docs/site -d build/doctrees . build/site
	$(BIN)/python docs/site/check_links.py build/site
	@echo "Open build/site/index.html."

# What users install, in dist/, tried as they get it. Uploading it stays with the maintainers.
release:
	@$(PYTHON) -m venv $(VENV)/release
	@$(VENV)/release/bin/python -m pip --disable-pip-version-check install --quiet --upgrade 'pip>=25.1'
	@$(VENV)/release/bin/python -m pip install --quiet --group release
	PATH="$(CURDIR)/$(VENV)/release/bin:$$PATH" $(VENV)/release/bin/python tools/release.py

bench: $(VENV)/tools
	$(PIP) install --quiet --group bench
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
