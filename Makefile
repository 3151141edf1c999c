# The two commands that matter: `make run` and `make test`. `make help` lists the rest.

TARGET := $(or $(CARGO_TARGET_DIR),target)
SCRIPTS := .ci/run $(filter-out %.txt %.py,$(wildcard scripts/*))
DENY_VERSION := 0.20.2
export PATH := $(CURDIR)/target/tools/bin:$(PATH)

.PHONY: help run web test test-web screenshots lint deny fmt dist bench rust

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

run: rust web ## build everything and serve http://127.0.0.1:8080 with data in ./data
	cargo build --release --locked -p wakeful
	exec $(TARGET)/release/wakeful serve --listen 127.0.0.1:8080 --data ./data

web: ## build the page into web/dist
	@[ ! -f web/package.json ] || command -v npm >/dev/null || \
		{ echo "The page is built with Node.js 20 or later, which is missing: install nodejs and npm." >&2; exit 1; }
	@[ ! -f web/package.json ] || (cd web && npm ci --no-audit --no-fund && npm run build)

test: rust ## run every test; installs what is missing
	scripts/install-test-deps
	@! grep -rqE '^ *//[/!] ```' crates/*/src || cargo test --locked --doc --workspace
	scripts/with-postgres cargo nextest run --locked --workspace
	E2E_BINARY=$(abspath $(TARGET))/debug/wakeful scripts/test-web

test-web: rust ## run the page's tests alone, in a real browser
	scripts/test-web

screenshots: rust ## take the pictures of the docs from the running page
	scripts/test-web screenshots

lint: rust ## check format, lints, scripts and, with cargo-deny, dependencies
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@! command -v shellcheck >/dev/null || shellcheck $(SCRIPTS)
	@! command -v cargo-deny >/dev/null || cargo deny --workspace --locked check licenses bans sources

deny: rust ## install cargo-deny for `make lint`, some minutes, once
	@command -v cargo-deny >/dev/null || CARGO_TARGET_DIR=target/tools/build \
		cargo install --quiet --locked --root target/tools cargo-deny@$(DENY_VERSION)
	@rm -rf target/tools/build

fmt: rust ## format the Rust code
	cargo fmt --all

dist: rust web ## build the binary that is shipped: slower to build, smaller and faster
	cargo build --profile dist --locked -p wakeful

bench: rust ## measure cost, punctuality and memory, about 25 minutes; parts=full,paced for some, docs=docs renews docs/performance.md
	cargo build --release --locked -p wakeful -p wakeful-bench
	PG_SETTINGS= $(if $(shell scripts/find-postgres 2>/dev/null),scripts/with-postgres) $(TARGET)/release/wakeful-bench run --wakeful $(TARGET)/release/wakeful $(if $(parts),--parts $(parts)) $(if $(docs),--docs $(docs))

rust:
	@command -v cargo >/dev/null || { echo "Rust is missing: install it from https://rustup.rs." >&2; exit 1; }
