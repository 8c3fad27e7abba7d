/* writer.c - rows to svmlight text or NPY. NPY's row count is known at the end only, so its header has a fixed size and is written again then. */
#include "data/writer.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NPY_HEADER = 128, USUAL_TEXT = 64 };

/* ---- svmlight ---- */

typedef struct output {
    kl_reader *reader;
    klift_run *run;
    kl_batch batch;
    int64_t count; /* rows written */
    kl_file *rows, *labels;
    /* NPY: decided by the first batch, or by a pass over all rows */
    int64_t columns, targets, text; /* text: bytes of a label in the file, 0: numbers */
    float *row;
    unsigned char *bytes;
    int64_t bytes_room;
} output;

static klift_status next_batch(output *o)
{
    KL_TRY(kl_run_progress(o->run, "save", o->count, 0, (double)NAN));
    kl_reader_use_threads(o->reader, kl_run_threads(o->run));
    return kl_reader_next(o->reader, kl_run_batch(o->run), &o->batch);
}

static klift_status put_float(kl_file *file, float value)
{
    char out[KL_NUMBER_ROOM];
    if (!(fabsf(value) < 1e6f) || value != truncf(value))
        return kl_file_write(file, out, kl_number_print_float(value, out));
    char *end = out + sizeof out, *p = end; /* short whole numbers are common and need no search for digits */
    unsigned size = (unsigned)fabsf(value);
    do
        *--p = (char)('0' + size % 10);
    while ((size /= 10) > 0);
    if (value < 0)
        *--p = '-';
    return kl_file_write(file, p, end - p);
}

/* " index:value", index from 1 */
static klift_status put_entry(kl_file *file, int64_t column, float value)
{
    char out[KL_NUMBER_ROOM], *end = out + sizeof out, *p = end;
    if (value == 0.0f)
        return KLIFT_OK;
    *--p = ':';
    for (int64_t index = column + 1; index > 0; index /= 10)
        *--p = (char)('0' + index % 10);
    *--p = ' ';
    KL_TRY(kl_file_write(file, p, end - p));
    return put_float(file, value);
}

static klift_status put_label(output *o, int64_t i)
{
    const kl_batch *b = &o->batch;
    char out[KL_NUMBER_ROOM];
    const char *text = b->label != NULL ? b->label[i] : "0";
    if (b->label == NULL && b->target != NULL)
        return kl_file_write(o->rows, out, kl_number_print(b->target[i], out));
    for (const char *c = text; *c != '\0' || c == text; c++)
        if ((unsigned char)*c <= ' ' || *c == '#' || *c == ':')
            return kl_fail(KLIFT_DATA, "row %lld: label '%.40s' cannot be written as svmlight text: it is empty or has a blank, '#' or ':'; use format=npy",
                           (long long)(o->count + i) + 1, text);
    return kl_file_write(o->rows, text, (int64_t)strlen(text));
}

static klift_status put_text_rows(output *o)
{
    const kl_batch *b = &o->batch;
    if (b->target != NULL && b->targets != 1)
        return kl_fail(KLIFT_DATA, "svmlight text has one label per row, these rows have %lld; use format=npy", (long long)b->targets);
    for (int64_t i = 0; i < b->rows; i++) {
        KL_TRY(put_label(o, i));
        if (b->dense != NULL)
            for (int64_t j = 0; j < b->columns; j++)
                KL_TRY(put_entry(o->rows, j, b->dense[i * b->stride + j]));
        else
            for (int64_t p = b->start[i]; p < b->start[i + 1]; p++)
                KL_TRY(put_entry(o->rows, b->column[p], b->value[p]));
        KL_TRY(kl_file_write(o->rows, "\n", 1));
    }
    return KLIFT_OK;
}

static klift_status save_svmlight(output *o, const char *path)
{
    KL_TRY(kl_file_create(path, &o->rows));
    for (;;) {
        KL_TRY(next_batch(o));
        if (o->batch.rows == 0)
            break;
        KL_TRY(put_text_rows(o));
        o->count += o->batch.rows;
    }
    kl_file *file = o->rows;
    o->rows = NULL;
    return kl_file_finish(file);
}

/* ---- NPY ---- */

/* Version 1.0, always NPY_HEADER bytes; columns 0 is a 1-D array. */
static void print_header(const char *descr, int64_t rows, int64_t columns, char out[NPY_HEADER])
{
    static const char magic[] = "\x93NUMPY\x01";
    char shape[48];
    if (columns > 0)
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)columns);
    else
        snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    memset(out, ' ', NPY_HEADER);
    memcpy(out, magic, sizeof magic); /* its NUL is the minor version */
    out[8] = NPY_HEADER - 10;
    out[9] = 0;
    int length = snprintf(out + 10, NPY_HEADER - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    out[10 + length] = ' ';
    out[NPY_HEADER - 1] = '\n';
}

static klift_status patch_headers(output *o)
{
    char header[NPY_HEADER], descr[32] = "<f8";
    print_header("<f4", o->count, o->columns, header);
    KL_TRY(kl_file_patch(o->rows, 0, header, sizeof header));
    if (o->labels == NULL)
        return KLIFT_OK;
    if (o->text > 0)
        snprintf(descr, sizeof descr, "|S%lld", (long long)o->text);
    print_header(descr, o->count, o->targets > 1 ? o->targets : 0, header);
    return kl_file_patch(o->labels, 0, header, sizeof header);
}

static void note_widths(output *o)
{
    const kl_batch *b = &o->batch;
    if (b->columns > o->columns)
        o->columns = b->columns;
    for (int64_t i = 0; b->label != NULL && i < b->rows; i++)
        if ((int64_t)strlen(b->label[i]) > o->text)
            o->text = (int64_t)strlen(b->label[i]);
}

/* Takes the first batch. Sparse rows may widen and text labels lengthen later on: then all are looked at first, when
 * they can be read again. */
static klift_status measure(output *o)
{
    bool again = o->reader->at_start && kl_reader_can_rewind(o->reader);
    KL_TRY(next_batch(o));
    o->targets = o->batch.target != NULL ? o->batch.targets : 0;
    bool unsure = o->batch.rows > 0 && ((o->batch.start != NULL && o->reader->dim == 0) || o->batch.label != NULL);
    note_widths(o);
    if (o->columns == 0 && o->batch.rows > 0)
        o->columns = 1; /* rows without any entry: a column of zeros */
    if (unsure && !again && o->text > 0 && o->text < USUAL_TEXT)
        o->text = USUAL_TEXT;
    if (!unsure || !again)
        return KLIFT_OK;
    while (o->batch.rows > 0) {
        KL_TRY(next_batch(o));
        note_widths(o);
    }
    KL_TRY(kl_reader_rewind(o->reader));
    return next_batch(o);
}

static void store(uint64_t bits, int64_t bytes, unsigned char *out)
{
    for (int64_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(bits >> (8 * i));
}

static klift_status put_array_row(output *o, int64_t i)
{
    const kl_batch *b = &o->batch;
    memset(o->row, 0, (size_t)o->columns * sizeof *o->row);
    if (b->dense != NULL)
        memcpy(o->row, b->dense + i * b->stride, (size_t)b->columns * sizeof *o->row);
    else
        for (int64_t p = b->start[i]; p < b->start[i + 1]; p++)
            o->row[b->column[p]] = b->value[p];
    for (int64_t j = 0; j < o->columns; j++) {
        uint32_t bits;
        memcpy(&bits, &o->row[j], sizeof bits);
        store(bits, 4, o->bytes + 4 * j);
    }
    return kl_file_write(o->rows, o->bytes, 4 * o->columns);
}

static klift_status put_array_label(output *o, int64_t i)
{
    const kl_batch *b = &o->batch;
    if (o->text > 0) {
        int64_t length = (int64_t)strlen(b->label[i]);
        if (length > o->text)
            return kl_fail(KLIFT_DATA, "row %lld: label '%.40s' is longer than the %lld bytes set by the rows before it; shorten it, or save rows from a file",
                           (long long)(o->count + i) + 1, b->label[i], (long long)o->text);
        memset(o->bytes, 0, (size_t)o->text);
        memcpy(o->bytes, b->label[i], (size_t)length);
        return kl_file_write(o->labels, o->bytes, o->text);
    }
    for (int64_t t = 0; t < o->targets; t++) {
        uint64_t bits;
        memcpy(&bits, &b->target[i * o->targets + t], sizeof bits);
        store(bits, 8, o->bytes);
        KL_TRY(kl_file_write(o->labels, o->bytes, 8));
    }
    return KLIFT_OK;
}

static klift_status put_array_rows(output *o)
{
    const kl_batch *b = &o->batch;
    if (b->columns > o->columns)
        return kl_fail(KLIFT_DATA, "rows behind row %lld have %lld columns, those before %lld; open the data with dim=%lld", (long long)o->count,
                       (long long)b->columns, (long long)o->columns, (long long)b->columns);
    if (o->labels != NULL && (b->label != NULL) != (o->text > 0))
        return kl_fail(KLIFT_DATA, "rows behind row %lld are labelled otherwise than those before", (long long)o->count);
    if (o->labels != NULL && (b->target != NULL ? b->targets : 0) != o->targets)
        return kl_fail(KLIFT_DATA, "rows behind row %lld have another number of labels than those before", (long long)o->count);
    for (int64_t i = 0; i < b->rows; i++) {
        KL_TRY(put_array_row(o, i));
        if (o->labels != NULL)
            KL_TRY(put_array_label(o, i));
    }
    return KLIFT_OK;
}

static klift_status open_arrays(output *o, const char *path, const char *labels)
{
    static const char blank[NPY_HEADER];
    if (labels != NULL && o->batch.rows > 0 && o->targets == 0 && o->text == 0)
        return kl_fail(KLIFT_USAGE, "%s: the rows have no labels to write", labels);
    KL_TRY(kl_new(&o->row, o->columns, sizeof *o->row, "a row"));
    KL_TRY(kl_grow(&o->bytes, &o->bytes_room, 0, 4 * o->columns + o->text + 8, 1, "a row"));
    KL_TRY(kl_file_create(path, &o->rows));
    KL_TRY(kl_file_write(o->rows, blank, sizeof blank));
    if (labels != NULL) {
        KL_TRY(kl_file_create(labels, &o->labels));
        KL_TRY(kl_file_write(o->labels, blank, sizeof blank));
    }
    return patch_headers(o); /* here already: a pipe is refused before all rows have gone into it */
}

static klift_status save_npy(output *o, const char *path, const char *labels)
{
    if (strcmp(path, "-") == 0 || (labels != NULL && strcmp(labels, "-") == 0))
        return kl_fail(KLIFT_USAGE, "NPY cannot be written to standard output, as its header is written last; name a file");
    if (labels != NULL && strcmp(path, labels) == 0)
        return kl_fail(KLIFT_USAGE, "%s: rows and labels cannot go to the same file", path);
    KL_TRY(measure(o));
    KL_TRY(open_arrays(o, path, labels));
    while (o->batch.rows > 0) {
        KL_TRY(put_array_rows(o));
        o->count += o->batch.rows;
        KL_TRY(next_batch(o));
    }
    KL_TRY(patch_headers(o));
    kl_file *rows = o->rows, *second = o->labels;
    o->rows = NULL;
    KL_TRY(kl_file_finish(rows));
    o->labels = NULL;
    return second != NULL ? kl_file_finish(second) : KLIFT_OK;
}

/* ---- options ---- */

enum { FORMAT_AUTO, FORMAT_SVMLIGHT, FORMAT_NPY };

static const kl_param params[] = {
    {"format", KL_WORD, "auto", 0, 0, false, "auto|svmlight|npy", "auto: npy when the name ends in .npy"},
    {"labels", KL_FREE, "none", 0, 0, false, NULL, "file for the labels of NPY rows"},
    {0}};

klift_status kl_writer_save(kl_reader *reader, const char *path, const char *options, klift_run *run)
{
    kl_spec *items = NULL;
    kl_value values[KL_PARAMS_MAX];
    output o = {.reader = reader, .run = run};
    const char *labels = NULL;
    size_t length = strlen(path);
    klift_status status;
    KL_GO(kl_spec_parse_items(options, "save options", &items));
    KL_GO(kl_params_read(params, items, "save options", values));
    for (int64_t i = 0; i < items->items; i++)
        if (items->item[i].key != NULL && strcmp(items->item[i].key, "labels") == 0 && strcmp(items->item[i].value, "none") != 0)
            labels = items->item[i].value;
    bool npy = values[0].word == FORMAT_NPY || (values[0].word == FORMAT_AUTO && length >= 4 && strcmp(path + length - 4, ".npy") == 0);
    if (!npy && labels != NULL)
        status = kl_fail(KLIFT_USAGE, "svmlight rows carry their labels; labels=FILE is for format=npy");
    else
        status = npy ? save_npy(&o, path, labels) : save_svmlight(&o, path);
done:
    kl_spec_free(items);
    kl_file_abandon(o.rows);
    kl_file_abandon(o.labels);
    kl_free(o.row);
    kl_free(o.bytes);
    return status;
}
