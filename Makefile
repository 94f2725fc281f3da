# Everything a contributor runs; .ci/run calls the same targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip
# pip says nothing unless something is wrong, also where maturin calls it.
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python dev lint bench bench-peers bench-instructions tools clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "proxtree needs Python >= 3.11 ($(PYTHON) is missing or older): https://www.python.org/downloads/" >&2; exit 1; }
	@cargo --version >/dev/null 2>&1 \
	  || { echo "proxtree needs Rust >= 1.89 (cargo is missing): https://rustup.rs" >&2; exit 1; }
	@cargo --version | awk '{ split($$2, v, "."); exit !(v[1] > 1 || v[2] >= 89) }' \
	  || { echo "proxtree needs Rust >= 1.89 (found $$(cargo --version)): rustup update stable" >&2; exit 1; }

$(BIN)/maturin: | tools
	$(PYTHON) -m venv $(VENV)
	$(PIP) install 'maturin>=1.14,<2'

dev: tools $(BIN)/maturin  ## build into .venv, ready for `import proxtree`
	@echo "building (the first time takes a minute or two)"
	. $(BIN)/activate && maturin develop --quiet --extras test

demo: tools $(BIN)/maturin  ## build, train on the data set that ships, show the result
	@echo "building (the first time takes a minute or two)"
	. $(BIN)/activate && maturin develop --quiet --release --extras text
	$(BIN)/proxtree demo

test: test-rust test-python  ## all tests, doctests included

test-rust: tools
	cargo test --quiet --workspace

test-python: dev
	$(BIN)/python -m pytest --quiet

lint: dev  ## formatters, linters, types, stubs, docs
	$(PIP) install --upgrade $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["lint"])')
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/stubtest proxtree._core

bench: tools  ## criterion benches (PROXTREE_DATA=folder adds real data)
	cargo bench

bench-peers: tools  ## beside other packages, in environments of its own: PROXTREE_DATA=folder, ARGS=...
	$(PYTHON) benches/peers/run.py $(ARGS)

bench-instructions: tools  ## count instructions of four kernels under callgrind
	$(PYTHON) benches/instructions.py $(ARGS)

clean:  ## remove .venv, target and the built module
	rm -rf $(VENV) target python/proxtree/*.so
