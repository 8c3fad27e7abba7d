/*
 * rows.c - kept rows. The first part decides the form (dense or CSR, targets, labels, weights); a later part of the
 * other form is converted, so that a source may mix both. Sparse rows may widen; dense ones must agree.
 */
#include "data/rows.h"

#include "base/memory.h"

#include <string.h>

static klift_status reserve_entries(kl_rows *rows, int64_t extra)
{
    int64_t used = rows->start[rows->rows];
    KL_TRY(kl_grow(&rows->column, &rows->column_room, used, used + extra, sizeof *rows->column, "kept rows"));
    return kl_grow(&rows->value, &rows->value_room, used, used + extra, sizeof *rows->value, "kept rows");
}

klift_status kl_rows_reserve(kl_rows *rows, const kl_batch *batch)
{
    int64_t size;
    if (batch->rows == 0 || kl_multiply(batch->rows, batch->columns, &size))
        return KLIFT_OK;
    if (batch->dense != NULL)
        return kl_make_room(&rows->dense, &rows->dense_room, size, sizeof *rows->dense, "kept rows");
    size = batch->start[batch->rows] - batch->start[0];
    KL_TRY(kl_make_room(&rows->column, &rows->column_room, size, sizeof *rows->column, "kept rows"));
    return kl_make_room(&rows->value, &rows->value_room, size, sizeof *rows->value, "kept rows");
}

klift_status kl_rows_extend(kl_rows *rows, int64_t count, int64_t entries)
{
    rows->sparse = true;
    KL_TRY(kl_grow(&rows->start, &rows->start_room, rows->start != NULL ? rows->rows + 1 : 0, rows->rows + count + 1, sizeof *rows->start, "kept rows"));
    return reserve_entries(rows, entries);
}

static klift_status add_sparse(kl_rows *rows, const kl_batch *batch, int64_t row)
{
    KL_TRY(kl_grow(&rows->start, &rows->start_room, rows->rows + 1, rows->rows + 2, sizeof *rows->start, "kept rows"));
    int64_t used = rows->start[rows->rows];
    if (batch->start != NULL) {
        int64_t from = batch->start[row], count = batch->start[row + 1] - from;
        KL_TRY(reserve_entries(rows, count));
        if (count > 0) {
            memcpy(rows->column + used, batch->column + from, (size_t)count * sizeof *rows->column);
            memcpy(rows->value + used, batch->value + from, (size_t)count * sizeof *rows->value);
        }
        used += count;
    } else {
        const float *x = batch->dense + row * batch->stride;
        KL_TRY(reserve_entries(rows, batch->columns));
        for (int64_t j = 0; j < batch->columns; j++)
            if (x[j] != 0.0f) {
                rows->column[used] = (int32_t)j;
                rows->value[used++] = x[j];
            }
    }
    rows->start[rows->rows + 1] = used;
    return KLIFT_OK;
}

static klift_status add_dense(kl_rows *rows, const kl_batch *batch, int64_t row)
{
    int64_t size;
    if (batch->columns != rows->columns)
        return kl_fail(KLIFT_DATA, "row %lld has %lld columns, the rows before it have %lld", (long long)rows->rows, (long long)batch->columns, (long long)rows->columns);
    if (kl_multiply(rows->rows + 1, rows->columns, &size))
        return kl_fail(KLIFT_MEMORY, "too many kept rows");
    KL_TRY(kl_grow(&rows->dense, &rows->dense_room, rows->rows * rows->columns, size, sizeof *rows->dense, "kept rows"));
    float *out = rows->dense + rows->rows * rows->columns;
    if (batch->dense != NULL) {
        memcpy(out, batch->dense + row * batch->stride, (size_t)rows->columns * sizeof *out);
        return KLIFT_OK;
    }
    memset(out, 0, (size_t)rows->columns * sizeof *out);
    for (int64_t p = batch->start[row]; p < batch->start[row + 1]; p++)
        out[batch->column[p]] = batch->value[p];
    return KLIFT_OK;
}

static klift_status add_label(kl_rows *rows, const kl_batch *batch, int64_t row)
{
    int64_t n = rows->rows;
    if ((batch->target != NULL ? batch->targets : 0) != rows->targets || (batch->label != NULL) != rows->has_label)
        return kl_fail(KLIFT_DATA, "row %lld is labelled otherwise than the rows before it", (long long)n);
    if (rows->targets > 0) {
        KL_TRY(kl_grow(&rows->target, &rows->target_room, n * rows->targets, (n + 1) * rows->targets, sizeof *rows->target, "kept rows"));
        memcpy(rows->target + n * rows->targets, batch->target + row * rows->targets, (size_t)rows->targets * sizeof *rows->target);
    }
    if (rows->has_label) {
        int64_t index;
        KL_TRY(kl_names_add(&rows->names, batch->label[row], &index));
        KL_TRY(kl_grow(&rows->label, &rows->label_room, n, n + 1, sizeof *rows->label, "kept rows"));
        rows->label[n] = rows->names.name[index];
    }
    if (batch->weight != NULL && !rows->has_weight) {
        KL_TRY(kl_grow(&rows->weight, &rows->weight_room, 0, n + 1, sizeof *rows->weight, "kept rows"));
        for (int64_t i = 0; i < n; i++)
            rows->weight[i] = 1;
        rows->has_weight = true;
    }
    if (rows->has_weight) {
        KL_TRY(kl_grow(&rows->weight, &rows->weight_room, n, n + 1, sizeof *rows->weight, "kept rows"));
        rows->weight[n] = batch->weight != NULL ? batch->weight[row] : 1;
    }
    return KLIFT_OK;
}

klift_status kl_rows_add(kl_rows *rows, const kl_batch *batch, int64_t first, int64_t count)
{
    if (count == 0)
        return KLIFT_OK;
    if (rows->rows == 0) {
        rows->sparse = batch->start != NULL || batch->columns == 0; /* no columns, no dense array: CSR can still say so */
        rows->columns = batch->columns;
        rows->targets = batch->target != NULL ? batch->targets : 0;
        rows->has_label = batch->label != NULL;
        rows->has_weight = false;
        KL_TRY(kl_grow(&rows->start, &rows->start_room, 0, 1, sizeof *rows->start, "kept rows"));
        rows->start[0] = 0;
    }
    if (rows->sparse && batch->columns > rows->columns)
        rows->columns = batch->columns;
    for (int64_t i = first; i < first + count; i++) {
        KL_TRY(rows->sparse ? add_sparse(rows, batch, i) : add_dense(rows, batch, i));
        KL_TRY(add_label(rows, batch, i));
        rows->rows++;
    }
    return KLIFT_OK;
}

kl_batch kl_rows_view(const kl_rows *rows)
{
    kl_batch view = {.size = sizeof view, .rows = rows->rows, .columns = rows->columns};
    if (rows->sparse) {
        view.start = rows->start;
        view.column = rows->column;
        view.value = rows->value;
    } else {
        view.dense = rows->dense;
        view.stride = rows->columns;
    }
    view.targets = rows->targets;
    view.target = rows->targets > 0 ? rows->target : NULL;
    view.label = rows->has_label ? rows->label : NULL;
    view.weight = rows->has_weight ? rows->weight : NULL;
    return view;
}

void kl_rows_empty(kl_rows *rows)
{
    rows->rows = 0;
    if (rows->start != NULL)
        rows->start[0] = 0;
}

void kl_rows_clear(kl_rows *rows)
{
    kl_free(rows->dense);
    kl_free(rows->start);
    kl_free(rows->column);
    kl_free(rows->value);
    kl_free(rows->target);
    kl_free(rows->weight);
    kl_free(rows->label);
    kl_names_clear(&rows->names);
    *rows = (kl_rows){0};
}
