# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Unit tests: each tests/unit/**/test_*.c is a cmocka program.
# Fuzz targets: each tests/fuzz/fuzz_*.c defines LLVMFuzzerTestOneInput; its
# corpus is tests/fuzz/corpus/NAME/. `make check` replays the corpora under ASan
# and UBSan, `make fuzz` builds the libFuzzer programs and runs each for a while.
#
# tests/run_tests.py runs the tests, and has the time limit of each kind; tests/check.py has
# the parts of `make check`.

# The distribution's tools alone build and run the tests: a newer Python, Rust or Node in a
# developer's PATH would hide what fails without it.
TEST_GOALS := check check-all test unit thread-test replay golden cli-test docs-test deb-test shim-test random-model symbols-test frames-test \
	code-test gaps-test page-check ui-test kernel-test attack-test soak test-programs sanitized-programs thread-programs
$(TEST_GOALS): export PATH := /usr/sbin:/usr/bin:/sbin:/bin
$(TEST_GOALS): export PYTHONDONTWRITEBYTECODE := 1
# So would a locale, in which tools print other words, and settings of a user's own programs.
$(TEST_GOALS): export LC_ALL := C.UTF-8
$(TEST_GOALS): export PYTHONNOUSERSITE := 1
unexport LANGUAGE PYTHONPATH PYTHONSTARTUP NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS \
	_JAVA_OPTIONS PHP_INI_SCAN_DIR DEBUGINFOD_URLS

LANES ?= $(shell nproc)
RUN_TESTS := tests/run_tests.py -j $(LANES)

UNIT_SRC := $(sort $(shell find tests/unit -name 'test_*.c'))
UNIT_BIN := $(UNIT_SRC:%.c=$(B)/%)
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_REPLAY := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/fuzz/replay_%)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
FUZZ_SECONDS ?= 60

# With sanitizers, what is tested is optimized, and the tests are not: their many checks compile in a
# third of the time then. Some programs compute more than they check.
UNIT_THAT_COMPUTE := $(addprefix $(B)/tests/unit/,decode/elf/test_inflated_section sink/test_hostile_names \
	state/code/test_code_model state/code/test_no_memory state/space/test_cow_tree state/space/test_space_map)
ifneq ($(filter 1,$(SAN) $(TSAN)),)
$(patsubst %,%.o,$(filter-out $(UNIT_THAT_COMPUTE),$(UNIT_BIN))): ALL_CFLAGS += -O0
endif

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(filter %.o,$^) $(HOST_PARTS) $(B)/libcore.a $(CORE_LIBS) -lcmocka -o $@

# Tests of the agent and of the commands link what they use of the program.
HOST_TESTS := $(filter $(B)/tests/unit/agent/% $(B)/tests/unit/run/% $(B)/tests/unit/cli/%,$(UNIT_BIN))

$(HOST_TESTS): $(B)/libhost.a | $(B)/libjitbpf.so
$(HOST_TESTS): HOST_PARTS = $(B)/libhost.a
$(HOST_TESTS): CORE_LIBS += $(HOST_LIBS)

# Memory images of runtimes: tests of them, and the programs that write them.
IMAGE_PARTS := $(addprefix $(B)/tests/runtimes/,frame_text.o memory_image.o)
IMAGE_TOOLS := $(addprefix $(B)/tests/runtimes/,cpython/cpython_image php/runtime_image v8/v8_image)

$(B)/tests/unit/runtimes/php/test_php_images $(B)/tests/unit/runtimes/cpython/test_images \
	$(B)/tests/unit/runtimes/ruby/test_ruby_images $(B)/tests/unit/runtimes/v8/test_v8_images \
	$(B)/tests/unit/runtimes/perl/test_perl_images: \
	$(IMAGE_PARTS)

$(B)/tests/unit/runtimes/v8/test_v8_images $(B)/tests/runtimes/v8/v8_image: \
	$(B)/tests/runtimes/v8/v8_stack.o

$(B)/tests/runtimes/php/runtime_image: $(B)/tests/runtimes/php/symbol_file.o

$(IMAGE_TOOLS): %: %.o $(IMAGE_PARTS) $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -o $@

# -rdynamic: the test looks up symbols of its own program.
$(B)/tests/unit/agent/workers/test_unwind_worker: CFLAGS += -rdynamic

# Makes allocations fail wherever the core makes them.
$(B)/tests/unit/pipeline/analysis/test_sink_failures $(B)/tests/unit/sink/live/test_delta \
	$(B)/tests/unit/pipeline/test_failing_memory \
	$(B)/tests/unit/profile/test_profile $(B)/tests/unit/profile/test_time_slices: \
	CFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=reallocarray

# The rules of the JIT API, which other tests send through the kernel.
$(B)/tests/unit/state/code/test_code_rules: $(B)/tests/conformance/rules.o

# Variants of a program with inlined calls: DWARF 4 and 5, a separate debug file, compressed
# sections, symbols only.
INLINING := $(B)/tests/unit/symbolize/debug/inlining

$(INLINING)-%: tests/unit/symbolize/inlining.cpp
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -gdwarf-$* -Wl,--build-id -o $@ $<

$(INLINING)-stripped: $(INLINING)-5
	$(call say,STRIP,$@)
	$(Q)objcopy --only-keep-debug $< $@.debug
	$(Q)objcopy --strip-all --add-gnu-debuglink=$@.debug $< $@

$(INLINING)-packed: $(INLINING)-4
	$(call say,PACK,$@)
	$(Q)objcopy --compress-debug-sections=zlib $< $@

$(INLINING)-packed-gnu: $(INLINING)-4
	$(call say,PACK,$@)
	$(Q)objcopy --compress-debug-sections=zlib-gnu $< $@

$(INLINING)-mini: $(INLINING)-5
	$(call say,PACK,$@)
	$(Q)objcopy --strip-debug $< $@.symbols
	$(Q)xz -kf $@.symbols
	$(Q)objcopy --strip-all --add-section .gnu_debugdata=$@.symbols.xz $< $@

# 32-bit code, linked without files of the distribution for such code.
$(INLINING)-narrow-%: tests/unit/symbolize/inlining.cpp
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -m32 -nostdlib -static -no-pie -fno-stack-protector -O2 -g -gdwarf-$* \
		-Wl,--build-id,-e,main,--defsym=abort=0 -o $@ $<

$(INLINING)-narrow-packed: $(INLINING)-narrow-4
	$(call say,PACK,$@)
	$(Q)objcopy --compress-debug-sections=zlib $< $@

# dwz moves entries that two programs share into a common file.
$(INLINING)-shared: $(INLINING)-4
	$(call say,DWZ,$@)
	$(Q)cp $< $@ && cp $< $@.other
	$(Q)dwz -m $@.common -M /usr/lib/debug/.dwz/inlining.debug $@ $@.other

# Split DWARF: DIEs in a .dwo file, and in a package.
$(INLINING)-split-%: tests/unit/symbolize/inlining.cpp
	$(call say,SPLIT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -gdwarf-$* -gsplit-dwarf -c -o $@.o $<
	$(Q)$(CXX) -Wl,--build-id -o $@ $@.o
	$(Q)llvm-dwp -o $@.dwp $@.dwo

$(INLINING)-scopes-%: tests/unit/symbolize/scopes.cpp
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -gdwarf-$* -o $@ $<

INLINING_ALL := $(addprefix $(INLINING)-,4 5 stripped packed packed-gnu mini shared \
	split-4 split-5 scopes-4 scopes-5 narrow-4 narrow-5 narrow-packed)

# Calls through each kind of PLT.
PLT := $(B)/tests/unit/symbolize/plt
PLT_FLAGS_lazy := -fcf-protection=none -Wl,-z,lazy
PLT_FLAGS_now := -fcf-protection=none -Wl,-z,now
PLT_FLAGS_ibt := -fcf-protection -Wl,-z,ibtplt,-z,lazy
PLT_FLAGS_static := -static
PLT_FLAGS_narrow-lazy := -shared -fPIC $(PLT_FLAGS_lazy)
PLT_FLAGS_narrow-now := -shared -fPIC $(PLT_FLAGS_now)
PLT_FLAGS_narrow-ibt := -shared -fPIC $(PLT_FLAGS_ibt)
PLT_FLAGS_narrow-library := -shared -fPIC -DLIBRARY
PLT_FLAGS_narrow-fixed := -fno-pic -no-pie -Wl,-e,main $(PLT)-narrow-library $(PLT_FLAGS_lazy)
PLT_NARROW := $(addprefix $(PLT)-narrow-,library lazy now ibt fixed)
PLT_ALL := $(addprefix $(PLT)-,lazy now ibt static) $(PLT_NARROW)

$(PLT)-%: tests/unit/symbolize/plt.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -fno-builtin $(PLT_FLAGS_$*) -o $@ $< -lm

$(PLT_NARROW): $(PLT)-%: tests/unit/symbolize/plt_narrow.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -m32 -O1 -nostdlib -fno-stack-protector -o $@ $< $(PLT_FLAGS_$*)

$(PLT)-narrow-fixed: | $(PLT)-narrow-library

.SECONDARY: $(INLINING_ALL) $(PLT_ALL)

# To run some files: make unit TESTS='test_cursor test_vec', or TESTS=pipeline/% for a folder.
UNIT_RUN := $(if $(TESTS),$(filter $(foreach t,$(TESTS:.c=),%/$t $(B)/tests/unit/$t),$(UNIT_BIN)),$(UNIT_BIN))

unit: $(UNIT_RUN) $(INLINING_ALL) $(PLT_ALL)
	$(Q)$(if $(UNIT_RUN),,$(error no unit program has the name $(TESTS)))$(RUN_TESTS) unit $(UNIT_RUN)

# Programs with threads, or with code that several threads call: make TSAN=1 thread-test.
# ThreadSanitizer does not know the addresses that newer kernels choose at random.
THREAD_TESTS := $(filter $(B)/tests/unit/agent/%,$(UNIT_BIN))

thread-test: $(THREAD_TESTS)
	$(Q)setarch -R $(RUN_TESTS) unit $(THREAD_TESTS)

$(B)/tests/fuzz/replay_%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -o $@

replay: $(FUZZ_REPLAY)
	$(Q)$(RUN_TESTS) replay $(foreach t,$(FUZZ_REPLAY), \
		'$t tests/fuzz/corpus/$(patsubst replay_fuzz_%,%,$(notdir $t))')

# The core is compiled once, for all fuzz targets.
FUZZ_CC = $(CLANG) -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined $(INCLUDES)
FUZZ_OBJ := $(CORE_SRC:%.c=build/fuzz/core/%.o)

build/fuzz/core/%.o: %.c
	$(call say,CLANG,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@

build/fuzz/libcore.a: $(FUZZ_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

build/fuzz/%: tests/fuzz/%.c build/fuzz/libcore.a
	$(call say,FUZZ,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer $^ $(CORE_LIBS) -o $@

fuzz: $(FUZZ_BIN)
	$(Q)mkdir -p $(FUZZ_BIN:build/fuzz/%=build/fuzz/new_%)
	$(Q)$(RUN_TESTS) fuzz $(foreach t,$(FUZZ_BIN:build/fuzz/%=%),'build/fuzz/$t -max_total_time=$(FUZZ_SECONDS) \
		-rss_limit_mb=2048 -timeout=10 build/fuzz/new_$t tests/fuzz/corpus/$(t:fuzz_%=%)')

-include $(FUZZ_OBJ:.o=.d)

# --- the real kernel, real engines -------------------------------------------

$(B)/tests/programs/workloads/%: tests/programs/workloads/%.cpp tests/programs/workloads/onednn_primitives.h
	$(call say,CXX,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -O1 -g1 -Itests/programs/workloads/include -o $@ $< -ldnnl -ldl

include tests/cli/docs.mk

# A shim whose records and journal are of a later version than the program's.
LATER_SHIM := $(B)/tests/programs/workloads/later-shim

$(LATER_SHIM)/libjitbpf.so: $(SHIM_SRC) $(wildcard jitapi-shim/*.h uapi/*.h)
	$(call say,CC,$@)
	$(Q)rm -rf $(@D) && mkdir -p $(@D) && cp -r jitapi-shim uapi $(@D)
	$(Q)sed -i -E 's/^(#define JITBPF_(JIT|JOURNAL)_VERSION).*/\1 99/' $(@D)/uapi/*.h
	$(Q)cd $(@D) && $(CC) $(filter-out -MMD -MP,$(SHIM_CFLAGS)) $(SHIM_LDFLAGS) $(SHIM_SRC) -o $(@F)

KERNEL_NEEDS = all man $(LATER_SHIM)/libjitbpf.so $(addprefix $(B)/tests/programs/workloads/,onednn xbyak large) \
	$(addprefix $(B)/tests/programs/engine/,jit-engine jit-engine-musl conformance-client) $(DOCS_PARTS)

# To run some files: make kernel-test TESTS="test_storm test_list"; some of their tests:
# ONLY=REGEX; with a jitbpf that is built with sanitizers: JITBPF=build/san/jitbpf
kernel-test: $(KERNEL_NEEDS)
	$(Q)BUILD=$(B) JITBPF=$(JITBPF) TESTS='$(or $(TESTS),test_*.py)' ONLY='$(ONLY)' \
		LANES=$(LANES) python3 tests/kernel/harness.py

# README.md and docs/: their form, and all commands in them.
docs-test: cli-test $(KERNEL_NEEDS)
	$(Q)BUILD=$(B) TESTS=test_docs.py LANES=$(LANES) python3 tests/kernel/harness.py

# --- everything --------------------------------------------------------------

check:
	$(Q)tools/install-deps.sh check
	$(Q)tests/check.py

# Everything that runs by itself, with what `make check` leaves out.
check-all:
	$(Q)tools/install-deps.sh check-all
	$(Q)tests/check.py all

# For every change.
test: unit golden replay

golden: $(B)/jitbpf
	$(Q)$(RUN_TESTS) golden 'tests/golden/check.sh $(B)'

layers: $(BPF_SKELETONS)
	$(Q)CC="$(CC)" BUILD=$(B) tools/check-layers.sh
	$(Q)tests/layers/test_check_includes.py -q
	$(Q)tests/layers/test_kernel_types.py -q
	$(Q)tests/layers/test_licence.py -q

.PHONY: thread-test replay kernel-test docs-test golden layers unit test check check-all
# Otherwise make deletes these objects, and compiles them anew whenever the core library changes.
.PRECIOUS: $(B)/%.o

include tests/cli/cli.mk
include tests/deb/deb.mk
include tests/oracles/symbols/symbols.mk
include tests/oracles/frames/frames.mk
include tests/shim/shim.mk
include tests/programs/engine/engine.mk
include tests/attack/attack.mk
include tests/programs/stacks/stacks.mk
include tests/conformance/conformance.mk
include tests/engines/engines.mk
include tests/ui/ui.mk

# What the tests run, built at once: tests/check.py.
test-programs: $(SHIM_TEST_BIN) $(RANDOM_MODEL) \
	$(SYMBOLS)/symbolize $(SYMBOLS_ALL) $(FRAMES)/rows $(FRAMES_ALL) $(FRAMES)/code_rows $(SHAPES) \
	$(B)/tests/ui/make_page $(B)/tests/ui/make_deltas $(KERNEL_NEEDS) $(STACKS_ALL)

sanitized-programs: $(UNIT_BIN) $(INLINING_ALL) $(PLT_ALL) $(FUZZ_REPLAY) $(B)/jitbpf $(B)/libjitbpf.so

thread-programs: $(THREAD_TESTS)

BENCH_BIN := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))

# A change that breaks the build of other tests is seen by those who run all unit tests.
ifeq ($(B)$(TESTS),build)
unit: | $(B)/tests/ui/make_page $(RANDOM_MODEL) $(SYMBOLS)/symbolize $(FRAMES)/rows $(FRAMES)/code_rows \
	$(SHIM_TEST_BIN) $(B)/tests/programs/engine/jit-engine $(B)/tests/programs/engine/conformance-client $(BENCH_BIN)
endif

.PHONY: test-programs sanitized-programs thread-programs
