# The main targets are `run` and `test`; `make help` lists all of them.

TARGET := $(or $(CARGO_TARGET_DIR),target)
SCRIPTS := .ci/run $(filter-out %.txt %.py,$(wildcard scripts/*)) $(filter-out %.py %.service,$(wildcard packaging/build-* packaging/release packaging/test-*)) $(addprefix packaging/debian/,postinst prerm postrm)
comma := ,
space := $(subst ,, )
BENCH_PARTS := $(subst $(comma), ,$(parts))
# Those that measure the service; `checks` measures single checks.
SERVICE_PARTS := $(filter-out checks,$(BENCH_PARTS))
DENY_VERSION := 0.20.2
export PATH := $(CURDIR)/target/tools/bin:$(PATH)

.PHONY: help run web test test-long test-web test-packages test-reproducible screenshots lint lint-files deny fmt dist release bench rust

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

run: rust ## build everything and serve http://127.0.0.1:8080, with data in ./data
	scripts/with-web-app cargo build --release --locked -p wakeful
	exec $(TARGET)/release/wakeful serve --listen 127.0.0.1:8080 --data ./data

web: ## build the web app into web/dist
	@[ ! -f web/package.json ] || command -v npm >/dev/null || \
		{ echo "Building the web app requires Node.js 20.19 or later: install nodejs and npm." >&2; exit 1; }
	@[ ! -f web/package.json ] || (cd web && npm ci --no-audit --no-fund && npm run build)

test: rust ## run every test; installs missing dependencies
	scripts/install-test-deps
	@! grep -rqE '^ *//[/!] ```' crates/*/src || cargo test --locked --doc --workspace
	scripts/with-postgres cargo nextest run --locked --workspace
	E2E_BINARY=$(abspath $(TARGET))/debug/wakeful scripts/test-web

test-long: rust ## run the tests that take minutes: random histories, properties, kills, a frozen node
	scripts/install-test-deps
	scripts/with-postgres cargo nextest run --locked --release --profile long --run-ignored only \
		-p wakeful-core -p wakeful-engine -p wakeful --no-capture

test-web: rust ## run only the web app's tests, in a real browser
	scripts/test-web

test-packages: ## as root on Debian, install, upgrade and purge a package of the debug binary
	packaging/test-packages

test-reproducible: ## build the release of the last commit twice, in different folders, and compare; takes long
	packaging/test-reproducible

screenshots: rust ## take the screenshots of the web app for the docs
	scripts/test-web screenshots

lint: rust lint-files ## check format, lints, documentation, scripts and, with cargo-deny, dependencies
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

lint-files: rust
	cargo fmt --all --check
	@! command -v shellcheck >/dev/null || shellcheck $(SCRIPTS)
	@! command -v cargo-deny >/dev/null || cargo deny --workspace --locked check licenses bans sources

deny: rust ## install cargo-deny for `make lint`; takes a few minutes, only once
	@command -v cargo-deny >/dev/null || CARGO_TARGET_DIR=target/tools/build \
		cargo install --quiet --locked --root target/tools cargo-deny@$(DENY_VERSION)
	@rm -rf target/tools/build

fmt: rust ## format the Rust code
	cargo fmt --all

dist: rust ## build the release binary: slower to build, but smaller and faster
	scripts/with-web-app cargo build --profile dist --locked -p wakeful

release: rust web ## write the static binary, tarball, Debian package, container image and their lists to dist/
	packaging/release

bench: rust ## measure cost, punctuality and memory, about 25 minutes; parts=full,paced runs only these, docs=docs updates docs/performance.md
	cargo build --release --locked -p wakeful -p wakeful-bench
	$(if $(or $(if $(parts),,all),$(SERVICE_PARTS)),PG_SETTINGS= scripts/with-own-network $(if $(shell scripts/find-postgres 2>/dev/null),scripts/with-postgres) $(TARGET)/release/wakeful-bench run --wakeful $(TARGET)/release/wakeful $(if $(parts),--parts $(subst $(space),$(comma),$(SERVICE_PARTS))) $(if $(docs),--docs $(docs)))
	$(if $(or $(if $(parts),,all),$(filter checks,$(BENCH_PARTS))),cargo bench --locked -p wakeful-outbound --bench check)

rust:
	@command -v cargo >/dev/null || { echo "Rust is missing: install it from https://rustup.rs." >&2; exit 1; }
