/* record.c - writes and reads the sections that record.h describes; nothing read is trusted before it is checked. */
#include "base/record.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const unsigned char magic[8] = {0x89, 'K', 'L', 'I', 'F', 'T', '\r', '\n'};

enum { HEADER = 32, SECTION = 24, TRAILER = 8, LENGTH_AT = 24, BYTE_ORDER_MARK = 0x01020304 };

uint64_t kl_record_hash(const void *bytes, size_t count, uint64_t seed)
{
    return XXH64(bytes, count, seed);
}

static void store(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t fetch(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* Room for count more bytes; NULL after a failure, and where they are only counted. */
static unsigned char *extend(kl_record_writer *to, int64_t count)
{
    if (to->counts) {
        to->length += count;
        return NULL;
    }
    if (to->failed || kl_grow(&to->bytes, &to->room, to->length, to->length + count, 1, "a model file") != KLIFT_OK) {
        to->failed = true;
        return NULL;
    }
    to->length += count;
    return to->bytes + to->length - count;
}

static void put(kl_record_writer *to, uint64_t value, int bytes)
{
    unsigned char *at = extend(to, bytes);
    if (at != NULL)
        store(at, value, bytes);
}

void kl_record_begin(kl_record_writer *to, uint32_t kind)
{
    *to = (kl_record_writer){0};
    unsigned char *at = extend(to, sizeof magic);
    if (at != NULL)
        memcpy(at, magic, sizeof magic);
    put(to, KL_RECORD_VERSION, 4);
    put(to, KL_RECORD_VERSION, 4);
    put(to, BYTE_ORDER_MARK, 4);
    put(to, kind, 4);
    put(to, 0, 8);
}

void kl_record_begin_count(kl_record_writer *to)
{
    *to = (kl_record_writer){.length = HEADER, .counts = true};
}

void kl_record_reserve(kl_record_writer *to, int64_t count)
{
    if (!to->failed)
        to->failed = kl_grow(&to->bytes, &to->room, to->length, count, 1, "a checkpoint") != KLIFT_OK;
}

void kl_record_open(kl_record_writer *to, uint32_t tag, bool required)
{
    to->section = to->length;
    put(to, tag, 4);
    put(to, required, 4);
    put(to, 0, 8);
    put(to, 0, 8);
}

void kl_record_close(kl_record_writer *to)
{
    if (to->failed || to->counts)
        return;
    unsigned char *head = to->bytes + to->section;
    int64_t length = to->length - to->section - SECTION;
    store(head + 8, (uint64_t)length, 8);
    store(head + 16, XXH64(head + SECTION, (size_t)length, 0), 8);
}

klift_status kl_record_finish(kl_record_writer *to)
{
    if (to->counts) {
        to->length += TRAILER;
        return KLIFT_OK;
    }
    if (!to->failed)
        store(to->bytes + LENGTH_AT, (uint64_t)(to->length + TRAILER), 8);
    if (!to->failed)
        put(to, XXH64(to->bytes, (size_t)to->length, 0), 8);
    return to->failed ? kl_fail(KLIFT_MEMORY, "no memory for a model file of %lld bytes", (long long)to->length) : KLIFT_OK;
}

void kl_record_put_u32(kl_record_writer *to, uint32_t value)
{
    put(to, value, 4);
}

void kl_record_put_i64(kl_record_writer *to, int64_t value)
{
    put(to, (uint64_t)value, 8);
}

void kl_record_put_f64(kl_record_writer *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(to, bits, 8);
}

void kl_record_put_bytes(kl_record_writer *to, const void *bytes, int64_t count)
{
    put(to, (uint64_t)count, 8);
    unsigned char *at = extend(to, count);
    if (at != NULL && count > 0)
        memcpy(at, bytes, (size_t)count);
}

void kl_record_put_text(kl_record_writer *to, const char *text)
{
    kl_record_put_bytes(to, text, (int64_t)strlen(text));
}

void kl_record_put_floats(kl_record_writer *to, const float *values, int64_t count)
{
    put(to, (uint64_t)count, 8);
    unsigned char *at = extend(to, count * 4);
    for (int64_t i = 0; at != NULL && i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        store(at + 4 * i, bits, 4);
    }
}

void kl_record_put_doubles(kl_record_writer *to, const double *values, int64_t count)
{
    put(to, (uint64_t)count, 8);
    unsigned char *at = extend(to, count * 8);
    for (int64_t i = 0; at != NULL && i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        store(at + 8 * i, bits, 8);
    }
}

void kl_record_clear(kl_record_writer *to)
{
    kl_free(to->bytes);
    *to = (kl_record_writer){0};
}

klift_status kl_record_damaged(const char *what)
{
    return kl_fail(KLIFT_MODEL, "the file is damaged: %s; copy or train it again", what);
}

/* What else it might be, for people who gave the wrong file. */
static const char *guess(const unsigned char *bytes, int64_t count)
{
    static const struct {
        const char *start, *name;
        int length;
    } known[] = {{"\x80\x04", "a Python pickle", 2}, {"\x80\x03", "a Python pickle", 2}, {"\x80\x05", "a Python pickle", 2}, {"\x80\x02", "a Python pickle", 2},
                 {"svm_type", "a LIBSVM model", 8}, {"solver_type", "a LIBLINEAR model", 11}, {"\x93NUMPY", "a NumPy array", 6},
                 {"<", "an HTML or XML page", 1}, {"\x1f\x8b", "gzip data", 2}, {"PK\x03\x04", "a zip archive", 4},
                 {"\x28\xb5\x2f\xfd", "zstd data", 4}, {"\xfd" "7zXZ", "xz data", 5}, {"BZh", "bzip2 data", 3},
                 {"{", "JSON", 1}, {"\x08", "an ONNX model or other protobuf", 1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (count >= known[i].length && memcmp(bytes, known[i].start, (size_t)known[i].length) == 0)
            return known[i].name;
    return "something else";
}

static const char *kind_name(uint64_t kind)
{
    static const char *const name[] = {"something unknown", "a model", "statistics", "a checkpoint"};
    return name[kind < sizeof name / sizeof name[0] ? kind : 0];
}

klift_status kl_record_check(kl_record_reader *from, const void *bytes, int64_t count, uint32_t kind)
{
    const unsigned char *b = bytes;
    *from = (kl_record_reader){0};
    if (count < (int64_t)sizeof magic || memcmp(b, magic, sizeof magic) != 0)
        return kl_fail(KLIFT_MODEL, "not a klift file: it looks like %s; give a model that klift wrote", count == 0 ? "an empty file" : guess(b, count));
    if (count < HEADER + TRAILER)
        return kl_record_damaged("it is cut short");
    uint64_t version = fetch(b + 8, 4), oldest = fetch(b + 12, 4);
    if (oldest > KL_RECORD_VERSION)
        return kl_fail(KLIFT_MODEL, "written by format %llu, this klift reads formats up to %d: use a newer klift", (unsigned long long)version, KL_RECORD_VERSION);
    if (fetch(b + 16, 4) != BYTE_ORDER_MARK)
        return kl_record_damaged("its byte order mark is wrong");
    uint64_t length = fetch(b + LENGTH_AT, 8);
    if (length != (uint64_t)count)
        return kl_fail(KLIFT_MODEL, "the file is damaged: it should have %llu bytes and has %lld; copy or train it again", (unsigned long long)length, (long long)count);
    if (XXH64(b, (size_t)count - TRAILER, 0) != fetch(b + count - TRAILER, 8))
        return kl_record_damaged("its checksum is wrong");
    if (fetch(b + 20, 4) != kind)
        return kl_fail(KLIFT_MODEL, "this klift file holds %s, not %s", kind_name(fetch(b + 20, 4)), kind_name(kind));
    *from = (kl_record_reader){.bytes = b, .length = count - TRAILER, .next = HEADER};
    return KLIFT_OK;
}

klift_status kl_record_next(kl_record_reader *from, uint32_t *tag)
{
    *tag = 0;
    if (from->next == from->length)
        return KLIFT_OK;
    if (from->length - from->next < SECTION)
        return kl_record_damaged("a section header is cut short");
    const unsigned char *head = from->bytes + from->next;
    uint64_t length = fetch(head + 8, 8);
    if (length > (uint64_t)(from->length - from->next - SECTION))
        return kl_record_damaged("a section is longer than the file");
    if (XXH64(head + SECTION, (size_t)length, 0) != fetch(head + 16, 8))
        return kl_record_damaged("a section's checksum is wrong");
    *tag = (uint32_t)fetch(head, 4);
    if (*tag == 0)
        return kl_record_damaged("a section has no name");
    from->required = (fetch(head + 4, 4) & 1) != 0;
    from->at = from->next + SECTION;
    from->end = from->at + (int64_t)length;
    from->next = from->end;
    return KLIFT_OK;
}

klift_status kl_record_skip(const kl_record_reader *from, uint32_t tag)
{
    if (!from->required)
        return KLIFT_OK;
    char name[5] = {0};
    for (int i = 0; i < 4; i++) {
        int c = (int)(tag >> (8 * i)) & 255;
        name[i] = (char)(c >= 32 && c < 127 ? c : '?');
    }
    return kl_fail(KLIFT_MODEL, "the file needs a part '%s' that this klift does not know: use a newer klift", name);
}

klift_status kl_record_done(const kl_record_reader *from)
{
    return from->at == from->end ? KLIFT_OK : kl_record_damaged("a section has bytes too many");
}

static klift_status take(kl_record_reader *from, int64_t count, const unsigned char **at)
{
    if (count > from->end - from->at)
        return kl_record_damaged("a section is too short");
    *at = from->bytes + from->at;
    from->at += count;
    return KLIFT_OK;
}

klift_status kl_record_get_u32(kl_record_reader *from, uint32_t *value)
{
    const unsigned char *at = NULL;
    KL_TRY(take(from, 4, &at));
    *value = (uint32_t)fetch(at, 4);
    return KLIFT_OK;
}

klift_status kl_record_get_i64(kl_record_reader *from, int64_t low, int64_t high, int64_t *value)
{
    const unsigned char *at = NULL;
    KL_TRY(take(from, 8, &at));
    *value = (int64_t)fetch(at, 8);
    return *value < low || *value > high ? kl_record_damaged("a count is out of range") : KLIFT_OK;
}

static double as_double(const unsigned char *at)
{
    uint64_t bits = fetch(at, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

klift_status kl_record_get_f64(kl_record_reader *from, double *value)
{
    const unsigned char *at = NULL;
    KL_TRY(take(from, 8, &at));
    *value = as_double(at);
    return isfinite(*value) ? KLIFT_OK : kl_record_damaged("a number is not finite");
}

klift_status kl_record_get_bytes(kl_record_reader *from, const unsigned char **bytes, int64_t *count)
{
    KL_TRY(kl_record_get_i64(from, 0, from->end - from->at, count));
    return take(from, *count, bytes);
}

klift_status kl_record_get_text(kl_record_reader *from, char **text)
{
    const unsigned char *at = NULL;
    int64_t length;
    *text = NULL;
    KL_TRY(kl_record_get_bytes(from, &at, &length));
    if (memchr(at, 0, (size_t)length) != NULL)
        return kl_record_damaged("a text has a NUL byte");
    KL_TRY(kl_new(text, length + 1, 1, "a text of a model"));
    memcpy(*text, at, (size_t)length);
    return KLIFT_OK;
}

/* The count in the file must be the one the caller expects and fit what is left of the section. */
static klift_status take_array(kl_record_reader *from, int64_t count, int size, const unsigned char **at)
{
    int64_t stored;
    KL_TRY(kl_record_get_i64(from, 0, (from->end - from->at) / size, &stored));
    if (stored != count)
        return kl_record_damaged("an array has the wrong length");
    return take(from, count * size, at);
}

klift_status kl_record_get_floats(kl_record_reader *from, float **values, int64_t count)
{
    const unsigned char *at = NULL;
    *values = NULL;
    KL_TRY(take_array(from, count, 4, &at));
    KL_TRY(kl_new(values, count, sizeof **values, "an array of a model"));
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)fetch(at + 4 * i, 4);
        memcpy(&(*values)[i], &bits, sizeof bits);
        if (!isfinite((*values)[i]))
            return kl_record_damaged("a number is not finite");
    }
    return KLIFT_OK;
}

klift_status kl_record_get_doubles(kl_record_reader *from, double **values, int64_t count)
{
    const unsigned char *at = NULL;
    *values = NULL;
    KL_TRY(take_array(from, count, 8, &at));
    KL_TRY(kl_new(values, count, sizeof **values, "an array of a model"));
    for (int64_t i = 0; i < count; i++) {
        (*values)[i] = as_double(at + 8 * i);
        if (!isfinite((*values)[i]))
            return kl_record_damaged("a number is not finite");
    }
    return KLIFT_OK;
}
