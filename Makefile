# On a fresh clone: `make demo` shows the library at work, `make test` checks it.
# Needs Python 3.11 or newer; another interpreter: `make PYTHON=python3.12 test`.

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
# geomstats and diffprivlib need an older NumPy and scikit-learn than the other peers.
NUMPY1_VENV := .venv-bench-numpy1
# The lowest versions that pyproject.toml allows; the tool that finds them has its own place.
FLOORS_VENV := .venv-floors
UV_VENV := .venv-uv
MUTANTS_VENV := .venv-mutants
DIST_VENV := .venv-dist
# Where an environment has its programs.
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
WORKERS ?= 2
SEED ?= 0
# One thread per process: tests run side by side, and benchmarks compare single threads.
SINGLE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# What rounds.
NUMERICAL := $(addprefix tests/,spaces kernel statistics noise mechanisms privacy release research auditing test_laws.py)

.NOTPARALLEL:
.PHONY: help demo test test-slow test-papers coverage test-kernels test-floors test-pythons
.PHONY: api golden measure attack mutants bench reproduce docs dist sbom lint clean distclean

help:
	@echo "make demo       private means of the bundled digit images: demo_output/"
	@echo "make test       the tests: every claim, on a choice of cases; 5 CPU minutes"
	@echo "make test-slow  the rest of the cases, and statistical tests with a million draws"
	@echo "make test-papers  the tests of riemdp-papers, in papers/; SLOW=1 for the slow ones too"
	@echo "make coverage   the tests, and the lines that they reach"
	@echo "make test-kernels  the numerical tests as on other processors"
	@echo "make test-floors   the tests with the lowest versions that are allowed"
	@echo "make test-pythons  the tests on other Pythons at hand: all on the newest, what does not round between"
	@echo "make api        stores the public interface and the schemas of documents, which tests compare"
	@echo "make golden     draws the stored releases again and says which differ; NEW=1 stores them"
	@echo "make measure    how large the project is, and how much of it a release uses"
	@echo "make attack     hostile searches, about an hour; SEED=7 for others"
	@echo "make mutants    how many small errors the tests notice, a sample; ALL=--all for every one"
	@echo "make bench      speed and accuracy against peers, in environments of their own"
	@echo "make reproduce  the papers' figures, tables and theorems, in minutes; QUICK=--quick for fewer repeats"
	@echo "make docs       the documentation: docs/_build/html/index.html"
	@echo "make dist       wheel and source, built twice alike and tried on every Python at hand: dist/"
	@echo "make sbom       the same: what the wheel brings is in dist/ as CycloneDX"
	@echo "make lint       ruff, mypy, import-linter"
	@echo "make clean      removes what the targets wrote; distclean also the environments"

demo: $(VENV)/.installed-demo
	$(BIN)/riemdp demo --output demo_output

# Tests of one file share what they have calibrated: they run in one process. Bytecode is kept
# whatever the environment says: every worker and every process of a test would compile again.
TESTS := -m pytest -n $(WORKERS) --dist loadfile
PYTEST := $(SINGLE_THREAD) PYTHONDONTWRITEBYTECODE= MPLBACKEND=Agg $(BIN)/python $(TESTS)

test: $(VENV)/.installed-test
	$(PYTEST) -m "not slow" $(addprefix --ignore=,$(SKIP))

test-slow: $(VENV)/.installed-test
	$(PYTEST) -m slow

test-papers: $(VENV)/.installed-test $(VENV)/.installed-papers
	$(PYTEST) papers/tests $(if $(SLOW),,-m "not slow")

coverage: $(VENV)/.installed-test
	$(PYTEST) -m "not slow" --cov --cov-report=term

test-kernels: $(VENV)/.installed-test
	$(SINGLE_THREAD) MPLBACKEND=Agg $(BIN)/python tools/kernels.py \
		$(BIN)/python $(TESTS) -m "not slow" $(NUMERICAL)

# On the oldest Python the lowest versions are those named; newer ones have wheels of later ones.
test-floors:
	$(MAKE) VENV=$(FLOORS_VENV) FLOORS=1 test test-papers docs

# Where the oldest and the newest round alike, as stored releases do on all, those between do, too.
test-pythons: $(VENV)/$(SCRIPTS)/python
	@found="$$($(BIN)/python tools/pythons.py)"; \
	[ -n "$$found" ] || { echo "no other Python from 3.11 on runs here: nothing to do"; exit 0; }; \
	newest="$$(printf '%s\n' "$$found" | tail -n 1)"; \
	printf '%s\n' "$$found" | while read -r version python; do \
		echo "== Python $$version: $$python"; \
		[ "$$version $$python" = "$$newest" ] && skip= || skip="$(NUMERICAL)"; \
		$(MAKE) VENV=.venv-$$version PYTHON="$$python" SKIP="$$skip" test </dev/null || exit 1; \
	done

# After a change that is meant of the public interface, or of the parts that documents name: what
# is stored shows it in the diff.
api: $(VENV)/.installed-test
	$(BIN)/python tools/public_api.py --write
	$(BIN)/python tools/document_schemas.py --write

# After a change that is meant to change bits: what is stored shows it in the diff of the table.
golden: $(VENV)/.installed-test
	$(SINGLE_THREAD) $(BIN)/python tools/golden.py $(if $(NEW),,--check)

measure: $(VENV)/.installed-test
	$(BIN)/python tools/measure.py

attack: $(VENV)/.installed-test
	$(SINGLE_THREAD) $(BIN)/python tools/attack_curves.py --seed $(SEED)
	$(SINGLE_THREAD) $(BIN)/python tools/attack_sensitivity.py --seed $(SEED) --large

mutants: $(MUTANTS_VENV)/.installed-mutants
	$(SINGLE_THREAD) MPLBACKEND=Agg $(MUTANTS_VENV)/$(SCRIPTS)/python tools/mutants.py --workers $(WORKERS) $(ALL)

bench: $(BENCH_VENV)/.installed-bench $(BENCH_VENV)/.installed-papers $(NUMPY1_VENV)/.installed-bench-numpy1
	mkdir -p bench_output
	$(SINGLE_THREAD) $(BENCH_VENV)/$(SCRIPTS)/python -m pytest benchmarks --rows bench_output/numpy2.json
	$(SINGLE_THREAD) $(NUMPY1_VENV)/$(SCRIPTS)/python -m pytest benchmarks/test_geomstats.py \
		benchmarks/test_edge_cases.py benchmarks/test_calibration.py \
		--rows bench_output/numpy1.json
	$(BENCH_VENV)/$(SCRIPTS)/python tools/write_docs_pages.py benchmarks \
		bench_output/numpy2.json bench_output/numpy1.json

reproduce: $(VENV)/.installed-papers
	$(SINGLE_THREAD) $(BIN)/riemdp reproduce all $(QUICK) --output reproduction
	$(BIN)/python tools/write_docs_pages.py reproduction reproduction
	$(SINGLE_THREAD) $(BIN)/python tools/write_docs_pages.py theorems

docs: $(VENV)/.installed-docs $(VENV)/.installed-papers
	$(SINGLE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/check_docs.py docs/_build/html
	$(SINGLE_THREAD) $(BIN)/python tools/doctests.py
	@echo "docs/_build/html/index.html"

dist sbom: $(DIST_VENV)/.installed-dist
	$(DIST_VENV)/$(SCRIPTS)/python tools/dist.py \
		$$($(DIST_VENV)/$(SCRIPTS)/python tools/pythons.py | sed 's/^[^ ]* /--python /')
	$(DIST_VENV)/$(SCRIPTS)/python -m twine check --strict dist/*.whl dist/*.tar.gz

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf demo_output bench_output mutants_output reproduction docs/_build docs/gallery docs/api/generated docs/sg_execution_times.rst
	rm -rf build dist htmlcov .benchmarks benchmark.json .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -f .coverage .coverage.*
	find src tests papers benchmarks docs examples -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) $(BENCH_VENV) $(NUMPY1_VENV) $(MUTANTS_VENV) $(DIST_VENV) $(FLOORS_VENV) $(UV_VENV) .venv-3.*
	rm -f src/riemdp/*.abi3.so

# An environment per use, an installation per extra, repeated when the dependencies change, or the
# sources of the extension, which is compiled beside the sources where there is a compiler.
NATIVE := hatch_build.py $(wildcard native/*)
$(VENV)/$(SCRIPTS)/python $(BENCH_VENV)/$(SCRIPTS)/python $(NUMPY1_VENV)/$(SCRIPTS)/python $(UV_VENV)/$(SCRIPTS)/python $(MUTANTS_VENV)/$(SCRIPTS)/python $(DIST_VENV)/$(SCRIPTS)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "riemdp needs Python 3.11 or newer; '$(PYTHON)' is older or missing." >&2; \
		echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(@D:/$(SCRIPTS)=)

# All that riemdp-papers needs is in the extra `demo`, and riemdp is the one that is here.
PAPERS := $(VENV)/.installed-papers $(BENCH_VENV)/.installed-papers
$(PAPERS): %papers: papers/pyproject.toml %demo
	$(@D)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable ./papers
	@touch $@

ifdef FLOORS
$(VENV)/.installed-%: pyproject.toml $(NATIVE) $(UV_VENV)/.installed-uv | $(VENV)/$(SCRIPTS)/python
	$(UV_VENV)/$(SCRIPTS)/uv pip install --quiet --python $(BIN)/python --resolution lowest-direct \
		--only-binary :all: --requirements pyproject.toml --extra $*
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(UV_VENV)/$(SCRIPTS)/uv pip list --quiet --python $(BIN)/python
	@touch $@
else
$(VENV)/.installed-%: pyproject.toml $(NATIVE) | $(VENV)/$(SCRIPTS)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
endif

$(UV_VENV)/.installed-uv: | $(UV_VENV)/$(SCRIPTS)/python
	$(UV_VENV)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

$(BENCH_VENV)/.installed-%: pyproject.toml $(NATIVE) | $(BENCH_VENV)/$(SCRIPTS)/python
	$(BENCH_VENV)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(NUMPY1_VENV)/.installed-%: pyproject.toml $(NATIVE) | $(NUMPY1_VENV)/$(SCRIPTS)/python
	$(NUMPY1_VENV)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(DIST_VENV)/.installed-%: pyproject.toml $(NATIVE) | $(DIST_VENV)/$(SCRIPTS)/python
	$(DIST_VENV)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(MUTANTS_VENV)/.installed-%: pyproject.toml $(NATIVE) | $(MUTANTS_VENV)/$(SCRIPTS)/python
	$(MUTANTS_VENV)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
