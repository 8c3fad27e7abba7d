/* scalars.c - E W^2 W'^2: spectrum 1 + k(2d) / 2; signature sum of x_i y_i / p_i (1 + c_i / 2), c_i = k(x_i^2, y_i^2) / (x_i y_i). */
#include "map/scalars.h"

#include "base/memory.h"
#include "map/shares.h"
#include "map/waves.h"
#include "math/trig.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 64 };

bool kl_scalars_by_columns(const kl_kernel *kernel)
{
    return kernel->type->offers & KL_SIGNATURE;
}

/* ---- draw ---- */

static klift_status draw_columns(kl_scalars *s, const kl_random *from)
{
    kl_random columns = {from->seed, from->stream, KL_DRAW_BUCKET};
    KL_TRY(kl_new(&s->edge, s->n_in + 1, sizeof *s->edge, "shares of columns"));
    KL_TRY(kl_new(&s->column, s->count, sizeof *s->column, "columns"));
    KL_TRY(kl_new(&s->turn, s->count, sizeof *s->turn, "frequencies"));
    kl_shares_edges(s->share, s->n_in, s->edge);
    for (int64_t f = 0; f < s->count; f++) {
        double u[2];
        kl_random_uniforms(&columns, (uint32_t)f, 2, u);
        s->column[f] = (int32_t)kl_shares_find(s->edge, s->n_in, u[0]);
        s->turn[f] = (float)(kl_waves_turn * s->kernel->type->quantile(s->kernel, u[1]));
    }
    return KLIFT_OK;
}

static klift_status draw_frequencies(kl_scalars *s, const kl_random *from, klift_run *run)
{
    double *w = NULL;
    klift_status status;
    KL_GO(kl_panels_new(&s->frequency, s->count, s->n_in));
    KL_GO(kl_new(&w, s->n_in, sizeof *w, "a frequency"));
    for (int64_t f = 0; f < s->count; f++) {
        KL_GO(f % AT_ONCE == 0 ? kl_run_check(run) : KLIFT_OK);
        s->kernel->type->frequency(s->kernel, from, (uint32_t)f, s->count, s->n_in, w);
        for (int64_t i = 0; i < s->n_in; i++)
            w[i] *= kl_waves_turn;
        kl_panels_set(&s->frequency, f, w);
    }
done:
    kl_free(w);
    return status;
}

klift_status kl_scalars_draw(kl_scalars *s, uint64_t seed, uint32_t stream, klift_run *run)
{
    kl_random from = {seed, stream, KL_DRAW_FREQUENCY}, phases = {seed, stream, KL_DRAW_PHASE};
    KL_TRY(kl_new(&s->phase, s->count, sizeof *s->phase, "phases"));
    for (int64_t f = 0; f < s->count; f++) {
        double u;
        kl_random_uniforms(&phases, (uint32_t)f, 1, &u);
        s->phase[f] = (float)u;
    }
    return kl_scalars_by_columns(s->kernel) ? draw_columns(s, &from) : draw_frequencies(s, &from, run);
}

int64_t kl_scalars_bytes(const kl_scalars *s)
{
    if (kl_scalars_by_columns(s->kernel))
        return s->count * (int64_t)(2 * sizeof(float) + sizeof(int32_t)) + (s->n_in + 1) * (int64_t)(sizeof(double) + sizeof(float));
    return s->count * (int64_t)sizeof(float) + kl_panels_bytes(s->count, s->n_in) + s->n_in * (int64_t)sizeof(double);
}

/* ---- apply ---- */

int64_t kl_scalars_scratch(const kl_scalars *s)
{
    return kl_scalars_by_columns(s->kernel) ? 2 * s->n_in * (int64_t)sizeof(float) : kl_product_scratch(s->n_in);
}

typedef struct taking {
    const kl_scalars *s;
    kl_scalars_take take;
    const void *context;
} taking;

/* Turns of some frequencies of a row become features. */
static void take_turns(const void *context, int64_t row, int64_t column, int64_t count, const float *turns)
{
    const taking *t = context;
    float values[AT_ONCE];
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        int64_t here = count - first < AT_ONCE ? count - first : AT_ONCE;
        kl_trig_cosines(here, turns + first, t->s->phase + column + first, (float)sqrt(2.0), values);
        t->take(t->context, row, column + first, here, values);
    }
}

/* Logarithm and scaled root of every entry (n_in each); they are taken back to 0 behind the row, which costs its entries only. */
static void set_row(const kl_scalars *s, const kl_batch *x, int64_t row, bool back, float *logarithm, float *root)
{
    const int32_t *column;
    const float *value;
    int64_t count = kl_batch_row(x, row, &column, &value);
    for (int64_t p = 0; p < count; p++) {
        int64_t i = column != NULL ? column[p] : p;
        bool counts = value[p] > 0 && !back;
        logarithm[i] = counts ? (float)log((double)value[p]) : 0.0f;
        root[i] = counts ? (float)sqrt(2 * (double)value[p] / (s->edge[i + 1] - s->edge[i])) : 0.0f;
    }
}

static void column_rows(const kl_scalars *s, const kl_batch *x, kl_scalars_take take, const void *context, float *logarithm, float *root)
{
    memset(logarithm, 0, (size_t)s->n_in * sizeof *logarithm);
    memset(root, 0, (size_t)s->n_in * sizeof *root);
    for (int64_t row = 0; row < x->rows; row++) {
        set_row(s, x, row, false, logarithm, root);
        for (int64_t first = 0; first < s->count; first += AT_ONCE) {
            int64_t here = s->count - first < AT_ONCE ? s->count - first : AT_ONCE;
            const int32_t *column = s->column + first;
            float turns[AT_ONCE], values[AT_ONCE];
            for (int64_t f = 0; f < here; f++)
                turns[f] = logarithm[column[f]] * s->turn[first + f];
            kl_trig_cosines(here, turns, s->phase + first, 1, values);
            for (int64_t f = 0; f < here; f++)
                values[f] *= root[column[f]];
            take(context, row, first, here, values);
        }
        set_row(s, x, row, true, logarithm, root);
    }
}

void kl_scalars_rows(const kl_scalars *s, const kl_batch *x, kl_scalars_take take, const void *context, void *scratch)
{
    taking t = {s, take, context};
    const kl_product_out to = {.take = take_turns, .context = &t};
    if (kl_scalars_by_columns(s->kernel))
        column_rows(s, x, take, context, scratch, (float *)scratch + s->n_in);
    else if (x->dense != NULL)
        kl_product_dense(&s->frequency, x->rows, x->dense, x->stride, &to, scratch);
    else
        kl_product_sparse(&s->frequency, x->rows, x->start, x->column, x->value, &to);
}

/* ---- what they do, in numbers ---- */

double kl_scalars_square(const kl_scalars *s, const kl_pair *pair)
{
    const kl_kernel *kernel = s->kernel;
    double sum = 0, all = 0;
    if (!kl_scalars_by_columns(kernel))
        return 1 + 0.5 * kernel->type->value(kernel, pair, 2);
    for (int64_t i = 0; i < s->n_in; i++)
        all += (double)s->share[i];
    for (int64_t i = 0; i < pair->n; i++) {
        double x = pair->x[i], y = pair->y[i], p = (double)s->share[i] / all;
        if (x > 0 && y > 0)
            sum += (x * y + 0.5 * kernel->type->of_column(x * x, y * y)) / p;
    }
    return sum;
}

double kl_scalars_cost(const kl_scalars *s, int64_t entries)
{
    double count = (double)s->count;
    return kl_scalars_by_columns(s->kernel) ? 12 * count + 20 * (double)entries : (10 + 2 * (double)entries) * count;
}

void kl_scalars_clear(kl_scalars *s)
{
    kl_panels_clear(&s->frequency);
    kl_free(s->share);
    kl_free(s->edge);
    kl_free(s->column);
    kl_free(s->turn);
    kl_free(s->phase);
    *s = (kl_scalars){0};
}
