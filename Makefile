# The verbs of the house. Everything here calls a CMake preset or a script in tools/; `make help` lists them.
PREFIX ?= /usr/local
DESTDIR ?=
SANITIZERS = asan tsan tsan-user
CODE = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cc')

.PHONY: all demo test check bench interop install uninstall clean format models debug $(SANITIZERS) aarch64 unity coverage deb \
	dist help

all: ## build the library, the command, tests and examples
	@tools/setup build
	@cmake --preset release
	@cmake --build --preset release

demo: ## build what it takes, then show a million fibers and a server at work
	@tools/setup demo
	@cmake --preset release
	@cmake --build --preset release --target demo
	@tools/demo

test: ## build, then run the whole test suite
	@tools/setup test
	@cmake --preset release
	@cmake --build --preset release
	@ctest --preset release

check: ## format, lint, layers, headers, models, sanitizers, aarch64, install
	@tools/setup check
	@tools/check

bench: ## measure side by side with the peers
	@tools/setup bench
	@bench/run

interop: ## let HTTP server and client talk to curl, Chromium, Node, Python, nginx and Go
	@tools/setup build
	@cmake --preset release
	@cmake --build --preset release --target weft
	@tests/interop/run

debug $(SANITIZERS) aarch64 unity: ## build and test by the preset of that name
	@tools/setup check
	@cmake --preset $@
	@cmake --build --preset $@
	@ctest --preset $@

coverage: ## run the suite and say how much of each layer it reaches
	@tools/setup test
	@cmake --preset coverage
	@cmake --build --preset coverage
	@find build/coverage -name '*.gcda' -delete
	@ctest --preset coverage
	@tools/coverage build/coverage

models: ## check the models of the protocols
	@tools/setup check
	@tests/model/run

format: ## put every C file into the house format
	@clang-format -i $(CODE)

dist:
	@tools/setup build
	@cmake --preset release -B build/dist -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DWEFT_TESTS=OFF
	@cmake --build build/dist

install: dist ## install into $(DESTDIR)$(PREFIX)
	@DESTDIR=$(DESTDIR) cmake --install build/dist

uninstall: ## remove what `make install` put there
	@test -f build/dist/install_manifest.txt || { echo "nothing was installed from here"; exit 1; }
	@sed 's|^|$(DESTDIR)|' build/dist/install_manifest.txt >build/dist/installed.txt
	@tr '\n' '\0' <build/dist/installed.txt | xargs -0 rm -fv
	@sed 's|/[^/]*$$||' build/dist/installed.txt | grep '/weft$$' | sort -u | tr '\n' '\0' | xargs -0r rmdir -v

deb: PREFIX = /usr
deb: dist ## build/dist/weft_<version>_<architecture>.deb
	@cd build/dist && cpack

clean: ## remove everything that was built
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z$$][^:=]*\):[^#]*## /\1: /p' Makefile | sed 's/\$$(SANITIZERS)/$(SANITIZERS)/' | \
		awk -F': ' '{printf "%-42s %s\n", $$1, $$2}'
