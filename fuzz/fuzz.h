/*
 * fuzz.h - what the fuzz targets share. A target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput; its seeds and every
 * input that once broke it are in corpus/NAME, its words in dict/NAME. make fuzz runs them, make check replays the corpora.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "klift.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what did not hold and aborts: libFuzzer and the replay both take that for a crash. */
#define HOLDS(condition)                                           \
    do {                                                           \
        if (!(condition))                                          \
            fuzz_broken(#condition, __FILE__, __LINE__);           \
    } while (0)
void fuzz_broken(const char *condition, const char *file, int line) __attribute__((noreturn));

/* A path under which the bytes can be opened, seeked and opened again; valid until the next call. */
const char *fuzz_path(const uint8_t *data, size_t size);
/* All rows of the file in batches of 1 and of 1000: valid batches, and the same rows or the same complaint. Then describe. */
void fuzz_rows(const uint8_t *data, size_t size, const char *options);
/* A copy of a model file with its header, lengths and checksums made right, so that the rest is looked at; to be freed. */
uint8_t *fuzz_repair(const uint8_t *data, size_t size);
/* At most 1 MB is drawn for the maps of damaged models. */
klift_run *fuzz_small_run(void);

#endif
