/*
 * record.h - what model files are made of: tagged, length-prefixed, checksummed sections, little-endian.
 *
 *   file    = magic(8) version(u32) oldest_reader(u32) byte_order(u32) kind(u32) total_length(u64) { section } checksum(u64)
 *   section = tag(u32) flags(u32: 1 = a reader must know it) length(u64) checksum(u64) bytes
 * Checksums are XXH64; the last one is over everything before it.
 */
#ifndef KL_RECORD_H
#define KL_RECORD_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { KL_RECORD_MODEL = 1, KL_RECORD_STATS = 2, KL_RECORD_CHECKPOINT = 3 };
enum { KL_RECORD_VERSION = 1 };

#define KL_TAG(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

typedef struct kl_record_writer {
    unsigned char *bytes;
    int64_t length, room, section;
    bool failed; /* an append failed: reported by kl_record_finish */
    bool counts; /* nothing is kept but the length */
} kl_record_writer;

void kl_record_begin(kl_record_writer *to, uint32_t kind);
/* The same calls with a writer that only counts tell how long a file will be; room for that then makes it in one piece of memory. */
void kl_record_begin_count(kl_record_writer *to);
void kl_record_reserve(kl_record_writer *to, int64_t count); /* after begin: of all that will be there */
void kl_record_open(kl_record_writer *to, uint32_t tag, bool required);
void kl_record_close(kl_record_writer *to);
klift_status kl_record_finish(kl_record_writer *to);
void kl_record_put_u32(kl_record_writer *to, uint32_t value);
void kl_record_put_i64(kl_record_writer *to, int64_t value);
void kl_record_put_f64(kl_record_writer *to, double value);
void kl_record_put_text(kl_record_writer *to, const char *text);
void kl_record_put_bytes(kl_record_writer *to, const void *bytes, int64_t count);       /* count first */
void kl_record_put_floats(kl_record_writer *to, const float *values, int64_t count);    /* count first */
void kl_record_put_doubles(kl_record_writer *to, const double *values, int64_t count);  /* count first */
void kl_record_clear(kl_record_writer *to);

typedef struct kl_record_reader {
    const unsigned char *bytes;
    int64_t length;      /* without the final checksum */
    int64_t at, end;     /* inside the present section */
    int64_t next;        /* where the next section starts */
    bool required;
} kl_record_reader;

/* Checks magic, versions, length and checksum before anything is read. */
klift_status kl_record_check(kl_record_reader *from, const void *bytes, int64_t count, uint32_t kind);
/* Enters the next section; *tag is 0 after the last one. */
klift_status kl_record_next(kl_record_reader *from, uint32_t *tag);
/* Called for a tag nobody knows: skipped when optional, refused when required. */
klift_status kl_record_skip(const kl_record_reader *from, uint32_t tag);
/* The section has been read to its end. */
klift_status kl_record_done(const kl_record_reader *from);
klift_status kl_record_damaged(const char *what); /* KLIFT_MODEL with what is wrong and what to do */
klift_status kl_record_get_u32(kl_record_reader *from, uint32_t *value);
klift_status kl_record_get_i64(kl_record_reader *from, int64_t low, int64_t high, int64_t *value);
klift_status kl_record_get_f64(kl_record_reader *from, double *value); /* finite */
klift_status kl_record_get_text(kl_record_reader *from, char **text);  /* to be freed; no NUL inside */
klift_status kl_record_get_bytes(kl_record_reader *from, const unsigned char **bytes, int64_t *count); /* where they are */
/* Arrays of finite numbers, to be freed; count is what the caller expects. */
klift_status kl_record_get_floats(kl_record_reader *from, float **values, int64_t count);
klift_status kl_record_get_doubles(kl_record_reader *from, double **values, int64_t count);

/* XXH64 of bytes, for whoever needs a checksum or a content key. */
uint64_t kl_record_hash(const void *bytes, size_t count, uint64_t seed);

#endif
