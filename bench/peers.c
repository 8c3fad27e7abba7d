/* peers.c - loads OpenBLAS with its core chosen by what the CPU has; Debian's takes new ones for a Prescott otherwise. And FFHT. */
#define _GNU_SOURCE
#include "peers.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *right_core(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
#endif
    return NULL;
}

static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

const char *peers_load(peers *p)
{
    const char *path = getenv("KLIFT_FFHT");
    char *(*core)(void);
    if (right_core() != NULL)
        setenv("OPENBLAS_CORETYPE", right_core(), 1); /* whatever the environment says */
    unsetenv("OPENBLAS_L2_SIZE");
    p->library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (p->library == NULL || !find(p->library, "openblas_set_num_threads", &p->set_threads) || !find(p->library, "cblas_sgemm", &p->sgemm) ||
        !find(p->library, "cblas_ssyrk", &p->ssyrk) || !find(p->library, "dpotrf_", &p->dpotrf))
        return "no libopenblas.so.0: scripts/setup bench installs it";
    p->core = find(p->library, "openblas_get_corename", &core) ? core() : "?";
    void *ffht = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (path != NULL && (ffht == NULL || !find(ffht, "fht_float", &p->fht)))
        return "KLIFT_FFHT names no shared library with fht_float: peers.h has how it is built";
    return NULL;
}
