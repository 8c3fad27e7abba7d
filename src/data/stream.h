/*
 * stream.h - the bytes of a file or of stdin, in order; short reads and interrupted calls are dealt with here, and so is
 * compression: a file that is gzip, xz, zstd or bzip2 by its first bytes is read as what it holds.
 */
#ifndef KL_STREAM_H
#define KL_STREAM_H

#include "base/parallel.h"
#include "data/decompress.h"

typedef struct kl_stream kl_stream;

klift_status kl_stream_open(const char *path, kl_stream **stream); /* "-" is stdin; refuses directories, and what is compressed twice */
klift_status kl_stream_open_raw(const char *path, kl_stream **stream); /* the same, never decompressed */

/* Part of a regular file with its own position, e.g. a member of an archive. */
typedef struct kl_part {
    const char *name;      /* for messages; copied */
    int64_t offset, count; /* bytes in the file */
    int64_t size;          /* bytes after decoding */
    const kl_codec *codec;
    const void *setup;     /* of the codec; must live as long as the stream */
} kl_part;
/* whole must be able to seek and outlive the part. */
klift_status kl_stream_open_part(const kl_stream *whole, const kl_part *part, kl_stream **stream);

/* Fills bytes as far as the file goes; *got < room only at its end. */
klift_status kl_stream_read(kl_stream *stream, void *bytes, int64_t room, int64_t *got);
/* The same by the threads of a pool where that is of use: a plain file, and many bytes; pool may be NULL. */
klift_status kl_stream_read_by(kl_stream *stream, kl_pool *pool, void *bytes, int64_t room, int64_t *got);
/* At the beginning of a pass: what is to be unpacked from a file of some size will be by a thread of its own that keeps ahead: the same bytes and messages. Not from
 * pipes, for which nobody could wait at the end. */
void kl_stream_run_ahead(kl_stream *stream);
/* From where it stands to its end, to be freed by the caller also after a failure: the size is the file system's, or grows for pipes. */
klift_status kl_stream_read_all(kl_stream *stream, unsigned char **bytes, int64_t *count);
/* Some bytes from any byte on, without moving; only where kl_stream_can_seek. */
klift_status kl_stream_read_at(const kl_stream *stream, int64_t offset, void *bytes, int64_t room, int64_t *got);
/* The first bytes of the file without consuming them (at most 4096); call before the first read. */
klift_status kl_stream_peek(kl_stream *stream, const unsigned char **bytes, int64_t *count);
/* For formats that know where their data end: is there more? A compressed stream is read to its end, so that its
 * checksum is tested, a pipe once. */
klift_status kl_stream_finish(kl_stream *stream, bool *more);
bool kl_stream_can_rewind(const kl_stream *stream);
bool kl_stream_can_seek(const kl_stream *stream); /* a regular file that is not compressed */
klift_status kl_stream_rewind(kl_stream *stream); /* KLIFT_IO on a pipe, KLIFT_DATA when the file has changed */
const char *kl_stream_name(const kl_stream *stream); /* the path, or "standard input" */
const char *kl_stream_note(const kl_stream *stream); /* what a user should know, when the end was reached; NULL: nothing */
int64_t kl_stream_size(const kl_stream *stream);     /* bytes, -1 when unknown */
void kl_stream_close(kl_stream *stream);

#endif
