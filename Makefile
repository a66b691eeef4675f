# One command each; `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help setup build install deb docs demo check test lint tidy format bench evaluation aged conflicts clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

setup: ## install what is missing to build: Debian packages, and the Python ones in .venv
	@scripts/setup.sh build

build: setup ## build the commands and the workloads into build/; the command is bin/halo
	@scripts/build.sh

install: build ## install into PREFIX, by default /usr/local; needs the network
	@scripts/install.sh "$(or $(PREFIX),/usr/local)"

deb: ## make the Debian package, for Debian 12 and 13 if it is made on 12; needs the network
	@scripts/setup.sh build deb
	@scripts/build.sh
	@scripts/packaging/deb.sh

docs: setup ## write the options of all commands and the keys of all JSON results into build/docs/
	@.venv/bin/python3 scripts/generate_cli_reference.py build/docs/commands.md
	@.venv/bin/python3 scripts/generate_results_format.py build/docs/results.md

demo: ## from nothing to a measured table on two programs, within 15 minutes
	@scripts/setup.sh build demo
	@scripts/build.sh main-job
	@scripts/demo.sh

check: ## the quick checks: format, types, unit tests; within two minutes after `make test`
	@scripts/setup.sh build test
	@scripts/build.sh everything
	@scripts/check.sh

test: ## install what is missing, build, check the format and types, run all tests
	@scripts/setup.sh build test
	@scripts/build.sh everything
	@scripts/test.sh

lint: ## check the format and the types
	@scripts/setup.sh build test
	@scripts/lint.sh

tidy: ## check all C++ by clang-tidy; takes ten minutes
	@scripts/setup.sh build test
	@scripts/build.sh everything
	@scripts/tidy.sh

format: ## put the format right
	@scripts/setup.sh build test
	@scripts/lint.sh --fix

bench: ## measure all bundled programs but variants; takes long
	@scripts/setup.sh build bench
	@scripts/build.sh
	@mkdir -p results
	@bin/halo bench --all --json results/bench.json

evaluation: ## measure what halo says to use, and the HALO paper's evaluation; hours, goes on where it stopped
	@scripts/setup.sh build bench allocators
	@scripts/build.sh
	@scripts/evaluation.sh

aged: ## measure and draw clean and aged heaps; most of an hour, goes on where it stopped
	@scripts/setup.sh build bench
	@scripts/build.sh
	@scripts/aged.sh

conflicts: ## simulate and draw placement by cache set; most of an hour, goes on where it stopped
	@scripts/setup.sh build bench
	@scripts/build.sh
	@scripts/conflicts.sh

clean: ## remove all that was built; keep results and .venv
	rm -rf build build-asan build-tsan bin
