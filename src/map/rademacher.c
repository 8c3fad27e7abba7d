/*
 * rademacher.c - draws and multiplies the projections of rademacher.h. With complex signs a factor is two real projections,
 * of the columns whose sign is +-1 and of those whose sign is +-i. g, the unit's scale, goes into every factor: a product of
 * hundreds of them stays inside float32.
 */
#include "map/rademacher.h"

#include "base/memory.h"
#include "math/micro.h"
#include "math/random.h"

#include <math.h>

static int parts(const kl_rademacher *r)
{
    return r->complex_signs ? 2 : 1;
}

/* Transforms of one part: as many as the first unit of each block has factors. */
static int64_t count_stages(const kl_rademacher *r, int64_t block)
{
    int64_t stages = 0;
    for (int64_t k = 0; k < r->units; k += block)
        stages += r->degree[k];
    return stages;
}

static int64_t count_factors(const kl_rademacher *r)
{
    int64_t factors = 0;
    for (int64_t k = 0; k < r->units; k++)
        factors += r->degree[k];
    return factors;
}

double kl_rademacher_cost(const kl_rademacher *r, int64_t block, double nonzeros)
{
    double multiply = (double)count_factors(r) * (r->complex_signs ? 8 : 2);
    if (block == 0)
        return (double)count_factors(r) * parts(r) * 2 * nonzeros + multiply;
    return (double)count_stages(r, block) * parts(r) * (double)block * (log2((double)block) + 1) + multiply;
}

int64_t kl_rademacher_bytes(const kl_rademacher *r)
{
    int64_t factors = count_factors(r), size;
    if (factors >= INT32_MAX / 2 || kl_multiply(factors * 64, r->n_in, &size)) /* their signs are drawn by a number of 32 bits */
        return INT64_MAX / 2;                                                   /* more than any limit */
    if (r->block == 0)
        return kl_panels_bytes(factors * parts(r), r->n_in) + factors * (int64_t)sizeof *r->unit + 4 * r->n_in * (int64_t)sizeof(double);
    return count_stages(r, r->block) * r->block * (int64_t)(sizeof *r->order + (size_t)parts(r) * sizeof *r->sign);
}

/* The signs of one projection: two draws, the sign and (complex) the part it is in; real (n), imaginary (n). */
static void draw_signs(const kl_random *from, uint32_t row, bool complex_signs, int64_t n, float *real, float *imaginary)
{
    kl_random_signs(from, 2 * row, n, real);
    if (!complex_signs)
        return;
    kl_random_signs(from, 2 * row + 1, n, imaginary);
    for (int64_t i = 0; i < n; i++) {
        float sign = real[i];
        bool turned = imaginary[i] < 0;
        real[i] = turned ? 0.0f : sign;
        imaginary[i] = turned ? sign : 0.0f;
    }
}

typedef struct drawing {
    kl_rademacher *r;
    kl_random from;
} drawing;

static klift_status draw_stage(void *context, int64_t index, int worker)
{
    const drawing *d = context;
    kl_rademacher *r = d->r;
    kl_random orders = {d->from.seed, d->from.stream, KL_DRAW_ORDER};
    float *sign = r->sign + index * parts(r) * r->block;
    (void)worker;
    draw_signs(&d->from, (uint32_t)index, r->complex_signs, r->block, sign, sign + r->block);
    kl_random_permutation(&orders, (uint32_t)index, r->block, r->order + index * r->block);
    return KLIFT_OK;
}

static klift_status draw_hadamard(kl_rademacher *r, const kl_random *from, klift_run *run)
{
    int64_t stages = count_stages(r, r->block);
    drawing d = {r, *from};
    KL_TRY(kl_new(&r->sign, stages * parts(r) * r->block, sizeof *r->sign, "signs"));
    KL_TRY(kl_new(&r->order, stages * r->block, sizeof *r->order, "orders"));
    return kl_run_parallel(run, stages, draw_stage, &d);
}

/* One factor's rows of the matrix. */
static void set_factor(kl_rademacher *r, int64_t factor, const float *sign, double *row)
{
    for (int part = 0; part < parts(r); part++) {
        for (int64_t i = 0; i < r->n_in; i++)
            row[i] = (double)sign[part * r->n_in + i];
        kl_panels_set(&r->weight, factor * parts(r) + part, row);
    }
}

static klift_status draw_dense(kl_rademacher *r, const kl_random *from, klift_run *run)
{
    int64_t factors = count_factors(r), factor = 0;
    float *sign = NULL;
    double *row = NULL;
    klift_status status;
    KL_GO(kl_panels_new(&r->weight, factors * parts(r), r->n_in));
    KL_GO(kl_new(&r->unit, factors, sizeof *r->unit, "factors"));
    KL_GO(kl_new(&sign, 2 * r->n_in, sizeof *sign, "signs"));
    KL_GO(kl_new(&row, r->n_in, sizeof *row, "signs"));
    for (int32_t j = 1; r->units > 0 && j <= r->degree[0]; j++) {
        KL_GO(kl_run_check(run));
        for (int64_t k = 0; k < r->units && r->degree[k] >= j; k++, factor++) {
            r->unit[factor] = (int32_t)k;
            draw_signs(from, (uint32_t)factor, r->complex_signs, r->n_in, sign, sign + r->n_in);
            set_factor(r, factor, sign, row);
        }
    }
done:
    kl_free(sign);
    kl_free(row);
    return status;
}

klift_status kl_rademacher_draw(kl_rademacher *r, uint64_t seed, uint32_t stream, klift_run *run)
{
    const kl_random from = {seed, stream, KL_DRAW_SIGN};
    if (r->units == 0)
        return KLIFT_OK;
    return r->block > 0 ? draw_hadamard(r, &from, run) : draw_dense(r, &from, run);
}

/* How many of the units, whose degrees (count) descend, have a j-th factor; the first one has. */
static int64_t still_there(const int32_t *degree, int64_t count, int32_t j)
{
    for (int64_t step = 64; step > 0; step /= 8)
        while (count >= step && degree[count - step] < j)
            count -= step;
    return count;
}

void kl_rademacher_row(const kl_rademacher *r, const float *x, const float *g, float *z, float *work)
{
    const kl_micro *micro = kl_micro_get();
    const kl_complex t = {work, r->complex_signs ? work + r->block : NULL};
    int64_t block = r->block, stage = 0;
    for (int64_t first = 0; first < r->units; first += block) {
        kl_complex to = {z + first, r->complex_signs ? z + r->units + first : NULL};
        int64_t count = r->units - first < block ? r->units - first : block;
        for (int32_t j = 1; j <= r->degree[first]; j++, stage++) {
            const float *sign = r->sign + stage * parts(r) * block;
            count = still_there(r->degree + first, count, j);
            micro->hadamard(block, sign, x, t.re);
            if (t.im != NULL)
                micro->hadamard(block, sign + block, x, t.im);
            micro->multiply_picked(count, g + first, r->order + stage * block, t, to);
        }
    }
}

typedef struct taking {
    const kl_rademacher *r;
    const float *g;
    float *z;
    int64_t stride;
} taking;

/* Sums of factors, in ascending order for every row; both parts of one are never cut apart: panels have even widths. */
static void take(const void *context, int64_t row, int64_t column, int64_t count, const float *sums)
{
    const taking *t = context;
    const kl_rademacher *r = t->r;
    float *re = t->z + row * t->stride, *im = re + r->units;
    const int32_t *unit = r->unit + column / parts(r);
    for (int64_t i = 0; !r->complex_signs && i < count; i++)
        re[unit[i]] *= t->g[unit[i]] * sums[i];
    for (int64_t i = 0; r->complex_signs && i < count / 2; i++) {
        int32_t k = unit[i];
        float a = t->g[k] * sums[2 * i], b = t->g[k] * sums[2 * i + 1], old = re[k];
        re[k] = old * a - im[k] * b;
        im[k] = old * b + im[k] * a;
    }
}

void kl_rademacher_rows(const kl_rademacher *r, const kl_batch *x, const float *g, float *z, int64_t stride, void *scratch)
{
    const taking context = {r, g, z, stride};
    const kl_product_out to = {.take = take, .context = &context};
    if (x->dense != NULL)
        kl_product_dense(&r->weight, x->rows, x->dense, x->stride, &to, scratch);
    else
        kl_product_sparse(&r->weight, x->rows, x->start, x->column, x->value, &to);
}

void kl_rademacher_clear(kl_rademacher *r)
{
    kl_free(r->degree);
    kl_free(r->sign);
    kl_free(r->order);
    kl_free(r->unit);
    kl_panels_clear(&r->weight);
}
