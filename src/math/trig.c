/* trig.c - cosine and sine of arrays through the table of this CPU; the method is in micro_portable.c. */
#include "math/trig.h"

#include "math/micro.h"

void kl_trig_pairs(int64_t count, const float *turns, float scale, float *cosine, float *sine)
{
    kl_micro_get()->pairs(count, turns, scale, false, cosine, sine);
}

void kl_trig_pairs_past(int64_t count, const float *turns, float scale, float *cosine, float *sine)
{
    kl_micro_get()->pairs(count, turns, scale, true, cosine, sine);
}

void kl_trig_drain(void)
{
    kl_micro_get()->drain();
}

void kl_trig_cosines(int64_t count, const float *turns, const float *phase, float scale, float *out)
{
    kl_micro_get()->cosines(count, turns, phase, scale, out);
}
