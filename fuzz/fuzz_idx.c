/* fuzz_idx.c - any bytes as idx rows. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_rows(data, size, "format=idx");
    return 0;
}
