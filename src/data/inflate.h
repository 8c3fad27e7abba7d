/* inflate.h - zlib's inflate as a step of a codec; what gzip files and zip members share. Without zlib there is none. */
#ifndef KL_INFLATE_H
#define KL_INFLATE_H

#include "data/decompress.h"

#if !defined(KLIFT_WITHOUT_ZLIB) && __has_include(<zlib.h>)
#define KL_HAS_ZLIB 1
#define ZLIB_CONST /* next_in is const */
#include <zlib.h>

typedef struct kl_inflate {
    z_stream z;
    bool ready;
} kl_inflate;

enum { KL_INFLATE_GZIP = 31, KL_INFLATE_RAW = -15 }; /* zlib's window bits: with gzip's header and trailer, or with none */

klift_status kl_inflate_begin(kl_inflate *state, int form);
kl_step kl_inflate_step(kl_inflate *state, kl_piece *piece);
void kl_inflate_end(kl_inflate *state);
#endif

#endif
