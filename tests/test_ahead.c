/* test_ahead.c - bytes that a thread of its own (a pthread, for the thread sanitizer) fetches before they are asked for: the same bytes, ends and failures. */
#include "data/ahead.h"
#include "data/reader.h"
#include "pack.h"
#include "support.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { BLOCK = 1 << 18, RING = 32 * BLOCK };

/* Bytes that are what their place says, up to `count`; from byte `good` on they cannot be had. */
typedef struct source {
    int64_t count, good, at, pulls;
    bool slow;
} source;

static unsigned char byte_at(int64_t place)
{
    return (unsigned char)(place * 2654435761u >> 13);
}

static klift_status pull(void *from, void *bytes, int64_t room, int64_t *got)
{
    source *s = from;
    int64_t end = s->count < s->good ? s->count : s->good;
    if (s->slow)
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    *got = room < end - s->at ? room : end - s->at;
    for (int64_t i = 0; i < *got; i++)
        ((unsigned char *)bytes)[i] = byte_at(s->at + i);
    s->at += *got;
    s->pulls++;
    return *got < room && s->good < s->count ? kl_fail(KLIFT_IO, "a/file: byte %lld is broken", (long long)s->good) : KLIFT_OK;
}

/* Reads in pieces of `room` to the end or the failure. */
static void check(source s, int64_t room)
{
    unsigned char *bytes = malloc((size_t)room);
    kl_ahead *ahead;
    int64_t got, total = 0;
    klift_status status;
    assert_int_equal(kl_ahead_new("a/file", pull, &s, &ahead), KLIFT_OK);
    assert_non_null(ahead);
    do {
        status = kl_ahead_read(ahead, bytes, room, &got);
        for (int64_t i = 0; i < got; i++)
            if (bytes[i] != byte_at(total + i))
                fail_msg("byte %lld in pieces of %lld", (long long)(total + i), (long long)room);
        total += got;
    } while (status == KLIFT_OK && got == room);
    assert_true(kl_ahead_has_ended(ahead));
    assert_int_equal(total, s.good < s.count ? s.good : s.count);
    assert_int_equal(status, s.good < s.count ? KLIFT_IO : KLIFT_OK);
    if (status != KLIFT_OK)
        assert_non_null(strstr(kl_error_text(), "is broken"));
    assert_int_equal(kl_ahead_read(ahead, bytes, room, &got), status); /* again */
    assert_int_equal(got, 0);
    kl_ahead_free(ahead);
    free(bytes);
}

static void bytes_ends_and_failures_are_those_of_the_source(void **unused)
{
    (void)unused;
    static const int64_t counts[] = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, RING + 5 * BLOCK + 77}, rooms[] = {1000, BLOCK - 1, BLOCK, 3 * BLOCK + 5};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
            check((source){.count = counts[c], .good = INT64_MAX}, rooms[r]);
            check((source){.count = INT64_MAX, .good = counts[c]}, rooms[r]);
        }
    check((source){.count = 9 * BLOCK + 1, .good = INT64_MAX, .slow = true}, BLOCK / 2);
}

static void it_stays_within_its_ring_and_ends_when_told_to(void **unused)
{
    (void)unused;
    for (int read = 0; read < 2; read++) {
        source s = {.count = INT64_MAX, .good = INT64_MAX};
        unsigned char bytes[100];
        kl_ahead *ahead;
        int64_t got;
        assert_int_equal(kl_ahead_new("a/file", pull, &s, &ahead), KLIFT_OK);
        if (read > 0)
            assert_int_equal(kl_ahead_read(ahead, bytes, sizeof bytes, &got), KLIFT_OK);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* what it does meanwhile, it may */
        assert_false(kl_ahead_has_ended(ahead));
        kl_ahead_free(ahead);
        assert_true(s.pulls <= RING / BLOCK);
    }
    kl_ahead_free(NULL);
}

static void a_forked_process_is_told(void **unused)
{
    (void)unused;
    source s = {.count = INT64_MAX, .good = INT64_MAX};
    kl_ahead *ahead;
    int status;
    assert_int_equal(kl_ahead_new("a/file", pull, &s, &ahead), KLIFT_OK);
    pid_t child = fork();
    if (child == 0) {
        unsigned char byte;
        int64_t got;
        alarm(20); /* instead of a wait for ever */
        bool told = kl_ahead_read(ahead, &byte, 1, &got) == KLIFT_IO && strstr(kl_error_text(), "a/file: ") != NULL && strstr(kl_error_text(), "fork") != NULL;
        kl_ahead_free(ahead);
        _exit(told ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    kl_ahead_free(ahead);
}

/* Numbers that take some hundred KB when they are packed. */
static char *text_of(int rows)
{
    char *text = malloc((size_t)rows * 64 + 1), *to = text;
    for (int i = 0; i < rows; i++)
        to += sprintf(to, "%d 1:%.9f 2:%.9f 5:%.9f\n", i % 3, syn_normal((uint64_t)i, 1), syn_normal((uint64_t)i, 2), syn_normal((uint64_t)i, 3));
    return text;
}

/* Rows and the sum of their values in three passes, of which one is left early; status and message of the first that failed, or what the stream noted. */
static klift_status read_all(const char *path, int threads, int64_t *rows, double *sum, char why[512])
{
    kl_reader *reader;
    klift_status status;
    *rows = 0;
    *sum = 0;
    status = kl_reader_open(path, NULL, &reader); /* which reads the first rows */
    if (status != KLIFT_OK) {
        snprintf(why, 512, "%s", kl_error_text());
        return status;
    }
    kl_reader_use_threads(reader, threads);
    for (int pass = 0; pass < 3; pass++) {
        kl_batch batch;
        int64_t read = 0;
        do {
            status = kl_reader_next(reader, 1000, &batch);
            for (int64_t p = 0; status == KLIFT_OK && p < batch.rows; p++)
                for (int64_t e = batch.start[p]; e < batch.start[p + 1]; e++)
                    *sum += (double)(pass + 1) * (double)batch.value[e];
            read += status == KLIFT_OK ? batch.rows : 0;
        } while (status == KLIFT_OK && batch.rows > 0 && (pass != 1 || read < 3000));
        *rows += read;
        if (status != KLIFT_OK || pass == 2)
            break;
        assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
    }
    const char *note = kl_stream_note(reader->stream);
    snprintf(why, 512, "%s", status != KLIFT_OK ? kl_error_text() : note != NULL ? note : "");
    kl_reader_free(reader);
    return status;
}

static void rows_and_messages_are_those_without_a_thread(void **unused)
{
    (void)unused;
    enum { ROWS = 60000 }; /* opening looks at the first MiB: faults are behind it */
    char *text = text_of(ROWS), why[2][512], *path = temp_path("rows");
    for (int c = 0; pack_codecs[c] != NULL; c++) {
        size_t packed;
        unsigned char *bytes = pack(pack_codecs[c], text, strlen(text), &packed);
        if (bytes == NULL)
            continue;
        assert_true(packed > 3u << 16);
        for (int fault = 0; fault < 4; fault++) { /* none, cut off, a changed byte, an end of something else */
            int64_t rows[2];
            double sum[2];
            klift_status status[2];
            unsigned char *file = malloc(packed + 1);
            memcpy(file, bytes, packed);
            file[packed] = 'x';
            file[packed * 2 / 3] ^= fault == 2;
            pack_write(path, file, fault == 1 ? packed * 3 / 4 : packed + (fault == 3));
            for (int threads = 1; threads <= 2; threads++)
                status[threads - 1] = read_all(path, threads, &rows[threads - 1], &sum[threads - 1], why[threads - 1]);
            assert_int_equal(status[1], status[0]);
            assert_true(fault == 0 ? status[0] == KLIFT_OK : fault == 3 || status[0] == KLIFT_DATA);
            if (fault != 2) /* of wrong bytes that come before a checksum some may be read as rows, or not: several threads ask for more at a time */
                assert_string_equal(why[1], why[0]);
            assert_true((fault > 0) == (why[0][0] != '\0'));
            assert_true(status[0] != KLIFT_OK || (rows[0] == rows[1] && sum[0] == sum[1] && rows[0] >= 2 * ROWS + 3000));
            free(file);
        }
        free(bytes);
    }
    free(text);
}

static int64_t tasks_of_this_process(void)
{
    int64_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* Threads while the first rows of a file are in use. */
static int64_t tasks_at_work(const char *path, int threads)
{
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
    kl_reader_use_threads(reader, threads);
    for (int i = 0; i < 40; i++) /* beyond what opening has looked at */
        assert_int_equal(kl_reader_next(reader, 1000, &batch), KLIFT_OK);
    int64_t tasks = tasks_of_this_process();
    kl_reader_free(reader);
    return tasks;
}

static void a_packed_file_has_a_thread_and_a_short_one_has_none(void **unused)
{
    (void)unused;
    enum { ROWS = 20000, TIMES = 16 }; /* more than a ring holds: the thread waits for room */
    char *text = text_of(ROWS), *path = temp_path("tasks");
    size_t once = strlen(text), large, small;
    char *all = malloc(TIMES * once);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(all + i * once, text, once);
    assert_true(TIMES * once > RING + (4u << 20));
    unsigned char *bytes = pack("gzip", all, TIMES * once, &large), *little = pack("gzip", text, once / 20, &small);
    if (bytes != NULL && tasks_of_this_process() > 0) {
        int64_t none = tasks_of_this_process();
        pack_write(path, bytes, large);
        assert_int_equal(tasks_at_work(path, 1), none);
        assert_int_equal(tasks_at_work(path, 2), none + 2); /* another that parses, and the one that unpacks */
        pack_write(path, little, small);
        assert_true(small < 1u << 16);
        assert_int_equal(tasks_at_work(path, 2), none); /* behind its end */
    }
    free(little);
    free(bytes);
    free(all);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_ends_and_failures_are_those_of_the_source),
        cmocka_unit_test(it_stays_within_its_ring_and_ends_when_told_to),
        cmocka_unit_test(a_forked_process_is_told),
        cmocka_unit_test(rows_and_messages_are_those_without_a_thread),
        cmocka_unit_test(a_packed_file_has_a_thread_and_a_short_one_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
