/* matrix.c - dense rows from an array, checked value by value, and their labels. */
#include "data/matrix.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static klift_status open_labels(kl_reader *reader, kl_matrix *m, kl_stream *labels)
{
    if (reader->no_label || (reader->labels == NULL && labels == NULL)) {
        kl_stream_close(labels);
        return KLIFT_OK;
    }
    if (reader->labels == NULL)
        KL_TRY(kl_labels_take(&m->labels, labels));
    else {
        kl_stream_close(labels);
        if (strcmp(reader->labels, "-") == 0 && strcmp(reader->path, "-") == 0)
            return kl_fail(KLIFT_USAGE, "rows and labels cannot both come from standard input; save one of them to a file");
        KL_TRY(kl_labels_open(&m->labels, reader->labels));
    }
    if (m->labels.y.rows != m->x.rows)
        return kl_fail(KLIFT_DATA, "%s has %lld rows, but %s has %lld labels; give the labels of these rows", kl_stream_name(m->x.stream), (long long)m->x.rows,
                       kl_stream_name(m->labels.stream), (long long)m->labels.y.rows);
    return KLIFT_OK;
}

klift_status kl_matrix_begin(kl_reader *reader, kl_stream *labels)
{
    kl_matrix *m = reader->state;
    const char *name = kl_stream_name(m->x.stream);
    klift_status status = KLIFT_OK;
    if (kl_array_is_text(&m->x))
        status = kl_fail(KLIFT_DATA, "%s: the array holds text, not numbers; encode it first, or give it as labels=FILE", name);
    else if (reader->dim > 0 && reader->dim != m->x.columns)
        status = kl_fail(KLIFT_DATA, "%s: the array has %lld columns, but dim=%lld was given; leave that out", name, (long long)m->x.columns,
                         (long long)reader->dim);
    if (status == KLIFT_OK)
        return open_labels(reader, m, labels);
    kl_stream_close(labels);
    return status;
}

/* Values of a column-major array, column after column. */
static klift_status put(void *to, int64_t index, int64_t step, const double *value, int64_t count)
{
    kl_matrix *m = to;
    KL_TRY(kl_grow(&m->dense, &m->dense_room, m->dense_room, index + (count - 1) * step + 1, sizeof *m->dense, "rows"));
    for (int64_t i = 0; i < count; i++, index += step) {
        bool good = fabs(value[i]) < KL_ARRAY_LIMIT;
        m->dense[index] = good ? (float)value[i] : 0.0f;
        if (!good && (m->bad < 0 || index < m->bad)) { /* not the first one met: that depends on the batch when columns come first */
            m->bad = index;
            m->bad_value = value[i];
        }
    }
    return KLIFT_OK;
}

static klift_status read_rows(kl_matrix *m, int64_t rows)
{
    int64_t count = rows * m->x.columns, block = kl_array_block(&m->x), bad;
    double value;
    if (kl_stream_can_seek(m->x.stream)) /* a plain file: its size has shown that it has as many */
        KL_TRY(kl_make_room(&m->dense, &m->dense_room, count, sizeof *m->dense, "rows"));
    if (m->x.fortran)
        return kl_array_rows(&m->x, rows, put, m);
    for (int64_t done = 0, part; done < count; done += part) {
        part = count - done < block ? count - done : block;
        KL_TRY(kl_grow(&m->dense, &m->dense_room, done, done + part, sizeof *m->dense, "rows"));
        KL_TRY(kl_array_floats(&m->x, part, m->dense + done, &bad, &value));
        if (bad >= 0 && m->bad < 0) {
            m->bad = done + bad;
            m->bad_value = value;
        }
    }
    m->x.row += rows;
    return KLIFT_OK;
}

/* Behind the last row: the checksums of compressed files, and bytes that nobody asked for. */
static klift_status finish(kl_reader *reader, kl_matrix *m)
{
    bool more = false, more_labels = false;
    KL_TRY(kl_array_finish(&m->x, &more));
    if (m->labels.stream != NULL)
        KL_TRY(kl_array_finish(&m->labels.y, &more_labels));
    if (more || more_labels)
        snprintf(reader->note, sizeof reader->note, "%s goes on behind the array that its header describes; that is ignored", more ? "the file" : "the file of labels");
    return KLIFT_OK;
}

klift_status kl_matrix_next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    kl_matrix *m = reader->state;
    int64_t left = m->x.rows - m->x.row, rows = at_most < left ? at_most : left;
    if (rows == 0) {
        *batch = (kl_batch){.size = sizeof *batch, .columns = m->x.columns};
        return finish(reader, m);
    }
    m->bad = -1;
    KL_TRY(read_rows(m, rows));
    if (m->bad >= 0) {
        m->x.row -= rows;
        return kl_array_refuse(&m->x, m->bad, isfinite(m->bad_value) ? "the value is out of range of float32; scale the data"
                                                                     : "the value is not finite (NaN or infinity); clean the data first");
    }
    *batch = (kl_batch){.size = sizeof *batch, .rows = rows, .columns = m->x.columns, .dense = m->dense, .stride = m->x.columns};
    return m->labels.stream != NULL ? kl_labels_next(&m->labels, rows, batch) : KLIFT_OK;
}

klift_status kl_matrix_rewind(kl_reader *reader)
{
    kl_matrix *m = reader->state;
    if (m->x.stream != reader->stream)
        KL_TRY(kl_stream_rewind(m->x.stream));
    KL_TRY(kl_array_rewind(&m->x));
    return m->labels.stream != NULL ? kl_labels_rewind(&m->labels) : KLIFT_OK;
}

void kl_matrix_close(kl_reader *reader)
{
    kl_matrix *m = reader->state;
    kl_labels_clear(&m->labels);
    kl_array_clear(&m->x);
    kl_free(m->dense);
}
