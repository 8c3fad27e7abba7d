# klift: make builds build/klift, build/libklift.so, build/libklift.a; it never installs packages or uses the network.
#   make            build                make check      build and run the tests
#   make test       scripts/setup + check  make demo     scripts/setup + the demonstration
#   make fuzz       SECONDS=60 a target  make coverage   of the parsers and the loader
#   make install    DESTDIR= PREFIX=     make SANITIZE=address,undefined BUILD=build-asan check
BUILD    ?= build
PREFIX   ?= /usr/local
DESTDIR  ?=
LIBDIR   ?= $(PREFIX)/lib
CC       ?= gcc
OPTIMISE ?= -O3
SANITIZE ?=
EXTRA    ?=
VERSION  := $(shell sed -n 's/^\#define KLIFT_VERSION "\(.*\)"/\1/p' src/api.c)

# Fixed contraction: the same bits from every optimisation level and compiler that obeys IEEE 754.
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS   += -std=c17 $(OPTIMISE) -g -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno $(WARNINGS) -Iinclude -Isrc -D_POSIX_C_SOURCE=200809L -pthread $(EXTRA)
LDLIBS   += -lm -pthread
# gcc for s390x computes float expressions in double, unless it is told that float is meant.
CFLAGS   += $(shell $(CC) -std=c17 -dM -E -x c /dev/null 2>/dev/null | sed -n 's/.*_FLT_EVAL_METHOD__ 1$$/-fexcess-precision=fast/p')

# Decompression: a library is used when the compiler finds its header. make WITHOUT="zlib lzma zstd bz2" BUILD=build-plain
# leaves out those named; klift then refuses such files and says what is missing.
WITHOUT  ?=
library   = $(if $(filter $(1),$(WITHOUT)),,$(shell $(CC) -E -x c -include $(2) /dev/null >/dev/null 2>&1 && echo $(3)))
LDLIBS   := $(LDLIBS) $(call library,zlib,zlib.h,-lz) $(call library,lzma,lzma.h,-llzma) $(call library,zstd,zstd.h,-lzstd) $(call library,bz2,bzlib.h,-lbz2)
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
ifneq ($(SANITIZE),)
CFLAGS  += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SANITIZE)
endif

SOURCES := $(sort $(wildcard src/*.c src/*/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
CLI     := $(sort $(wildcard cli/*.c))
CLI_OBJECTS := $(CLI:%.c=$(BUILD)/%.o)
TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/test_*.c)))
SUPPORT := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/test_%,$(wildcard tests/*.c)))
FUZZERS := $(patsubst fuzz/fuzz_%.c,%,$(sort $(wildcard fuzz/fuzz_*.c)))
REPLAYS := $(FUZZERS:%=$(BUILD)/fuzz/replay_%)
SECONDS ?= 60

.SECONDARY:
.PHONY: all check test demo bench install clean tests fuzz fuzzers coverage
all: $(BUILD)/klift $(BUILD)/libklift.so $(BUILD)/libklift.a

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libklift.a: $(OBJECTS)
	@rm -f $@
	$(AR) rcsD $@ $^

$(BUILD)/libklift.so: $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libklift.so.0 -o $@ $^ $(LDLIBS)

$(BUILD)/klift: $(CLI_OBJECTS) $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT) $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# The oracle of cosines, when it is there.
$(BUILD)/tests/test_trig: LDLIBS += $(call library,sleef,sleef.h,-lsleef)

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

demo:
	scripts/setup build
	$(MAKE) all
	BUILD=$(BUILD) scripts/demo

# Against the peers that Debian has, in one interleaved run: make bench, or make bench FILES="a.svm b.svm"
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/bench/bench_engine: $(BUILD)/bench/bench_engine.o $(BUILD)/bench/peers.o $(BUILD)/libklift.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -ldl

bench:
	scripts/setup bench
	$(MAKE) all $(BUILD)/bench/bench_read $(BUILD)/bench/bench_engine
	bench/read.py $(BUILD) $(FILES)
	bench/engine.py $(BUILD)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)
	install -m 755 $(BUILD)/klift $(DESTDIR)$(PREFIX)/bin/klift
	install -m 644 include/klift.h $(DESTDIR)$(PREFIX)/include/klift.h
	install -m 644 $(BUILD)/libklift.a $(DESTDIR)$(LIBDIR)/libklift.a
	install -m 755 $(BUILD)/libklift.so $(DESTDIR)$(LIBDIR)/libklift.so.0
	ln -sf libklift.so.0 $(DESTDIR)$(LIBDIR)/libklift.so

clean:
	rm -rf $(BUILD)

-include $(OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(TESTS:=.d) $(SUPPORT:.o=.d) $(wildcard $(BUILD)/fuzz/*.d)
