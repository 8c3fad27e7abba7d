/* xz.c - .xz streams by liblzma, which checks them by the CRC or SHA-256 they carry. */
#include "data/decompress.h"

#include <string.h>

static kl_start starts(const unsigned char *head, int64_t count)
{
    static const char magic[] = "\xfd" "7zXZ";
    int64_t length = sizeof magic; /* with its final NUL, which belongs to it */
    if (memcmp(head, magic, (size_t)(count < length ? count : length)) != 0)
        return KL_START_NO;
    return count < length ? KL_START_CUT : KL_START_YES;
}

#if !defined(KLIFT_WITHOUT_LZMA) && __has_include(<lzma.h>)
#include <lzma.h>

enum { MEMORY = 128 << 20 }; /* xz -9 takes 65 MiB */

static klift_status begin(void *memory, const void *setup)
{
    lzma_stream *z = memory;
    (void)setup;
    if (lzma_stream_decoder(z, MEMORY, LZMA_FAIL_FAST) != LZMA_OK) /* a stream in use is made anew with its memory */
        return kl_fail(KLIFT_MEMORY, "no memory for liblzma");
    return KLIFT_OK;
}

static const char *explain(lzma_ret code)
{
    return code == LZMA_DATA_ERROR ? "wrong bytes or checksum" : code == LZMA_OPTIONS_ERROR ? "a filter that this liblzma does not know"
           : code == LZMA_FORMAT_ERROR ? "no header" : NULL;
}

static kl_step step(void *memory, kl_piece *piece)
{
    lzma_stream *z = memory;
    z->next_in = piece->in;
    z->avail_in = (size_t)piece->in_left;
    z->next_out = piece->out;
    z->avail_out = (size_t)piece->out_left;
    lzma_ret code = lzma_code(z, LZMA_RUN);
    piece->in = z->next_in;
    piece->in_left = (int64_t)z->avail_in;
    piece->out = z->next_out;
    piece->out_left = (int64_t)z->avail_out;
    piece->why = explain(code);
    if (code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR)
        return code == LZMA_MEM_ERROR ? KL_STEP_NO_MEMORY : KL_STEP_TOO_LARGE;
    return code == LZMA_STREAM_END ? KL_STEP_END : code == LZMA_OK || code == LZMA_BUF_ERROR ? KL_STEP_MORE : KL_STEP_DAMAGED;
}

static void end(void *memory)
{
    lzma_end(memory); /* a zeroed stream is what LZMA_STREAM_INIT makes */
}

const kl_codec kl_codec_xz = {"xz", "liblzma-dev", "xz -dc", sizeof(lzma_stream), true, false, starts, begin, step, end};
#else
const kl_codec kl_codec_xz = {"xz", "liblzma-dev", "xz -dc", 0, true, false, starts, NULL, NULL, NULL};
#endif
