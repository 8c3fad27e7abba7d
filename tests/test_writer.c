/* test_writer.c - files that appear when they are whole, pipes that are waited for, writers that do not mix. */
#define _XOPEN_SOURCE 700 /* setreuid */
#include "base/memory.h"
#include "data/writer.h"
#include "folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- files ---- */

static void a_file_appears_when_it_is_finished(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create(folder_at("f"), &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "hello", 5), KLIFT_OK);
    assert_int_equal(access(folder_at("f"), F_OK), -1);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_string_equal(folder_text(folder_at("f")), "hello");
    assert_int_equal(folder_count(false), 1);
}

static void an_abandoned_file_leaves_the_old_one(void **unused)
{
    (void)unused;
    kl_file *file;
    folder_write(folder_at("f"), "old");
    assert_int_equal(kl_file_create(folder_at("f"), &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "new", 3), KLIFT_OK);
    assert_int_equal(folder_count(false), 2);
    kl_file_abandon(file);
    assert_string_equal(folder_text(folder_at("f")), "old");
    assert_int_equal(folder_count(false), 1);
    kl_file_abandon(NULL);
}

static void large_writes_and_patches_arrive(void **unused)
{
    (void)unused;
    enum { SIZE = 90000 };
    char *bytes = malloc(SIZE + 1);
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (char)('a' + i % 23);
    kl_file *file;
    assert_int_equal(kl_file_create(folder_at("f"), &file), KLIFT_OK);
    for (int done = 0, part = 1; done < SIZE; done += part, part = part * 3 < SIZE - done ? part * 3 : SIZE - done)
        assert_int_equal(kl_file_write(file, bytes + done, part), KLIFT_OK);
    assert_int_equal(kl_file_patch(file, 2, "XY", 2), KLIFT_OK);
    memcpy(bytes + 2, "XY", 2);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    bytes[SIZE] = '\0';
    assert_string_equal(folder_text(folder_at("f")), bytes);
    free(bytes);
}

static void a_link_stays_a_link_and_the_mode_stays(void **unused)
{
    (void)unused;
    kl_file *file;
    struct stat info;
    folder_write(folder_at("real"), "old");
    assert_int_equal(chmod(folder_at("real"), 0640), 0);
    assert_int_equal(symlink("real", folder_at("link")), 0);
    assert_int_equal(kl_file_create(folder_at("link"), &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "new", 3), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_int_equal(lstat(folder_at("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_string_equal(folder_text(folder_at("real")), "new");
    assert_int_equal(stat(folder_at("real"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(symlink("nothing", folder_at("dangling")), 0);
    assert_int_equal(kl_file_create(folder_at("dangling"), &file), KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "symbolic link"));
}

static void refuses_directories_and_missing_folders(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create(folder_path, &file), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "is a directory"));
    assert_int_equal(kl_file_create(folder_at("no/f"), &file), KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "No such file"));
    assert_non_null(strstr(kl_error_text(), folder_at("no/f")));
}

static void a_full_device_is_an_error(void **unused)
{
    (void)unused;
    kl_file *file;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(kl_file_create("/dev/full", &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "x", 1), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "/dev/full: cannot write: No space"));
    assert_int_equal(kl_file_create("/dev/null", &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "x", 1), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
}

static void a_file_size_limit_leaves_the_old_file(void **unused)
{
    (void)unused;
    kl_file *file;
    struct rlimit old, low;
    char bytes[4096] = {0};
    klift_status status = KLIFT_OK;
    folder_write(folder_at("f"), "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){100000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN); /* what a program that wants the error must do */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    assert_int_equal(kl_file_create(folder_at("f"), &file), KLIFT_OK);
    for (int i = 0; i < 100 && status == KLIFT_OK; i++)
        status = kl_file_write(file, bytes, sizeof bytes);
    kl_file_abandon(file);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "File too large"));
    assert_string_equal(folder_text(folder_at("f")), "old");
    assert_int_equal(folder_count(false), 1);
}

static void refuses_a_file_as_a_folder_and_a_socket(void **unused)
{
    (void)unused;
    kl_file *file;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    folder_write(folder_at("f"), "old");
    assert_int_equal(kl_file_create(folder_at("f/g"), &file), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "f/g: cannot write: Not a directory"));
    snprintf(name.sun_path, sizeof name.sun_path, "%s", folder_at("s"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(kl_file_create(folder_at("s"), &file), KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "s: cannot write: "));
    close(fd);
}

/* Root may write everything: the answer of access() is that of the real user. */
static void a_file_that_may_not_be_written_is_left_alone(void **unused)
{
    (void)unused;
    kl_file *file;
    bool root = getuid() == 0;
    folder_write(folder_at("f"), "old");
    assert_int_equal(chmod(folder_at("f"), 0400), 0);
    if (root && setreuid(65534, (uid_t)-1) != 0)
        skip();
    klift_status status = kl_file_create(folder_at("f"), &file);
    if (root)
        assert_int_equal(setreuid(0, (uid_t)-1), 0);
    assert_int_equal(status, KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "f: cannot write: Permission denied"));
    assert_int_equal(folder_count(false), 1);
}

static void names_of_temporary_files_that_are_taken_are_passed_over(void **unused)
{
    (void)unused;
    enum { TAKEN = 1000 };
    char name[64];
    kl_file *file;
    for (int i = 0; i < TAKEN; i++) {
        snprintf(name, sizeof name, "f.tmp%ld.%d", (long)getpid(), i);
        folder_write(folder_at(name), "");
    }
    assert_int_equal(kl_file_create(folder_at("f"), &file), KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "f: cannot create a temporary file beside it: File exists"));
    assert_int_equal(unlink(folder_at(name)), 0); /* the last one is tried too */
    assert_int_equal(kl_file_create(folder_at("f"), &file), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_int_equal(folder_count(false), TAKEN);
}

static void a_name_without_a_folder_is_in_the_present_one(void **unused)
{
    (void)unused;
    kl_file *file;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(folder_path), 0);
    klift_status status = kl_file_create("alone", &file);
    if (status == KLIFT_OK)
        status = kl_file_write(file, "", 0);
    if (status == KLIFT_OK)
        status = kl_file_write(file, "x", 1);
    if (status == KLIFT_OK)
        status = kl_file_finish(file);
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_int_equal(status, KLIFT_OK);
    assert_string_equal(folder_text(folder_at("alone")), "x");
}

/* The number that the next opened file gets. */
static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

static void a_descriptor_that_someone_closed_is_an_error(void **unused)
{
    (void)unused;
    static const struct {
        bool device;
        int64_t count; /* bytes written */
        const char *word;
    } cases[] = {{false, 0, "f: cannot sync: Bad file descriptor"},
                 {false, 3, "f: cannot write: Bad file descriptor"},
                 {true, 0, "/dev/null: cannot close: Bad file descriptor"}};
    folder_write(folder_at("f"), "old");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_file *file;
        int fd = next_descriptor();
        assert_int_equal(kl_file_create(cases[i].device ? "/dev/null" : folder_at("f"), &file), KLIFT_OK);
        assert_int_equal(kl_file_write(file, "new", cases[i].count), KLIFT_OK);
        assert_int_equal(close(fd), 0);
        assert_int_equal(kl_file_finish(file), KLIFT_IO);
        assert_non_null(strstr(kl_error_text(), cases[i].word));
        assert_string_equal(folder_text(folder_at("f")), "old");
        assert_int_equal(folder_count(false), 1);
    }
}

static void a_target_that_became_a_directory_is_not_replaced(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create(folder_at("f"), &file), KLIFT_OK);
    assert_int_equal(mkdir(folder_at("f"), 0700), 0);
    assert_int_equal(kl_file_finish(file), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "f: cannot replace: Is a directory"));
    assert_int_equal(folder_count(false), 1);
    assert_int_equal(rmdir(folder_at("f")), 0);
}

static void a_device_can_be_patched_and_a_pipe_cannot(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create("/dev/null", &file), KLIFT_OK);
    assert_int_equal(kl_file_patch(file, 0, "x", 1), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_int_equal(mkfifo(folder_at("fifo"), 0600), 0);
    int fd = open(folder_at("fifo"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(kl_file_create(folder_at("fifo"), &file), KLIFT_OK);
    assert_int_equal(kl_file_patch(file, 0, "x", 1), KLIFT_USAGE);
    assert_non_null(strstr(kl_error_text(), "fifo: cannot be written out of order"));
    kl_file_abandon(file);
    close(fd);
}

/* ---- pipes ---- */

typedef struct drain {
    const char *path; /* NULL: fd is open */
    int fd;
    int64_t count;    /* bytes that came, all of them 'x' */
} drain;

static void rest(long milliseconds)
{
    struct timespec left = {.tv_nsec = milliseconds * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

/* Begins late and reads to the end. */
static void *read_late(void *context)
{
    drain *d = context;
    char bytes[5000];
    ssize_t got;
    rest(60);
    if (d->path != NULL)
        d->fd = open(d->path, O_RDONLY);
    rest(60);
    while ((got = read(d->fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < got; i++)
            d->count += bytes[i] == 'x';
    if (d->path != NULL)
        close(d->fd);
    return NULL;
}

/* One write that is larger than any pipe. */
static klift_status write_million(const char *path)
{
    enum { MILLION = 1000000 };
    kl_file *file;
    char *bytes = malloc(MILLION);
    memset(bytes, 'x', MILLION);
    klift_status status = kl_file_create(path, &file);
    if (status == KLIFT_OK)
        status = kl_file_write(file, bytes, MILLION);
    if (status == KLIFT_OK)
        status = kl_file_finish(file);
    else
        kl_file_abandon(file);
    free(bytes);
    return status;
}

static void a_full_pipe_is_waited_for(void **unused)
{
    (void)unused;
    int fd[2], kept;
    pthread_t reader;
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
    drain d = {.fd = fd[0]};
    assert_int_equal(pthread_create(&reader, NULL, read_late, &d), 0);
    fflush(stdout);
    kept = dup(STDOUT_FILENO);
    dup2(fd[1], STDOUT_FILENO);
    close(fd[1]);
    klift_status status = write_million("-");
    dup2(kept, STDOUT_FILENO);
    close(kept);
    pthread_join(reader, NULL);
    close(fd[0]);
    assert_int_equal(status, KLIFT_OK);
    assert_int_equal(d.count, 1000000);
}

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    ticks++;
}

/* The pipe has no reader at first and is full then: both calls are interrupted every few milliseconds. */
static void signals_do_not_disturb_opening_and_writing(void **unused)
{
    (void)unused;
    struct sigaction interrupt = {.sa_handler = tick}, old;
    struct itimerval often = {{0, 4000}, {0, 4000}}, never = {{0, 0}, {0, 0}};
    sigset_t alarm;
    pthread_t reader;
    drain d = {.path = folder_at("fifo")};
    assert_int_equal(mkfifo(d.path, 0600), 0);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* inherited by the reader: the writer is to be interrupted */
    assert_int_equal(pthread_create(&reader, NULL, read_late, &d), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    sigaction(SIGALRM, &interrupt, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    klift_status status = write_million(d.path);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    pthread_join(reader, NULL);
    assert_int_equal(status, KLIFT_OK);
    assert_int_equal(d.count, 1000000);
    assert_true(ticks > 5);
}

/* ---- several writers ---- */

static void *write_whole_file(void *letter)
{
    char bytes[1000];
    memset(bytes, *(char *)letter, sizeof bytes);
    for (int round = 0; round < 20; round++) {
        kl_file *file;
        if (kl_file_create(folder_at("shared"), &file) != KLIFT_OK)
            return letter;
        for (int i = 0; i < 80; i++)
            if (kl_file_write(file, bytes, sizeof bytes) != KLIFT_OK)
                return letter;
        if (kl_file_finish(file) != KLIFT_OK)
            return letter;
    }
    return NULL;
}

static void writers_of_one_file_never_mix(void **unused)
{
    (void)unused;
    /* folder_at() turns one buffer per call, so the writers are separate processes */
    enum { WRITERS = 8 };
    pid_t children[WRITERS];
    folder_write(folder_at("shared"), "x");
    for (int w = 0; w < WRITERS; w++)
        if ((children[w] = fork()) == 0) {
            char letter = (char)('a' + w);
            _exit(write_whole_file(&letter) == NULL ? 0 : 1);
        }
    for (int look = 0; look < 200; look++) {
        const char *text = folder_text(folder_at("shared"));
        size_t length = strlen(text);
        assert_true(length == 1 || length == 80000);
        assert_int_equal(strspn(text, (char[]){text[0], '\0'}), length);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(folder_count(false), 1);
}

#define TEST(name) cmocka_unit_test_teardown(name, folder_empty)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_appears_when_it_is_finished),
        TEST(an_abandoned_file_leaves_the_old_one),
        TEST(large_writes_and_patches_arrive),
        TEST(a_link_stays_a_link_and_the_mode_stays),
        TEST(refuses_directories_and_missing_folders),
        TEST(a_full_device_is_an_error),
        TEST(a_file_size_limit_leaves_the_old_file),
        TEST(refuses_a_file_as_a_folder_and_a_socket),
        TEST(a_file_that_may_not_be_written_is_left_alone),
        TEST(names_of_temporary_files_that_are_taken_are_passed_over),
        TEST(a_name_without_a_folder_is_in_the_present_one),
        TEST(a_descriptor_that_someone_closed_is_an_error),
        TEST(a_target_that_became_a_directory_is_not_replaced),
        TEST(a_device_can_be_patched_and_a_pipe_cannot),
        TEST(a_full_pipe_is_waited_for),
        TEST(signals_do_not_disturb_opening_and_writing),
        TEST(writers_of_one_file_never_mix),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
