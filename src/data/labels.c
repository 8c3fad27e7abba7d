/* labels.c - labels read in step with rows: numbers as targets, texts as class names. */
#include "data/labels.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define EXACT_WHOLE 0x1p53

static klift_status begin(kl_labels *labels)
{
    kl_array *y = &labels->y;
    KL_TRY(kl_array_open(y, labels->stream, NULL));
    if (kl_array_is_text(y) && y->dims != 1)
        return kl_fail(KLIFT_DATA, "%s: text labels must be a 1-D array; save y.ravel()", kl_stream_name(labels->stream));
    if (y->dims > 2)
        return kl_fail(KLIFT_DATA, "%s: has %d dimensions and is no file of labels, which has one; is it the file of the rows?", kl_stream_name(labels->stream),
                       y->dims);
    return kl_new(&labels->text, y->size + 4, 1, "a label");
}

klift_status kl_labels_open(kl_labels *labels, const char *path)
{
    KL_TRY(kl_stream_open(path, &labels->stream));
    return begin(labels);
}

klift_status kl_labels_take(kl_labels *labels, kl_stream *stream)
{
    labels->stream = stream;
    return begin(labels);
}

static klift_status put(void *to, int64_t index, int64_t step, const double *value, int64_t count)
{
    kl_labels *labels = to;
    const kl_array *y = &labels->y;
    bool wide_whole = y->kind != 'f' && y->size == 8;
    KL_TRY(kl_grow(&labels->target, &labels->target_room, labels->target_room, index + (count - 1) * step + 1, sizeof *labels->target, "labels"));
    for (int64_t i = 0; i < count; i++, index += step) {
        if (!isfinite(value[i]))
            return kl_array_refuse(y, index, "the label is not finite; clean the data first");
        if (wide_whole && fabs(value[i]) >= EXACT_WHOLE)
            return kl_array_refuse(y, index, "the label is 2^53 or more and cannot be held exactly; save the labels as text: y.astype(str)");
        labels->target[index] = value[i];
    }
    return KLIFT_OK;
}

/* One code point as UTF-8; 0 bytes when there is no such character. */
static int put_character(uint32_t code, char *out)
{
    unsigned char *u = (unsigned char *)out;
    if (code < 0x80) {
        u[0] = (unsigned char)code;
        return 1;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    u[0] = (unsigned char)(lead[more] | code >> (6 * more));
    for (int i = 1; i <= more; i++)
        u[i] = (unsigned char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

/* The label just fetched as text, without its trailing NULs. */
static klift_status read_text(kl_labels *labels)
{
    const kl_array *y = &labels->y;
    int64_t unit = y->kind == 'U' ? 4 : 1, length = 0, last = y->size;
    while (last > 0 && y->raw[last - 1] == 0)
        last--;
    for (int64_t i = 0; i < last; i += unit) {
        uint32_t code = y->raw[i];
        int bytes = 1;
        labels->text[length] = (char)code; /* S: bytes as they are */
        if (unit == 4) {
            memcpy(&code, y->raw + i, sizeof code);
            code = y->swap ? __builtin_bswap32(code) : code;
            bytes = put_character(code, labels->text + length);
        }
        if (code == 0 || bytes == 0)
            return kl_array_refuse(y, 0, code == 0 ? "the label holds a NUL" : "the label is not Unicode text");
        length += bytes;
    }
    labels->text[length] = '\0';
    return length > 0 ? KLIFT_OK : kl_array_refuse(y, 0, "the label is empty");
}

static klift_status read_texts(kl_labels *labels, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        int64_t index;
        KL_TRY(kl_grow(&labels->label, &labels->label_room, i, i + 1, sizeof *labels->label, "labels"));
        KL_TRY(kl_array_text(&labels->y));
        KL_TRY(read_text(labels));
        KL_TRY(kl_names_add(&labels->names, labels->text, &index));
        labels->label[i] = labels->names.name[index];
        labels->y.row++;
    }
    return KLIFT_OK;
}

klift_status kl_labels_next(kl_labels *labels, int64_t rows, kl_batch *batch)
{
    if (kl_array_is_text(&labels->y)) {
        KL_TRY(read_texts(labels, rows));
        batch->label = labels->label;
        return KLIFT_OK;
    }
    KL_TRY(kl_array_rows(&labels->y, rows, put, labels));
    batch->target = labels->target;
    batch->targets = labels->y.columns;
    return KLIFT_OK;
}

klift_status kl_labels_rewind(kl_labels *labels)
{
    KL_TRY(kl_stream_rewind(labels->stream));
    return kl_array_rewind(&labels->y);
}

void kl_labels_clear(kl_labels *labels)
{
    kl_array_clear(&labels->y);
    kl_stream_close(labels->stream);
    kl_free(labels->target);
    kl_free(labels->label);
    kl_free(labels->text);
    kl_names_clear(&labels->names);
    *labels = (kl_labels){0};
}
