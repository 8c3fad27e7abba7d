/* hadamard.c - the transform through the table of this CPU; the reference is in micro_portable.c. */
#include "math/hadamard.h"

#include "math/micro.h"

void kl_hadamard(int64_t n, const float *sign, float *x)
{
    kl_micro_get()->hadamard(n, sign, x, x);
}

void kl_hadamard_of(int64_t n, const float *sign, const float *from, float *x)
{
    kl_micro_get()->hadamard(n, sign, from, x);
}

void kl_hadamard_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out)
{
    kl_micro_get()->finish(n, kept, x, a, out);
}

int64_t kl_hadamard_size(int64_t n)
{
    int64_t size = 1;
    while (size < n)
        size *= 2;
    return size;
}
