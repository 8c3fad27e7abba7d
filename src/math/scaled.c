/* scaled.c - through the table of this CPU; the reference is in micro_portable.c. */
#include "math/scaled.h"

#include "math/micro.h"

int64_t kl_scaled(int64_t n, float factor, const float *from, float *to, float *square)
{
    return kl_micro_get()->scaled(n, factor, from, to, square);
}

void kl_times(int64_t n, const float *by, float *x)
{
    kl_micro_get()->times(n, by, x);
}
