/*
 * npz.c - archives of numpy.savez and savez_compressed: a zip of .npy files, one per key. X is the member that key
 * names, else the only 2-D array, else X, x, data or arr_0; labels are label-key, else y, labels, target or arr_1. A
 * member must hold exactly the bytes that its NPY header describes, so nothing is unpacked that was not announced.
 */
#include "data/matrix.h"

#include "base/memory.h"
#include "base/text.h"
#include "data/zip.h"

#include <string.h>

static const kl_param params[] = {{"key", KL_FREE, "auto", 0, 0, false, NULL, "array of the rows; auto: the only 2-D array, else X, x, data or arr_0"},
                                  {"label-key", KL_FREE, "auto", 0, 0, false, NULL, "array of the labels; auto: y, labels, target or arr_1 if there; none"},
                                  {0}};

typedef struct state {
    kl_matrix matrix; /* first: matrix.h */
    kl_zip zip;
    kl_stream *x;
} state;

static const char *const row_keys[] = {"X", "x", "data", "arr_0", NULL};
static const char *const label_keys[] = {"y", "labels", "target", "arr_1", NULL};

/* Length of the key: the name without .npy, -1 for members that are none. */
static int64_t key_length(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npy") == 0 ? (int64_t)length - 4 : -1;
}

static int64_t find(const kl_zip *zip, const char *key)
{
    for (int64_t i = 0; i < zip->count; i++) {
        const char *name = zip->member[i].name;
        int64_t length = key_length(name);
        if (length >= 0 && strlen(key) == (size_t)length && memcmp(name, key, (size_t)length) == 0)
            return i;
    }
    return -1;
}

static int64_t find_one_of(const kl_zip *zip, const char *const *keys, int64_t other)
{
    for (; *keys != NULL; keys++) {
        int64_t index = find(zip, *keys);
        if (index >= 0 && index != other)
            return index;
    }
    return -1;
}

static klift_status refuse_key(const kl_zip *zip, const char *key, const char *option)
{
    kl_text known = {0};
    int64_t shown = 0;
    for (int64_t i = 0; i < zip->count && shown < 10; i++) {
        int64_t length = key_length(zip->member[i].name);
        if (length >= 0)
            kl_text_add(&known, "%s%.*s", shown++ > 0 ? ", " : "", (int)(length < 40 ? length : 40), zip->member[i].name);
    }
    const char *names = known.text != NULL ? known.text : "others";
    klift_status status;
    if (shown == 0)
        status = kl_fail(KLIFT_DATA, "%s: there is no array in the zip archive; save it with numpy.savez", kl_stream_name(zip->stream));
    else if (key != NULL)
        status = kl_fail(KLIFT_DATA, "%s: there is no array '%s'; there are %s", kl_stream_name(zip->stream), key, names);
    else
        status = kl_fail(KLIFT_DATA, "%s: which array holds the rows? say %s=NAME; there are %s", kl_stream_name(zip->stream), option, names);
    kl_text_clear(&known);
    return status;
}

/* How many dimensions the member has; 0 when it is not an array of numbers. */
static klift_status count_dims(const kl_zip *zip, int64_t index, int *dims)
{
    kl_array array = {0};
    kl_stream *stream = NULL;
    klift_status status = KLIFT_OK;
    *dims = 0;
    if (key_length(zip->member[index].name) < 0)
        return KLIFT_OK;
    KL_GO(kl_zip_stream(zip, index, &stream));
    KL_GO(kl_array_open(&array, stream, kl_array_npy));
    *dims = kl_array_is_text(&array) ? 0 : array.dims;
done:
    kl_array_clear(&array);
    kl_stream_close(stream);
    return status == KLIFT_DATA ? KLIFT_OK : status; /* what cannot be read is no candidate; if it is asked for by name, that fails */
}

static klift_status choose_rows(const kl_zip *zip, const char *key, int64_t *index)
{
    if (key != NULL && strcmp(key, "auto") != 0) {
        *index = find(zip, key);
        return *index >= 0 ? KLIFT_OK : refuse_key(zip, key, "key");
    }
    int64_t flat = 0;
    for (int64_t i = 0; i < zip->count; i++) {
        int dims;
        KL_TRY(count_dims(zip, i, &dims));
        if (dims == 2 && flat++ == 0)
            *index = i;
    }
    if (flat != 1)
        *index = find_one_of(zip, row_keys, -1);
    return *index >= 0 ? KLIFT_OK : refuse_key(zip, NULL, "key");
}

/* *index is -1 when there are none. */
static klift_status choose_labels(const kl_zip *zip, const char *key, int64_t rows, int64_t *index)
{
    *index = -1;
    if (key == NULL || strcmp(key, "auto") == 0)
        *index = find_one_of(zip, label_keys, rows);
    else if (strcmp(key, "none") != 0) {
        *index = find(zip, key);
        return *index >= 0 ? KLIFT_OK : refuse_key(zip, key, "label-key");
    }
    return KLIFT_OK;
}

static klift_status check_whole(const kl_array *array)
{
    int64_t size = kl_stream_size(array->stream);
    if (size == array->total)
        return KLIFT_OK;
    return kl_fail(KLIFT_DATA, "%s: the member has %lld bytes, its NPY header describes %lld; save the archive again", kl_stream_name(array->stream), (long long)size,
                   (long long)array->total);
}

static klift_status open_archive(kl_reader *reader)
{
    state *s = reader->state;
    kl_stream *labels = NULL;
    int64_t rows = -1, other = -1;
    KL_TRY(kl_zip_open(&s->zip, reader->stream));
    KL_TRY(choose_rows(&s->zip, kl_reader_option_text(reader, "key"), &rows));
    KL_TRY(kl_zip_stream(&s->zip, rows, &s->x));
    KL_TRY(kl_array_open(&s->matrix.x, s->x, kl_array_npy));
    KL_TRY(check_whole(&s->matrix.x));
    if (!reader->no_label && reader->labels == NULL)
        KL_TRY(choose_labels(&s->zip, kl_reader_option_text(reader, "label-key"), rows, &other));
    if (other >= 0)
        KL_TRY(kl_zip_stream(&s->zip, other, &labels));
    KL_TRY(kl_matrix_begin(reader, labels));
    return labels != NULL ? check_whole(&s->matrix.labels.y) : KLIFT_OK;
}

static void close_archive(kl_reader *reader)
{
    state *s = reader->state;
    kl_matrix_close(reader);
    kl_stream_close(s->x);
    kl_zip_clear(&s->zip);
}

/* The member has a stream of its own. */
static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    const state *s = reader->state;
    if (reader->at == 0 && reader->threads > 1)
        kl_stream_run_ahead(s->x);
    return kl_matrix_next(reader, at_most, batch);
}

const kl_reader_type kl_reader_npz = {
    .name = "npz",
    .summary = "NumPy archive: arrays X and y of numpy.savez",
    .params = params,
    .listed = true,
    .state_size = sizeof(state),
    .detect = kl_is_zip,
    .open = open_archive,
    .next = next,
    .rewind = kl_matrix_rewind,
    .close = close_archive,
    .reads_stream = true,
};
