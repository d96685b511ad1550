# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# frames-test: our unwind rows of all code of real programs, compared with readelf's output of
# their call frame information. FRAMES_FILES=... selects other files.

FRAMES := $(B)/tests/oracles/frames
FRAMES_SRC := $(filter user/base/% user/engines/go_runtime.c user/decode/elf/elf% user/decode/elf/go% user/decode/elf/section% user/decode/elf/inflated% \
	user/decode/elf/zlib% user/decode/elf/zstd% user/decode/cfi/%,$(CORE_SRC))
FRAMES_LIBRARIES := libc.so.6 ld-linux-x86-64.so.2 libstdc++.so.6 libcrypto.so.3

$(FRAMES)/rows: $(FRAMES)/rows.o $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -o $@

$(FRAMES)/realigned-gcc $(FRAMES)/realigned-clang: tests/oracles/frames/realigned.cpp
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(if $(findstring clang,$@),$(CLANG)++,$(CXX)) -O2 -mavx2 $< -o $@

$(FRAMES)/odd: tests/oracles/frames/odd.S
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $< -o $@

# Without .eh_frame_hdr; then with .debug_frame instead, also compressed.
$(FRAMES)/static: $(WORDS_OBJ)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -static $^ -o $@

$(FRAMES)/debug: tests/oracles/frames/rows.c $(FRAMES_SRC)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -D_GNU_SOURCE $(INCLUDES) -fno-asynchronous-unwind-tables $^ -lz -lzstd -o $@

$(FRAMES)/debug-packed: $(FRAMES)/debug
	$(call say,PACK,$@)
	$(Q)objcopy --compress-debug-sections=zlib $< $@

FRAMES_ALL := $(addprefix $(FRAMES)/,realigned-gcc realigned-clang odd static debug debug-packed) \
	$(SYMBOLS)/rust-usual
# The path of a library, or its bare name if it is missing, which makes the test fail.
FRAMES_LIBRARY = $(or $(shell /sbin/ldconfig -p | sed -n 's,.*\t$(1) .*x86-64.*=> ,,p' | head -n 1),$(1))
FRAMES_FILES ?= $(FRAMES_ALL) /usr/bin/php $(foreach l,$(FRAMES_LIBRARIES),$(call FRAMES_LIBRARY,$(l)))

frames-test: $(FRAMES)/rows $(FRAMES_ALL)
	$(Q)$(RUN_TESTS) -v frames $(foreach f,$(FRAMES_FILES),'tests/oracles/frames/compare.py $(FRAMES)/rows $f')

.PHONY: frames-test

# code-test: unwind rows made from machine code only, compared with call frame information.

SHAPES_FLAGS := -fPIC -shared -fno-stack-protector
SHAPES_FLAGS_plain := -O0
SHAPES_FLAGS_some := -O1
SHAPES_FLAGS_usual := -O2
SHAPES_FLAGS_all := -O3 -mavx2
SHAPES_FLAGS_short := -Os
SHAPES_FLAGS_pointer := -O2 -fno-omit-frame-pointer
SHAPES_FLAGS_careful := -O2 -fstack-clash-protection -fstack-protector-strong -fcf-protection
SHAPES_KINDS := plain some usual all short pointer careful
SHAPES := $(foreach c,gcc clang,$(SHAPES_KINDS:%=$(FRAMES)/shapes-$(c)-%.so))

$(SHAPES): tests/oracles/frames/shapes.cpp
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(if $(findstring clang,$@),$(CLANG)++,$(CXX)) $(SHAPES_FLAGS) \
		$(SHAPES_FLAGS_$(lastword $(subst -, ,$(basename $@)))) -o $@ $<

$(FRAMES)/code_rows: $(FRAMES)/code_rows.o $(B)/libhost.a $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -o $@

CODE_FILES ?= $(SHAPES) /usr/bin/php $(foreach l,$(FRAMES_LIBRARIES),$(call FRAMES_LIBRARY,$(l)))

code-test: $(FRAMES)/code_rows $(SHAPES)
	$(Q)$(RUN_TESTS) -v code $(foreach f,$(CODE_FILES),'$(FRAMES)/code_rows $f')

.PHONY: code-test

# gaps-test: unwind rows of whole files made from their instructions, without the functions' starts
# and sizes that their call frame information gives, compared with that information.

$(FRAMES)/gap_rows: $(FRAMES)/gap_rows.o $(B)/libhost.a $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -o $@

# Half of the code of -O0 is landing pads, which only the unwinder of exceptions reaches.
GAPS_FILES ?= $(filter-out %-plain.so,$(CODE_FILES))

# A quarter of OpenSSL 3.5 is assembly for AVX-512, which no function that is known calls.
gaps-test: $(FRAMES)/gap_rows $(SHAPES)
	$(Q)$(RUN_TESTS) -v code $(foreach f,$(GAPS_FILES),'$(FRAMES)/gap_rows $(if $(findstring libcrypto,$f),-u 30) $f')

.PHONY: gaps-test
