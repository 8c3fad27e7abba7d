/* hadamard.c - the transform through the table of this CPU; the reference is in micro_portable.c. */
#include "math/hadamard.h"

#include "math/micro.h"

#include <stddef.h>

void kl_hadamard(int64_t n, const float *sign, float *x)
{
    for (int64_t i = 0; sign != NULL && i < n; i++)
        x[i] *= sign[i];
    kl_micro_get()->hadamard(n, x);
}

int64_t kl_hadamard_size(int64_t n)
{
    int64_t size = 1;
    while (size < n)
        size *= 2;
    return size;
}
