/* complex.c - through the table of this CPU; the reference is in micro_portable.c. */
#include "math/complex.h"

#include "math/micro.h"

void kl_complex_gather(int64_t n, kl_complex a, const int32_t *index, int64_t count, kl_complex from, float *pairs, const kl_roots *c, kl_complex out)
{
    kl_micro_get()->interleave(count, from, pairs);
    kl_micro_get()->gather(n, a, index, pairs, c, out);
}
