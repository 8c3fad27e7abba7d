/*
 * decompress.h - compressed bytes to plain ones, in constant memory. One file per codec, one line in codec_list.h.
 * A codec knows one member (gzip member, xz stream, zstd frame, bzip2 stream); the decoder joins members, tells a file
 * that ends too early from one that ends, and names the byte. A build without a codec's library still knows the codec
 * by its first bytes and says what is missing.
 */
#ifndef KL_DECOMPRESS_H
#define KL_DECOMPRESS_H

#include "base/error.h"

#include <stdbool.h>

typedef enum { KL_START_NO, KL_START_CUT, KL_START_YES } kl_start; /* CUT: as far as the bytes go, they could be one */
typedef enum { KL_STEP_MORE, KL_STEP_END, KL_STEP_DAMAGED, KL_STEP_TOO_LARGE, KL_STEP_NO_MEMORY } kl_step;

/* What a step takes from and fills; it moves the pointers and counts. */
typedef struct kl_piece {
    const unsigned char *in;
    unsigned char *out;
    int64_t in_left, out_left;
    const char *why; /* of DAMAGED, in the library's words */
} kl_piece;

typedef struct kl_codec {
    const char *name, *package; /* package: Debian's name of the library, for the message when it is missing */
    const char *unpack;         /* the command that undoes it, for advice */
    size_t state_size;          /* 0: built without the library */
    bool padded;                /* zeros may stand between and behind members */
    bool lenient;               /* what else follows the last member is skipped with a note, as the format's own tool does */
    kl_start (*starts)(const unsigned char *head, int64_t count); /* NULL: never found by content */
    klift_status (*begin)(void *state, const void *setup);        /* a member starts; state is zeroed at first */
    kl_step (*step)(void *state, kl_piece *piece);
    void (*end)(void *state); /* releases what begin made; also after a failed begin */
} kl_codec;

/* The codec of a file that starts with these bytes; NULL: it is plain. */
const kl_codec *kl_codec_of(const unsigned char *head, int64_t count);

typedef struct kl_decoder kl_decoder;
/* Compressed bytes; *got < room only at their end. */
typedef klift_status (*kl_pull)(void *from, void *bytes, int64_t room, int64_t *got);

/* name and setup are borrowed; head: bytes that were pulled already, at most 4096. */
klift_status kl_decoder_new(const kl_codec *codec, const void *setup, const char *name, kl_pull pull, void *from, kl_decoder **decoder);
void kl_decoder_feed(kl_decoder *decoder, const unsigned char *head, int64_t count);
klift_status kl_decoder_read(kl_decoder *decoder, void *bytes, int64_t room, int64_t *got); /* *got < room only at the end */
void kl_decoder_restart(kl_decoder *decoder); /* `from` is at its start again */
const char *kl_decoder_note(const kl_decoder *decoder); /* NULL: nothing to say */
void kl_decoder_free(kl_decoder *decoder);

#endif
