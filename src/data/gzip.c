/* gzip.c - gzip members (RFC 1952) by zlib's inflate, which checks CRC-32 and length; gzread would hide truncation. */
#include "data/inflate.h"

static kl_start starts(const unsigned char *head, int64_t count)
{
    if (count < 2)
        return count == 1 && head[0] == 0x1f ? KL_START_CUT : KL_START_NO;
    return head[0] == 0x1f && head[1] == 0x8b ? KL_START_YES : KL_START_NO;
}

#ifdef KL_HAS_ZLIB
static klift_status begin(void *state, const void *setup)
{
    (void)setup;
    return kl_inflate_begin(state, KL_INFLATE_GZIP);
}

static kl_step step(void *state, kl_piece *piece)
{
    return kl_inflate_step(state, piece);
}

static void end(void *state)
{
    kl_inflate_end(state);
}

const kl_codec kl_codec_gzip = {"gzip", "zlib1g-dev", "gzip -dc", sizeof(kl_inflate), true, true, starts, begin, step, end};
#else
const kl_codec kl_codec_gzip = {"gzip", "zlib1g-dev", "gzip -dc", 0, true, true, starts, NULL, NULL, NULL};
#endif
