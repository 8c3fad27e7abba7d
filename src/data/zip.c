/*
 * zip.c - the central directory of a zip archive (PKWARE APPNOTE 6.3) and its members as streams. Only the directory is
 * believed, and only as far as the file goes: every offset and size is compared with what is there before it is used.
 */
#include "data/zip.h"

#include "base/memory.h"
#include "data/inflate.h"

#include <stdio.h>
#include <string.h>

enum { END_SIZE = 22, LOCATOR_SIZE = 20, END64_SIZE = 56, ENTRY_SIZE = 46, LOCAL_SIZE = 30, LONGEST_COMMENT = 65535, LARGEST_DIRECTORY = 1 << 26 };
enum { STORED = 0, DEFLATED = 8 };

static uint64_t whole(const unsigned char *b, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)b[i] << (8 * i);
    return value;
}

/* 64 bits of which a file can have 63: more becomes -1, which every check refuses. */
static int64_t whole64(const unsigned char *b)
{
    uint64_t value = whole(b, 8);
    return value <= INT64_MAX ? (int64_t)value : -1;
}

static klift_status damaged(const kl_zip *zip, const char *what)
{
    return kl_fail(KLIFT_DATA, "%s: the zip archive is damaged or truncated: %s; copy or make it again", kl_stream_name(zip->stream), what);
}

bool kl_is_zip(const unsigned char *head, int64_t count)
{
    return count >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

/* Exactly count bytes at offset. */
static klift_status fetch(const kl_zip *zip, int64_t offset, void *bytes, int64_t count, const char *what)
{
    int64_t got, size = kl_stream_size(zip->stream);
    if (offset < 0 || count < 0 || offset > size || count > size - offset)
        return damaged(zip, what);
    KL_TRY(kl_stream_read_at(zip->stream, offset, bytes, count, &got));
    return got == count ? KLIFT_OK : damaged(zip, what);
}

/* ---- members ---- */

#ifdef KL_HAS_ZLIB
typedef struct state {
    kl_inflate inflate;
    const kl_zip_member *member;
    int64_t made;
    uLong crc;
} state;

static klift_status begin(void *memory, const void *setup)
{
    state *s = memory;
    s->member = setup;
    s->made = 0;
    s->crc = crc32(0, NULL, 0);
    return s->member->method == DEFLATED ? kl_inflate_begin(&s->inflate, KL_INFLATE_RAW) : KLIFT_OK;
}

static kl_step copy(kl_piece *piece)
{
    int64_t count = piece->in_left < piece->out_left ? piece->in_left : piece->out_left;
    memcpy(piece->out, piece->in, (size_t)count);
    piece->in += count;
    piece->out += count;
    piece->in_left -= count;
    piece->out_left -= count;
    return KL_STEP_MORE;
}

static kl_step step(void *memory, kl_piece *piece)
{
    enum { LARGEST = 1 << 30 };
    state *s = memory;
    const unsigned char *first = piece->out;
    int64_t size = s->member->size, kept = piece->out_left > LARGEST ? piece->out_left - LARGEST : 0; /* crc32 counts in 32 bits */
    piece->out_left -= kept;
    kl_step made = s->member->method == DEFLATED ? kl_inflate_step(&s->inflate, piece) : copy(piece);
    piece->out_left += kept;
    s->made += piece->out - first;
    s->crc = crc32(s->crc, first, (uInt)(piece->out - first));
    if (s->member->method == STORED && s->made == size)
        made = KL_STEP_END;
    if (s->made > size || (made == KL_STEP_END && s->made != size))
        piece->why = "it does not unpack to the size that the directory has";
    else if (made == KL_STEP_END && s->crc != s->member->crc)
        piece->why = "wrong CRC-32";
    else
        return made;
    return KL_STEP_DAMAGED;
}

static void end(void *memory)
{
    kl_inflate_end(&((state *)memory)->inflate);
}

static const kl_codec codec = {"zip", "zlib1g-dev", "unzip", sizeof(state), false, false, NULL, begin, step, end};
#else
static const kl_codec codec = {"zip", "zlib1g-dev", "unzip", 0, false, false, NULL, NULL, NULL, NULL};
#endif

klift_status kl_zip_stream(const kl_zip *zip, int64_t index, kl_stream **stream)
{
    const kl_zip_member *m = &zip->member[index];
    unsigned char local[LOCAL_SIZE];
    char name[512];
    *stream = NULL;
    snprintf(name, sizeof name, "%s: %s", kl_stream_name(zip->stream), m->name);
    if (m->encrypted)
        return kl_fail(KLIFT_DATA, "%s: is encrypted; save it without a password", name);
    if (m->method != STORED && m->method != DEFLATED)
        return kl_fail(KLIFT_DATA, "%s: is compressed by zip's method %d; this reads stored and deflated members, as numpy.savez_compressed makes them", name, m->method);
    KL_TRY(fetch(zip, m->header_at, local, LOCAL_SIZE, "a member is not where the directory says"));
    if (memcmp(local, "PK\3\4", 4) != 0 || (int)whole(local + 8, 2) != m->method)
        return damaged(zip, "a member is not where the directory says");
    int64_t data_at = m->header_at + LOCAL_SIZE + (int64_t)whole(local + 26, 2) + (int64_t)whole(local + 28, 2);
    if (m->size < 0 || m->packed < 0 || data_at > zip->directory_at || m->packed > zip->directory_at - data_at)
        return damaged(zip, "a member is longer than the file");
    kl_part part = {.name = name, .offset = data_at, .count = m->packed, .size = m->size, .codec = &codec, .setup = m};
    return kl_stream_open_part(zip->stream, &part, stream);
}

/* ---- directory ---- */

/* Sizes and place that did not fit 32 bits, in the order in which they are missing. */
static klift_status read_extra(const kl_zip *zip, kl_zip_member *m, const unsigned char *extra, int64_t length)
{
    int64_t *missing[3] = {&m->size, &m->packed, &m->header_at};
    for (int64_t at = 0; at + 4 <= length;) {
        int64_t id = (int64_t)whole(extra + at, 2), count = (int64_t)whole(extra + at + 2, 2), used = 0;
        at += 4;
        if (count > length - at)
            break;
        for (int i = 0; id == 1 && i < 3; i++)
            if (*missing[i] == UINT32_MAX && used + 8 <= count) {
                *missing[i] = whole64(extra + at + used);
                used += 8;
            }
        if (id == 1)
            return KLIFT_OK;
        at += count;
    }
    bool lacks = m->size == UINT32_MAX || m->packed == UINT32_MAX || m->header_at == UINT32_MAX;
    return lacks ? damaged(zip, "a 64-bit size is missing") : KLIFT_OK;
}

static klift_status read_entry(kl_zip *zip, const unsigned char *at, const unsigned char *end, int64_t *length)
{
    if (end - at < ENTRY_SIZE || memcmp(at, "PK\1\2", 4) != 0)
        return damaged(zip, "its directory is not what it should be");
    int64_t name = (int64_t)whole(at + 28, 2), extra = (int64_t)whole(at + 30, 2);
    *length = ENTRY_SIZE + name + extra + (int64_t)whole(at + 32, 2);
    if (*length > end - at)
        return damaged(zip, "its directory is not what it should be");
    KL_TRY(kl_grow(&zip->member, &zip->room, zip->count, zip->count + 1, sizeof *zip->member, "a zip directory"));
    kl_zip_member *m = &zip->member[zip->count];
    KL_TRY(kl_new(&m->name, name + 1, 1, "a name"));
    for (int64_t i = 0; i < name; i++) /* names are shown in messages: no control bytes */
        m->name[i] = at[ENTRY_SIZE + i] < 0x20 || at[ENTRY_SIZE + i] == 0x7f ? '?' : (char)at[ENTRY_SIZE + i];
    zip->count++;
    m->encrypted = (whole(at + 8, 2) & 1) != 0;
    m->method = (int)whole(at + 10, 2);
    m->crc = (uint32_t)whole(at + 16, 4);
    m->packed = (int64_t)whole(at + 20, 4);
    m->size = (int64_t)whole(at + 24, 4);
    m->header_at = (int64_t)whole(at + 42, 4);
    return read_extra(zip, m, at + ENTRY_SIZE + name, extra);
}

/* Where the archive ends: the last end record whose comment goes to the end of the file. *at: its place. */
static klift_status find_end(const kl_zip *zip, unsigned char record[END_SIZE], int64_t *at)
{
    int64_t size = kl_stream_size(zip->stream), tail = size < END_SIZE + LONGEST_COMMENT ? size : END_SIZE + LONGEST_COMMENT;
    unsigned char *bytes = NULL;
    klift_status status;
    KL_GO(kl_new(&bytes, tail, 1, "the end of a zip archive"));
    KL_GO(fetch(zip, size - tail, bytes, tail, "it became shorter"));
    status = KLIFT_DATA;
    for (int64_t i = tail - END_SIZE; i >= 0 && status != KLIFT_OK; i--)
        if (memcmp(bytes + i, "PK\5\6", 4) == 0 && i + END_SIZE + (int64_t)whole(bytes + i + 20, 2) == tail) {
            memcpy(record, bytes + i, END_SIZE);
            *at = size - tail + i;
            status = KLIFT_OK;
        }
    if (status != KLIFT_OK)
        status = damaged(zip, "its directory is missing");
done:
    kl_free(bytes);
    return status;
}

typedef struct directory {
    int64_t entries, size, at;
} directory;

static klift_status find_directory(kl_zip *zip, directory *d)
{
    unsigned char end[END_SIZE], locator[LOCATOR_SIZE], end64[END64_SIZE];
    int64_t at = 0;
    KL_TRY(find_end(zip, end, &at));
    *d = (directory){(int64_t)whole(end + 10, 2), (int64_t)whole(end + 12, 4), (int64_t)whole(end + 16, 4)};
    if (d->entries == UINT16_MAX || d->size == UINT32_MAX || d->at == UINT32_MAX) {
        KL_TRY(fetch(zip, at - LOCATOR_SIZE, locator, LOCATOR_SIZE, "its 64-bit directory is missing"));
        if (memcmp(locator, "PK\6\7", 4) != 0)
            return damaged(zip, "its 64-bit directory is missing");
        at = whole64(locator + 8);
        KL_TRY(fetch(zip, at, end64, END64_SIZE, "its 64-bit directory is missing"));
        if (memcmp(end64, "PK\6\6", 4) != 0)
            return damaged(zip, "its 64-bit directory is missing");
        *d = (directory){whole64(end64 + 32), whole64(end64 + 40), whole64(end64 + 48)};
    }
    if (d->entries < 0 || d->size < 0 || d->at < 0 || d->at > at || d->size > at - d->at)
        return damaged(zip, "its directory is beyond the file");
    if (d->size > LARGEST_DIRECTORY)
        return kl_fail(KLIFT_DATA, "%s: the directory of the zip archive has %lld bytes; more than 64 MiB is not believed: save the archive again",
                       kl_stream_name(zip->stream), (long long)d->size);
    zip->directory_at = d->at;
    return KLIFT_OK;
}

klift_status kl_zip_open(kl_zip *zip, const kl_stream *stream)
{
    directory d;
    unsigned char *bytes = NULL;
    klift_status status;
    zip->stream = stream;
    if (!kl_stream_can_seek(stream))
        return kl_fail(KLIFT_IO, "%s: the directory of a zip archive is at its end, so it must be a plain file, not a pipe or compressed again; save it to a file first",
                       kl_stream_name(stream));
    KL_TRY(find_directory(zip, &d));
    KL_GO(kl_new(&bytes, d.size + 1, 1, "a zip directory")); /* one over: an empty one is bytes too */
    KL_GO(fetch(zip, d.at, bytes, d.size, "its directory is beyond the file"));
    for (int64_t at = 0, length = 0; zip->count < d.entries; at += length)
        KL_GO(read_entry(zip, bytes + at, bytes + d.size, &length));
done:
    kl_free(bytes);
    return status;
}

void kl_zip_clear(kl_zip *zip)
{
    for (int64_t i = 0; i < zip->count; i++)
        kl_free(zip->member[i].name);
    kl_free(zip->member);
    *zip = (kl_zip){0};
}
