/* micro.c - looks at the CPU once and keeps the table that the rest of the process uses. */
#include "math/micro.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
extern const kl_micro kl_micro_avx2;
#endif

static const kl_micro *usable[4]; /* filled once */
static const kl_micro *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look(void)
{
    int count = 0;
#if defined(KLIFT_BLAS)
    count = 1; /* the first place is for the table over the best of these */
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        usable[count++] = &kl_micro_avx2;
#endif
    usable[count] = &kl_micro_portable;
#if defined(KLIFT_BLAS)
    usable[0] = kl_micro_blas(usable[1]);
#endif
    chosen = usable[0];
    const char *wanted = getenv("KLIFT_SIMD");
    for (int i = 0; wanted != NULL && i <= count; i++)
        if (strcmp(usable[i]->name, wanted) == 0)
            chosen = usable[i];
}

const kl_micro *kl_micro_get(void)
{
    pthread_once(&once, look);
    return chosen;
}

const kl_micro *kl_micro_at(int64_t index)
{
    pthread_once(&once, look);
    return usable[index];
}
