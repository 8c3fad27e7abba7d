/* micro.c - looks at the CPU once and keeps the table that the rest of the process uses. */
#include "math/micro.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
extern const kl_micro kl_micro_avx2;
extern const kl_micro kl_micro_avx512;
#endif

static const kl_micro *usable[5]; /* filled once */
static const kl_micro *chosen;
static _Atomic(const kl_micro *) known; /* chosen, once it is: asked for before every small transform */
static char refused[64]; /* what KLIFT_SIMD asks for in vain */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
/* The builtin asks the CPU, and the operating system whether it keeps such registers (XCR0). */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
#if defined(KLIFT_TEST_AVX512)
    return has_avx2(); /* which emulates it */
#else
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("popcnt") && has_avx2();
#endif
}
#endif

static void choose(const char *wanted)
{
    chosen = usable[0];
    if (wanted == NULL || wanted[0] == '\0')
        return;
    for (int i = 0; usable[i] != NULL; i++)
        if (strcmp(usable[i]->name, wanted) == 0) {
            chosen = usable[i];
            return;
        }
    snprintf(refused, sizeof refused, "%s", wanted);
}

static void look(void)
{
    int count = 0;
#if defined(KLIFT_BLAS)
    count = 1; /* the first place is for the table over the best of these */
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (has_avx512())
        usable[count++] = &kl_micro_avx512;
    if (has_avx2())
        usable[count++] = &kl_micro_avx2;
#endif
    usable[count] = &kl_micro_portable;
#if defined(KLIFT_BLAS)
    usable[0] = kl_micro_blas(usable[1]);
#endif
    choose(getenv("KLIFT_SIMD"));
}

const kl_micro *kl_micro_get(void)
{
    const kl_micro *table = atomic_load_explicit(&known, memory_order_acquire);
    if (table != NULL)
        return table;
    pthread_once(&once, look);
    atomic_store_explicit(&known, chosen, memory_order_release);
    return chosen;
}

const kl_micro *kl_micro_at(int64_t index)
{
    pthread_once(&once, look);
    return usable[index];
}

klift_status kl_micro_check(void)
{
    char names[64] = "";
    pthread_once(&once, look);
    if (refused[0] == '\0')
        return KLIFT_OK;
    for (int i = 0; usable[i] != NULL; i++) {
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : usable[i + 1] != NULL ? ", " : " or ", usable[i]->name);
    }
    return kl_fail(KLIFT_USAGE, "KLIFT_SIMD is '%s'; on this CPU it may be %s, or not set", refused, names);
}
