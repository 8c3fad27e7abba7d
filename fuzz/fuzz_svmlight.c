/* fuzz_svmlight.c - any bytes as svmlight rows. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const options[] = {"format=svmlight", "format=svmlight,label-type=text", "format=svmlight,dim=5", "format=svmlight,no-label=true,index-base=0"};
    fuzz_rows(data, size, options[size % (sizeof options / sizeof options[0])]);
    return 0;
}
