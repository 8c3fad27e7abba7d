/*
 * micro_blas.c - block products by a CBLAS (make KLIFT_BLAS=1), for machines whose micro-kernels are not written yet; the
 * other loops are those of the table beneath. How a BLAS rounds depends on the shape of a call, the place of a row in it
 * and the threads it takes. So every call has 4 rows, what one kernel of a BLAS does at once (of 16 rows, OpenBLAS sums the
 * 7th otherwise than the 1st on some CPUs), missing ones being zeros, and at most 128 terms; the sums of 128 are added
 * here. Such a product is below the size from which OpenBLAS divides the work: it runs on the caller's thread, and the
 * number of threads, a setting of the whole process, is neither read nor changed.
 */
#include "math/micro.h"

#if defined(KLIFT_BLAS)

#include "math/random.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { LEFT = 4, WIDTH32 = 64, WIDTH64 = 16, TERMS = 128 };

static inline int64_t at_most(int64_t count)
{
    return count < TERMS ? count : TERMS;
}

static void multiply32(int64_t terms, const float *a, const float *b, float *part)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, LEFT, WIDTH32, (int)terms, 1, a, LEFT, b, WIDTH32, 0, part, WIDTH32);
}

static void sum32(int64_t k, const float *a, const float *b, float sum[LEFT * WIDTH32])
{
    float part[LEFT * WIDTH32];
    for (int64_t p = 0; p < k; p += TERMS) {
        multiply32(at_most(k - p), a + p * LEFT, b + p * WIDTH32, part);
        for (int i = 0; i < LEFT * WIDTH32; i++)
            sum[i] += part[i];
    }
}

/* Goes on from c with the same bits when the parts are multiples of TERMS, as product.c's are. */
static void product32(int64_t k, const float *a, const float *b, bool on, float *c, int64_t stride)
{
    float sum[LEFT * WIDTH32] = {0};
    for (int i = 0; on && i < LEFT; i++)
        memcpy(sum + i * WIDTH32, c + i * stride, WIDTH32 * sizeof *c);
    sum32(k, a, b, sum);
    for (int i = 0; i < LEFT; i++)
        memcpy(c + i * stride, sum + i * WIDTH32, WIDTH32 * sizeof *c);
}

static void add32(int64_t k, const float *a, const float *b, double *c, int64_t stride)
{
    float sum[LEFT * WIDTH32] = {0};
    sum32(k, a, b, sum);
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < WIDTH32; j++)
            c[i * stride + j] += (double)sum[i * WIDTH32 + j];
}

static void add64(int64_t k, const double *a, const double *b, double sign, double *c, int64_t stride)
{
    double part[LEFT * WIDTH64];
    for (int64_t p = 0; p < k; p += TERMS) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, LEFT, WIDTH64, (int)at_most(k - p), sign, a + p * LEFT, LEFT, b + p * WIDTH64, WIDTH64, 0, part, WIDTH64);
        for (int i = 0; i < LEFT; i++)
            for (int j = 0; j < WIDTH64; j++)
                c[i * stride + j] += part[i * WIDTH64 + j];
    }
}

/* Sparse rows must give the bits of dense ones. A BLAS that sums in one chain over ascending terms, as most do, is followed
 * by a chain over the nonzeros, with its kind of multiply-add; for any other the row is written out with its zeros. */
static enum { FUSED, ROUNDED, UNKNOWN } kind;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static inline float multiply_add(bool fused, float x, float w, float sum)
{
    return fused ? fmaf(x, w, sum) : sum + x * w;
}

static bool is_chain(bool fused, int64_t terms, const float *a, const float *b, const float *part)
{
    for (int i = 0; i < LEFT; i++)
        for (int j = 0; j < WIDTH32; j++) {
            float sum = 0;
            for (int64_t p = 0; p < terms; p++)
                sum = multiply_add(fused, a[p * LEFT + i], b[p * WIDTH32 + j], sum);
            if (sum != part[i * WIDTH32 + j])
                return false;
        }
    return true;
}

static void find_kind(void)
{
    float a[TERMS * LEFT], b[TERMS * WIDTH32], part[LEFT * WIDTH32];
    double drawn[TERMS * (LEFT + WIDTH32)];
    bool fused = true, rounded = true;
    kl_random_uniforms(&(kl_random){.seed = 1}, 0, TERMS * (LEFT + WIDTH32), drawn);
    for (int i = 0; i < TERMS * LEFT; i++)
        a[i] = (float)drawn[i] - 0.5f;
    for (int i = 0; i < TERMS * WIDTH32; i++)
        b[i] = (float)drawn[TERMS * LEFT + i] - 0.5f;
    for (int64_t terms = 1; terms <= TERMS; terms++) { /* all lengths: a BLAS may have several loops */
        multiply32(terms, a, b, part);
        fused = fused && is_chain(true, terms, a, b, part);
        rounded = rounded && is_chain(false, terms, a, b, part);
    }
    kind = fused ? FUSED : rounded ? ROUNDED : UNKNOWN;
}

static void chain_row(int64_t count, const int32_t *column, const float *value, const float *panel, float part[WIDTH32])
{
    bool fused = kind == FUSED;
    memset(part, 0, WIDTH32 * sizeof *part);
    for (int64_t p = 0; p < count; p++)
        for (int j = 0; j < WIDTH32; j++)
            part[j] = multiply_add(fused, value[p], panel[(int64_t)column[p] * WIDTH32 + j], part[j]);
}

static void dense_row(int64_t terms, int64_t first, int64_t count, const int32_t *column, const float *value, const float *panel, float part[WIDTH32])
{
    float a[TERMS * LEFT] = {0}, block[LEFT * WIDTH32];
    for (int64_t p = 0; p < count; p++)
        a[(column[p] - first) * LEFT] += value[p];
    multiply32(terms, a, panel + first * WIDTH32, block);
    memcpy(part, block, WIDTH32 * sizeof *part);
}

static void sparse32(int64_t count, const int32_t *column, const float *value, const float *panel, int64_t panel_stride, int panels, float *out)
{
    int64_t k = panel_stride / WIDTH32;
    pthread_once(&once, find_kind);
    memset(out, 0, (size_t)(panels * WIDTH32) * sizeof *out);
    for (int64_t p = 0, next; p < count; p = next) { /* the blocks of columns in which the row has something */
        int64_t first = column[p] / TERMS * TERMS;
        for (next = p; next < count && column[next] < first + TERMS;)
            next++;
        for (int q = 0; q < panels; q++) {
            float part[WIDTH32];
            if (kind == UNKNOWN)
                dense_row(at_most(k - first), first, next - p, column + p, value + p, panel + q * panel_stride, part);
            else
                chain_row(next - p, column + p, value + p, panel + q * panel_stride, part);
            for (int j = 0; j < WIDTH32; j++)
                out[q * WIDTH32 + j] += part[j];
        }
    }
}

static void add16(int64_t pairs, const int16_t *a, const int16_t *b, double unit, double *c, int64_t stride)
{
    kl_whole_add(LEFT, WIDTH32, pairs, a, b, unit, c, stride); /* no BLAS has it */
}

const kl_micro *kl_micro_blas(const kl_micro *beneath)
{
    static kl_micro table;
    table = *beneath;
    table.name = "blas";
    table.left32 = table.left64 = LEFT;
    table.width32 = WIDTH32;
    table.width64 = WIDTH64;
    table.product32 = product32;
    table.add32 = add32;
    table.add16 = add16;
    table.add64 = add64;
    table.sparse32 = sparse32;
    return &table;
}

#else

typedef int micro_blas_is_for_a_build_with_blas;

#endif
