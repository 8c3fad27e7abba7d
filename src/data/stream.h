/* stream.h - the bytes of a file or of stdin, in order; short reads and interrupted calls are dealt with here. */
#ifndef KL_STREAM_H
#define KL_STREAM_H

#include "base/error.h"

#include <stdbool.h>

typedef struct kl_stream kl_stream;

klift_status kl_stream_open(const char *path, kl_stream **stream); /* "-" is stdin; refuses directories */
/* Fills bytes as far as the file goes; *got < room only at its end. */
klift_status kl_stream_read(kl_stream *stream, void *bytes, int64_t room, int64_t *got);
/* The first bytes of the file without consuming them (at most 4096); call before the first read. */
klift_status kl_stream_peek(kl_stream *stream, const unsigned char **bytes, int64_t *count);
bool kl_stream_can_rewind(const kl_stream *stream);
klift_status kl_stream_rewind(kl_stream *stream); /* KLIFT_IO on a pipe, KLIFT_DATA when the file has changed */
const char *kl_stream_name(const kl_stream *stream); /* the path, or "standard input" */
int64_t kl_stream_size(const kl_stream *stream);     /* bytes, -1 when unknown */
void kl_stream_close(kl_stream *stream);

#endif
