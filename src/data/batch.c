/* batch.c - parts, checks and content keys of a batch. */
#include "data/batch.h"

#include "data/names.h"
#include "math/finite.h"

#include <math.h>
#include <string.h>

bool kl_batch_is_sparse(const kl_batch *batch)
{
    return batch->start != NULL;
}

kl_batch kl_batch_part(const kl_batch *batch, int64_t first, int64_t count)
{
    kl_batch part = *batch;
    part.rows = count;
    if (batch->dense != NULL)
        part.dense += first * batch->stride;
    if (batch->start != NULL)
        part.start += first; /* entries stay where they are: start holds absolute positions */
    if (batch->target != NULL)
        part.target += first * batch->targets;
    if (batch->label != NULL)
        part.label += first;
    if (batch->weight != NULL)
        part.weight += first;
    return part;
}

static klift_status bad_value(const char *what, int64_t row, int64_t column)
{
    return kl_fail(KLIFT_DATA, "%s: row %lld, column %lld: the value is not finite (NaN or infinity); clean the data first", what, (long long)row, (long long)column);
}

static klift_status check_dense(const kl_batch *batch, const char *what, int64_t first)
{
    for (int64_t i = 0; i < batch->rows; i++) {
        const float *x = batch->dense + i * batch->stride;
        if (kl_are_finite(batch->columns, x))
            continue;
        for (int64_t j = 0; j < batch->columns; j++)
            if (!isfinite(x[j]))
                return bad_value(what, first + i, j);
    }
    return KLIFT_OK;
}

static klift_status check_starts(const kl_batch *batch, const char *what)
{
    if (batch->rows > 0 && batch->start[batch->rows] > batch->start[0] && (batch->column == NULL || batch->value == NULL))
        return kl_fail(KLIFT_USAGE, "%s: column or value is NULL in a CSR batch", what);
    for (int64_t i = 0; i < batch->rows; i++) /* all of them before any entry is read */
        if (batch->start[i] > batch->start[i + 1] || batch->start[i] < 0)
            return kl_fail(KLIFT_DATA, "%s: row %lld: start[%lld] = %lld does not ascend", what, (long long)i, (long long)i, (long long)batch->start[i]);
    return KLIFT_OK;
}

/* Columns ascend, so the first and the last of a row say whether all are within the width. */
static bool ascend(const kl_batch *batch)
{
    bool wrong = false;
    for (int64_t i = 0; i < batch->rows; i++) {
        int64_t from = batch->start[i], to = batch->start[i + 1];
        for (int64_t p = from + 1; p < to; p++)
            wrong |= batch->column[p] <= batch->column[p - 1];
        if (to > from)
            wrong |= batch->column[from] < 0 || batch->column[to - 1] >= batch->columns;
    }
    return !wrong;
}

static klift_status check_sparse(const kl_batch *batch, const char *what, int64_t first)
{
    int64_t entries = batch->rows > 0 ? batch->start[batch->rows] - batch->start[0] : 0;
    if (entries == 0 || (ascend(batch) && kl_are_finite(entries, batch->value + batch->start[0])))
        return KLIFT_OK;
    for (int64_t i = 0; i < batch->rows; i++) {
        int64_t last = -1;
        for (int64_t p = batch->start[i]; p < batch->start[i + 1]; p++) {
            int64_t column = batch->column[p];
            if (column <= last || column >= batch->columns)
                return kl_fail(KLIFT_DATA, "%s: row %lld: column %lld is %s", what, (long long)(first + i), (long long)column,
                               column < 0 ? "negative" : column <= last ? "not above the one before it; sort the columns and merge duplicates" : "beyond the width");
            if (!isfinite(batch->value[p]))
                return bad_value(what, first + i, column);
            last = column;
        }
    }
    return KLIFT_OK;
}

static klift_status check_labels(const kl_batch *batch, const char *what)
{
    for (int64_t i = 0; batch->target != NULL && i < batch->rows * batch->targets; i++)
        if (!isfinite(batch->target[i]))
            return kl_fail(KLIFT_DATA, "%s: row %lld: the target is not finite (NaN or infinity); clean the data first", what, (long long)(i / batch->targets));
    for (int64_t i = 0; batch->weight != NULL && i < batch->rows; i++)
        if (!(batch->weight[i] >= 0) || !isfinite(batch->weight[i]))
            return kl_fail(KLIFT_DATA, "%s: row %lld: the weight must be finite and not negative", what, (long long)i);
    for (int64_t i = 0; batch->label != NULL && i < batch->rows; i++)
        if (batch->label[i] == NULL)
            return kl_fail(KLIFT_DATA, "%s: row %lld: the label is NULL", what, (long long)i);
    return KLIFT_OK;
}

klift_status kl_batch_check_shape(const kl_batch *batch, const char *what)
{
    if (batch == NULL || batch->size < (int64_t)sizeof *batch)
        return kl_fail(KLIFT_USAGE, "%s: the batch is NULL or its size is not set to sizeof(klift_batch)", what);
    if (batch->rows < 0 || batch->columns < 0 || batch->columns > INT32_MAX || batch->targets < 0)
        return kl_fail(KLIFT_USAGE, "%s: %lld rows, %lld columns, %lld targets: out of range", what, (long long)batch->rows, (long long)batch->columns, (long long)batch->targets);
    if (batch->target != NULL && batch->targets == 0)
        return kl_fail(KLIFT_USAGE, "%s: target is given but targets is 0", what);
    if ((batch->dense != NULL) == (batch->start != NULL) && batch->rows > 0)
        return kl_fail(KLIFT_USAGE, "%s: give either dense or start, column and value", what);
    if (batch->dense != NULL && batch->stride < batch->columns)
        return kl_fail(KLIFT_USAGE, "%s: stride %lld is below the %lld columns", what, (long long)batch->stride, (long long)batch->columns);
    if (batch->start != NULL)
        KL_TRY(check_starts(batch, what));
    return check_labels(batch, what);
}

klift_status kl_batch_check_values(const kl_batch *batch, const char *what, int64_t first)
{
    if (batch->dense != NULL)
        return check_dense(batch, what, first);
    return batch->start != NULL ? check_sparse(batch, what, first) : KLIFT_OK;
}

klift_status kl_batch_check(const kl_batch *batch, const char *what)
{
    KL_TRY(kl_batch_check_shape(batch, what));
    return kl_batch_check_values(batch, what, 0);
}

int64_t kl_batch_row(const kl_batch *batch, int64_t row, const int32_t **column, const float **value)
{
    bool dense = batch->dense != NULL;
    *column = dense ? NULL : batch->column + batch->start[row];
    *value = dense ? batch->dense + row * batch->stride : batch->value + batch->start[row];
    return dense ? batch->columns : batch->start[row + 1] - batch->start[row];
}

uint64_t kl_mix(uint64_t key, uint64_t value)
{
    uint64_t z = key + value + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t mix_entry(uint64_t key, int64_t column, float value)
{
    if (value == 0.0f)
        return key;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return kl_mix(key, (uint64_t)column << 32 | bits);
}

uint64_t kl_batch_row_key(const kl_batch *batch, int64_t row)
{
    const int32_t *column;
    const float *value;
    int64_t count = kl_batch_row(batch, row, &column, &value);
    uint64_t key = 0;
    for (int64_t p = 0; p < count; p++)
        key = mix_entry(key, column != NULL ? column[p] : p, value[p]);
    return key;
}

void kl_batch_row_doubles(const kl_batch *batch, int64_t row, int64_t columns, double *out)
{
    const int32_t *column;
    const float *value;
    int64_t count = kl_batch_row(batch, row, &column, &value);
    for (int64_t j = 0; j < columns; j++)
        out[j] = 0;
    for (int64_t p = 0; p < count; p++)
        out[column != NULL ? column[p] : p] = (double)value[p];
}

int64_t kl_batch_row_nonzeros(const kl_batch *batch, int64_t row)
{
    const int32_t *column;
    const float *value;
    int32_t nonzeros = 0; /* no row has more entries; as wide as a float, so that no step of the loop widens it */
    if (batch->dense == NULL && batch->value == NULL)
        return batch->start[row + 1] - batch->start[row];
    int64_t count = kl_batch_row(batch, row, &column, &value);
    for (int64_t i = 0; i < count; i++)
        nonzeros += value[i] != 0.0f;
    return nonzeros;
}

double kl_batch_row_norm(const kl_batch *batch, int64_t row)
{
    /* float32 values squared fit a double: no overflow, and nothing that a float32 can hold underflows */
    const int32_t *column;
    const float *value;
    int64_t count = kl_batch_row(batch, row, &column, &value);
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)value[i] * (double)value[i];
    return sqrt(sum);
}

const char *kl_batch_row_class(const kl_batch *batch, int64_t row, char *text)
{
    if (batch->label != NULL)
        return batch->label[row];
    kl_names_of_number(batch->target[row * batch->targets], text);
    return text;
}
