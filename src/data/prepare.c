/*
 * prepare.c - row preparation.
 *   unit            x / |x|  (a zero row stays zero)
 *   unit-keep-norm  x / |x| and one more column, |x| / mean |x|
 *   standardise     (x - mean) / sd;    sparse data: x / sd
 *   minmax          (x - low) / (high - low);  sparse data: x / max |x|
 *   maxnorm         x / largest training norm;   meannorm: x / mean training norm
 * Sparse data are not centred: it would fill their zeros. Constant columns are left at scale 1.
 */
#include "data/prepare.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"none", "unit", "unit-keep-norm", "standardise", "minmax", "maxnorm", "meannorm"};
enum { KINDS = 7 };

const char *kl_prepare_name(kl_prepare_kind kind)
{
    return names[kind];
}

static klift_status fit_columns(kl_prepare *p, const kl_survey *survey)
{
    KL_TRY(kl_new(&p->shift, p->n_in, sizeof *p->shift, "preparation"));
    KL_TRY(kl_new(&p->scale, p->n_in, sizeof *p->scale, "preparation"));
    p->centred = !survey->sparse;
    for (int64_t j = 0; j < p->n_in; j++) {
        double low = survey->low[j], high = survey->high[j];
        double shift = p->kind == KL_STANDARDISE ? survey->mean[j] : low, width;
        if (p->kind == KL_STANDARDISE)
            width = sqrt(survey->variance[j]);
        else
            width = p->centred ? high - low : fmax(fabs(low), fabs(high));
        p->shift[j] = p->centred ? (float)shift : 0.0f;
        p->scale[j] = width > 0 ? (float)(1.0 / width) : 1.0f;
        if (!isfinite(p->scale[j]))
            p->scale[j] = 1.0f; /* a spread below 1e-38: constant for all that float32 can tell */
    }
    return KLIFT_OK;
}

klift_status kl_prepare_plain(kl_prepare *prepare, kl_prepare_kind kind, int64_t n_in)
{
    *prepare = (kl_prepare){.kind = kind, .n_in = n_in, .n_out = n_in, .norm = 1};
    if (kind != KL_NONE && kind != KL_UNIT)
        return kl_fail(KLIFT_USAGE, "prepare=%s is learnt from data; without data say prepare=none or prepare=unit", names[kind]);
    return KLIFT_OK;
}

klift_status kl_prepare_fit(kl_prepare *prepare, kl_prepare_kind kind, const kl_survey *survey)
{
    *prepare = (kl_prepare){.kind = kind, .n_in = survey->columns, .n_out = survey->columns, .norm = 1};
    if (kind == KL_UNIT_KEEP_NORM)
        prepare->n_out++;
    if (kind == KL_MAXNORM)
        prepare->norm = survey->norm_max;
    if (kind == KL_MEANNORM || kind == KL_UNIT_KEEP_NORM)
        prepare->norm = survey->norm_mean;
    if (!(prepare->norm > 0))
        return kl_fail(KLIFT_DATA, "prepare=%s: all rows are zero, so there is no scale; say prepare=none", names[kind]);
    if (kind == KL_STANDARDISE || kind == KL_MINMAX)
        return fit_columns(prepare, survey);
    return KLIFT_OK;
}

static bool fills(const kl_prepare *p, const kl_batch *batch)
{
    return p->centred && batch->start != NULL;
}

int64_t kl_prepare_scratch(const kl_prepare *p, const kl_batch *batch)
{
    int64_t floats;
    if (p->kind == KL_NONE)
        return 0;
    if (batch->dense != NULL || fills(p, batch))
        floats = batch->rows * p->n_out;
    else
        floats = batch->rows > 0 ? batch->start[batch->rows] - batch->start[0] : 0;
    if (batch->dense != NULL || fills(p, batch))
        return floats * (int64_t)sizeof(float);
    int64_t starts = (batch->rows + 1) * (int64_t)sizeof(int64_t);
    if (p->kind != KL_UNIT_KEEP_NORM)
        return starts + floats * (int64_t)sizeof(float);
    floats += batch->rows; /* the kept norms; and a pattern of its own */
    return starts + floats * (int64_t)(sizeof(float) + sizeof(int32_t));
}

/* What a row is multiplied by, as a whole. */
static double row_factor(const kl_prepare *p, const kl_batch *batch, int64_t row)
{
    if (p->kind == KL_MAXNORM || p->kind == KL_MEANNORM)
        return 1 / p->norm;
    double norm = kl_batch_row_norm(batch, row);
    return norm > 0 ? 1 / norm : 0;
}

/* In double: the difference of two floats may overflow one. */
static float column_value(const kl_prepare *p, int64_t j, float x)
{
    float value = (float)(((double)x - (double)p->shift[j]) * (double)p->scale[j]);
    return p->clamped && p->centred && p->kind == KL_MINMAX && value < 0 ? 0.0f : value;
}

static void apply_dense(const kl_prepare *p, const kl_batch *batch, float *out)
{
    for (int64_t i = 0; i < batch->rows; i++) {
        const float *x = batch->dense + i * batch->stride;
        float *y = out + i * p->n_out;
        if (p->scale != NULL) {
            for (int64_t j = 0; j < p->n_in; j++)
                y[j] = column_value(p, j, x[j]);
            continue;
        }
        double factor = row_factor(p, batch, i);
        for (int64_t j = 0; j < p->n_in; j++)
            y[j] = (float)((double)x[j] * factor);
        if (p->kind == KL_UNIT_KEEP_NORM)
            y[p->n_in] = (float)(kl_batch_row_norm(batch, i) / p->norm);
    }
}

/* Sparse rows of a model that was fitted on dense ones. */
static void apply_filled(const kl_prepare *p, const kl_batch *batch, float *out)
{
    for (int64_t i = 0; i < batch->rows; i++) {
        float *y = out + i * p->n_out;
        for (int64_t j = 0; j < p->n_in; j++)
            y[j] = column_value(p, j, 0.0f);
        for (int64_t q = batch->start[i]; q < batch->start[i + 1]; q++) {
            int64_t j = batch->column[q];
            y[j] = column_value(p, j, batch->value[q]);
        }
    }
}

/* Same pattern, other values; positions from 0, since the entries of a part of a batch start anywhere. */
static void apply_sparse(const kl_prepare *p, const kl_batch *batch, void *scratch, kl_batch *view)
{
    int64_t *start = scratch, base = batch->start[0];
    float *out = (float *)(start + batch->rows + 1);
    for (int64_t i = 0; i <= batch->rows; i++)
        start[i] = batch->start[i] - base;
    for (int64_t i = 0; i < batch->rows; i++) {
        double factor = p->scale == NULL ? row_factor(p, batch, i) : 1;
        for (int64_t q = batch->start[i]; q < batch->start[i + 1]; q++)
            out[q - base] = p->scale != NULL ? column_value(p, batch->column[q], batch->value[q]) : (float)((double)batch->value[q] * factor);
    }
    view->start = start;
    view->column = base > 0 ? batch->column + base : batch->column;
    view->value = out;
}

static void apply_keep_norm(const kl_prepare *p, const kl_batch *batch, void *scratch, kl_batch *view)
{
    int64_t *start = scratch, entries = batch->start[batch->rows] - batch->start[0] + batch->rows, at = 0;
    float *value = (float *)(start + batch->rows + 1);
    int32_t *column = (int32_t *)(value + entries);
    start[0] = 0;
    for (int64_t i = 0; i < batch->rows; i++) {
        double factor = row_factor(p, batch, i);
        for (int64_t q = batch->start[i]; q < batch->start[i + 1]; q++) {
            column[at] = batch->column[q];
            value[at++] = (float)((double)batch->value[q] * factor);
        }
        column[at] = (int32_t)p->n_in;
        value[at++] = (float)(kl_batch_row_norm(batch, i) / p->norm);
        start[i + 1] = at;
    }
    view->start = start;
    view->column = column;
    view->value = value;
}

void kl_prepare_apply(const kl_prepare *p, const kl_batch *batch, void *scratch, kl_batch *out)
{
    *out = *batch;
    out->columns = p->n_out;
    if (p->kind == KL_NONE || batch->rows == 0)
        return;
    if (batch->dense != NULL || fills(p, batch)) {
        if (batch->dense != NULL)
            apply_dense(p, batch, scratch);
        else
            apply_filled(p, batch, scratch);
        out->dense = scratch;
        out->stride = p->n_out;
        out->start = NULL;
        out->column = NULL;
        out->value = NULL;
    } else if (p->kind == KL_UNIT_KEEP_NORM)
        apply_keep_norm(p, batch, scratch, out);
    else
        apply_sparse(p, batch, scratch, out);
}

klift_status kl_prepare_survey(const kl_prepare *p, kl_survey *survey)
{
    kl_batch raw = kl_rows_view(&survey->sample), ready;
    kl_rows prepared = {0};
    void *scratch = NULL;
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&scratch, kl_prepare_scratch(p, &raw), 1, "preparation"));
    kl_prepare_apply(p, &raw, scratch, &ready);
    KL_GO(kl_rows_add(&prepared, &ready, 0, ready.rows));
    kl_rows_clear(&survey->sample);
    survey->sample = prepared;
    prepared = (kl_rows){0};
    survey->columns = survey->sample.columns = p->n_out;
    survey->nonzeros_max = p->centred ? p->n_out : survey->nonzeros_max + (p->kind == KL_UNIT_KEEP_NORM);
    ready = kl_rows_view(&survey->sample);
    double largest = 0, sum = 0;
    for (int64_t i = 0; i < ready.rows; i++) {
        double norm = kl_batch_row_norm(&ready, i);
        largest = fmax(largest, norm);
        sum += norm;
    }
    if (p->kind == KL_MAXNORM || p->kind == KL_MEANNORM) {
        survey->norm_max /= p->norm;
        survey->norm_mean /= p->norm;
    } else if (p->kind != KL_NONE) { /* known from the sample only, but exact for unit */
        survey->norm_max = p->kind == KL_UNIT ? 1 : largest;
        survey->norm_mean = ready.rows > 0 ? sum / (double)ready.rows : 0;
    }
done:
    kl_rows_clear(&prepared);
    kl_free(scratch);
    return status;
}

void kl_prepare_save(const kl_prepare *p, kl_record_writer *to)
{
    kl_record_put_u32(to, (uint32_t)p->kind);
    kl_record_put_i64(to, p->n_in);
    kl_record_put_u32(to, p->centred);
    kl_record_put_f64(to, p->norm);
    if (p->scale != NULL) {
        kl_record_put_floats(to, p->shift, p->n_in);
        kl_record_put_floats(to, p->scale, p->n_in);
    }
}

klift_status kl_prepare_load(kl_prepare *p, kl_record_reader *from)
{
    uint32_t kind, centred;
    *p = (kl_prepare){0};
    KL_TRY(kl_record_get_u32(from, &kind));
    KL_TRY(kl_record_get_i64(from, 1, INT32_MAX, &p->n_in));
    KL_TRY(kl_record_get_u32(from, &centred));
    KL_TRY(kl_record_get_f64(from, &p->norm));
    if (kind >= KINDS || centred > 1 || !(p->norm > 0))
        return kl_record_damaged("its preparation is not known");
    p->kind = (kl_prepare_kind)kind;
    p->centred = centred == 1;
    p->n_out = p->n_in + (p->kind == KL_UNIT_KEEP_NORM);
    if (p->kind != KL_STANDARDISE && p->kind != KL_MINMAX)
        return centred ? kl_record_damaged("its preparation contradicts itself") : KLIFT_OK;
    KL_TRY(kl_record_get_floats(from, &p->shift, p->n_in));
    return kl_record_get_floats(from, &p->scale, p->n_in);
}

void kl_prepare_clear(kl_prepare *prepare)
{
    kl_free(prepare->shift);
    kl_free(prepare->scale);
    *prepare = (kl_prepare){0};
}
