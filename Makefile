# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make          build/jitbpf and build/libjitbpf.so; with a JDK, build/libjitbpf-jvmti.so
#   make install, make uninstall   PREFIX=/usr/local, DESTDIR; what is built
#   make deb      build/deb/: Debian packages
#   make demo     install what is missing, build, record a PHP program, show its profile
#   make check    install what is missing, run all checks and most tests
#   make check-all   all tests: slow ones, packages, engines, a longer soak, fuzzing
#   make check-engines   large published engines (1 GB download): numba, wasmtime, OpenVINO, OpenCL
#   make bench    measurements, as ratios;  make soak  a run of 30 minutes
#   make bench-scale   what twice the work takes, into docs/scale.md (root)
#   make core     only the core library: needs no clang, bpftool, libbpf
#   make test     the tests for every change: unit tests, golden recordings, replay
#   make unit     build and run the unit tests
#   make man      build/man/: the manual pages
#   make pictures make docs/pictures/ anew (root)
#   make docs-test   the commands in README.md and docs/ (root)
#   make page     build user/sink/page/flamegraph.html from user/sink/page/ (needs node and npm)
#   make format   run clang-format;  make lint  check with clang-format and clang-tidy
#
#   V=1  show the commands    SAN=1  with ASan and UBSan, in build/san
#                             TSAN=1  with ThreadSanitizer, in build/tsan

VERSION := 0.1.0
RELEASE_DATE := 2026-11-23

V ?= 0
SAN ?= 0
TSAN ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n' '$(1)' '$(2)')

B := $(if $(filter 1,$(SAN)),build/san,$(if $(filter 1,$(TSAN)),build/tsan,build))
CC ?= gcc
MULTIARCH := $(shell $(CC) -print-multiarch)
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/lib/linux-tools*/*/bpftool /usr/sbin/bpftool /usr/bin/bpftool) bpftool)

WERROR ?= -Werror
WARN := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wpointer-arith -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
# Paths of the build are not in what is built, if CFLAGS say so.
PREFIX_MAP := $(filter -ffile-prefix-map=%,$(CFLAGS))
comma := ,
# With -O1 and lines only, sanitized programs compile in half the time; gcc then warns of initialized variables.
SANFLAGS := $(if $(filter 1,$(SAN)),-fsanitize=address$(comma)undefined \
	-fno-sanitize-recover=undefined -Wno-maybe-uninitialized) \
	$(if $(filter 1,$(TSAN)),-fsanitize=thread -Wno-maybe-uninitialized)
CFLAGS ?= $(if $(filter 1,$(SAN) $(TSAN)),-O1 -g1,-O2 -g)
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARN) $(SANFLAGS) -fno-omit-frame-pointer -MMD -MP
INCLUDES := -I. -Iuser

CORE_STAGES := base engines decode state runtimes locate unwind profile symbolize sink pipeline
CORE_SRC := $(sort $(shell find $(CORE_STAGES:%=user/%) -name '*.c' -not -path '*/node_modules/*'))
HOST_SRC := $(sort $(shell find user/agent user/run user/cli -name '*.c'))
CORE_OBJ := $(CORE_SRC:%.c=$(B)/%.o)
HOST_OBJ := $(HOST_SRC:%.c=$(B)/%.o)
CORE_LIBS := -lZydis -liberty -lz -llzma -lzstd
HOST_LIBS := -lbpf -lelf -lz -lpthread -lcap -lseccomp

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all core demo pictures bench bench-scale soak format format-check lint clean fuzz install-deps

# The folder of the JDK's jvmti.h; empty: there is none, and no agent is built.
JAVA_INCLUDE ?= $(patsubst %/,%,$(dir $(firstword $(wildcard $(JAVA_HOME:%=%/include/jvmti.h) \
	/usr/lib/jvm/default-java/include/jvmti.h /usr/lib/jvm/*/include/jvmti.h))))
AGENT := $(if $(JAVA_INCLUDE),$(B)/libjitbpf-jvmti.so)

all: $(B)/jitbpf $(B)/libjitbpf.so $(AGENT)
ifeq ($(JAVA_INCLUDE),)
	@echo "  no JDK: libjitbpf-jvmti.so is not built (it needs jvmti.h: default-jdk-headless)"
endif

core: $(B)/libcore.a

$(B)/libcore.a: $(CORE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# For tests, which link the objects of this library that they use.
$(B)/libhost.a: $(filter-out $(B)/user/cli/main.o,$(HOST_OBJ))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(INCLUDES) -c $< -o $@

$(B)/user/cli/help.o: INCLUDES += -DJITBPF_VERSION='"$(VERSION)"'
$(B)/user/cli/help.o: Makefile

$(B)/jitbpf: $(HOST_OBJ) $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(CORE_LIBS) $(HOST_LIBS) -o $@

# --- manual pages: the tables of the commands, and docs/man/ ---------------------

$(B)/tools/man/man_pages: $(B)/tools/man/man_pages.o $(B)/libhost.a $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(HOST_LIBS) $(CORE_LIBS) -o $@

$(B)/man/jitbpf.1: $(B)/tools/man/man_pages $(wildcard docs/man/*.man) Makefile
	$(call say,MAN,$(@D))
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$(B)/tools/man/man_pages docs/man $(@D) $(VERSION) $(RELEASE_DATE)

man: $(B)/man/jitbpf.1

.PHONY: man

# --- installation: the program finds its parts in LIBDIR (probe_site.c) -----------

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib/$(MULTIARCH)/jitbpf
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/jitbpf
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
UNITDIR ?= $(PREFIX)/lib/systemd/system
INSTALL_VARIABLES := DESTDIR PREFIX BINDIR LIBDIR MANDIR DOCDIR BASHDIR ZSHDIR FISHDIR UNITDIR

$(B)/user/agent/publisher/probe_site.o: INCLUDES += -DJITBPF_MULTIARCH='"$(MULTIARCH)"'

install: all man
	$(Q)$(foreach v,$(INSTALL_VARIABLES),$(v)='$($(v))') tools/install.sh install $(B)

uninstall: man
	$(Q)$(foreach v,$(INSTALL_VARIABLES),$(v)='$($(v))') tools/install.sh uninstall $(B)

deb:
	$(Q)tools/deb.sh

.PHONY: install uninstall deb

# --- the page: committed as built, embedded into the program ---------------------

$(B)/user/sink/format/page_embed.o: user/sink/page/flamegraph.html

PAGE := user/sink/page
PAGE_TOOLS := $(PAGE)/node_modules/.package-lock.json

$(PAGE_TOOLS): $(PAGE)/package-lock.json
	$(call say,NPM,$<)
	$(Q)cd $(PAGE) && npm ci --silent --ignore-scripts && touch node_modules/.package-lock.json

page: $(PAGE_TOOLS)
	$(Q)node $(PAGE)/build.mjs

# Check the types, and that the committed page is what its sources build.
page-check: $(PAGE_TOOLS)
	$(call say,TSC,$(PAGE))
	$(Q)cd $(PAGE) && node_modules/.bin/tsc
	$(Q)mkdir -p $(B)
	$(Q)node $(PAGE)/build.mjs $(B)/flamegraph.html
	$(Q)cmp $(B)/flamegraph.html user/sink/page/flamegraph.html || { echo "run: make page"; exit 1; }

.PHONY: page page-check

# --- the shim: no dependency but libc, exports only the API -----------------

SHIM_SRC := $(sort $(wildcard jitapi-shim/*.c))
SHIM_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN) -fPIC -fvisibility=hidden -mno-red-zone \
	-fcf-protection=none -fno-stack-protector -fno-omit-frame-pointer $(PREFIX_MAP) -MMD -MP -I.
SHIM_LDFLAGS := -shared -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete \
	-Wl,-soname,libjitbpf.so
SHIM_OBJ := $(SHIM_SRC:%.c=$(B)/%.shim.o)

$(B)/%.shim.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SHIM_CFLAGS) -c $< -o $@

$(B)/libjitbpf.so: $(SHIM_OBJ) $(B)/php/jitbpf.ini
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHIM_LDFLAGS) $(SHIM_OBJ) -o $@

# --- the agent for Java: the shim's objects, with JVMTI instead of the JIT API ---

AGENT_SRC := $(sort $(wildcard jitapi-shim/jvmti/*.c))
AGENT_OBJ := $(AGENT_SRC:%.c=$(B)/%.shim.o) $(filter-out %/shim.shim.o,$(SHIM_OBJ))

$(AGENT_SRC:%.c=$(B)/%.shim.o): SHIM_CFLAGS += -isystem $(JAVA_INCLUDE) -isystem $(JAVA_INCLUDE)/linux
$(B)/libjitbpf-jvmti.so: SHIM_LDFLAGS := $(SHIM_LDFLAGS:libjitbpf.so=libjitbpf-jvmti.so)

$(B)/libjitbpf-jvmti.so: $(AGENT_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SHIM_LDFLAGS) $(AGENT_OBJ) -o $@

# Files that engines read, beside the shim (user/engines/php.c).
$(B)/php/jitbpf.ini: jitapi-shim/php/jitbpf.ini
	$(Q)mkdir -p $(@D) && cp $< $@

# --- BPF: objects that are loaded at other times, and one from all other programs --
# No sanitizer changes them: all builds have those of the plain one.

BPF := build/bpf
BPF_OWN := attach file_system
BPF_SRC := $(sort $(filter-out $(BPF_OWN:%=bpf/%.bpf.c),$(wildcard bpf/*.bpf.c)))
BPF_SKELETONS := $(BPF_OWN:%=$(BPF)/%.skel.h) $(BPF)/jitbpf.skel.h
BPF_OBJ := $(BPF_SRC:%.c=build/%.o)
BPF_CFLAGS := -idirafter /usr/include/$(MULTIARCH) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror \
	-Wno-unused-parameter -Wno-gnu-variable-sized-type-not-at-end $(PREFIX_MAP) -I. -MMD -MP

$(BPF)/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

# The list of its parts is in this file.
$(BPF)/jitbpf.bpf.o: $(BPF_OBJ) Makefile
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $(BPF_OBJ)

.SECONDARY: $(BPF_OWN:%=$(BPF)/%.bpf.o)

$(BPF)/%.skel.h: $(BPF)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(HOST_OBJ): $(BPF_SKELETONS)
$(HOST_OBJ): INCLUDES += -I$(BPF)

# --- tests -------------------------------------------------------------------

include tests/tests.mk

install-deps:
	$(Q)tools/install-deps.sh build

demo:
	$(Q)tools/install-deps.sh demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/demo.sh $(B)

# docs/pictures/, anew: needs root, Chromium and tmux.
pictures: all
	$(Q)tools/pictures.py $(B) docs/pictures

# A run without end, beside compilers, PHP and containers: make soak MINUTES=30
MINUTES ?= 30

soak: all $(B)/tests/programs/engine/jit-engine
	$(Q)tests/soak/soak.py $(B) $(MINUTES)

bench: all $(B)/tests/programs/engine/jit-engine $(B)/tests/bench/publish_cost
	$(Q)tests/bench/run $(B)

# What is needed for twice the work. Writes docs/scale.md.
bench-scale: all
	$(Q)tests/bench/scale.py $(B) -o docs

$(B)/tests/bench/churn $(B)/tests/bench/deltas $(B)/tests/bench/day $(B)/tests/bench/paths \
$(B)/tests/bench/samples: %: %.o $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -o $@

$(B)/tests/bench/live_day $(B)/tests/bench/readers: %: %.o $(B)/libhost.a $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(HOST_LIBS) $(CORE_LIBS) -o $@

$(B)/tests/bench/%: $(B)/tests/bench/%.o $(B)/tests/programs/engine/jit_client.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ -ldl -o $@

SOURCES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

format:
	$(Q)clang-format -i $(SOURCES)

# Versions of clang-format differ in layout; the oldest supported one decides.
format-check:
	$(call say,FORMAT,$(words $(SOURCES)) files)
	$(Q)if clang-format --version | grep -q 'version 14\.'; then \
		clang-format --dry-run -Werror $(SOURCES); \
	else echo "format not checked: clang-format 14 is required"; fi

lint: format-check page-check
	$(call say,TIDY,core)
	$(Q)clang-tidy --quiet $(CORE_SRC) -- -std=gnu11 -D_GNU_SOURCE $(INCLUDES) 2>/dev/null

clean:
	$(Q)rm -rf build

-include $(shell find $(B) $(BPF) -type f -name '*.d' 2>/dev/null)
