/* fuzz_decompress.c - any bytes as a compressed stream: plain bytes or a complaint, the same for any size of read. */
#include "fuzz.h"

#include "base/record.h"
#include "data/stream.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 1 << 22, LONGEST = 1 << 16 };

typedef struct outcome {
    klift_status status;
    char message[1024];
    int64_t count;
    uint64_t hash;
} outcome;

/* One byte after another into the hash: the cut into reads leaves no trace. */
static outcome read_all(kl_stream *stream, int64_t step)
{
    static unsigned char bytes[LONGEST];
    outcome o = {.hash = 1};
    int64_t got = step;
    while (o.status == KLIFT_OK && got == step && o.count < MOST_BYTES) {
        o.status = kl_stream_read(stream, bytes, step, &got);
        HOLDS(got >= 0 && got <= step);
        for (int64_t i = 0; o.status == KLIFT_OK && i < got; i++)
            o.hash = o.hash * UINT64_C(0x9E3779B97F4A7C15) + bytes[i] + 1;
        o.count += got;
    }
    if (o.status != KLIFT_OK)
        snprintf(o.message, sizeof o.message, "%s", klift_error());
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kl_stream *stream;
    if (kl_stream_open(fuzz_path(data, size), &stream) != KLIFT_OK) {
        HOLDS(stream == NULL && klift_error()[0] != '\0');
        return 0;
    }
    outcome small = read_all(stream, 17);
    HOLDS(kl_stream_rewind(stream) == KLIFT_OK);
    outcome large = read_all(stream, LONGEST);
    bool cut = small.count >= MOST_BYTES || large.count >= MOST_BYTES;
    HOLDS(cut || (small.status == large.status && strcmp(small.message, large.message) == 0));
    HOLDS(cut || small.status != KLIFT_OK || (small.count == large.count && small.hash == large.hash));
    kl_stream_close(stream);
    return 0;
}
