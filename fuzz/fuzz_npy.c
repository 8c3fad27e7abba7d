/* fuzz_npy.c - any bytes as npy rows. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_rows(data, size, "format=npy");
    return 0;
}
