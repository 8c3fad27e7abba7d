/*
 * npy.c - NumPy's .npy arrays: X (n, d) or (n,), and the labels y of labels=FILE, read in step with it.
 *
 * A file is magic(6) major minor header-length(2 or 4) header elements (numpy.lib.format 1.0 to 3.0). The header is a
 * Python literal; only the dict that NumPy writes is understood, read by hand: descr, fortran_order and shape in any
 * order and nothing else. Nothing is believed before it is compared with the size of the file, and buffers grow with
 * the bytes that really came, so a header that lies about a pipe costs no memory.
 */
#include "data/reader.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { MAGIC = 6, LONGEST_HEADER = 10000, CHUNK = 8192, LONGEST_TEXT = 1 << 20, MOST_DIMS = 8 };

#define FLOAT_LIMIT 0x1.ffffffp127 /* the smallest double that rounds to infinity as a float */
#define EXACT_WHOLE 0x1p53

typedef struct array {
    kl_stream *stream;
    char kind;     /* of descr: f i u b, S U */
    int64_t size;  /* bytes of an element */
    bool swap, fortran;
    int dims;
    int64_t shape[MOST_DIMS];
    int64_t rows, columns;
    int64_t data_at, at, total; /* bytes: of the header, consumed, promised */
} array;

typedef struct state {
    array x, y;          /* y.stream is NULL without labels */
    int64_t row;
    unsigned char *raw;
    double *wide;        /* (CHUNK) */
    float *dense;
    double *target;
    const char **label;  /* into names */
    char *text;          /* one label as UTF-8 */
    int64_t raw_room, dense_room, target_room, label_room, text_room;
    kl_names names;
} state;

/* ---- header ---- */

typedef struct parser {
    const char *at, *end, *name;
} parser;

static klift_status malformed(const parser *p, const char *what)
{
    return kl_fail(KLIFT_DATA, "%s: the NPY header is malformed: %s; save the array again with numpy.save", p->name, what);
}

/* Skips blanks and takes the next byte when it is c. */
static bool take(parser *p, char c)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n'))
        p->at++;
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_word(parser *p, const char *word)
{
    size_t length = strlen(word);
    if (!take(p, word[0]))
        return false;
    if ((size_t)(p->end - p->at) < length - 1 || memcmp(p->at, word + 1, length - 1) != 0)
        return false;
    p->at += length - 1;
    return true;
}

/* 'text' or "text", shorter than room; an empty result means there was none. */
static void take_text(parser *p, char *out, size_t room)
{
    out[0] = '\0';
    char quote = take(p, '\'') ? '\'' : take(p, '"') ? '"' : '\0';
    const char *first = p->at, *end = quote != '\0' ? memchr(first, quote, (size_t)(p->end - first)) : NULL;
    if (end == NULL || (size_t)(end - first) >= room)
        return;
    memcpy(out, first, (size_t)(end - first));
    out[end - first] = '\0';
    p->at = end + 1;
}

static bool take_whole(parser *p, int64_t *value)
{
    const char *first = p->at;
    *value = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (kl_multiply(*value, 10, value) || __builtin_add_overflow(*value, *p->at - '0', value))
            return false;
    return p->at > first;
}

static klift_status read_descr(parser *p, array *a)
{
    static const uint16_t order_probe = 1;
    bool little_host = *(const unsigned char *)&order_probe == 1;
    char descr[32], order = '=';
    if (take(p, '['))
        return kl_fail(KLIFT_DATA, "%s: structured arrays are not supported; save plain columns as one 2-D array", p->name);
    take_text(p, descr, sizeof descr);
    parser d = {descr, descr + strlen(descr), p->name};
    if (descr[0] == '\0')
        return malformed(p, "descr is not a type");
    if (strchr("<>|=", *d.at) != NULL)
        order = *d.at++;
    a->kind = *d.at;
    if (d.at < d.end)
        d.at++;
    if (a->kind == 'O')
        return kl_fail(KLIFT_DATA, "%s: object arrays are not read, as that would run code; save X.astype(numpy.float32), or labels with astype(str)", p->name);
    bool known = take_whole(&d, &a->size) && d.at == d.end;
    bool text = a->kind == 'S' || a->kind == 'U';
    if (a->kind == 'f')
        known = known && (a->size == 2 || a->size == 4 || a->size == 8);
    else if (a->kind == 'i' || a->kind == 'u')
        known = known && (a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8);
    else
        known = known && ((a->kind == 'b' && a->size == 1) || text);
    if (!known)
        return kl_fail(KLIFT_DATA, "%s: elements of type '%s' are not supported; save X.astype(numpy.float32)", p->name, descr);
    a->swap = order != '=' && order != '|' && (order == '<') != little_host;
    if (text && a->size > LONGEST_TEXT / 4)
        return kl_fail(KLIFT_DATA, "%s: labels of %lld characters are too long", p->name, (long long)a->size);
    a->size *= a->kind == 'U' ? 4 : 1;
    return KLIFT_OK;
}

static klift_status read_shape(parser *p, array *a)
{
    if (!take(p, '('))
        return malformed(p, "shape is not a tuple");
    for (a->dims = 0; !take(p, ')'); a->dims++) {
        if (a->dims > 0 && !take(p, ','))
            return malformed(p, "shape lacks a comma");
        if (a->dims > 0 && take(p, ')'))
            break;
        if (take(p, '-'))
            return kl_fail(KLIFT_DATA, "%s: the shape in the header is negative", p->name);
        if (a->dims == MOST_DIMS)
            return kl_fail(KLIFT_DATA, "%s: the array has more than %d dimensions; reshape it to (rows, columns)", p->name, MOST_DIMS);
        if (!take_whole(p, &a->shape[a->dims]))
            return malformed(p, "shape holds something other than whole numbers below 2^63");
    }
    return KLIFT_OK;
}

static klift_status read_dict(parser *p, array *a)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned seen = 0;
    if (!take(p, '{'))
        return malformed(p, "no dict");
    while (!take(p, '}')) {
        char key[16];
        unsigned k = 0;
        take_text(p, key, sizeof key);
        while (k < 3 && strcmp(keys[k], key) != 0)
            k++;
        if (k == 3 || (seen & 1u << k) != 0 || !take(p, ':'))
            return malformed(p, k == 3 ? "a key is not descr, fortran_order or shape" : "a key is there twice or has no value");
        seen |= 1u << k;
        if (k == 0)
            KL_TRY(read_descr(p, a));
        else if (k == 2)
            KL_TRY(read_shape(p, a));
        else if (!(a->fortran = take_word(p, "True")) && !take_word(p, "False"))
            return malformed(p, "fortran_order is neither True nor False");
        if (!take(p, ',') && (p->at == p->end || *p->at != '}'))
            return malformed(p, "an item does not end");
    }
    take(p, '\n'); /* skips the padding */
    if (seen != 7 || p->at != p->end)
        return malformed(p, seen != 7 ? "descr, fortran_order or shape is missing" : "there is more behind the dict");
    return KLIFT_OK;
}

/* rows, columns and the number of bytes, against the size of the file when it is known. */
static klift_status check_shape(array *a)
{
    const char *name = kl_stream_name(a->stream);
    if (a->dims < 1 || a->dims > 2)
        return kl_fail(KLIFT_DATA, "%s: the array has %d dimensions; reshape it to (rows, columns)", name, a->dims);
    a->rows = a->shape[0];
    a->columns = a->dims == 2 ? a->shape[1] : 1;
    if (a->fortran && a->rows > 1 && a->columns > 1)
        return kl_fail(KLIFT_DATA, "%s: the array is in Fortran order; save numpy.ascontiguousarray(X)", name);
    if (a->columns > INT32_MAX || (a->columns == 0 && a->rows > 0))
        return kl_fail(KLIFT_DATA, "%s: the array has %lld columns; there must be 1 to %d", name, (long long)a->columns, INT32_MAX);
    int64_t count, bytes, size = kl_stream_size(a->stream);
    if (kl_multiply(a->rows, a->columns, &count) || kl_multiply(count, a->size, &bytes) || __builtin_add_overflow(bytes, a->data_at, &a->total))
        return kl_fail(KLIFT_DATA, "%s: a shape of (%lld, %lld) is more than any file holds", name, (long long)a->rows, (long long)a->columns);
    if (size >= 0 && size < a->total)
        return kl_fail(KLIFT_DATA, "%s: the file is truncated: its header promises %lld bytes, it has %lld", name, (long long)a->total, (long long)size);
    return KLIFT_OK;
}

/* ---- elements ---- */

/* Exactly count bytes. */
static klift_status fetch(array *a, void *bytes, int64_t count)
{
    int64_t got;
    KL_TRY(kl_stream_read(a->stream, bytes, count, &got));
    a->at += got;
    if (got < count)
        return kl_fail(KLIFT_DATA, "%s: the file is truncated: %lld bytes were promised, it ends after %lld", kl_stream_name(a->stream),
                       (long long)(a->total > 0 ? a->total : a->at - got + count), (long long)a->at);
    return KLIFT_OK;
}

static klift_status read_header(array *a)
{
    unsigned char head[MAGIC + 6] = {0};
    char text[LONGEST_HEADER];
    const char *name = kl_stream_name(a->stream);
    klift_status status = fetch(a, head, MAGIC + 2);
    if (status != KLIFT_OK && status != KLIFT_DATA)
        return status;
    if (memcmp(head, "\x93NUMPY", MAGIC) != 0)
        return kl_fail(KLIFT_DATA, "%s: is not an NPY file; save the array with numpy.save", name);
    int major = head[MAGIC], minor = head[MAGIC + 1], width = major == 1 ? 2 : 4;
    if (status == KLIFT_OK && (major < 1 || major > 3 || minor != 0))
        return kl_fail(KLIFT_DATA, "%s: NPY version %d.%d is unknown; this reads 1.0, 2.0 and 3.0", name, major, minor);
    KL_TRY(status);
    KL_TRY(fetch(a, head + MAGIC + 2, width));
    int64_t length = 0;
    for (int i = 0; i < width; i++)
        length |= (int64_t)head[MAGIC + 2 + i] << (8 * i);
    if (length > LONGEST_HEADER)
        return kl_fail(KLIFT_DATA, "%s: the NPY header is %lld bytes long; more than %d is not believed", name, (long long)length, LONGEST_HEADER);
    KL_TRY(fetch(a, text, length));
    a->data_at = a->at;
    parser p = {text, text + length, name};
    KL_TRY(read_dict(&p, a));
    return check_shape(a);
}

/* Back behind the header of a stream that is at its start. */
static klift_status skip_header(array *a)
{
    char text[LONGEST_HEADER + MAGIC + 6];
    a->at = 0;
    return fetch(a, text, a->data_at);
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

/* count elements at raw, in the host's byte order. */
static void decode(const array *a, const unsigned char *raw, int64_t count, double *out)
{
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

/* The next count <= CHUNK elements as doubles. */
static klift_status read_chunk(state *s, array *a, int64_t count, double *out)
{
    KL_TRY(fetch(a, s->raw, count * a->size));
    if (a->swap)
        swap_bytes(s->raw, count, a->size);
    decode(a, s->raw, count, out);
    return KLIFT_OK;
}

static klift_status refuse_element(const state *s, const array *a, int64_t index, const char *what)
{
    return kl_fail(KLIFT_DATA, "%s: row %lld, column %lld: %s", kl_stream_name(a->stream), (long long)(s->row + index / a->columns) + 1,
                   (long long)(index % a->columns) + 1, what);
}

/* ---- rows ---- */

static klift_status read_features(state *s, int64_t count)
{
    for (int64_t done = 0, part; done < count; done += part) {
        part = count - done < CHUNK ? count - done : CHUNK;
        KL_TRY(kl_grow(&s->dense, &s->dense_room, done, done + part, sizeof *s->dense, "rows"));
        KL_TRY(read_chunk(s, &s->x, part, s->wide));
        for (int64_t i = 0; i < part; i++) {
            if (!(fabs(s->wide[i]) < FLOAT_LIMIT))
                return refuse_element(s, &s->x, done + i, isfinite(s->wide[i]) ? "the value is out of range of float32; scale the data"
                                                                               : "the value is not finite (NaN or infinity); clean the data first");
            s->dense[done + i] = (float)s->wide[i];
        }
    }
    return KLIFT_OK;
}

static klift_status read_targets(state *s, int64_t count)
{
    bool wide_whole = s->y.kind != 'f' && s->y.size == 8;
    for (int64_t done = 0, part; done < count; done += part) {
        part = count - done < CHUNK ? count - done : CHUNK;
        KL_TRY(kl_grow(&s->target, &s->target_room, done, done + part, sizeof *s->target, "labels"));
        KL_TRY(read_chunk(s, &s->y, part, s->target + done));
        for (int64_t i = done; i < done + part; i++) {
            if (!isfinite(s->target[i]))
                return refuse_element(s, &s->y, i, "the label is not finite; clean the data first");
            if (wide_whole && fabs(s->target[i]) >= EXACT_WHOLE)
                return refuse_element(s, &s->y, i, "the label is 2^53 or more and cannot be held exactly; save the labels as text: y.astype(str)");
        }
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

/* The label in s->raw as text, without its trailing NULs. */
static klift_status read_text(state *s, int64_t row)
{
    const array *y = &s->y;
    int64_t unit = y->kind == 'U' ? 4 : 1, length = 0, last = y->size;
    while (last > 0 && s->raw[last - 1] == 0)
        last--;
    for (int64_t i = 0; i < last; i += unit) {
        uint32_t code = s->raw[i];
        int bytes = 1;
        s->text[length] = (char)code; /* S: bytes as they are */
        if (unit == 4) {
            memcpy(&code, s->raw + i, sizeof code);
            code = y->swap ? __builtin_bswap32(code) : code;
            bytes = put_character(code, s->text + length);
        }
        if (code == 0 || bytes == 0)
            return refuse_element(s, y, row, code == 0 ? "the label holds a NUL" : "the label is not Unicode text");
        length += bytes;
    }
    s->text[length] = '\0';
    return length > 0 ? KLIFT_OK : refuse_element(s, y, row, "the label is empty");
}

static klift_status read_labels(state *s, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t index;
        KL_TRY(kl_grow(&s->label, &s->label_room, i, i + 1, sizeof *s->label, "labels"));
        KL_TRY(fetch(&s->y, s->raw, s->y.size));
        KL_TRY(read_text(s, i));
        KL_TRY(kl_names_add(&s->names, s->text, &index));
        s->label[i] = s->names.name[index];
    }
    return KLIFT_OK;
}

/* ---- interface ---- */

static bool detect(const unsigned char *head, int64_t count)
{
    return count >= MAGIC && memcmp(head, "\x93NUMPY", MAGIC) == 0;
}

static bool is_text(const array *a)
{
    return a->kind == 'S' || a->kind == 'U';
}

static klift_status open_labels(kl_reader *reader, state *s)
{
    const char *name = reader->labels;
    if (strcmp(name, "-") == 0 && strcmp(reader->path, "-") == 0)
        return kl_fail(KLIFT_USAGE, "rows and labels cannot both come from standard input");
    KL_TRY(kl_stream_open(name, &s->y.stream));
    KL_TRY(read_header(&s->y));
    if (s->y.rows != s->x.rows)
        return kl_fail(KLIFT_DATA, "%s has %lld rows, but %s has %lld labels", kl_stream_name(s->x.stream), (long long)s->x.rows, name, (long long)s->y.rows);
    if (is_text(&s->y) && s->y.dims != 1)
        return kl_fail(KLIFT_DATA, "%s: text labels must be a 1-D array", name);
    return KLIFT_OK;
}

static klift_status open_arrays(kl_reader *reader)
{
    state *s = reader->state;
    s->x.stream = reader->stream;
    KL_TRY(read_header(&s->x));
    if (is_text(&s->x))
        return kl_fail(KLIFT_DATA, "%s: the array holds text, not numbers; encode it first, or give it as labels=FILE", kl_stream_name(reader->stream));
    if (reader->dim > 0 && reader->dim != s->x.columns)
        return kl_fail(KLIFT_DATA, "%s: the array has %lld columns, but dim=%lld was given", kl_stream_name(reader->stream), (long long)s->x.columns,
                       (long long)reader->dim);
    if (reader->labels != NULL && !reader->no_label)
        KL_TRY(open_labels(reader, s));
    int64_t item = s->y.size > CHUNK * 8 ? s->y.size : CHUNK * 8;
    KL_TRY(kl_grow(&s->raw, &s->raw_room, 0, item, 1, "a block of an array"));
    KL_TRY(kl_grow(&s->text, &s->text_room, 0, s->y.size + 4, 1, "a label"));
    return kl_new(&s->wide, CHUNK, sizeof *s->wide, "a block of an array");
}

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    state *s = reader->state;
    int64_t left = s->x.rows - s->row, rows = at_most < left ? at_most : left;
    KL_TRY(read_features(s, rows * s->x.columns)); /* no overflow: the product with all rows was checked */
    *batch = (kl_batch){.size = sizeof *batch, .rows = rows, .columns = s->x.columns, .dense = s->dense, .stride = s->x.columns};
    if (s->y.stream != NULL && is_text(&s->y)) {
        KL_TRY(read_labels(s, rows));
        batch->label = s->label;
    } else if (s->y.stream != NULL) {
        KL_TRY(read_targets(s, rows * s->y.columns));
        batch->target = s->target;
        batch->targets = s->y.columns;
    }
    s->row += rows;
    return KLIFT_OK;
}

static klift_status rewind_arrays(kl_reader *reader)
{
    state *s = reader->state;
    s->row = 0;
    KL_TRY(skip_header(&s->x));
    if (s->y.stream == NULL)
        return KLIFT_OK;
    KL_TRY(kl_stream_rewind(s->y.stream));
    return skip_header(&s->y);
}

static void close_arrays(kl_reader *reader)
{
    state *s = reader->state;
    kl_stream_close(s->y.stream);
    kl_free(s->raw);
    kl_free(s->wide);
    kl_free(s->dense);
    kl_free(s->target);
    kl_free(s->label);
    kl_free(s->text);
    kl_names_clear(&s->names);
}

const kl_reader_type kl_reader_npy = {
    .name = "npy",
    .summary = "NumPy array X, labels in labels=FILE",
    .listed = true,
    .state_size = sizeof(state),
    .detect = detect,
    .open = open_arrays,
    .next = next,
    .rewind = rewind_arrays,
    .close = close_arrays,
    .reads_stream = true,
};
