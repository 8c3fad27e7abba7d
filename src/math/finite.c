/* finite.c - the bits of |x| carry into the sign from the exponent of infinity on: no branch. finite_avx2.c and finite_avx512.c have it by vectors. */
#include "math/finite.h"

#include "math/micro.h"

#include <string.h>

bool kl_portable_are_finite(int64_t n, const float *x)
{
    uint32_t seen = 0;
    for (int64_t j = 0; j < n; j++) {
        uint32_t bits;
        memcpy(&bits, x + j, sizeof bits);
        seen |= (bits & 0x7fffffff) + 0x00800000;
    }
    return seen >> 31 == 0;
}

bool kl_are_finite(int64_t n, const float *x)
{
    return kl_micro_get()->are_finite(n, x);
}
