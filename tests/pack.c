/* pack.c - one function per codec; a codec whose library is missing answers NULL. */
#include "pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pack_codecs[] = {"gzip", "xz", "zstd", "bzip2", NULL};

__attribute__((unused)) static unsigned char *room_for(size_t count, size_t *room)
{
    *room = count + count / 50 + 4096;
    unsigned char *out = malloc(*room);
    if (out == NULL)
        abort();
    return out;
}

#if !defined(KLIFT_WITHOUT_ZLIB) && __has_include(<zlib.h>)
#define ZLIB_CONST
#include <zlib.h>
static unsigned char *deflate_all(const void *bytes, size_t count, int form, size_t *packed)
{
    size_t room;
    unsigned char *out = room_for(count, &room);
    z_stream z = {.next_in = bytes, .avail_in = (uInt)count, .next_out = out, .avail_out = (uInt)room};
    if (deflateInit2(&z, 6, Z_DEFLATED, form, 8, Z_DEFAULT_STRATEGY) != Z_OK || deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    *packed = room - z.avail_out;
    deflateEnd(&z);
    return out;
}
#else
static unsigned char *deflate_all(const void *bytes, size_t count, int form, size_t *packed)
{
    (void)bytes, (void)count, (void)form, (void)packed;
    return NULL;
}
#endif

#if !defined(KLIFT_WITHOUT_LZMA) && __has_include(<lzma.h>)
#include <lzma.h>
static unsigned char *xz(const void *bytes, size_t count, size_t *packed)
{
    size_t room;
    unsigned char *out = room_for(count, &room);
    *packed = 0;
    if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, bytes, count, out, packed, room) != LZMA_OK)
        abort();
    return out;
}
#else
static unsigned char *xz(const void *bytes, size_t count, size_t *packed)
{
    (void)bytes, (void)count, (void)packed;
    return NULL;
}
#endif

#if !defined(KLIFT_WITHOUT_ZSTD) && __has_include(<zstd.h>)
#include <zstd.h>
static unsigned char *zstd(const void *bytes, size_t count, size_t *packed)
{
    size_t room;
    unsigned char *out = room_for(count, &room);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    *packed = ZSTD_compress2(context, out, room, bytes, count);
    if (ZSTD_isError(*packed))
        abort();
    ZSTD_freeCCtx(context);
    return out;
}
#else
static unsigned char *zstd(const void *bytes, size_t count, size_t *packed)
{
    (void)bytes, (void)count, (void)packed;
    return NULL;
}
#endif

#if !defined(KLIFT_WITHOUT_BZ2) && __has_include(<bzlib.h>)
#include <bzlib.h>
#include <stdint.h>
static unsigned char *bzip2(const void *bytes, size_t count, size_t *packed)
{
    size_t room;
    unsigned char *out = room_for(count, &room);
    unsigned length = (unsigned)room;
    if (BZ2_bzBuffToBuffCompress((char *)out, &length, (char *)(uintptr_t)bytes, (unsigned)count, 1, 0, 0) != BZ_OK)
        abort();
    *packed = length;
    return out;
}
#else
static unsigned char *bzip2(const void *bytes, size_t count, size_t *packed)
{
    (void)bytes, (void)count, (void)packed;
    return NULL;
}
#endif

unsigned char *pack(const char *codec, const void *bytes, size_t count, size_t *packed)
{
    if (strcmp(codec, "gzip") == 0)
        return deflate_all(bytes, count, 31, packed);
    return strcmp(codec, "xz") == 0 ? xz(bytes, count, packed) : strcmp(codec, "zstd") == 0 ? zstd(bytes, count, packed) : bzip2(bytes, count, packed);
}

unsigned char *pack_deflate(const void *bytes, size_t count, size_t *packed)
{
    return deflate_all(bytes, count, -15, packed);
}

void pack_write(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
        abort();
}

unsigned char *pack_read(const char *path, size_t *count)
{
    FILE *file = fopen(path, "r");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        abort();
    long size = ftell(file);
    unsigned char *bytes = malloc((size_t)size + 1);
    rewind(file);
    *count = bytes != NULL ? fread(bytes, 1, (size_t)size, file) : 0;
    fclose(file);
    return bytes;
}

bool pack_has(const char *codec)
{
    size_t count;
    unsigned char *bytes = pack(codec, "", 0, &count);
    free(bytes);
    return bytes != NULL;
}

/* Bit by bit. */
uint32_t pack_crc32(const unsigned char *bytes, size_t count)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}
