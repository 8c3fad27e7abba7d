/*
 * zip.h - members of a zip archive as streams: stored or deflated, zip64, sizes and CRC-32 checked against the
 * directory. Names are labels to choose by, never paths. The archive must be a plain file: its directory is at its end.
 */
#ifndef KL_ZIP_H
#define KL_ZIP_H

#include "data/stream.h"

typedef struct kl_zip_member {
    char *name;
    int64_t header_at, packed, size; /* bytes */
    uint32_t crc;
    int method; /* 0 stored, 8 deflated */
    bool encrypted;
} kl_zip_member;

typedef struct kl_zip {
    const kl_stream *stream; /* borrowed */
    kl_zip_member *member;
    int64_t count, room;
    int64_t directory_at;
} kl_zip;

bool kl_is_zip(const unsigned char *head, int64_t count);
klift_status kl_zip_open(kl_zip *zip, const kl_stream *stream);
/* The zip must outlive the stream. */
klift_status kl_zip_stream(const kl_zip *zip, int64_t index, kl_stream **stream);
void kl_zip_clear(kl_zip *zip);

#endif
