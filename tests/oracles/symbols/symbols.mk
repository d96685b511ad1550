# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# symbols-test: our frames at 10,000 addresses of real programs, compared with llvm-symbolizer.
# C++ by two compilers, with LTO, split (.dwo, packages) and compressed; Rust with both
# manglings; Debian's libc.

RUSTC ?= rustc
SYMBOLS := $(B)/tests/oracles/symbols
WORDS := tests/oracles/symbols/words.cpp tests/oracles/symbols/count.cpp
WORDS_FLAGS := -std=c++17 -O2 -g -I.
# Compiled for a form of debug info, of which a part of the program has as much as all of it. All of it is in
# gcc-5 and clang-4-split.
WORDS_PART_FLAGS := $(WORDS_FLAGS) -DWITHOUT_REGEX

$(SYMBOLS)/symbolize: $(SYMBOLS)/symbolize.o $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -o $@

# Objects of two programs: this one, and a static one of frames.mk.
WORDS_OBJ := $(WORDS:tests/oracles/symbols/%.cpp=$(SYMBOLS)/gcc-5.parts/%.o)

$(WORDS_OBJ): $(SYMBOLS)/gcc-5.parts/%.o: tests/oracles/symbols/%.cpp tests/oracles/symbols/words.h
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(WORDS_FLAGS) -gdwarf-5 -c $< -o $@

$(SYMBOLS)/gcc-5: $(WORDS_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CXX) $^ -o $@

# Like a distribution's build: the directory is mapped away, and the source is part of it.
$(SYMBOLS)/gcc-5-relative: $(WORDS) tests/oracles/symbols/words.h
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cd tests/oracles/symbols && $(CXX) $(WORDS_PART_FLAGS) -I../../.. -gdwarf-5 \
		-fdebug-prefix-map=$(CURDIR)/tests/oracles/symbols=./words $(notdir $(WORDS)) -o $(abspath $@)

$(SYMBOLS)/gcc-4-lto: $(WORDS) tests/oracles/symbols/words.h
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(WORDS_PART_FLAGS) -gdwarf-4 -flto -flto-partition=one $(WORDS) -o $@

$(SYMBOLS)/gcc-5-packed: $(SYMBOLS)/gcc-5
	$(call say,PACK,$@)
	$(Q)objcopy --compress-debug-sections=zlib $< $@

# The .dwo files of the package are deleted, so that the package is read.
$(SYMBOLS)/gcc-5-split: $(WORDS) tests/oracles/symbols/words.h
	$(call say,SPLIT,$@)
	$(Q)rm -rf $@.parts && mkdir -p $@.parts
	$(Q)for f in $(WORDS); do $(CXX) $(WORDS_PART_FLAGS) -gdwarf-5 -gsplit-dwarf -c $$f \
		-o $@.parts/$$(basename $$f .cpp).o || exit 1; done
	$(Q)$(CXX) $@.parts/*.o -o $@
	$(Q)llvm-dwp $@.parts/*.dwo -o $@.dwp && rm $@.parts/*.dwo

$(SYMBOLS)/clang-4-split: $(WORDS) tests/oracles/symbols/words.h
	$(call say,SPLIT,$@)
	$(Q)rm -rf $@.parts && mkdir -p $@.parts
	$(Q)for f in $(WORDS); do $(CLANG)++ $(WORDS_FLAGS) -gdwarf-4 -gsplit-dwarf -c $$f \
		-o $@.parts/$$(basename $$f .cpp).o || exit 1; done
	$(Q)$(CLANG)++ $@.parts/*.o -o $@

# Legacy mangling (still the default, like C++) and Rust's v0 mangling.
$(SYMBOLS)/rust-v0: RUSTC_FLAGS := -C symbol-mangling-version=v0
$(SYMBOLS)/rust-usual $(SYMBOLS)/rust-v0: tests/oracles/symbols/words.rs
	$(call say,RUSTC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)MAKEFLAGS= $(RUSTC) --edition 2021 -O -g $(RUSTC_FLAGS) $< -o $@

SYMBOLS_ALL := $(addprefix $(SYMBOLS)/,gcc-5 gcc-5-relative gcc-4-lto gcc-5-packed gcc-5-split \
	clang-4-split rust-usual rust-v0)

symbols-test: $(SYMBOLS)/symbolize $(SYMBOLS_ALL)
	$(Q)$(RUN_TESTS) -v symbols $(foreach f,$(SYMBOLS_ALL) --libc, \
		'tests/oracles/symbols/compare.py $(SYMBOLS)/symbolize $f')

.PHONY: symbols-test
