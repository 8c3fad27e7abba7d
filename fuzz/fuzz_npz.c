/* fuzz_npz.c - any bytes as npz rows. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_rows(data, size, "format=npz");
    return 0;
}
