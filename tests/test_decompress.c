/* test_decompress.c - gzip, xz, zstd and bzip2: the same bytes, several members, every truncation, every damaged byte. */
#include "data/inflate.h"
#include "data/reader.h"
#include "pack.h"
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 40 };

/* Rows of svmlight text; their values add up to *sum. */
static size_t make_text(char *out, int rows, double *sum)
{
    size_t length = 0;
    *sum = 0;
    for (int i = 0; i < rows; i++) {
        length += (size_t)sprintf(out + length, "%d 1:%d 3:%d\n", i % 2, i + 1, i * i % 97 + 1);
        *sum += i + 1 + i * i % 97 + 1;
    }
    return length;
}

/* All rows of path: their number and the sum of their values. */
static klift_status read_rows(const char *path, int64_t *rows, double *sum, char *note)
{
    kl_reader *reader;
    kl_batch batch = {0};
    *rows = 0;
    *sum = 0;
    klift_status status = kl_reader_open(path, NULL, &reader);
    while (status == KLIFT_OK) {
        status = kl_reader_next(reader, 7, &batch);
        if (status != KLIFT_OK || batch.rows == 0)
            break;
        for (int64_t i = 0; i < batch.start[batch.rows]; i++)
            *sum += (double)batch.value[i];
        *rows += batch.rows;
    }
    if (status == KLIFT_OK && note != NULL)
        strcpy(note, kl_stream_note(reader->stream) != NULL ? kl_stream_note(reader->stream) : "");
    kl_reader_free(reader);
    return status;
}

static void expect_rows(const char *path, int64_t expected, double expected_sum)
{
    int64_t rows;
    double sum;
    char note[200];
    klift_status status = read_rows(path, &rows, &sum, note);
    if (status != KLIFT_OK || rows != expected || sum != expected_sum || note[0] != '\0')
        fail_msg("status %d, %lld rows, note '%s': %s", status, (long long)rows, note, kl_error_text());
}

static void expect_refusal(const char *path, const char *word)
{
    int64_t rows;
    double sum;
    klift_status status = read_rows(path, &rows, &sum, NULL);
    if (status == KLIFT_OK || strstr(kl_error_text(), word) == NULL || strstr(kl_error_text(), path) == NULL)
        fail_msg("expected '%s', got status %d, %lld rows: %s", word, status, (long long)rows, kl_error_text());
}

static void the_same_bytes_come_out_in_pieces_of_any_size_and_again(void **unused)
{
    (void)unused;
    enum { COUNT = 300000 };
    unsigned char *plain = malloc(COUNT), *copy = malloc(COUNT + 1);
    static const int64_t sizes[] = {1000, 4096, 99999, COUNT + 1};
    char *path = temp_path("bytes");
    for (int i = 0; i < COUNT; i++)
        plain[i] = (unsigned char)(syn_mix((uint64_t)i / 3) >> (i % 7));
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        size_t packed;
        unsigned char *bytes = pack(pack_codecs[c], plain, COUNT, &packed);
        if (bytes == NULL)
            continue;
        pack_write(path, bytes, packed);
        free(bytes);
        kl_stream *stream;
        const unsigned char *head;
        int64_t count, got;
        assert_int_equal(kl_stream_open(path, &stream), KLIFT_OK);
        assert_int_equal(kl_stream_size(stream), -1);
        assert_true(kl_stream_can_rewind(stream));
        assert_false(kl_stream_can_seek(stream));
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            int64_t total = 0;
            assert_int_equal(kl_stream_peek(stream, &head, &count), KLIFT_OK);
            assert_int_equal(count, 4096);
            assert_memory_equal(head, plain, 4096);
            do {
                int64_t room = sizes[s] < COUNT + 1 - total ? sizes[s] : COUNT + 1 - total;
                assert_int_equal(kl_stream_read(stream, copy + total, room, &got), KLIFT_OK);
                total += got;
            } while (got > 0);
            assert_int_equal(total, COUNT);
            assert_memory_equal(copy, plain, COUNT);
            assert_int_equal(kl_stream_rewind(stream), KLIFT_OK);
        }
        kl_stream_close(stream);
    }
    free(plain);
    free(copy);
}

static void rows_are_the_same_as_from_the_plain_file(void **unused)
{
    (void)unused;
    char text[4000], *path = temp_path("rows");
    double sum;
    size_t count = make_text(text, ROWS, &sum), packed;
    pack_write(path, text, count);
    expect_rows(path, ROWS, sum);
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        unsigned char *bytes = pack(pack_codecs[c], text, count, &packed);
        if (bytes == NULL)
            continue;
        pack_write(path, bytes, packed);
        expect_rows(path, ROWS, sum);
        free(bytes);
    }
}

static void members_behind_one_another_are_one_file(void **unused)
{
    (void)unused;
    char text[4000], *path = temp_path("members");
    double sum;
    size_t count = make_text(text, ROWS, &sum), one, nothing;
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        unsigned char *bytes = pack(pack_codecs[c], text, count, &one), *empty = pack(pack_codecs[c], "", 0, &nothing), all[20000];
        if (bytes == NULL)
            continue;
        size_t length = 0;
        for (int i = 0; i < 5; i++) {
            memcpy(all + length, i == 2 ? empty : bytes, i == 2 ? nothing : one);
            length += i == 2 ? nothing : one;
        }
        pack_write(path, all, length);
        expect_rows(path, 4 * ROWS, 4 * sum);
        for (size_t cut = length - one + 1; cut < length; cut++) { /* inside the last member, its first bytes included */
            pack_write(path, all, cut);
            expect_refusal(path, "truncated");
        }
        free(bytes);
        free(empty);
    }
}

static void every_truncation_is_an_error_that_names_the_byte(void **unused)
{
    (void)unused;
    char text[4000], *path = temp_path("cut"), word[100];
    double sum;
    size_t count = make_text(text, ROWS, &sum), packed;
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        unsigned char *bytes = pack(pack_codecs[c], text, count, &packed);
        for (size_t cut = 1; bytes != NULL && cut < packed; cut++) {
            pack_write(path, bytes, cut);
            snprintf(word, sizeof word, "the file is truncated: its %s data break off at byte %zu;", pack_codecs[c], cut);
            expect_refusal(path, cut < 8 ? "" : word); /* fewer bytes may be those of something else, also an error */
        }
        free(bytes);
    }
}

static void a_changed_byte_never_changes_the_rows(void **unused)
{
    (void)unused;
    char text[4000], *path = temp_path("changed");
    double sum, seen;
    int64_t rows;
    size_t count = make_text(text, ROWS, &sum), packed;
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        unsigned char *bytes = pack(pack_codecs[c], text, count, &packed);
        int refused = 0, read = 0;
        for (size_t at = 0; bytes != NULL && at < packed; at++)
            for (int bit = 0; bit < 8; bit += quick() ? 3 : 1) {
                bytes[at] = (unsigned char)(bytes[at] ^ 1u << bit);
                pack_write(path, bytes, packed);
                klift_status status = read_rows(path, &rows, &seen, NULL);
                bytes[at] = (unsigned char)(bytes[at] ^ 1u << bit);
                if (status == KLIFT_OK && (rows != ROWS || seen != sum))
                    fail_msg("%s: bit %d of byte %zu: %lld rows came through", pack_codecs[c], bit, at, (long long)rows);
                refused += status != KLIFT_OK;
                read += status == KLIFT_OK;
            }
        if (bytes != NULL)
            assert_true(refused > 10 * read); /* a name, a time or a flag in the header may be anything */
        free(bytes);
    }
}

static void a_wrong_checksum_is_an_error(void **unused)
{
    (void)unused;
    char text[4000], *path = temp_path("sum");
    double sum;
    size_t count = make_text(text, ROWS, &sum), packed;
    unsigned char *bytes = pack("gzip", text, count, &packed);
    if (bytes == NULL)
        return;
    bytes[packed - 8] ^= 1; /* CRC-32; the length is behind it */
    pack_write(path, bytes, packed);
    expect_refusal(path, "damaged at about byte");
    expect_refusal(path, "incorrect data check");
    free(bytes);
}

static void what_follows_the_last_member(void **unused)
{
    (void)unused;
    static const struct {
        const char *codec, *tail;
        size_t count;
        const char *note, *refusal;
    } tails[] = {{"gzip", "garbage", 7, "what follows the gzip data, from byte", NULL},
                 {"gzip", "\0\0\0\0\0", 5, "", NULL},
                 {"gzip", "\0\0\0x", 4, "what follows the gzip data", NULL},
                 {"gzip", "\x1f", 1, NULL, "truncated"},
                 {"bzip2", "garbage", 7, "what follows the bzip2 data", NULL},
                 {"bzip2", "BZ", 2, NULL, "truncated"},
                 {"xz", "garbage", 7, NULL, "behind the xz data, there is something else"},
                 {"xz", "\0\0\0\0", 4, "", NULL},
                 {"xz", "\xfd" "7zX", 4, NULL, "truncated"},
                 {"zstd", "garbage", 7, NULL, "behind the zstd data, there is something else"},
                 {"zstd", "\x52\x2a\x4d\x18\3\0\0\0abc", 11, "", NULL}, /* a skippable frame */
                 {"zstd", "\x28\xb5\x2f", 3, NULL, "truncated"}};
    char text[4000], *path = temp_path("tail"), note[200];
    double sum, seen;
    int64_t rows;
    size_t count = make_text(text, ROWS, &sum), packed;
    for (size_t t = 0; t < sizeof tails / sizeof tails[0]; t++) {
        unsigned char *bytes = pack(tails[t].codec, text, count, &packed);
        if (bytes == NULL)
            continue;
        memcpy(bytes + packed, tails[t].tail, tails[t].count); /* there is room */
        pack_write(path, bytes, packed + tails[t].count);
        free(bytes);
        if (tails[t].refusal != NULL) {
            expect_refusal(path, tails[t].refusal);
            continue;
        }
        assert_int_equal(read_rows(path, &rows, &seen, note), KLIFT_OK);
        assert_int_equal(rows, ROWS);
        assert_true(seen == sum);
        if (tails[t].note[0] == '\0' ? note[0] != '\0' : strstr(note, tails[t].note) == NULL)
            fail_msg("%s, tail %zu: note '%s'", tails[t].codec, t, note);
    }
}

static int count_warnings(const klift_event *event, void *count)
{
    if (event->kind == KLIFT_EVENT_WARNING && strstr(event->message, "is ignored") != NULL)
        ++*(int *)count;
    return 0;
}

static void a_tail_is_one_warning_of_a_whole_training(void **unused)
{
    (void)unused;
    char text[4000], *path = temp_path("warn");
    double sum;
    int warnings = 0;
    size_t count = make_text(text, ROWS, &sum), packed;
    unsigned char *bytes = pack("gzip", text, count, &packed);
    if (bytes == NULL)
        return;
    memcpy(bytes + packed, "garbage", 7);
    pack_write(path, bytes, packed + 7);
    free(bytes);
    klift_run *run;
    klift_spec *spec;
    klift_data *data;
    klift_model *model;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    klift_run_on_event(run, count_warnings, &warnings);
    assert_int_equal(klift_spec_new(&spec), KLIFT_OK);
    assert_int_equal(klift_spec_set(spec, "features", "16"), KLIFT_OK);
    assert_int_equal(klift_data_open(path, NULL, &data), KLIFT_OK);
    assert_int_equal(klift_train(spec, data, run, &model), KLIFT_OK);
    assert_int_equal(warnings, 1);
    klift_model_free(model);
    klift_data_free(data);
    klift_spec_free(spec);
    klift_run_free(run);
}

static void a_file_compressed_twice_is_refused(void **unused)
{
    (void)unused;
    char *path = temp_path("twice"), word[100];
    for (int a = 0; pack_codecs[a] != NULL; a++)
        for (int b = 0; pack_codecs[b] != NULL; b++) {
            size_t once, twice;
            if (!pack_has(pack_codecs[a]) || !pack_has(pack_codecs[b]))
                continue;
            unsigned char *inner = pack(pack_codecs[a], "1 1:1\n0 1:2\n", 12, &once), *outer = pack(pack_codecs[b], inner, once, &twice);
            pack_write(path, outer, twice);
            snprintf(word, sizeof word, "compressed twice (%s inside %s)", pack_codecs[a], pack_codecs[b]);
            expect_refusal(path, word);
            free(inner);
            free(outer);
        }
}

static void words_like_a_magic_are_text(void **unused)
{
    (void)unused;
    char *path = temp_path("words");
    kl_reader *reader;
    kl_batch batch;
    pack_write(path, "BZh9 1:1\nBZh 1:2\n", 17);
    assert_int_equal(kl_reader_open(path, "label-type=text", &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 5, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 2);
    assert_string_equal(batch.label[0], "BZh9");
    kl_reader_free(reader);
}

typedef struct feed {
    int fd;
    const unsigned char *bytes;
    size_t count;
} feed;

static void *drip(void *context)
{
    feed *f = context;
    for (size_t at = 0; at < f->count; at += 37)
        if (write(f->fd, f->bytes + at, f->count - at < 37 ? f->count - at : 37) <= 0)
            break;
    close(f->fd);
    return NULL;
}

static void standard_input_is_decompressed_from_a_pipe_and_a_file(void **unused)
{
    (void)unused;
    char text[4000], *path = temp_path("in");
    double sum, seen;
    int64_t rows;
    int kept = dup(STDIN_FILENO);
    size_t count = make_text(text, ROWS, &sum), packed;
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        unsigned char *bytes = pack(pack_codecs[c], text, count, &packed);
        if (bytes == NULL)
            continue;
        int fd[2];
        pthread_t writer;
        assert_int_equal(pipe(fd), 0);
        feed f = {fd[1], bytes, packed};
        assert_int_equal(pthread_create(&writer, NULL, drip, &f), 0);
        dup2(fd[0], STDIN_FILENO);
        assert_int_equal(read_rows("-", &rows, &seen, NULL), KLIFT_OK);
        assert_true(rows == ROWS && seen == sum);
        pthread_join(writer, NULL);
        close(fd[0]);
        pack_write(path, bytes, packed);
        fd[0] = open(path, O_RDONLY);
        dup2(fd[0], STDIN_FILENO);
        assert_int_equal(read_rows("-", &rows, &seen, NULL), KLIFT_OK);
        assert_true(rows == ROWS && seen == sum);
        close(fd[0]);
        free(bytes);
    }
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
}

/* 256 MiB of zeros, in members of 1 MiB each. */
static void memory_does_not_grow_with_the_file(void **unused)
{
    (void)unused;
    enum { MEMBER = 1 << 20, MEMBERS = 256 };
    unsigned char *zeros = calloc(MEMBER, 1);
    char *path = temp_path("zeros");
    struct rusage before, after;
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        size_t packed;
        unsigned char *bytes = pack(pack_codecs[c], zeros, MEMBER, &packed);
        if (bytes == NULL)
            continue;
        FILE *file = fopen(path, "w");
        for (int i = 0; i < MEMBERS; i++)
            fwrite(bytes, 1, packed, file);
        fclose(file);
        free(bytes);
        kl_stream *stream;
        int64_t got, total = 0;
        getrusage(RUSAGE_SELF, &before);
        assert_int_equal(kl_stream_open(path, &stream), KLIFT_OK);
        do {
            assert_int_equal(kl_stream_read(stream, zeros, MEMBER, &got), KLIFT_OK);
            total += got;
        } while (got > 0);
        kl_stream_close(stream);
        getrusage(RUSAGE_SELF, &after);
        assert_int_equal(total, (int64_t)MEMBER * MEMBERS);
        if (after.ru_maxrss - before.ru_maxrss > 32 << 10)
            fail_msg("%s: %ld KiB more", pack_codecs[c], after.ru_maxrss - before.ru_maxrss);
    }
    free(zeros);
}

/* ---- headers that ask for too much or for what nobody knows ---- */

/* Changes a byte of the block header, which stands behind the 12 bytes of the stream header and ends in its CRC-32. */
static void change_xz_block(unsigned char *bytes, size_t at, unsigned char value)
{
    unsigned char *header = bytes + 12;
    size_t length = ((size_t)header[0] + 1) * 4 - 4;
    header[at] = value;
    uint32_t crc = pack_crc32(header, length);
    for (int i = 0; i < 4; i++)
        header[length + (size_t)i] = (unsigned char)(crc >> (8 * i));
}

static void an_xz_header_that_cannot_be_followed_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        size_t at;
        unsigned char value;
        klift_status status;
        const char *word;
    } changes[] = {
        {4, 0x22, KLIFT_DATA, "a filter that this liblzma does not know"},
        {6, 40, KLIFT_MEMORY, "needs more than 128 MiB to unpack"}, /* a dictionary of 4 GiB */
        {6, 41, KLIFT_DATA, "a filter that this liblzma does not know"}, /* no such size */
        {1, 0xfc, KLIFT_DATA, "damaged at about byte"}, /* reserved flags */
    };
    char *path = temp_path("header.xz");
    int64_t rows;
    double sum;
    size_t packed;
    for (size_t i = 0; pack_has("xz") && i < sizeof changes / sizeof changes[0]; i++) {
        unsigned char *bytes = pack("xz", "1 1:1\n", 6, &packed);
        assert_int_equal(bytes[12 + 4], 0x21); /* LZMA2, behind a byte for each size; its own size, and the dictionary's */
        change_xz_block(bytes, changes[i].at, changes[i].value);
        pack_write(path, bytes, packed);
        free(bytes);
        klift_status status = read_rows(path, &rows, &sum, NULL);
        if (status != changes[i].status || strstr(kl_error_text(), changes[i].word) == NULL || strstr(kl_error_text(), path) == NULL)
            fail_msg("%zu: status %d: %s", i, status, kl_error_text());
    }
}

static void a_zstd_header_that_cannot_be_followed_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *bytes;
        klift_status status;
        const char *word;
    } frames[] = {
        {"\x28\xb5\x2f\xfd\0\x90\1\0\0", KLIFT_MEMORY, "needs more than 128 MiB to unpack"}, /* a window of 256 MiB */
        {"\x28\xb5\x2f\xfd\0\0\7\0\0", KLIFT_DATA, "damaged at about byte"},                  /* a block of the reserved kind */
        {"\x28\xb5\x2f\xfd\x08\0\1\0\0", KLIFT_DATA, "damaged at about byte"},                /* the reserved bit */
        {"\x28\xb5\x2f\xfd\3\0\1\2\3", KLIFT_DATA, "zstd data"},                              /* a dictionary that is not there */
    };
    char *path = temp_path("header.zst");
    int64_t rows;
    double sum;
    for (size_t i = 0; pack_has("zstd") && i < sizeof frames / sizeof frames[0]; i++) {
        pack_write(path, frames[i].bytes, 9);
        klift_status status = read_rows(path, &rows, &sum, NULL);
        if (status != frames[i].status || strstr(kl_error_text(), frames[i].word) == NULL || strstr(kl_error_text(), path) == NULL)
            fail_msg("%zu: status %d: %s", i, status, kl_error_text());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_come_out_in_pieces_of_any_size_and_again),
        cmocka_unit_test(rows_are_the_same_as_from_the_plain_file),
        cmocka_unit_test(members_behind_one_another_are_one_file),
        cmocka_unit_test(every_truncation_is_an_error_that_names_the_byte),
        cmocka_unit_test(a_changed_byte_never_changes_the_rows),
        cmocka_unit_test(a_wrong_checksum_is_an_error),
        cmocka_unit_test(what_follows_the_last_member),
        cmocka_unit_test(a_tail_is_one_warning_of_a_whole_training),
        cmocka_unit_test(a_file_compressed_twice_is_refused),
        cmocka_unit_test(words_like_a_magic_are_text),
        cmocka_unit_test(standard_input_is_decompressed_from_a_pipe_and_a_file),
        cmocka_unit_test(memory_does_not_grow_with_the_file),
        cmocka_unit_test(an_xz_header_that_cannot_be_followed_is_refused),
        cmocka_unit_test(a_zstd_header_that_cannot_be_followed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
