/*
 * npy_header.c - the header of an .npy file: magic(6) major minor header-length(2 or 4) header (numpy.lib.format 1.0 to
 * 3.0). It is a Python literal; only the dict that NumPy writes is understood, read by hand: descr, fortran_order and
 * shape in any order and nothing else.
 */
#include "data/array.h"

#include "base/memory.h"

#include <string.h>

enum { MAGIC = 6, LONGEST_HEADER = 10000, LONGEST_TEXT = 1 << 20 };

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

static klift_status read_descr(parser *p, kl_array *a)
{
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
    a->swap = order != '=' && order != '|' && (order == '<') != kl_host_is_little();
    if (text && a->size > LONGEST_TEXT / 4)
        return kl_fail(KLIFT_DATA, "%s: labels of %lld characters are too long; shorten them", p->name, (long long)a->size);
    a->size *= a->kind == 'U' ? 4 : 1;
    return KLIFT_OK;
}

static klift_status read_shape(parser *p, kl_array *a)
{
    if (!take(p, '('))
        return malformed(p, "shape is not a tuple");
    for (a->dims = 0; !take(p, ')'); a->dims++) {
        if (a->dims > 0 && !take(p, ','))
            return malformed(p, "shape lacks a comma");
        if (a->dims > 0 && take(p, ')'))
            break;
        if (take(p, '-'))
            return kl_fail(KLIFT_DATA, "%s: the shape in the header is negative; save the array again with numpy.save", p->name);
        if (a->dims == KL_ARRAY_DIMS)
            return kl_fail(KLIFT_DATA, "%s: the array has more than %d dimensions; reshape it to (rows, columns)", p->name, KL_ARRAY_DIMS);
        if (!take_whole(p, &a->shape[a->dims]))
            return malformed(p, "shape holds something other than whole numbers below 2^63");
    }
    return KLIFT_OK;
}

static klift_status read_dict(parser *p, kl_array *a)
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

/* Rows and columns of what the header says. */
static klift_status set_shape(kl_array *a)
{
    if (a->dims < 1 || a->dims > 2)
        return kl_fail(KLIFT_DATA, "%s: the array has %d dimensions; reshape it to (rows, columns)", kl_stream_name(a->stream), a->dims);
    a->rows = a->shape[0];
    a->columns = a->dims == 2 ? a->shape[1] : 1;
    return kl_array_check(a);
}

bool kl_is_npy(const unsigned char *head, int64_t count)
{
    return count >= MAGIC && memcmp(head, "\x93NUMPY", MAGIC) == 0;
}

klift_status kl_array_npy(kl_array *a)
{
    unsigned char head[MAGIC + 6] = {0};
    char text[LONGEST_HEADER];
    const char *name = kl_stream_name(a->stream);
    klift_status status = kl_array_fetch(a, head, MAGIC + 2);
    if (status != KLIFT_OK && status != KLIFT_DATA)
        return status;
    if (!kl_is_npy(head, MAGIC))
        return kl_fail(KLIFT_DATA, "%s: is not an NPY file; save the array with numpy.save", name);
    int major = head[MAGIC], minor = head[MAGIC + 1], width = major == 1 ? 2 : 4;
    if (status == KLIFT_OK && (major < 1 || major > 3 || minor != 0))
        return kl_fail(KLIFT_DATA, "%s: NPY version %d.%d is unknown; this reads 1.0, 2.0 and 3.0: save the array again with numpy.save", name, major, minor);
    KL_TRY(status);
    KL_TRY(kl_array_fetch(a, head + MAGIC + 2, width));
    int64_t length = 0;
    for (int i = 0; i < width; i++)
        length |= (int64_t)head[MAGIC + 2 + i] << (8 * i);
    if (length > LONGEST_HEADER)
        return kl_fail(KLIFT_DATA, "%s: the NPY header is %lld bytes long; more than %d is not believed: save the array again with numpy.save", name,
                       (long long)length, LONGEST_HEADER);
    KL_TRY(kl_array_fetch(a, text, length));
    a->data_at = a->at;
    parser p = {text, text + length, name};
    KL_TRY(read_dict(&p, a));
    return set_shape(a);
}
