/* model_bytes.h - damaged model files whose checksums are right, so that what lies behind the checksums is tested. */
#ifndef TEST_MODEL_BYTES_H
#define TEST_MODEL_BYTES_H

#include "klift.h"

#include <stdbool.h>
#include <stddef.h>

/* Computes the checksums of all sections and of the file again. tame: also makes the header and the lengths right. */
void model_bytes_seal(uint8_t *bytes, size_t size, bool tame);

typedef struct model_file {
    uint8_t *bytes; /* to be freed */
    int64_t size, section; /* where the fields of the section begin, -1: it has none */
} model_file;

/* The file of a model and its section of this tag; false without memory. */
bool model_bytes_of(const klift_model *model, const char *tag, model_file *file);

#endif
