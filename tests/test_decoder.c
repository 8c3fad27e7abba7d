/* test_decoder.c - decompression by itself: reads that fail, codecs that stand still, libraries that get no memory or are missing. */
#include "data/inflate.h"
#include "data/reader.h"
#include "pack.h"
#include "support.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if !defined(KLIFT_WITHOUT_LZMA) && __has_include(<lzma.h>)
#include <lzma.h>
#define HAS_LZMA 1
#endif

typedef struct source {
    const unsigned char *bytes;
    int64_t count, at, good; /* from byte `good` on it cannot be read */
} source;

static klift_status pull(void *from, void *bytes, int64_t room, int64_t *got)
{
    source *s = from;
    *got = room < s->count - s->at ? room : s->count - s->at;
    if (s->at + *got > s->good)
        return kl_fail(KLIFT_IO, "the disk is broken");
    memcpy(bytes, s->bytes + s->at, (size_t)*got);
    s->at += *got;
    return KLIFT_OK;
}

static klift_status decode(const kl_codec *codec, source *from, void *out, int64_t room, int64_t *got)
{
    kl_decoder *decoder;
    KL_TRY(kl_decoder_new(codec, NULL, "a/file", pull, from, &decoder));
    klift_status status = kl_decoder_read(decoder, out, room, got);
    kl_decoder_free(decoder);
    return status;
}

/* The decoder reads 64 KiB at a time: a fault at the start, inside a member, in zeros behind it and in the next one. */
static void a_read_that_fails_is_an_error_wherever_it_comes(void **unused)
{
    (void)unused;
    enum { BUFFER = 1 << 16, PLAIN = 3 * BUFFER };
    static unsigned char plain[PLAIN], out[PLAIN + 1], all[4 * BUFFER];
    for (int i = 0; i < PLAIN; i++)
        plain[i] = (unsigned char)(syn_mix((uint64_t)i) & 255);
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        size_t large, small;
        unsigned char *bytes = pack(pack_codecs[c], plain, PLAIN, &large), *short_one = pack(pack_codecs[c], "x", 1, &small);
        if (bytes == NULL)
            continue;
        int64_t got;
        source broken = {.bytes = bytes, .count = (int64_t)large, .good = 0};
        const kl_codec *codec = kl_codec_of(bytes, (int64_t)large);
        for (; broken.good <= 2 * BUFFER; broken.good += BUFFER, broken.at = 0) {
            assert_int_equal(decode(codec, &broken, out, PLAIN + 1, &got), KLIFT_IO);
            assert_string_equal(kl_error_text(), "the disk is broken");
        }
        for (size_t first = 0; codec->padded && first < 2; first++) { /* bytes of the next member before the fault */
            memset(all, 0, sizeof all);
            memcpy(all, short_one, small);
            memcpy(all + BUFFER - first, short_one, small);
            broken = (source){.bytes = all, .count = sizeof all, .good = BUFFER};
            assert_int_equal(decode(codec, &broken, out, PLAIN + 1, &got), KLIFT_IO);
            assert_true(got == 1 && out[0] == 'x');
        }
        free(bytes);
        free(short_one);
    }
}

/* Codecs that do as they are told: one that never moves, one that cannot say what is wrong. */
static klift_status begin_nothing(void *state, const void *setup)
{
    (void)state, (void)setup;
    return KLIFT_OK;
}

static kl_step stand_still(void *state, kl_piece *piece)
{
    (void)state, (void)piece;
    return KL_STEP_MORE;
}

static kl_step be_damaged(void *state, kl_piece *piece)
{
    (void)state;
    piece->in_left--;
    return KL_STEP_DAMAGED;
}

static kl_step take_three(void *state, kl_piece *piece)
{
    (void)state;
    memcpy(piece->out, piece->in, 3);
    piece->in_left -= 3;
    piece->out_left -= 3;
    piece->out += 3;
    return KL_STEP_END;
}

static void end_nothing(void *state)
{
    (void)state;
}

static void a_codec_that_stands_still_is_not_called_for_ever(void **unused)
{
    (void)unused;
    kl_codec toy = {"toy", "toy-dev", "toy -d", 1, false, false, NULL, begin_nothing, stand_still, end_nothing};
    unsigned char out[16];
    int64_t got;
    source from = {.bytes = (const unsigned char *)"abcdef", .count = 6, .good = 6};
    assert_int_equal(decode(&toy, &from, out, 16, &got), KLIFT_DATA);
    assert_string_equal(kl_error_text(), "a/file: the toy data are damaged at about byte 0; copy or make the file again");
    toy.step = be_damaged;
    from.at = 0;
    assert_int_equal(decode(&toy, &from, out, 16, &got), KLIFT_DATA);
    assert_string_equal(kl_error_text(), "a/file: the toy data are damaged at about byte 1; copy or make the file again");
    toy.step = take_three; /* and without a start to know it by, there is one member only */
    from.at = 0;
    assert_int_equal(decode(&toy, &from, out, 16, &got), KLIFT_DATA);
    assert_int_equal(got, 3);
    assert_non_null(strstr(kl_error_text(), "at byte 3, behind the toy data, there is something else"));
}

/* ---- libraries that get no memory ---- */

#if defined(HAS_LZMA) || defined(KL_HAS_ZLIB)
/* The n-th request fails. */
typedef struct purse {
    int asked, fail_at, given;
} purse;

static void *lend(void *opaque, size_t count, size_t size)
{
    purse *p = opaque;
    void *memory = ++p->asked == p->fail_at ? NULL : malloc(count * size);
    p->given += memory != NULL;
    return memory;
}

static void take_back(void *opaque, void *memory)
{
    purse *p = opaque;
    p->given -= memory != NULL;
    free(memory);
}
#endif

#ifdef HAS_LZMA
static void xz_without_memory_says_so(void **unused)
{
    (void)unused;
    unsigned char out[16];
    size_t packed;
    unsigned char *bytes = pack("xz", "1 1:1\n", 6, &packed);
    const kl_codec *codec = kl_codec_of(bytes, (int64_t)packed);
    int begins = 0, steps = 0;
    for (bool done = false; !done;) {
        purse p = {.fail_at = begins + steps + 1};
        const lzma_allocator allocator = {lend, take_back, &p};
        lzma_stream z = {.allocator = &allocator};
        kl_piece piece = {.in = bytes, .in_left = (int64_t)packed, .out = out, .out_left = sizeof out};
        kl_step step = KL_STEP_NO_MEMORY;
        klift_status status = codec->begin(&z, NULL);
        if (status == KLIFT_OK)
            do
                step = codec->step(&z, &piece);
            while (step == KL_STEP_MORE);
        codec->end(&z);
        assert_int_equal(p.given, 0);
        done = p.asked < p.fail_at;
        assert_int_equal(step, done ? KL_STEP_END : KL_STEP_NO_MEMORY);
        if (status != KLIFT_OK) {
            assert_int_equal(status, KLIFT_MEMORY);
            assert_string_equal(kl_error_text(), "no memory for liblzma");
        }
        begins += status != KLIFT_OK;
        steps += status == KLIFT_OK && !done;
    }
    assert_true(begins > 0 && steps > 0);
    free(bytes);
}
#endif

#ifdef KL_HAS_ZLIB
static voidpf refuse(voidpf opaque, uInt count, uInt size)
{
    (void)opaque, (void)count, (void)size;
    return NULL;
}

static voidpf lend_zlib(voidpf opaque, uInt count, uInt size)
{
    return lend(opaque, count, size);
}

static void take_zlib(voidpf opaque, voidpf memory)
{
    take_back(opaque, memory);
}

static void zlib_that_does_not_begin_says_so(void **unused)
{
    (void)unused;
    kl_inflate poor = {.z.zalloc = refuse}, never_made = {.ready = true};
    assert_int_equal(kl_inflate_begin(&poor, KL_INFLATE_GZIP), KLIFT_MEMORY);
    assert_string_equal(kl_error_text(), "no memory for zlib");
    kl_inflate_end(&poor);
    /* the second allocation is the window, in the middle of the data */
    size_t packed;
    unsigned char *bytes = pack("gzip", "1 1:1\n1 2:1\n", 12, &packed), out[2];
    purse p = {.fail_at = 2};
    kl_inflate no_window = {.z.zalloc = lend_zlib, .z.zfree = take_zlib, .z.opaque = &p};
    kl_piece piece = {.in = bytes, .in_left = (int64_t)packed, .out = out, .out_left = sizeof out};
    assert_int_equal(kl_inflate_begin(&no_window, KL_INFLATE_GZIP), KLIFT_OK);
    assert_int_equal(kl_inflate_step(&no_window, &piece), KL_STEP_NO_MEMORY);
    kl_inflate_end(&no_window);
    assert_int_equal(p.given, 0);
    free(bytes);
    assert_int_equal(kl_inflate_begin(&never_made, KL_INFLATE_GZIP), KLIFT_FAILED);
    assert_string_equal(kl_error_text(), "zlib does not start again");
}
#endif

/* Also true of a build that has no library at all: the file is known for what it is. */
static void a_missing_library_is_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *codec, *bytes, *package;
        size_t count;
    } heads[] = {{"gzip", "\x1f\x8b\x08\0\0\0\0\0", "zlib1g-dev", 8},
                 {"xz", "\xfd" "7zXZ\0\0\4", "liblzma-dev", 8},
                 {"zstd", "\x28\xb5\x2f\xfd\0\0\0\0", "libzstd-dev", 8},
                 {"bzip2", "BZh91AY&SY", "libbz2-dev", 10}};
    char *path = temp_path("missing");
    for (size_t i = 0; i < 4; i++) {
        kl_stream *stream;
        pack_write(path, heads[i].bytes, heads[i].count);
        assert_int_not_equal(kl_stream_open(path, &stream), KLIFT_OK);
        assert_null(stream);
        if (!pack_has(heads[i].codec))
            assert_non_null(strstr(kl_error_text(), heads[i].package));
        const kl_codec *codec = kl_codec_of((const unsigned char *)heads[i].bytes, (int64_t)heads[i].count);
        assert_string_equal(codec->name, heads[i].codec);
        kl_codec without = *codec;
        kl_decoder *decoder;
        without.state_size = 0;
        assert_int_equal(kl_decoder_new(&without, NULL, "a/file", NULL, NULL, &decoder), KLIFT_IO);
        assert_null(decoder);
        assert_non_null(strstr(kl_error_text(), heads[i].package));
        assert_non_null(strstr(kl_error_text(), "a/file"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_that_fails_is_an_error_wherever_it_comes),
        cmocka_unit_test(a_codec_that_stands_still_is_not_called_for_ever),
#ifdef HAS_LZMA
        cmocka_unit_test(xz_without_memory_says_so),
#endif
#ifdef KL_HAS_ZLIB
        cmocka_unit_test(zlib_that_does_not_begin_says_so),
#endif
        cmocka_unit_test(a_missing_library_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
