/*
 * array.c - elements of NPY and IDX files block by block: as doubles, or as floats, to which bytes, short whole numbers and
 * floats go straight. Column-major arrays of more than one column are read with one seek per column and block of rows, which
 * only a plain file allows.
 */
#include "data/array.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 8192, BLOCK = CHUNK * 8, LONGEST_HEADER = 10012 }; /* elements, bytes, bytes */

bool kl_host_is_little(void)
{
    static const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

bool kl_array_is_text(const kl_array *array)
{
    return array->kind == 'S' || array->kind == 'U';
}

klift_status kl_array_fetch(kl_array *array, void *bytes, int64_t count)
{
    int64_t got;
    KL_TRY(kl_stream_read(array->stream, bytes, count, &got));
    array->at += got;
    if (got < count)
        return kl_fail(KLIFT_DATA, "%s: the file is truncated: %lld bytes were promised, it ends after %lld; copy or make it again",
                       kl_stream_name(array->stream), (long long)(array->total > 0 ? array->total : array->at - got + count), (long long)array->at);
    return KLIFT_OK;
}

klift_status kl_array_check(kl_array *a)
{
    const char *name = kl_stream_name(a->stream);
    if (a->columns > INT32_MAX || (a->columns == 0 && a->rows > 0))
        return kl_fail(KLIFT_DATA, "%s: the array has %lld columns; there must be 1 to %d", name, (long long)a->columns, INT32_MAX);
    int64_t count, bytes, size = kl_stream_size(a->stream);
    if (kl_multiply(a->rows, a->columns, &count) || kl_multiply(count, a->size, &bytes) || __builtin_add_overflow(bytes, a->data_at, &a->total))
        return kl_fail(KLIFT_DATA, "%s: a shape of (%lld, %lld) is more than any file holds; the file is damaged", name, (long long)a->rows,
                       (long long)a->columns);
    if (size >= 0 && size < a->total)
        return kl_fail(KLIFT_DATA, "%s: the file is truncated: its header promises %lld bytes, it has %lld; copy or make it again", name, (long long)a->total,
                       (long long)size);
    a->fortran = a->fortran && a->rows > 1 && a->columns > 1;
    if (a->fortran && !kl_stream_can_seek(a->stream))
        return kl_fail(KLIFT_DATA, "%s: the array is in Fortran order, which only a plain file can be read in; save numpy.ascontiguousarray(X)", name);
    return KLIFT_OK;
}

klift_status kl_array_open(kl_array *array, kl_stream *stream, klift_status (*header)(kl_array *array))
{
    const unsigned char *head;
    int64_t count;
    array->stream = stream;
    KL_TRY(kl_stream_peek(stream, &head, &count));
    if (header == NULL)
        header = kl_is_idx(head, count) ? kl_array_idx : kl_array_npy;
    KL_TRY(header(array));
    int64_t bytes = array->size > BLOCK ? array->size : BLOCK;
    KL_TRY(kl_new(&array->raw, bytes, 1, "a block of an array"));
    return kl_new(&array->wide, CHUNK, sizeof *array->wide, "a block of an array");
}

static void swap_bytes(unsigned char *raw, int64_t count, int64_t size)
{
    for (unsigned char *item = raw; item < raw + count * size; item += size)
        for (int64_t i = 0; i < size / 2; i++) {
            unsigned char kept = item[i];
            item[i] = item[size - 1 - i];
            item[size - 1 - i] = kept;
        }
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double size = exponent == 0 ? ldexp(mantissa, -24) : exponent < 31 ? ldexp(mantissa + 1024, exponent - 25) : mantissa == 0 ? (double)INFINITY : (double)NAN;
    return bits >> 15 ? -size : size;
}

#define DECODE(type, convert)                                     \
    for (int64_t i = 0; i < count; i++) {                         \
        type item;                                                \
        memcpy(&item, raw + i * (int64_t)sizeof item, sizeof item); \
        out[i] = convert(item);                                   \
    }

/* count <= CHUNK elements of a->raw, in the host's byte order, to a->wide. */
static void decode(const kl_array *a, int64_t first, int64_t count)
{
    const unsigned char *raw = a->raw + first * a->size;
    double *out = a->wide;
    if (a->kind == 'f' && a->size == 4)
        DECODE(float, (double))
    else if (a->kind == 'f' && a->size == 8)
        DECODE(double, )
    else if (a->kind == 'f')
        DECODE(uint16_t, half_value)
    else if (a->kind == 'b')
        DECODE(uint8_t, 0 !=)
    else if (a->kind == 'i' && a->size == 1)
        DECODE(int8_t, )
    else if (a->kind == 'i' && a->size == 2)
        DECODE(int16_t, )
    else if (a->kind == 'i' && a->size == 4)
        DECODE(int32_t, )
    else if (a->kind == 'i')
        DECODE(int64_t, (double))
    else if (a->size == 1)
        DECODE(uint8_t, )
    else if (a->size == 2)
        DECODE(uint16_t, )
    else if (a->size == 4)
        DECODE(uint32_t, )
    else
        DECODE(uint64_t, (double))
}

/* The first count elements of a->raw, of a kind whose every value is a float32. */
static void decode_short(const kl_array *a, int64_t count, float *out)
{
    const unsigned char *raw = a->raw;
    if (a->kind == 'b')
        DECODE(uint8_t, 0 !=)
    else if (a->kind == 'i' && a->size == 1)
        DECODE(int8_t, )
    else if (a->kind == 'i')
        DECODE(int16_t, )
    else if (a->size == 1)
        DECODE(uint8_t, )
    else
        DECODE(uint16_t, )
}

/* Answers the first that is not finite, -1: none. */
static int64_t decode_floats(const kl_array *a, int64_t count, float *out)
{
    uint32_t seen = 0;
    memcpy(out, a->raw, (size_t)count * sizeof *out);
    for (int64_t i = 0; i < count; i++) { /* the bits of |x| carry into the sign from the exponent of infinity on: no branch */
        uint32_t bits;
        memcpy(&bits, out + i, sizeof bits);
        seen |= (bits & 0x7fffffff) + 0x00800000;
    }
    for (int64_t i = 0; seen >> 31 != 0 && i < count; i++)
        if (!isfinite(out[i]))
            return i;
    return -1;
}

/* a->wide to floats; answers the first that is none, -1: all are, and only then out is filled. */
static int64_t narrow(const kl_array *a, int64_t count, float *out)
{
    int64_t good = 0;
    for (int64_t i = 0; i < count; i++)
        good += fabs(a->wide[i]) < KL_ARRAY_LIMIT;
    for (int64_t i = 0; good < count && i < count; i++)
        if (!(fabs(a->wide[i]) < KL_ARRAY_LIMIT))
            return i;
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)a->wide[i];
    return -1;
}

int64_t kl_array_block(const kl_array *array)
{
    return BLOCK / array->size;
}

/* Elements of a->raw in the host's byte order. */
static klift_status fetch_elements(kl_array *a, int64_t count)
{
    KL_TRY(kl_array_fetch(a, a->raw, count * a->size));
    if (a->swap && a->size > 1)
        swap_bytes(a->raw, count, a->size);
    return KLIFT_OK;
}

klift_status kl_array_floats(kl_array *a, int64_t count, float *out, int64_t *bad, double *bad_value)
{
    *bad = -1;
    KL_TRY(fetch_elements(a, count));
    if (a->kind != 'f' && a->size <= 2)
        decode_short(a, count, out);
    else if (a->kind == 'f' && a->size == 4) {
        *bad = decode_floats(a, count, out);
        *bad_value = *bad >= 0 ? (double)out[*bad] : 0;
    } else
        for (int64_t done = 0, part, first; done < count && *bad < 0; done += part) {
            part = count - done < CHUNK ? count - done : CHUNK;
            decode(a, done, part);
            first = narrow(a, part, out + done);
            *bad = first >= 0 ? done + first : -1;
            *bad_value = first >= 0 ? a->wide[first] : 0;
        }
    return KLIFT_OK;
}

static klift_status read_columns(kl_array *a, int64_t rows, kl_array_put put, void *to)
{
    for (int64_t j = 0; j < a->columns; j++)
        for (int64_t done = 0, part, got; done < rows; done += part) {
            part = rows - done < CHUNK ? rows - done : CHUNK;
            int64_t offset = a->data_at + (j * a->rows + a->row + done) * a->size;
            KL_TRY(kl_stream_read_at(a->stream, offset, a->raw, part * a->size, &got));
            if (got < part * a->size)
                return kl_fail(KLIFT_DATA, "%s: the file became shorter while it was read; start again when nothing writes to it", kl_stream_name(a->stream));
            if (a->swap && a->size > 1)
                swap_bytes(a->raw, part, a->size);
            decode(a, 0, part);
            KL_TRY(put(to, done * a->columns + j, a->columns, a->wide, part));
        }
    return KLIFT_OK;
}

klift_status kl_array_rows(kl_array *a, int64_t rows, kl_array_put put, void *to)
{
    int64_t count = rows * a->columns; /* no overflow: the product with all rows was checked */
    if (a->fortran)
        KL_TRY(read_columns(a, rows, put, to));
    for (int64_t done = 0, part; done < count && !a->fortran; done += part) {
        part = count - done < CHUNK ? count - done : CHUNK;
        KL_TRY(fetch_elements(a, part));
        decode(a, 0, part);
        KL_TRY(put(to, done, 1, a->wide, part));
    }
    a->row += rows;
    return KLIFT_OK;
}

klift_status kl_array_text(kl_array *array)
{
    return kl_array_fetch(array, array->raw, array->size);
}

klift_status kl_array_finish(kl_array *array, bool *more)
{
    if (!kl_stream_can_seek(array->stream))
        return kl_stream_finish(array->stream, more);
    *more = kl_stream_size(array->stream) > array->total;
    return KLIFT_OK;
}

klift_status kl_array_rewind(kl_array *array)
{
    unsigned char header[LONGEST_HEADER];
    array->at = array->row = 0;
    return kl_array_fetch(array, header, array->data_at);
}

klift_status kl_array_refuse(const kl_array *array, int64_t index, const char *what)
{
    return kl_fail(KLIFT_DATA, "%s: row %lld, column %lld: %s", kl_stream_name(array->stream), (long long)(array->row + index / array->columns) + 1,
                   (long long)(index % array->columns) + 1, what);
}

void kl_array_clear(kl_array *array)
{
    kl_free(array->raw);
    kl_free(array->wide);
    *array = (kl_array){0};
}
