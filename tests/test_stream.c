/* test_stream.c - bytes of files, pipes and standard input. */
#include "data/stream.h"
#include "pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static const char *at(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/klift-stream-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **unused)
{
    (void)unused;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        unlink(at(entry->d_name));
    closedir(dir);
    return rmdir(folder);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static char *text_of(int length)
{
    char *text = malloc((size_t)length + 1);
    for (int i = 0; i < length; i++)
        text[i] = (char)('a' + i * 7 % 26);
    text[length] = '\0';
    return text;
}

static void reads_pieces_of_any_size(void **unused)
{
    (void)unused;
    char *text = text_of(20000), *copy = malloc(20001);
    write_file(at("f"), text);
    static const int64_t sizes[] = {1, 7, 4095, 4096, 4097, 30000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        kl_stream *stream;
        const unsigned char *head;
        int64_t count, got, total = 0;
        assert_int_equal(kl_stream_open(at("f"), &stream), KLIFT_OK);
        assert_int_equal(kl_stream_peek(stream, &head, &count), KLIFT_OK);
        assert_int_equal(count, 4096);
        assert_memory_equal(head, text, 4096);
        do {
            int64_t room = sizes[i] < 20000 - total ? sizes[i] : 20000 - total;
            assert_int_equal(kl_stream_read(stream, copy + total, room, &got), KLIFT_OK);
            assert_int_equal(got, room);
            total += got;
        } while (total < 20000);
        assert_int_equal(kl_stream_read(stream, copy + 20000, 1, &got), KLIFT_OK);
        assert_int_equal(got, 0);
        assert_memory_equal(copy, text, 20000);
        assert_int_equal(kl_stream_size(stream), 20000);
        kl_stream_close(stream);
    }
    free(text);
    free(copy);
}

static void refuses_directories_and_missing_files(void **unused)
{
    (void)unused;
    kl_stream *stream = (kl_stream *)folder;
    assert_int_equal(kl_stream_open(folder, &stream), KLIFT_IO);
    assert_null(stream);
    assert_non_null(strstr(kl_error_text(), "is a directory"));
    assert_non_null(strstr(kl_error_text(), folder));
    assert_int_equal(kl_stream_open(at("nothing"), &stream), KLIFT_IO);
    assert_null(stream);
    assert_non_null(strstr(kl_error_text(), at("nothing")));
    assert_non_null(strstr(kl_error_text(), "No such file"));
    kl_stream_close(NULL);
}

static void an_empty_file_has_no_bytes(void **unused)
{
    (void)unused;
    kl_stream *stream;
    const unsigned char *head;
    char byte;
    int64_t got;
    write_file(at("empty"), "");
    assert_int_equal(kl_stream_open(at("empty"), &stream), KLIFT_OK);
    assert_int_equal(kl_stream_peek(stream, &head, &got), KLIFT_OK);
    assert_int_equal(got, 0);
    assert_int_equal(kl_stream_read(stream, &byte, 1, &got), KLIFT_OK);
    assert_int_equal(got, 0);
    assert_int_equal(kl_stream_size(stream), 0);
    kl_stream_close(stream);
}

static void rewinds_to_the_same_bytes(void **unused)
{
    (void)unused;
    kl_stream *stream;
    const unsigned char *head;
    char copy[16] = {0};
    int64_t got;
    write_file(at("r"), "0123456789");
    assert_int_equal(kl_stream_open(at("r"), &stream), KLIFT_OK);
    assert_true(kl_stream_can_rewind(stream));
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 1)
            assert_int_equal(kl_stream_peek(stream, &head, &got), KLIFT_OK);
        assert_int_equal(kl_stream_read(stream, copy, 4 + pass, &got), KLIFT_OK);
        assert_memory_equal(copy, "0123456789", (size_t)got);
        assert_int_equal(kl_stream_rewind(stream), KLIFT_OK);
    }
    kl_stream_close(stream);
}

static void notices_that_a_file_changed(void **unused)
{
    (void)unused;
    kl_stream *stream;
    write_file(at("c"), "1 1:1\n");
    assert_int_equal(kl_stream_open(at("c"), &stream), KLIFT_OK);
    write_file(at("c"), "1 1:1\n2 1:1\n");
    assert_int_equal(kl_stream_rewind(stream), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "changed while it was read"));
    kl_stream_close(stream);

    /* the same size, another time: by seconds, and by less than one */
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kl_stream_open(at("c"), &stream), KLIFT_OK);
        times[1].tv_nsec = 1000 * i;
        assert_int_equal(utimensat(AT_FDCWD, at("c"), times, 0), 0);
        assert_int_equal(kl_stream_rewind(stream), KLIFT_DATA);
        kl_stream_close(stream);
    }
}

static void a_file_replaced_by_another_is_still_the_old_one(void **unused)
{
    (void)unused;
    kl_stream *stream;
    char copy[8] = {0}, path[512];
    int64_t got;
    strcpy(path, at("new"));
    write_file(at("old"), "old");
    write_file(path, "new");
    assert_int_equal(kl_stream_open(at("old"), &stream), KLIFT_OK);
    assert_int_equal(rename(path, at("old")), 0);
    assert_int_equal(kl_stream_rewind(stream), KLIFT_OK);
    assert_int_equal(kl_stream_read(stream, copy, 8, &got), KLIFT_OK);
    assert_string_equal(copy, "old");
    kl_stream_close(stream);
}

static void *write_slowly(void *path)
{
    int fd = open(path, O_WRONLY);
    for (int i = 0; i < 50; i++) {
        if (write(fd, "abc", 3) != 3)
            break;
        if (i % 10 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    close(fd);
    return NULL;
}

static void a_slow_pipe_is_read_to_its_end_and_only_once(void **unused)
{
    (void)unused;
    kl_stream *stream;
    const unsigned char *head;
    char copy[200], path[512];
    int64_t got;
    pthread_t writer;
    strcpy(path, at("fifo"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, path), 0);
    assert_int_equal(kl_stream_open(path, &stream), KLIFT_OK);
    assert_int_equal(kl_stream_size(stream), -1);
    assert_false(kl_stream_can_rewind(stream));
    assert_int_equal(kl_stream_peek(stream, &head, &got), KLIFT_OK);
    assert_int_equal(got, 150);
    assert_int_equal(kl_stream_read(stream, copy, 100, &got), KLIFT_OK);
    assert_int_equal(got, 100);
    assert_int_equal(kl_stream_read(stream, copy, 100, &got), KLIFT_OK);
    assert_int_equal(got, 50);
    assert_int_equal(kl_stream_rewind(stream), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "once only"));
    kl_stream_close(stream);
    pthread_join(writer, NULL);
}

/* Runs with standard input taken from fd. */
static void with_standard_input(int fd, void (*check)(void))
{
    int kept = dup(STDIN_FILENO);
    assert_true(dup2(fd, STDIN_FILENO) >= 0);
    check();
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
}

static void read_rest_twice(void)
{
    kl_stream *stream;
    char copy[16] = {0};
    int64_t got;
    assert_int_equal(kl_stream_open("-", &stream), KLIFT_OK);
    assert_string_equal(kl_stream_name(stream), "standard input");
    assert_int_equal(kl_stream_size(stream), 7);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(kl_stream_read(stream, copy, 16, &got), KLIFT_OK);
        assert_string_equal(copy, "3456789");
        assert_int_equal(kl_stream_rewind(stream), KLIFT_OK);
    }
    kl_stream_close(stream);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

static void standard_input_is_read_from_where_it_stands_and_left_open(void **unused)
{
    (void)unused;
    write_file(at("in"), "0123456789");
    int fd = open(at("in"), O_RDONLY);
    lseek(fd, 3, SEEK_SET);
    with_standard_input(fd, read_rest_twice);
    close(fd);
}

static void read_piece(void)
{
    kl_stream *stream;
    char copy[16];
    int64_t got;
    assert_int_equal(kl_stream_open("-", &stream), KLIFT_OK);
    assert_int_equal(kl_stream_read(stream, copy, 16, &got), KLIFT_OK);
    assert_int_equal(got, 4);
    kl_stream_close(stream);
}

static void *write_later(void *fd)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    if (write(*(int *)fd, "late", 4) == 4)
        close(*(int *)fd);
    return NULL;
}

static void a_non_blocking_pipe_is_waited_for(void **unused)
{
    (void)unused;
    int fd[2];
    pthread_t writer;
    assert_int_equal(pipe(fd), 0);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    assert_int_equal(pthread_create(&writer, NULL, write_later, &fd[1]), 0);
    with_standard_input(fd[0], read_piece);
    pthread_join(writer, NULL);
    close(fd[0]);
}

static void a_descriptor_that_someone_closed_is_an_error(void **unused)
{
    (void)unused;
    kl_stream *stream;
    char byte;
    int64_t got;
    write_file(at("closed"), "abc");
    int fd = open("/dev/null", O_RDONLY); /* the number that the next opened file gets */
    close(fd);
    assert_int_equal(kl_stream_open_raw(at("closed"), &stream), KLIFT_OK);
    assert_int_equal(close(fd), 0);
    assert_int_equal(kl_stream_read(stream, &byte, 1, &got), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "closed: cannot read: Bad file descriptor"));
    assert_int_equal(got, 0);
    assert_int_equal(kl_stream_rewind(stream), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "closed: cannot read: Bad file descriptor"));
    kl_stream_close(stream);
}

static void standard_input_that_is_closed_is_refused(void **unused)
{
    (void)unused;
    kl_stream *stream;
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    klift_status status = kl_stream_open("-", &stream);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    assert_int_equal(status, KLIFT_IO);
    assert_null(stream);
    assert_non_null(strstr(kl_error_text(), "standard input: cannot read: Bad file descriptor"));
}

/* A pipe takes the place of an empty file, to the very time of its last change. */
static void a_file_that_became_a_pipe_is_not_rewound(void **unused)
{
    (void)unused;
    kl_stream *stream;
    struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 5}};
    write_file(at("was-empty"), "");
    assert_int_equal(utimensat(AT_FDCWD, at("was-empty"), times, 0), 0);
    int file = open(at("was-empty"), O_RDONLY);
    assert_int_equal(mkfifo(at("now-a-pipe"), 0600), 0);
    int fifo = open(at("now-a-pipe"), O_RDONLY | O_NONBLOCK), kept = dup(STDIN_FILENO);
    assert_int_equal(futimens(fifo, times), 0);
    dup2(file, STDIN_FILENO);
    klift_status opened = kl_stream_open_raw("-", &stream);
    dup2(fifo, STDIN_FILENO);
    klift_status status = opened == KLIFT_OK ? kl_stream_rewind(stream) : KLIFT_OK;
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    close(file);
    close(fifo);
    assert_int_equal(status, KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "standard input: cannot rewind: "));
    kl_stream_close(stream);
}

static void tick(int number)
{
    (void)number;
}

static void *write_late(void *path)
{
    struct timespec left = {.tv_nsec = 60000000};
    while (nanosleep(&left, &left) != 0)
        ;
    return write_slowly(path);
}

/* The pipe has no writer at first and is empty then: both calls are interrupted every few milliseconds. */
static void signals_do_not_disturb_opening_and_reading(void **unused)
{
    (void)unused;
    struct sigaction interrupt = {.sa_handler = tick}, old;
    struct itimerval often = {{0, 4000}, {0, 4000}}, never = {{0, 0}, {0, 0}};
    kl_stream *stream;
    char path[512], copy[200];
    int64_t got = 0;
    sigset_t alarm;
    pthread_t writer;
    strcpy(path, at("late"));
    assert_int_equal(mkfifo(path, 0600), 0);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* inherited by the writer: the reader is to be interrupted */
    assert_int_equal(pthread_create(&writer, NULL, write_late, path), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    sigaction(SIGALRM, &interrupt, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    klift_status status = kl_stream_open(path, &stream);
    if (status == KLIFT_OK)
        status = kl_stream_read(stream, copy, 200, &got);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    pthread_join(writer, NULL);
    assert_int_equal(status, KLIFT_OK);
    assert_int_equal(got, 150);
    kl_stream_close(stream);
}

/* What is left, in the plain file, in each compressed one, and in one whose checksum is wrong. */
static void finishing_tells_what_is_left_and_reads_it_when_compressed(void **unused)
{
    (void)unused;
    char *text = text_of(20000), byte;
    for (int c = -1; c < 0 || pack_codecs[c] != NULL; c++) {
        size_t packed = 20000;
        unsigned char *bytes = c < 0 ? (unsigned char *)text : pack(pack_codecs[c], text, 20000, &packed);
        for (int damaged = 0; bytes != NULL && damaged < (c < 0 ? 1 : 2); damaged++) {
            kl_stream *stream;
            int64_t got;
            bool more;
            bytes[packed - 4] = (unsigned char)(bytes[packed - 4] ^ damaged);
            pack_write(at("rest"), bytes, packed);
            klift_status status = kl_stream_open(at("rest"), &stream); /* a library may see the damage before it gives a byte */
            if (status == KLIFT_OK)
                status = kl_stream_read(stream, &byte, 1, &got);
            if (status == KLIFT_OK) {
                status = kl_stream_finish(stream, &more);
                assert_true(more);
            }
            assert_int_equal(status, damaged ? KLIFT_DATA : KLIFT_OK);
            if (c >= 0 && !damaged) {
                assert_int_equal(kl_stream_finish(stream, &more), KLIFT_OK);
                assert_false(more);
            }
            kl_stream_close(stream);
        }
        if (c >= 0)
            free(bytes);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_pieces_of_any_size),
        cmocka_unit_test(refuses_directories_and_missing_files),
        cmocka_unit_test(an_empty_file_has_no_bytes),
        cmocka_unit_test(rewinds_to_the_same_bytes),
        cmocka_unit_test(notices_that_a_file_changed),
        cmocka_unit_test(a_file_replaced_by_another_is_still_the_old_one),
        cmocka_unit_test(a_slow_pipe_is_read_to_its_end_and_only_once),
        cmocka_unit_test(standard_input_is_read_from_where_it_stands_and_left_open),
        cmocka_unit_test(a_non_blocking_pipe_is_waited_for),
        cmocka_unit_test(a_descriptor_that_someone_closed_is_an_error),
        cmocka_unit_test(standard_input_that_is_closed_is_refused),
        cmocka_unit_test(a_file_that_became_a_pipe_is_not_rewound),
        cmocka_unit_test(signals_do_not_disturb_opening_and_reading),
        cmocka_unit_test(finishing_tells_what_is_left_and_reads_it_when_compressed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
