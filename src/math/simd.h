/*
 * simd.h - what the files of the AVX2 and AVX-512 tables share. Each table is in micro_<name>.c; its transform is in
 * hadamard_<name>.c, the cosines of AVX-512 in trig_avx512.c. With KLIFT_TEST_AVX512 the AVX-512 files are compiled for
 * AVX2 by way of tests/avx512_emulated.h, so that machines without AVX-512 test them too.
 */
#ifndef KL_SIMD_H
#define KL_SIMD_H

#include "math/micro.h"

/* INLINE: into the caller always, where counts are constants; UNROLL: loops over vectors, whole. Then arrays of vectors
 * become registers. Emulated ones do not, and would be long to compile. FOUR_STEPS: four turns of a loop at a time; fewer
 * instructions leave more of a core to its own work when another thread shares it. */
#if defined(KLIFT_TEST_AVX512)
#define AVX512
#define AVX512_BITS
#define AVX2
#define INLINE static inline
#define UNROLL
#define FOUR_STEPS
#else
#include <immintrin.h>
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,popcnt")))
#define AVX512_BITS __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi2,avx2,fma,popcnt"))) /* where they were asked for */
#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE __attribute__((always_inline)) static inline
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#define FOUR_STEPS _Pragma("clang loop unroll_count(4)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#define FOUR_STEPS _Pragma("GCC unroll 4")
#endif
#endif

/* Where a loop's sums fill the registers and more is done with them behind it: a compiler that plans both together keeps some sums in memory. IN_REGISTER says
 * where a sum is at the loop's end, FROM_HERE that numbers behind a pointer are not read before. */
#if defined(KLIFT_TEST_AVX512)
#define IN_REGISTER(vector)
#define FROM_HERE(pointer)
#else
#define IN_REGISTER(vector) __asm__ volatile("" : "+v"(vector))
#define FROM_HERE(pointer) __asm__ volatile("" : "+r"(pointer))
#endif

/* As in kl_micro. */
void kl_avx2_raise(const double *x, double *out);
void kl_avx512_raise(const double *x, double *out);
bool kl_avx2_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out);
bool kl_avx512_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out);
void kl_avx2_add16(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride);
void kl_avx512_add16(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride);
void kl_avx2_below64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
void kl_avx2_above64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
void kl_avx2_below32(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y);
void kl_avx2_above32(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y);
void kl_avx512_below64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
void kl_avx512_above64(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
void kl_avx2_hadamard(int64_t n, const float *sign, const float *from, float *x);
void kl_avx2_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out);
void kl_avx2_scatter(int64_t count, const int32_t *column, const float *value, const uint32_t *code, float *x);
void kl_avx2_collect(const kl_scatter *scatter, const float *row, float *x);
void kl_avx2_multiply(int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out);
/* The end of finish, where it does not join the last stages: out = x, times a when there is one. */
void kl_avx2_keep(int64_t n, kl_complex x, const kl_complex *a, kl_complex out);
void kl_avx2_interleave(int64_t n, kl_complex a, float *pairs);
void kl_avx2_gather(int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out);
void kl_avx2_multiply_picked(int64_t n, const float *g, const int32_t *order, kl_complex t, kl_complex z);
void kl_avx2_add_product(int64_t n, const float *a, const float *b, float *y);
void kl_avx2_times(int64_t n, const float *by, float *x);
void kl_avx512_times(int64_t n, const float *by, float *x);
bool kl_avx2_are_finite(int64_t n, const float *x);
bool kl_avx512_are_finite(int64_t n, const float *x);
int64_t kl_avx2_scaled(int64_t n, float factor, const float *from, float *to, float *square);
void kl_avx2_row_dots(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out);
void kl_avx2_row_add(int64_t n, double factor, const kl_row *z, double *w);
double kl_avx2_row_square(int64_t n, const kl_row *z, const kl_row *next);
void kl_avx2_glance(int64_t n, const float *z, int64_t count, const float *w, float *out);
void kl_avx512_glance(int64_t n, const float *z, int64_t count, const float *w, float *out);
int32_t kl_avx2_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out);
int32_t kl_avx512_glance_whole(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out);
void kl_avx2_sparse_dots(const kl_row *z, int64_t n, int64_t count, const double *w, int64_t stride, double *out);
void kl_avx2_sparse_add(const kl_row *z, int64_t n, double factor, double *w);
void kl_avx2_group_dots(const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner);
void kl_avx2_group_add(const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta);
void kl_avx2_group_settle(int64_t n, double *w, float *copy, float *delta);
void kl_avx512_hadamard(int64_t n, const float *sign, const float *from, float *x);
void kl_avx512_hadamard_beside(int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting);
void kl_avx512_finish(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out);
void kl_avx512_multiply(int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out);
void kl_avx512_interleave(int64_t n, kl_complex a, float *pairs);
void kl_avx512_gather(int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out);
void kl_avx512_bucket_add(const kl_buckets *to, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry);
int64_t kl_avx512_bucket_take(const kl_buckets *from, int64_t added, int32_t before, int32_t *list, int32_t *column, float *value);
int64_t kl_avx512_few_take(const kl_buckets_few *few, int32_t before, int32_t *column, float *value);
void kl_avx512_triangle(const kl_triangle *t, double *value, uint64_t *to);
void kl_avx512_multiply_picked(int64_t n, const float *g, const int32_t *order, kl_complex t, kl_complex z);
void kl_avx512_row_dots(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out);
void kl_avx512_row_add(int64_t n, double factor, const kl_row *z, double *w);
double kl_avx512_row_square(int64_t n, const kl_row *z, const kl_row *next);
void kl_avx512_group_dots(const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner);
void kl_avx512_group_add(const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta);
void kl_avx512_pairs(int64_t count, const float *turns, float scale, bool past, float *cosine, float *sine);
void kl_avx512_cosines(int64_t count, const float *turns, const float *phase, float scale, float *out);
void kl_avx512_drain(void);
void kl_avx512_add_late(int64_t rows, int64_t k, const float *a, const float *b, double *c, int64_t stride, kl_late *late);
void kl_avx512_late(kl_late *late);
void kl_avx512_product_pairs(int64_t k, const float *a, const float *b, const kl_pairs *to, int64_t column, int64_t cut, float *ends);
void kl_avx512_pairs_ends(int64_t rows, const kl_pairs *to, int64_t cut, const float *ends);

#endif
