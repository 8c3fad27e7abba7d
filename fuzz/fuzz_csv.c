/* fuzz_csv.c - any bytes as a table: columns learnt from it, then its rows as numbers. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const options[] = {"format=csv", "format=csv,header=false,label=1", "format=csv,no-label=true", "format=csv,missing=skip"};
    fuzz_rows(data, size, options[size % (sizeof options / sizeof options[0])]);
    return 0;
}
