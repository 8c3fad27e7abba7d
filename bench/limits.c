/*
 * limits.c - the best of several rounds of each: a limit is what the machine can do when nothing disturbs it.
 * Memory: 512 MB, which no cache holds, in pieces that the two threads of a run take; written past the caches where the CPU can.
 */
#define _GNU_SOURCE
#include "limits.h"

#include "base/run.h"
#include "math/micro.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = bench_quick() ? 0 : 50000000}, NULL);
}

bool bench_quick(void)
{
    const char *quick = getenv("KLIFT_BENCH_QUICK");
    return quick != NULL && *quick != '\0' && strcmp(quick, "0") != 0;
}

float *bench_memory(int64_t count)
{
    enum { HUGE_PAGE = 1 << 21 };
    size_t bytes = (size_t)((count * 4 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    float *x = aligned_alloc(HUGE_PAGE, bytes);
    if (x == NULL)
        exit(6);
    madvise(x, bytes, MADV_HUGEPAGE);
    return x;
}

float *bench_numbers(int64_t count)
{
    float *x = bench_memory(count);
    uint32_t s = 12345;
    for (int64_t i = 0; i < count; i++) {
        s = s * 1664525u + 1013904223u;
        x[i] = (float)(s >> 8) * 0x1p-24f - 0.5f;
    }
    return x;
}

/* ---- additions, and multiplications with one ---- */

/* Twelve chains: two units of a latency of up to six cycles are kept busy. STEP(x): what follows x. */
#define CHAINS(lanes, one, count, constraint, STEP)                                                                             \
    lanes a = one, b = one, c = one, d = one, e = one, f = one, g = one, h = one, i = one, j = one, k = one, l = one;           \
    for (int64_t n = 0; n < (count); n += 12 * (int64_t)(sizeof(lanes) / sizeof(float))) {                                      \
        a = STEP(a), b = STEP(b), c = STEP(c), d = STEP(d), e = STEP(e), f = STEP(f);                                           \
        g = STEP(g), h = STEP(h), i = STEP(i), j = STEP(j), k = STEP(k), l = STEP(l);                                           \
        __asm__ volatile("" : constraint(a), constraint(b), constraint(c), constraint(d), constraint(e), constraint(f));        \
        __asm__ volatile("" : constraint(g), constraint(h), constraint(i), constraint(j), constraint(k), constraint(l));        \
    }
#define PLUS(x) x + one

#if defined(__x86_64__)
#define FUSED16(x) _mm512_fmadd_ps(x, one, one)
#define FUSED8(x) _mm256_fmadd_ps(x, one, one)

__attribute__((target("avx512f"), noinline)) static void add16(int64_t count)
{
    __m512 one = _mm512_set1_ps(1);
    CHAINS(__m512, one, count, "+v", PLUS)
}

__attribute__((target("avx512f"), noinline)) static void fuse16(int64_t count)
{
    __m512 one = _mm512_set1_ps(0.5f);
    CHAINS(__m512, one, count, "+v", FUSED16)
}

__attribute__((target("avx2"), noinline)) static void add8(int64_t count)
{
    __m256 one = _mm256_set1_ps(1);
    CHAINS(__m256, one, count, "+x", PLUS)
}

__attribute__((target("avx2,fma"), noinline)) static void fuse8(int64_t count)
{
    __m256 one = _mm256_set1_ps(0.5f);
    CHAINS(__m256, one, count, "+x", FUSED8)
}

void limits_add(int64_t count)
{
    if (__builtin_cpu_supports("avx512f"))
        add16(count);
    else if (__builtin_cpu_supports("avx2"))
        add8(count);
    else {
        __m128 one = _mm_set1_ps(1);
        CHAINS(__m128, one, count, "+x", PLUS)
    }
}

static void fuse(int64_t count)
{
    if (__builtin_cpu_supports("avx512f"))
        fuse16(count);
    else if (__builtin_cpu_supports("fma"))
        fuse8(count);
    else
        limits_add(count / 2); /* a multiplication and an addition */
}
#else
typedef float lanes4 __attribute__((vector_size(16)));

void limits_add(int64_t count)
{
    lanes4 one = {1};
    CHAINS(lanes4, one, count, "+m", PLUS) /* through memory: a lower bound where nobody has said which registers there are */
}

static void fuse(int64_t count)
{
    limits_add(count);
}
#endif

enum { FUSED = 1 << 24, TASKS = 16 };

static klift_status fuse_some(void *context, int64_t index, int worker)
{
    (void)context;
    (void)index;
    (void)worker;
    fuse(FUSED);
    return KLIFT_OK;
}

/* ---- memory ---- */

enum { PIECE = 1 << 21 }; /* floats */
typedef uint64_t __attribute__((may_alias)) word;

static klift_status read_piece(void *context, int64_t index, int worker)
{
    const word *x = (const word *)((float *)context + index * PIECE);
    uint64_t sum = 0;
    (void)worker;
    for (int64_t i = 0; i < PIECE / 2; i++)
        sum += x[i];
    __asm__ volatile("" : : "r"(sum));
    return KLIFT_OK;
}

static klift_status write_piece(void *context, int64_t index, int worker)
{
    float *x = (float *)context + index * PIECE;
    (void)worker;
#if defined(__x86_64__)
    for (int64_t i = 0; i < PIECE; i += 16)
        for (int64_t j = 0; j < 16; j += 4)
            _mm_stream_ps(x + i + j, _mm_set1_ps(1)); /* some CPUs write lines of zeros twice as fast */
    _mm_sfence();
#else
    memset(x, 1, (size_t)PIECE * sizeof *x);
#endif
    return KLIFT_OK;
}

static double memory(klift_run *run, int64_t pieces, float *x, kl_task task, int rounds)
{
    double best = 1e300;
    for (int r = 0; r < rounds; r++) {
        double start = bench_now();
        if (kl_run_parallel(run, pieces, task, x) != KLIFT_OK)
            exit(1);
        best = fmin(best, bench_now() - start);
    }
    return (double)pieces * PIECE * 4e-9 / best;
}

/* ---- cosines and sines ---- */

enum { TURNS = 512, TIMES = 2000 }; /* what stays in a first cache */

static klift_status make_waves(void *context, int64_t index, int worker)
{
    const kl_micro *micro = kl_micro_get();
    float *at = (float *)context + index * 3 * TURNS;
    (void)worker;
    for (int i = 0; i < TIMES; i++)
        micro->pairs(TURNS, at, 1, false, at + TURNS, at + 2 * TURNS);
    return KLIFT_OK;
}

/* The least seconds of some rounds of TASKS tasks. */
static double least(klift_run *run, kl_task task, void *context, int rounds)
{
    double best = 1e300;
    for (int r = 0; r < rounds; r++) {
        double start = bench_now();
        if (kl_run_parallel(run, TASKS, task, context) != KLIFT_OK)
            exit(1);
        best = fmin(best, bench_now() - start);
    }
    return best;
}

/* ---- all ---- */

static double product(const peers *peer, int n, int threads, float *x, int rounds)
{
    double best = 1e300;
    float *a = x, *b = a + (int64_t)n * n, *c = b + (int64_t)n * n;
    peer->set_threads(threads);
    for (int r = 0; r < rounds; r++) {
        double start = bench_now();
        peer->sgemm(PEER_ROW_MAJOR, PEER_NO_TRANS, PEER_TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
        best = fmin(best, bench_now() - start);
    }
    return 2.0 * n * n * n * 1e-9 / best;
}

int limits_print(const peers *peer, klift_run *two)
{
    int n = bench_quick() ? 512 : 2048, rounds = bench_quick() ? 3 : 9;
    int64_t pieces = bench_quick() ? 8 : 64;
    double additions = 0;
    float *x = bench_numbers(pieces * PIECE);
    enum { ADDITIONS = 1 << 26 };
    for (int r = 0; r < 3 * rounds; r++) {
        double start = bench_now();
        limits_add(ADDITIONS);
        additions = fmax(additions, ADDITIONS * 1e-9 / (bench_now() - start));
    }
    double two_threads = product(peer, n, 2, x, rounds), one = product(peer, n, 1, x, rounds);
    double read = memory(two, pieces, x, read_piece, rounds), write = memory(two, pieces, x, write_piece, rounds);
    double waves = 2e-9 * TASKS * TIMES * TURNS / least(two, make_waves, x, 10 * rounds), fused = 2e-9 * TASKS * FUSED / least(two, fuse_some, NULL, 10 * rounds);
    printf("{\"sgemm\": %.1f, \"sgemm1\": %.1f, \"fused\": %.1f, \"memory\": %.2f, \"write\": %.2f, \"additions\": %.2f, \"waves\": %.2f, \"core\": \"%s\"}\n", two_threads, one, fused, read,
           write, additions, waves, peer->core);
    free(x);
    return 0;
}
