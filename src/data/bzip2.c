/* bzip2.c - .bz2 streams by libbz2, which checks every block's and every stream's CRC. */
#include "data/decompress.h"

#include <string.h>

/* BZh, the block size 1 to 9, and pi for the first block or the square root of pi for an empty stream: words that
 * happen to start with BZh are not taken for it. */
static kl_start starts(const unsigned char *head, int64_t count)
{
    static const unsigned char block[] = {0x31, 0x41, 0x59, 0x26, 0x53, 0x59}, empty[] = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};
    size_t name = count < 3 ? (size_t)count : 3, rest = count < 4 ? 0 : count < 10 ? (size_t)count - 4 : 6;
    if (memcmp(head, "BZh", name) != 0 || (count > 3 && (head[3] < '1' || head[3] > '9')))
        return KL_START_NO;
    if (rest > 0 && memcmp(head + 4, block, rest) != 0 && memcmp(head + 4, empty, rest) != 0)
        return KL_START_NO;
    return count < 5 ? KL_START_CUT : KL_START_YES; /* a byte of pi: enough to tell that the file is a truncated one */
}

#if !defined(KLIFT_WITHOUT_BZ2) && __has_include(<bzlib.h>)
#include <bzlib.h>

enum { LARGEST = 1 << 30 };

typedef struct state {
    bz_stream z;
    bool ready;
} state;

static void end(void *memory)
{
    state *s = memory;
    if (s->ready)
        BZ2_bzDecompressEnd(&s->z);
    s->ready = false;
}

static klift_status begin(void *memory, const void *setup)
{
    state *s = memory;
    (void)setup;
    end(s);
    s->z = (bz_stream){0};
    s->ready = BZ2_bzDecompressInit(&s->z, 0, 0) == BZ_OK;
    return s->ready ? KLIFT_OK : kl_fail(KLIFT_MEMORY, "no memory for libbz2");
}

static kl_step step(void *memory, kl_piece *piece)
{
    state *s = memory;
    unsigned in = (unsigned)(piece->in_left < LARGEST ? piece->in_left : LARGEST), out = (unsigned)(piece->out_left < LARGEST ? piece->out_left : LARGEST);
    s->z.next_in = (char *)(uintptr_t)piece->in; /* libbz2 does not write there; its interface is older than const */
    s->z.avail_in = in;
    s->z.next_out = (char *)piece->out;
    s->z.avail_out = out;
    int code = BZ2_bzDecompress(&s->z);
    piece->in += in - s->z.avail_in;
    piece->in_left -= in - s->z.avail_in;
    piece->out += out - s->z.avail_out;
    piece->out_left -= out - s->z.avail_out;
    if (code == BZ_MEM_ERROR)
        return KL_STEP_NO_MEMORY;
    piece->why = code == BZ_DATA_ERROR ? "wrong bytes or checksum" : code == BZ_DATA_ERROR_MAGIC ? "no header" : NULL;
    return code == BZ_STREAM_END ? KL_STEP_END : code == BZ_OK ? KL_STEP_MORE : KL_STEP_DAMAGED;
}

const kl_codec kl_codec_bzip2 = {"bzip2", "libbz2-dev", "bzip2 -dc", sizeof(state), false, true, starts, begin, step, end};
#else
const kl_codec kl_codec_bzip2 = {"bzip2", "libbz2-dev", "bzip2 -dc", 0, false, true, starts, NULL, NULL, NULL};
#endif
