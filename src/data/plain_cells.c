/* plain_cells.c - which loops this CPU can run. KLIFT_SIMD chooses among them as it does in math/micro.c. */
#include "data/plain_cells.h"

#include "math/micro.h"

#include <string.h>

#if defined(__x86_64__)
extern const kl_plain_cells kl_plain_cells_avx2;
extern const kl_plain_cells kl_plain_cells_avx512;

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

const kl_plain_cells *kl_plain_cells_at(int64_t index)
{
#if defined(__x86_64__)
    if (has_avx512() && index-- == 0)
        return &kl_plain_cells_avx512;
    if (has_avx2() && index-- == 0)
        return &kl_plain_cells_avx2;
#endif
    (void)index;
    return NULL;
}

const kl_plain_cells *kl_plain_cells_get(void)
{
    const char *wanted = kl_micro_get()->name;
    bool best = kl_micro_get() == kl_micro_at(0); /* also when that is a BLAS */
    for (int64_t i = 0; kl_plain_cells_at(i) != NULL; i++)
        if (best || strcmp(kl_plain_cells_at(i)->name, wanted) == 0)
            return kl_plain_cells_at(i);
    return NULL;
}
