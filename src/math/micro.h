/*
 * micro.h - the innermost loops, one table per instruction set: micro_portable.c is the reference, micro_avx2.c and
 * micro_avx512.c stand beside it. Chosen by cpuid once per process, KLIFT_SIMD=portable|avx2|avx512 overrides. Operands are
 * packed in panels: a (k, left), b (k, width); every sum is one chain over ascending k, so blocks do not depend on what is
 * around them.
 * make KLIFT_BLAS=1 puts micro_blas.c before them, whose sums are those of a BLAS.
 */
#ifndef KL_MICRO_H
#define KL_MICRO_H

#include "base/error.h"
#include "math/buckets.h"
#include "math/complex.h"
#include "math/finite.h"
#include "math/glance.h"
#include "math/glance_whole.h"
#include "math/group.h"
#include "math/late.h"
#include "math/lower.h"
#include "math/pairs.h"
#include "math/row.h"
#include "math/scatter.h"
#include "math/triangle.h"
#include "math/whole.h"

#include <stdbool.h>
#include <stdint.h>

enum { KL_MICRO_GROUP = 8, KL_MICRO_PANELS = 4, KL_MICRO_WIDEST = 64, KL_MICRO_LEFT = 14 };

enum { KL_RAISE = 64 };

typedef struct kl_micro {
    const char *name;
    int left32, left64;   /* rows of a block, float32 and float64; left64 and width64 divide 16 */
    int width32, width64; /* columns of a block */
    /* c (left32, width32) = a' b, or goes on from c: the same chain in parts */
    void (*product32)(int64_t k, const float *a, const float *b, bool on, float *c, int64_t stride);
    /* pairs.h, or NULL: cosines and sines of a' b (left32, width32), column .. of left32 rows of to; ends (left32, KL_PAIRS_ENDS). Behind the last column the ends. */
    void (*product_pairs)(int64_t k, const float *a, const float *b, const kl_pairs *to, int64_t column, int64_t cut, float *ends);
    void (*pairs_ends)(int64_t rows, const kl_pairs *to, int64_t cut, const float *ends);
    /* c (left32, width32) += a' b, summed in float32, added in float64 */
    void (*add32)(int64_t k, const float *a, const float *b, double *c, int64_t stride);
    /* or NULL: the same for the first `rows` of the block, but later (late.h), those that wait first; and what still waits at the end */
    void (*add_late)(int64_t rows, int64_t k, const float *a, const float *b, double *c, int64_t stride, kl_late *late);
    void (*late)(kl_late *late);
    /* whole.h, in blocks of the same size; pairs: at most KL_WHOLE_ROWS / 2 */
    void (*add16)(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride);
    /* c (left64, width64) += sign a' b */
    void (*add64)(int64_t k, const double *a, const double *b, double sign, double *c, int64_t stride);
    /* One sparse row against up to KL_MICRO_PANELS panels, panel_stride = k width32 apart: out (panels, width32) */
    void (*sparse32)(int64_t count, const int32_t *column, const float *value, const float *panel, int64_t panel_stride, int panels, float *out);
    /* x (n, KL_MICRO_GROUP) := l^-1 x for lower triangular l (n, stride) */
    void (*forward64)(int64_t n, const double *l, int64_t stride, double *x);
    void (*forward32)(int64_t n, const float *l, int64_t stride, float *x);
    /* lower.h */
    void (*below64)(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
    void (*above64)(int64_t rows, int64_t columns, const double *l, int64_t stride, const double *x, double *y);
    void (*below32)(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y);
    void (*above32)(int64_t rows, int64_t columns, const float *l, int64_t stride, const float *x, float *y);
    /* hadamard.h: x (n) = H (sign o from), n a power of two; sign NULL: all 1; from may be x */
    void (*hadamard)(int64_t n, const float *sign, const float *from, float *x);
    void (*hadamard_beside)(int64_t n, const float *sign, const float *from, float *x, kl_waiting *waiting); /* or NULL */
    /* its stages from 8 on, of both parts of x; then out (kept) = x, or a o x when a is not NULL */
    void (*finish)(int64_t n, int64_t kept, kl_complex x, const kl_complex *a, kl_complex out);
    /* scatter.h: entries of a row onto x, and a dense row into all groups of x */
    void (*scatter)(int64_t count, const int32_t *column, const float *value, const uint32_t *code, float *x);
    void (*collect)(const kl_scatter *scatter, const float *row, float *x);
    /* out = a o b, without b when b.re is NULL, o c when c is not NULL (complex.h); all (n), out may be a or b itself; each product and sum is rounded by itself */
    void (*multiply)(int64_t n, kl_complex a, kl_complex b, const kl_roots *c, kl_complex out);
    void (*interleave)(int64_t n, kl_complex a, float *pairs); /* complex.h: pairs (n, 2) */
    /* multiply with b[k] = pairs[index[k]]; without a when a.re is NULL */
    void (*gather)(int64_t n, kl_complex a, const int32_t *index, const float *pairs, const kl_roots *c, kl_complex out);
    /* z (n) *= g o t[order], t.im NULL: of real numbers; and y (n) += a o b. Each product and sum is rounded by itself. */
    void (*multiply_picked)(int64_t n, const float *g, const int32_t *order, kl_complex t, kl_complex z);
    void (*add_product)(int64_t n, const float *a, const float *b, float *y);
    int64_t (*scaled)(int64_t n, float factor, const float *from, float *to, float *square); /* scaled.h */
    void (*times)(int64_t n, const float *by, float *x);
    bool (*are_finite)(int64_t n, const float *x); /* finite.h */
    /* buckets.h */
    void (*bucket_add)(const kl_buckets *to, int64_t count, const double *value, const uint64_t *place, const uint32_t *entry);
    int64_t (*bucket_take)(const kl_buckets *from, int64_t added, int32_t before, int32_t *list, int32_t *column, float *value);
    void (*triangle)(const kl_triangle *t, double *value, uint64_t *to); /* triangle.h */
    /* What is in a dense row (n), without its scale (row.h), against float64 vectors w (count, stride): out[o] = z'w_o, each in sixteen sums
     * (kl_row_total); next: a row that will be wanted after this one. Then w (n) += factor z. */
    void (*row_dots)(int64_t n, const kl_row *z, const kl_row *next, int64_t count, const double *w, int64_t stride, double *out);
    void (*row_add)(int64_t n, double factor, const kl_row *z, double *w);
    double (*row_square)(int64_t n, const kl_row *z, const kl_row *next); /* z'z the same way; every product is exact, so that all tables have one sum */
    void (*glance)(int64_t n, const float *z, int64_t count, const float *w, float *out); /* glance.h; products and sums fused, or not */
    int32_t (*glance_whole)(int64_t n, const float *z, float scale, int64_t count, const int16_t *w, double *out); /* glance_whole.h */
    /* The same for the entries of a sparse row (row.h) of n columns, with the bits of that row spread out. */
    void (*sparse_dots)(const kl_row *z, int64_t n, int64_t count, const double *w, int64_t stride, double *out);
    void (*sparse_add)(const kl_row *z, int64_t n, double factor, double *w);
    /* group.h, of what is in dense rows of one kind, without their scales */
    void (*group_dots)(const kl_row *const *z, const kl_row *const *next, int64_t n, const float *w, double *f, double *inner);
    void (*group_add)(const kl_row *const *z, int64_t n, const float *factor, float *copy, float *delta);
    void (*group_settle)(int64_t n, double *w, float *copy, float *delta);
    void (*raise)(const double *x, double *out); /* (KL_RAISE) e^x, apart */
    /* decay.h, with -rate / ln 2 for the rate; products and sums fused, or not */
    bool (*decay)(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out);
    /* trig.h; past: to memory past the caches where the places allow it, ordered by a later drain */
    void (*pairs)(int64_t count, const float *turns, float scale, bool past, float *cosine, float *sine);
    void (*drain)(void);
    void (*cosines)(int64_t count, const float *turns, const float *phase, float scale, float *out);
} kl_micro;

/* What sixteen sums of a row make, those of columns 0, 16, ...; 1, 17, ... */
static inline double kl_row_total(const double lane[16])
{
    double four[4];
    for (int k = 0; k < 4; k++)
        four[k] = (lane[k] + lane[4 + k]) + (lane[8 + k] + lane[12 + k]);
    return (four[0] + four[2]) + (four[1] + four[3]);
}

/* The sum of a group's lanes. */
enum { KL_GROUP_LANES = 16 };
static inline double kl_group_total(const float lane[KL_GROUP_LANES])
{
    double wide[KL_GROUP_LANES];
    for (int k = 0; k < KL_GROUP_LANES; k++)
        wide[k] = (double)lane[k];
    return kl_row_total(wide);
}

void kl_portable_raise(const double *x, double *out); /* the reference's, in exponential.c */
bool kl_portable_decay(int64_t count, const float *product, double xx, const double *norm, double rate, double near, float *out); /* in decay.c */
extern const kl_micro kl_micro_portable;       /* the reference, on every CPU */
const kl_micro *kl_micro_get(void);            /* the one in use */
const kl_micro *kl_micro_at(int64_t index);    /* those this CPU can run, best first; NULL at the end */
klift_status kl_micro_check(void);             /* KLIFT_USAGE when KLIFT_SIMD is none of these names */
const kl_micro *kl_micro_blas(const kl_micro *beneath); /* for micro.c, with KLIFT_BLAS: products by BLAS, all else from beneath */

#endif
