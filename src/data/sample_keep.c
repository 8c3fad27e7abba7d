/* sample_keep.c - a sample of labelled, weighted rows as bytes, and back: checked as a caller's rows are, then added one by one. */
#include "data/sample.h"

#include "base/memory.h"

void kl_sample_save(const kl_sample *sample, kl_record_writer *to)
{
    const kl_rows *rows = &sample->rows;
    int64_t entries = rows->sparse && rows->rows > 0 ? rows->start[rows->rows] : 0;
    kl_record_put_i64(to, sample->full);
    kl_record_put_i64(to, (int64_t)sample->highest);
    kl_record_put_i64(to, rows->rows);
    if (rows->rows == 0)
        return;
    kl_record_put_i64(to, rows->columns);
    kl_record_put_i64(to, rows->sparse);
    if (rows->sparse) {
        for (int64_t i = 0; i <= rows->rows; i++)
            kl_record_put_i64(to, rows->start[i]);
        for (int64_t p = 0; p < entries; p++)
            kl_record_put_u32(to, (uint32_t)rows->column[p]);
    }
    kl_record_put_floats(to, rows->sparse ? rows->value : rows->dense, rows->sparse ? entries : rows->rows * rows->columns);
    kl_record_put_doubles(to, rows->weight, rows->rows);
    for (int64_t i = 0; i < rows->rows; i++) {
        kl_record_put_i64(to, (int64_t)sample->key[i]);
        kl_record_put_text(to, rows->label[i]);
    }
}

typedef struct parts {
    int64_t *start;
    int32_t *column;
    float *value;
    double *weight;
} parts;

static klift_status load_pattern(int64_t rows, parts *p, kl_record_reader *from)
{
    KL_TRY(kl_new(&p->start, rows + 1, sizeof *p->start, "kept rows"));
    for (int64_t i = 0; i <= rows; i++)
        KL_TRY(kl_record_get_i64(from, i > 0 ? p->start[i - 1] : 0, i > 0 ? (from->end - from->at) / 4 : 0, &p->start[i]));
    KL_TRY(kl_new(&p->column, p->start[rows], sizeof *p->column, "kept rows"));
    for (int64_t k = 0; k < p->start[rows]; k++) {
        uint32_t column;
        KL_TRY(kl_record_get_u32(from, &column));
        p->column[k] = (int32_t)column;
    }
    return KLIFT_OK;
}

static klift_status load_labels(kl_sample *sample, kl_batch *rows, kl_record_reader *from)
{
    KL_TRY(kl_grow(&sample->key, &sample->key_room, 0, rows->rows, sizeof *sample->key, "a sample"));
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t key;
        char *label;
        const char *text[1];
        KL_TRY(kl_record_get_i64(from, INT64_MIN, INT64_MAX, &key));
        KL_TRY(kl_record_get_text(from, &label));
        kl_batch one = kl_batch_part(rows, i, 1);
        text[0] = label;
        one.label = text;
        klift_status status = kl_rows_add(&sample->rows, &one, 0, 1);
        kl_free(label);
        KL_TRY(status);
        sample->key[i] = (uint64_t)key;
    }
    return KLIFT_OK;
}

klift_status kl_sample_load(kl_sample *sample, int64_t width, kl_record_reader *from)
{
    int64_t full, highest, count, columns, sparse, size;
    parts p = {0};
    klift_status status;
    KL_TRY(kl_record_get_i64(from, 0, 1, &full));
    KL_TRY(kl_record_get_i64(from, INT64_MIN, INT64_MAX, &highest));
    KL_TRY(kl_record_get_i64(from, 0, (from->end - from->at) / 8, &count));
    sample->full = full == 1;
    sample->highest = (uint64_t)highest;
    if (count == 0)
        return KLIFT_OK;
    KL_TRY(kl_record_get_i64(from, 0, width, &columns));
    KL_TRY(kl_record_get_i64(from, 0, 1, &sparse));
    if (kl_multiply(count, columns, &size) || (sparse == 0 && (columns == 0 || columns != width)) || sample->rows.rows > 0)
        return kl_record_damaged("its kept rows are of another width");
    if (sparse == 1)
        KL_GO(load_pattern(count, &p, from));
    KL_GO(kl_record_get_floats(from, &p.value, sparse == 1 ? p.start[count] : size));
    KL_GO(kl_record_get_doubles(from, &p.weight, count));
    kl_batch rows = {.size = sizeof rows, .rows = count, .columns = columns, .weight = p.weight};
    if (sparse == 1) {
        rows.start = p.start;
        rows.column = p.column;
        rows.value = p.value;
    } else {
        rows.dense = p.value;
        rows.stride = columns;
    }
    if (kl_batch_check(&rows, "kept rows") != KLIFT_OK) {
        status = kl_record_damaged("its kept rows are none");
        goto done;
    }
    status = load_labels(sample, &rows, from);
done:
    kl_free(p.start);
    kl_free(p.column);
    kl_free(p.value);
    kl_free(p.weight);
    return status;
}
