/* model_bytes.h - damaged model files whose checksums are right, so that what lies behind the checksums is tested. */
#ifndef TEST_MODEL_BYTES_H
#define TEST_MODEL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Computes the checksums of all sections and of the file again. tame: also makes the header and the lengths right. */
void model_bytes_seal(uint8_t *bytes, size_t size, bool tame);

#endif
