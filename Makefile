# klift: make builds build/klift, build/libklift.so, build/libklift.a; it never installs packages or uses the network.
#   make            build                make check      build and run the tests
#   make test       scripts/setup + check  make demo     scripts/setup + the demonstration
#   make fuzz       SECONDS=60 a target  make coverage   of the parsers and the loader
#   make install    DESTDIR= PREFIX= LIBDIR=   make uninstall (the same variables)
#   make SANITIZE=address,undefined BUILD=build-asan check
BUILD    ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=
LIBDIR   ?= $(PREFIX)/lib
CC       ?= gcc
OPTIMISE ?= -O3
SANITIZE ?=
EXTRA    ?=
# The one place of the version. ABI goes up when a program linked before would break; src/klift.map names it too.
VERSION  := 0.1.0
ABI      := 0

# Fixed contraction: the same bits from every optimisation level and compiler that obeys IEEE 754.
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS   += -std=c17 $(OPTIMISE) -g -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno $(WARNINGS) -Iinclude -Isrc -D_POSIX_C_SOURCE=200809L -pthread $(EXTRA)
LDLIBS   += -lm -pthread
# gcc for s390x computes float expressions in double, unless it is told that float is meant.
CFLAGS   += $(shell $(CC) -std=c17 -dM -E -x c /dev/null 2>/dev/null | sed -n 's/.*_FLT_EVAL_METHOD__ 1$$/-fexcess-precision=fast/p')

# The same bytes wherever it is built: debug information names sources as seen from here. Compilers believe PWD, which may be
# the name of a link to here.
CFLAGS   += '-ffile-prefix-map=$(CURDIR)=.'
export PWD := $(CURDIR)

# Decompression: a library is used when the compiler finds its header. make WITHOUT="zlib lzma zstd bz2" BUILD=build-plain
# leaves out those named; klift then refuses such files and says what is missing.
WITHOUT  ?=
library   = $(if $(filter $(1),$(WITHOUT)),,$(shell $(CC) -E -x c -include $(2) /dev/null >/dev/null 2>&1 && echo $(3)))
LDLIBS   := $(LDLIBS) $(call library,zlib,zlib.h,-lz) $(call library,lzma,lzma.h,-llzma) $(call library,zstd,zstd.h,-lzstd) $(call library,bz2,bzlib.h,-lbz2)
# The references of learner svm, which are opened when asked for: WITHOUT="liblinear libsvm" leaves them out.
LDLIBS   += $(if $(call library,liblinear,linear.h,yes)$(call library,libsvm,libsvm/svm.h,yes),-ldl)
CFLAGS   += $(foreach name,$(WITHOUT),-DKLIFT_WITHOUT_$(shell echo $(name) | tr a-z A-Z))
# Block products by a CBLAS: make KLIFT_BLAS=1 BUILD=build-blas takes the first of these that pkg-config knows, KLIFT_BLAS=openblas that one.
KLIFT_BLAS ?=
ifneq ($(KLIFT_BLAS),)
BLAS    := $(firstword $(foreach name,$(patsubst 1,cblas openblas blis blas,$(KLIFT_BLAS)),$(shell pkg-config --exists $(name) && echo $(name))))
ifeq ($(BLAS),)
$(error KLIFT_BLAS=$(KLIFT_BLAS): pkg-config knows no such BLAS; scripts/setup blas installs one)
endif
CFLAGS  += -DKLIFT_BLAS $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(BLAS)))
LDLIBS  += $(shell pkg-config --libs $(BLAS))
endif
# The map spherical, about which docs/maps/spherical.md names patents: make KLIFT_SPHERICAL=0 BUILD=build-plain leaves it out.
KLIFT_SPHERICAL ?= 1
ifeq ($(KLIFT_SPHERICAL),0)
CFLAGS  += -DKLIFT_WITHOUT_SPHERICAL
endif
ifneq ($(SANITIZE),)
CFLAGS  += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SANITIZE)
endif

SOURCES := $(filter-out $(if $(filter 0,$(KLIFT_SPHERICAL)),$(patsubst %,src/map/%.c,spherical shells mixture law systematic)),$(sort $(wildcard src/*.c src/*/*.c)))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
CLI     := $(sort $(wildcard cli/*.c))
CLI_OBJECTS := $(CLI:%.c=$(BUILD)/%.o)
TEST_SOURCES := $(filter-out $(if $(filter 0,$(KLIFT_SPHERICAL)),$(patsubst %,tests/test_%.c,spherical spherical_usps law)),$(sort $(wildcard tests/test_*.c)))
# Under a sanitizer the scripts that run its own build; the thread sanitizer finds nothing in what has no threads, slowly, nor in the same
# trainings with other numbers, which tests of svm and its features have.
# Figures of maps, which the contract test walks too, are no matter of memory.
ifneq ($(SANITIZE),)
TEST_SOURCES := $(filter-out $(patsubst %,tests/test_%.c,compose craft figure_1 homogeneous law maclaurin map_figures spherical tree),$(TEST_SOURCES))
endif
ifeq ($(SANITIZE),thread)
TEST_SOURCES := $(filter-out tests/test_out_of_memory.c tests/test_code% tests/test_cost_path.c tests/test_carry.c tests/test_references.c tests/test_probability_models.c,$(shell grep -lE 'kl(ift)?_run|kl_parallel|pthread|reading_is_one' $(TEST_SOURCES)))
export TEST_SCRIPTS ?= cli/run.sh
export CLI_PARTS ?= 2_train 3_predict
else ifneq ($(SANITIZE),)
export TEST_SCRIPTS ?= check_fuzz_corpus.sh cli/run.sh
endif
TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SOURCES))
SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/test_%,$(wildcard tests/*.c)))
# The AVX-512 loops on any CPU that has AVX2, where SIMDe's headers are found: their tests once more, as test_<name>_avx512.
EMULATED_TESTS := $(if $(SANITIZE),,$(if $(call library,simde,simde/simde-arch.h -mavx2 -mfma,yes),$(patsubst %,$(BUILD)/tests/test_%_avx512,micro late hadamard scatter trig product pairs tiles group whole brief)))
EMULATED := $(patsubst %,$(BUILD)/src/math/%_emulated.o,micro micro_avx512 late_avx512 whole_avx512 buckets_avx512 few_avx512 complex_avx512 hadamard_avx512 trig_avx512 pairs_avx512 group_avx512 row_avx512 glance_avx512 glance_whole_avx512 picked_avx512 exponential_avx512 decay_avx512 lower_avx512 triangle_avx512 finite_avx512 scaled_avx512)
TESTS   += $(EMULATED_TESTS)
FUZZERS := $(patsubst fuzz/fuzz_%.c,%,$(sort $(wildcard fuzz/fuzz_*.c)))
REPLAYS := $(FUZZERS:%=$(BUILD)/fuzz/replay_%)
SECONDS ?= 60

# A header that is missing is told with its package before the first compiler error; looked for once per build folder.
need     = echo '\#include <$(1)>' | $(CC) $(CFLAGS) -E -x c - >/dev/null 2>&1 || \
           { echo "make: the compiler ($(CC)) does not find $(1); Debian has it in $(2): run scripts/setup $(3)" >&2; exit 1; }

.SECONDARY:
.PHONY: all check test demo bench install uninstall clean tests fuzz fuzzers coverage
all: $(BUILD)/klift $(BUILD)/libklift.so $(BUILD)/libklift.a $(BUILD)/share.made

$(OBJECTS) $(CLI_OBJECTS): | $(BUILD)/headers
$(BUILD)/headers:
	@mkdir -p $(@D)
	@command -v $(firstword $(CC)) >/dev/null || { echo "make: there is no compiler $(firstword $(CC)): run scripts/setup build, or make CC=..." >&2; exit 1; }
	@$(call need,stdio.h,libc6-dev,build)
	@$(call need,Random123/philox.h,librandom123-dev,build)
	@$(call need,xxhash.h,libxxhash-dev,build)
	@touch $@

$(SUPPORT) $(TESTS:=.o): | $(BUILD)/headers_of_tests
$(BUILD)/headers_of_tests: | $(BUILD)/headers
	@$(call need,cmocka.h,libcmocka-dev,test)
	@touch $@

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/src/api.o: CFLAGS += -DKLIFT_VERSION='"$(VERSION)"'
$(BUILD)/src/api.o: Makefile

# With every access checked, its unrolled passes take the optimiser half a minute.
ifneq ($(SANITIZE),)
$(BUILD)/src/math/hadamard_avx2.o $(BUILD)/src/math/hadamard_avx512.o: CFLAGS += -O1
endif

# Selections in its loop become vectors only when nobody watches for exceptions; no value changes.
$(BUILD)/src/math/exponential.o: CFLAGS += -fno-trapping-math

# Eight numbers found one by one are eight stores: put together in a register first, they take longer.
$(BUILD)/src/data/plain_cells_avx2.o $(BUILD)/src/data/plain_cells_avx512.o: CFLAGS += -fno-tree-slp-vectorize

$(BUILD)/libklift.a: $(OBJECTS)
	@rm -f $@
	$(AR) rcsD $@ $^

$(BUILD)/libklift.so: $(OBJECTS) src/klift.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libklift.so.$(ABI) -Wl,--version-script=src/klift.map -o $@ $(OBJECTS) $(LDLIBS)

$(BUILD)/klift: $(CLI_OBJECTS) $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Manual pages and completion come from the command's own tables. A klift built for another machine does not run here: then
# NATIVE=path/to/klift names one of the same sources that does, or they are left out.
NATIVE  ?= $(BUILD)/klift
$(BUILD)/share.made: $(BUILD)/klift packaging/share packaging/manual3.awk include/klift.h $(wildcard CHANGELOG.md)
	@if $(NATIVE) version >/dev/null 2>&1; then packaging/share $(NATIVE) $(BUILD)/share; else \
	    rm -rf $(BUILD)/share; echo "no manual pages and no completion: $(NATIVE) does not run here; NATIVE=path/to/klift names one that does"; fi
	@touch $@

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT) $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# Objects of their own before the library, whose tables are then not taken.
$(EMULATED): $(BUILD)/src/math/%_emulated.o: src/math/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DKLIFT_TEST_AVX512 $(if $(findstring avx512,$*),-O1 -include tests/avx512_emulated.h -mavx2 -mfma -Wno-psabi) -MMD -MP -c $< -o $@

$(EMULATED_TESTS): $(BUILD)/tests/%_avx512: tests/%.c $(SUPPORT) $(EMULATED) $(BUILD)/libklift.a
	$(CC) $(CFLAGS) -DKLIFT_TEST_AVX512 -MMD -MP -c $< -o $@.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $@.o $(wordlist 2,$(words $^),$^) $(LDLIBS) -lcmocka

# The oracle of cosines, when it is there.
$(BUILD)/tests/test_trig $(BUILD)/tests/test_trig_avx512: LDLIBS += $(call library,sleef,sleef.h,-lsleef)

# The n-th allocation fails on request: an object of its own before the library, whose memory.o is then not taken.
$(BUILD)/src/base/memory_oom.o: src/base/memory.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DKLIFT_TEST_MEMORY -MMD -MP -c $< -o $@

$(BUILD)/tests/test_out_of_memory: $(BUILD)/tests/test_out_of_memory.o $(SUPPORT) $(BUILD)/src/base/memory_oom.o $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# The corpora replayed by the normal compiler in make check; libFuzzer itself needs clang.
$(REPLAYS): $(BUILD)/fuzz/replay_%: $(BUILD)/fuzz/replay.o $(BUILD)/fuzz/common.o $(BUILD)/fuzz/fuzz_%.o $(BUILD)/tests/model_bytes.o $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(FUZZERS:%=$(BUILD)/fuzz/fuzz_%): $(BUILD)/fuzz/fuzz_%: $(BUILD)/fuzz/common.o $(BUILD)/fuzz/fuzz_%.o $(BUILD)/tests/model_bytes.o $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

fuzzers: $(FUZZERS:%=$(BUILD)/fuzz/fuzz_%)

fuzz:
	$(MAKE) CC=clang BUILD=build-fuzz OPTIMISE=-O2 SANITIZE=address,undefined EXTRA="$(EXTRA) -fsanitize=fuzzer-no-link" fuzzers
	BUILD=build-fuzz fuzz/run $(SECONDS) $(FUZZERS)

coverage:
	$(MAKE) CC=gcc BUILD=build-coverage OPTIMISE=-O1 EXTRA="$(EXTRA) --coverage" tests
	find build-coverage -name '*.gcda' -delete
	KLIFT_TEST_QUICK=1 $(MAKE) CC=gcc BUILD=build-coverage OPTIMISE=-O1 EXTRA="$(EXTRA) --coverage" check
	BUILD=build-coverage tests/coverage

tests: all $(TESTS) $(REPLAYS)

check: tests
	BUILD=$(BUILD) tests/run $(TESTS)

test:
	scripts/setup test
	$(MAKE) check

# On all cores unless make was told otherwise, and without the compiler's lines: the story follows.
demo:
	@scripts/setup build
	@$(MAKE) -sq all || echo "Building klift: half a minute ..."
	@$(MAKE) -s $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null)) all
	@BUILD=$(BUILD) scripts/demo

# Against the peers that Debian has, in one interleaved run (docs/benchmarks.md): make bench, make bench PARTS="read latency" runs some parts,
# make bench KLIFT_DATA=folder names the data sets, make bench KLIFT_BENCH_QUICK=1 only sees whether everything runs.
PARTS    ?=
BENCHES  := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/bench_*.c))
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/bench/bench_engine: $(patsubst %,$(BUILD)/bench/%.o,bench_engine race engine_products engine_maps limits peers) $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -ldl

bench:
	scripts/setup bench
	$(MAKE) all $(BENCHES)
	bench/suite.py $(BUILD) $(PARTS)

# Where the libraries are below PREFIX, klift.pc and the CMake files find everything from their own place: up is the way from
# LIBDIR to PREFIX (../ or ../../). Elsewhere they hold the paths as given.
below   := $(patsubst $(PREFIX)/%,%,$(filter $(PREFIX)/%,$(LIBDIR)))
up      := $(subst / ,/,$(foreach part,$(subst /, ,$(below)),../))
BIN     := $(DESTDIR)$(PREFIX)/bin
INCLUDE := $(DESTDIR)$(PREFIX)/include
LIB     := $(DESTDIR)$(LIBDIR)
SHARE   := $(DESTDIR)$(PREFIX)/share
PAGES   := $(patsubst %,man/man1/%.1,klift $(patsubst cli/cmd_%.c,klift-%,$(wildcard cli/cmd_*.c))) man/man3/klift.3
SHARED  := $(PAGES) bash-completion/completions/klift zsh/site-functions/_klift
fill     = sed -e 's|@PREFIX@|$(if $(below),$(1)$(up),$(PREFIX))|' -e 's|@LIBDIR@|$(if $(below),$(2),$(LIBDIR))|' \
               -e 's|@VERSION@|$(VERSION)|' -e 's|@ABI@|$(ABI)|' -e 's|@LIBS@|$(strip $(LDLIBS))|' -e "s|@POINTER@|$(pointer)|"
pointer  = $(shell $(CC) -dM -E -x c /dev/null | sed -n 's/.*__SIZEOF_POINTER__ //p')

install: all
	install -d "$(BIN)" "$(INCLUDE)" "$(LIB)/pkgconfig" "$(LIB)/cmake/klift"
	install -m 755 $(BUILD)/klift "$(BIN)/klift"
	install -m 644 include/klift.h "$(INCLUDE)/klift.h"
	install -m 644 $(BUILD)/libklift.a "$(LIB)/libklift.a"
	install -m 755 $(BUILD)/libklift.so "$(LIB)/libklift.so.$(VERSION)"
	ln -sf libklift.so.$(VERSION) "$(LIB)/libklift.so.$(ABI)"
	ln -sf libklift.so.$(ABI) "$(LIB)/libklift.so"
	$(call fill,$${pcfiledir}/../,$${pcfiledir}/..) packaging/klift.pc.in >"$(LIB)/pkgconfig/klift.pc"
	for file in kliftConfig kliftConfigVersion; do \
	    $(call fill,$${CMAKE_CURRENT_LIST_DIR}/../../,$${CMAKE_CURRENT_LIST_DIR}/../..) packaging/$$file.cmake.in >"$(LIB)/cmake/klift/$$file.cmake" || exit; \
	done
	chmod 644 "$(LIB)/pkgconfig/klift.pc" "$(LIB)"/cmake/klift/*.cmake
	if [ -d $(BUILD)/share ]; then for file in $(SHARED); do install -D -m 644 $(BUILD)/share/$$file "$(SHARE)/$$file" || exit; done; fi

uninstall:
	rm -f "$(BIN)/klift" "$(INCLUDE)/klift.h" "$(LIB)/libklift.a" "$(LIB)/pkgconfig/klift.pc"
	rm -f "$(LIB)/libklift.so" "$(LIB)/libklift.so.$(ABI)" "$(LIB)/libklift.so.$(VERSION)"
	rm -rf "$(LIB)/cmake/klift"
	for file in $(SHARED); do rm -f "$(SHARE)/$$file" || exit; done

clean:
	rm -rf $(BUILD)

-include $(OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(TESTS:=.d) $(SUPPORT:.o=.d) $(EMULATED:.o=.d) $(wildcard $(BUILD)/fuzz/*.d $(BUILD)/bench/*.d)
