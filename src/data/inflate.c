/* inflate.c - zlib's inflate with 64-bit counts. */
#include "data/inflate.h"

#ifdef KL_HAS_ZLIB
enum { LARGEST = 1 << 30 };

klift_status kl_inflate_begin(kl_inflate *state, int form)
{
    if (state->ready)
        return inflateReset(&state->z) == Z_OK ? KLIFT_OK : kl_fail(KLIFT_FAILED, "zlib does not start again");
    state->ready = inflateInit2(&state->z, form) == Z_OK;
    return state->ready ? KLIFT_OK : kl_fail(KLIFT_MEMORY, "no memory for zlib");
}

kl_step kl_inflate_step(kl_inflate *state, kl_piece *piece)
{
    z_stream *z = &state->z;
    uInt in = (uInt)(piece->in_left < LARGEST ? piece->in_left : LARGEST), out = (uInt)(piece->out_left < LARGEST ? piece->out_left : LARGEST);
    z->next_in = piece->in;
    z->avail_in = in;
    z->next_out = piece->out;
    z->avail_out = out;
    z->msg = NULL;
    int code = inflate(z, Z_NO_FLUSH);
    piece->in += in - z->avail_in;
    piece->in_left -= in - z->avail_in;
    piece->out += out - z->avail_out;
    piece->out_left -= out - z->avail_out;
    piece->why = z->msg;
    if (code == Z_MEM_ERROR)
        return KL_STEP_NO_MEMORY;
    return code == Z_STREAM_END ? KL_STEP_END : code == Z_OK || code == Z_BUF_ERROR ? KL_STEP_MORE : KL_STEP_DAMAGED;
}

void kl_inflate_end(kl_inflate *state)
{
    if (state->ready)
        inflateEnd(&state->z);
    state->ready = false;
}
#else
typedef int kl_inflate_is_missing; /* ISO C wants something in a file */
#endif
