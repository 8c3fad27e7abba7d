/*
 * decompress.c - the decoder around a codec: an input buffer, members one after the other, and the end. A file ends
 * well only between members; anywhere else it is truncated, whatever the library would make of it (zlib's gzread takes
 * it for the end). Messages name the byte of the compressed file.
 */
#include "data/decompress.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define CODEC(name) extern const kl_codec kl_codec_##name;
#include "data/codec_list.h"
#undef CODEC

static const kl_codec *const codecs[] = {
#define CODEC(name) &kl_codec_##name,
#include "data/codec_list.h"
#undef CODEC
    NULL};

enum { BUFFER = 1 << 16, LONGEST_START = 16 };

struct kl_decoder {
    const kl_codec *codec;
    const void *setup;
    const char *name;
    kl_pull pull;
    void *from;
    void *state;
    unsigned char *buffer; /* (BUFFER) */
    int64_t used, at;      /* of buffer */
    int64_t before;        /* compressed bytes before the buffer */
    unsigned char *plain;  /* (BUFFER) what a codec makes: always so much at once, so that no library's shortcut for large
                            * or small buffers shows in bytes or messages */
    int64_t plain_used, plain_at;
    bool source_ended, begun, inside, ended;
    klift_status failed;   /* met behind the bytes in plain */
    char why[512];
    char note[128];
};

const kl_codec *kl_codec_of(const unsigned char *head, int64_t count)
{
    for (int i = 0; codecs[i] != NULL; i++)
        if (codecs[i]->starts(head, count) == KL_START_YES)
            return codecs[i];
    return NULL;
}

klift_status kl_decoder_new(const kl_codec *codec, const void *setup, const char *name, kl_pull pull, void *from, kl_decoder **out)
{
    kl_decoder *decoder = NULL;
    klift_status status;
    *out = NULL;
    if (codec->state_size == 0)
        return kl_fail(KLIFT_IO, "%s: is %s-compressed, and this klift was built without that: unpack it (%s), or install %s and build klift again", name,
                       codec->name, codec->unpack, codec->package);
    KL_TRY(kl_new(&decoder, 1, sizeof *decoder, "a decoder"));
    decoder->codec = codec;
    decoder->setup = setup;
    decoder->name = name;
    decoder->pull = pull;
    decoder->from = from;
    KL_GO(kl_new(&decoder->state, (int64_t)codec->state_size, 1, "a decoder"));
    KL_GO(kl_new(&decoder->buffer, BUFFER, 1, "compressed bytes"));
    KL_GO(kl_new(&decoder->plain, BUFFER, 1, "unpacked bytes"));
done:
    if (status == KLIFT_OK)
        *out = decoder;
    else
        kl_decoder_free(decoder);
    return status;
}

void kl_decoder_feed(kl_decoder *decoder, const unsigned char *head, int64_t count)
{
    memcpy(decoder->buffer, head, (size_t)count);
    decoder->used = count;
}

/* Moves what is left to the front and fills up; nothing to do while there is enough. */
static klift_status refill(kl_decoder *d, int64_t enough)
{
    if (d->used - d->at >= enough || d->source_ended)
        return KLIFT_OK;
    int64_t left = d->used - d->at, got;
    memmove(d->buffer, d->buffer + d->at, (size_t)left);
    d->before += d->at;
    d->at = 0;
    d->used = left;
    KL_TRY(d->pull(d->from, d->buffer + left, BUFFER - left, &got));
    d->used += got;
    d->source_ended = got < BUFFER - left;
    return KLIFT_OK;
}

static klift_status truncated(const kl_decoder *d)
{
    return kl_fail(KLIFT_DATA, "%s: the file is truncated: its %s data break off at byte %lld; copy or make it again", d->name, d->codec->name,
                   (long long)(d->before + d->used));
}

/* Zeros that a tape or a disk block left behind. */
static klift_status skip_padding(kl_decoder *d)
{
    for (;;) {
        KL_TRY(refill(d, 1));
        while (d->at < d->used && d->buffer[d->at] == 0)
            d->at++;
        if (d->at < d->used || d->source_ended)
            return KLIFT_OK;
    }
}

/* Between members: another one, the end, or something else. */
static klift_status enter_member(kl_decoder *d)
{
    const kl_codec *codec = d->codec;
    bool first = !d->begun;
    if (codec->padded && !first)
        KL_TRY(skip_padding(d));
    KL_TRY(refill(d, LONGEST_START));
    int64_t left = d->used - d->at;
    if (left == 0 && !first) {
        d->ended = true;
        return KLIFT_OK;
    }
    kl_start start = codec->starts == NULL ? (first ? KL_START_YES : KL_START_NO) : codec->starts(d->buffer + d->at, left);
    if (start == KL_START_CUT)
        return truncated(d);
    if (start == KL_START_YES) {
        d->begun = d->inside = true;
        return codec->begin(d->state, d->setup);
    }
    long long place = (long long)(d->before + d->at);
    if (!codec->lenient)
        return kl_fail(KLIFT_DATA, "%s: at byte %lld, behind the %s data, there is something else; cut it off or make the file again", d->name, place, codec->name);
    snprintf(d->note, sizeof d->note, "what follows the %s data, from byte %lld on, is ignored", codec->name, place);
    d->ended = true;
    return KLIFT_OK;
}

/* One call of the codec. */
static klift_status advance(kl_decoder *d, kl_piece *piece)
{
    KL_TRY(refill(d, 1));
    int64_t room = piece->out_left, left = d->used - d->at;
    piece->in = d->buffer + d->at;
    piece->in_left = left;
    kl_step step = d->codec->step(d->state, piece);
    d->at += left - piece->in_left;
    long long place = (long long)(d->before + d->at);
    if (step == KL_STEP_END)
        d->inside = false;
    else if (step == KL_STEP_TOO_LARGE)
        return kl_fail(KLIFT_MEMORY, "%s: needs more than 128 MiB to unpack; compress it with a smaller window", d->name);
    else if (step == KL_STEP_NO_MEMORY)
        return kl_fail(KLIFT_MEMORY, "%s: no memory to unpack %s", d->name, d->codec->name);
    else if (step == KL_STEP_MORE && piece->out_left == room && piece->in_left == left && left == 0)
        return truncated(d);
    else if (step == KL_STEP_DAMAGED || (piece->out_left == room && piece->in_left == left))
        return kl_fail(KLIFT_DATA, "%s: the %s data are damaged at about byte %lld%s%s; copy or make the file again", d->name, d->codec->name, place,
                       piece->why != NULL ? ": " : "", piece->why != NULL ? piece->why : "");
    return KLIFT_OK;
}

/* The next plain bytes; none at the end. What fails behind some of them waits for the next call. */
static klift_status unpack(kl_decoder *d)
{
    kl_piece piece = {.out = d->plain, .out_left = BUFFER};
    if (d->failed != KLIFT_OK)
        return kl_fail(d->failed, "%s", d->why);
    while (piece.out_left > 0 && !d->ended && d->failed == KLIFT_OK)
        d->failed = d->inside ? advance(d, &piece) : enter_member(d);
    d->plain_at = 0;
    d->plain_used = BUFFER - piece.out_left;
    if (d->failed != KLIFT_OK)
        snprintf(d->why, sizeof d->why, "%s", kl_error_text());
    return d->plain_used > 0 ? KLIFT_OK : d->failed;
}

klift_status kl_decoder_read(kl_decoder *decoder, void *bytes, int64_t room, int64_t *got)
{
    *got = 0;
    while (*got < room) {
        if (decoder->plain_at == decoder->plain_used)
            KL_TRY(unpack(decoder));
        int64_t left = decoder->plain_used - decoder->plain_at, count = left < room - *got ? left : room - *got;
        if (count == 0)
            break;
        memcpy((unsigned char *)bytes + *got, decoder->plain + decoder->plain_at, (size_t)count);
        decoder->plain_at += count;
        *got += count;
    }
    return KLIFT_OK;
}

void kl_decoder_restart(kl_decoder *decoder)
{
    decoder->used = decoder->at = decoder->before = decoder->plain_used = decoder->plain_at = 0;
    decoder->failed = KLIFT_OK;
    decoder->source_ended = decoder->begun = decoder->inside = decoder->ended = false;
}

const char *kl_decoder_note(const kl_decoder *decoder)
{
    return decoder->note[0] != '\0' ? decoder->note : NULL;
}

void kl_decoder_free(kl_decoder *decoder)
{
    if (decoder == NULL)
        return;
    if (decoder->state != NULL)
        decoder->codec->end(decoder->state);
    kl_free(decoder->state);
    kl_free(decoder->buffer);
    kl_free(decoder->plain);
    kl_free(decoder);
}
