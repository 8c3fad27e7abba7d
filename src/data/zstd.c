/* zstd.c - zstd frames (RFC 8878), skippable ones among them, by libzstd, which checks their xxHash when they have one. */
#include "data/decompress.h"

#include <string.h>

static kl_start starts(const unsigned char *head, int64_t count)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skipped[] = {0x50, 0x2a, 0x4d, 0x18};
    size_t length = count < 4 ? (size_t)count : 4;
    bool is_frame = memcmp(head, frame, length) == 0;
    bool is_skipped = length > 0 && (head[0] & 0xf0) == skipped[0] && memcmp(head + 1, skipped + 1, length - 1) == 0;
    if (!is_frame && !is_skipped)
        return KL_START_NO;
    return count < 4 ? KL_START_CUT : KL_START_YES;
}

#if !defined(KLIFT_WITHOUT_ZSTD) && __has_include(<zstd.h>)
#include <zstd.h>
#include <zstd_errors.h>

typedef struct state {
    ZSTD_DStream *z; /* keeps libzstd's own limit on windows: 128 MiB */
} state;

static klift_status begin(void *memory, const void *setup)
{
    state *s = memory;
    (void)setup;
    if (s->z == NULL)
        s->z = ZSTD_createDStream();
    if (s->z == NULL || ZSTD_isError(ZSTD_initDStream(s->z)))
        return kl_fail(KLIFT_MEMORY, "no memory for libzstd");
    return KLIFT_OK;
}

static kl_step step(void *memory, kl_piece *piece)
{
    state *s = memory;
    ZSTD_inBuffer in = {piece->in, (size_t)piece->in_left, 0};
    ZSTD_outBuffer out = {piece->out, (size_t)piece->out_left, 0};
    size_t code = ZSTD_decompressStream(s->z, &out, &in);
    piece->in += in.pos;
    piece->in_left -= (int64_t)in.pos;
    piece->out += out.pos;
    piece->out_left -= (int64_t)out.pos;
    if (!ZSTD_isError(code))
        return code == 0 ? KL_STEP_END : KL_STEP_MORE;
    piece->why = ZSTD_getErrorName(code);
    ZSTD_ErrorCode kind = ZSTD_getErrorCode(code);
    if (kind == ZSTD_error_memory_allocation)
        return KL_STEP_NO_MEMORY;
    return kind == ZSTD_error_frameParameter_windowTooLarge ? KL_STEP_TOO_LARGE : KL_STEP_DAMAGED;
}

static void end(void *memory)
{
    ZSTD_freeDStream(((state *)memory)->z);
}

const kl_codec kl_codec_zstd = {"zstd", "libzstd-dev", "zstd -dc", sizeof(state), false, false, starts, begin, step, end};
#else
const kl_codec kl_codec_zstd = {"zstd", "libzstd-dev", "zstd -dc", 0, false, false, starts, NULL, NULL, NULL};
#endif
