/* pack.h - compressed and archived bytes for tests, made by the libraries in memory. */
#ifndef TEST_PACK_H
#define TEST_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char *const pack_codecs[]; /* "gzip", "xz", "zstd", "bzip2", NULL */

/* The bytes compressed, with a checksum, to be freed; NULL when klift and the tests were built without the library. */
unsigned char *pack(const char *codec, const void *bytes, size_t count, size_t *packed);
bool pack_has(const char *codec);
/* Raw deflate, as zip members have it; NULL without zlib. */
unsigned char *pack_deflate(const void *bytes, size_t count, size_t *packed);

uint32_t pack_crc32(const unsigned char *bytes, size_t count);

void pack_write(const char *path, const void *bytes, size_t count);
unsigned char *pack_read(const char *path, size_t *count); /* to be freed */

#endif
