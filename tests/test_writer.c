/* test_writer.c - atomic files, and rows that come back as they were written. */
#define _XOPEN_SOURCE 700 /* setreuid */
#include "base/memory.h"
#include "data/writer.h"

#include <dirent.h>
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

static char folder[64];

/* Path of a file in the folder; the last four stay valid. */
static const char *at(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int count_files(bool and_remove)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.') {
            count++;
            if (and_remove)
                unlink(at(entry->d_name));
        }
    closedir(dir);
    return count;
}

static int make_folder(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/klift-writer-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int empty_folder(void **unused)
{
    (void)unused;
    count_files(true);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    return rmdir(folder);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char *text_of(const char *path)
{
    static char text[100000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static klift_status save(const char *from, const char *read_options, const char *to, const char *options)
{
    kl_reader *reader;
    assert_int_equal(kl_reader_open(from, read_options, &reader), KLIFT_OK);
    klift_status status = kl_writer_save(reader, to, options, NULL);
    kl_reader_free(reader);
    return status;
}

/* ---- files ---- */

static void a_file_appears_when_it_is_finished(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create(at("f"), &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "hello", 5), KLIFT_OK);
    assert_int_equal(access(at("f"), F_OK), -1);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_string_equal(text_of(at("f")), "hello");
    assert_int_equal(count_files(false), 1);
}

static void an_abandoned_file_leaves_the_old_one(void **unused)
{
    (void)unused;
    kl_file *file;
    write_text(at("f"), "old");
    assert_int_equal(kl_file_create(at("f"), &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "new", 3), KLIFT_OK);
    assert_int_equal(count_files(false), 2);
    kl_file_abandon(file);
    assert_string_equal(text_of(at("f")), "old");
    assert_int_equal(count_files(false), 1);
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
    assert_int_equal(kl_file_create(at("f"), &file), KLIFT_OK);
    for (int done = 0, part = 1; done < SIZE; done += part, part = part * 3 < SIZE - done ? part * 3 : SIZE - done)
        assert_int_equal(kl_file_write(file, bytes + done, part), KLIFT_OK);
    assert_int_equal(kl_file_patch(file, 2, "XY", 2), KLIFT_OK);
    memcpy(bytes + 2, "XY", 2);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    bytes[SIZE] = '\0';
    assert_string_equal(text_of(at("f")), bytes);
    free(bytes);
}

static void a_link_stays_a_link_and_the_mode_stays(void **unused)
{
    (void)unused;
    kl_file *file;
    struct stat info;
    write_text(at("real"), "old");
    assert_int_equal(chmod(at("real"), 0640), 0);
    assert_int_equal(symlink("real", at("link")), 0);
    assert_int_equal(kl_file_create(at("link"), &file), KLIFT_OK);
    assert_int_equal(kl_file_write(file, "new", 3), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_int_equal(lstat(at("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_string_equal(text_of(at("real")), "new");
    assert_int_equal(stat(at("real"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(symlink("nothing", at("dangling")), 0);
    assert_int_equal(kl_file_create(at("dangling"), &file), KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "symbolic link"));
}

static void refuses_directories_and_missing_folders(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create(folder, &file), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "is a directory"));
    assert_int_equal(kl_file_create(at("no/f"), &file), KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "No such file"));
    assert_non_null(strstr(kl_error_text(), at("no/f")));
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
    write_text(at("f"), "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){100000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN); /* what a program that wants the error must do */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    assert_int_equal(kl_file_create(at("f"), &file), KLIFT_OK);
    for (int i = 0; i < 100 && status == KLIFT_OK; i++)
        status = kl_file_write(file, bytes, sizeof bytes);
    kl_file_abandon(file);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "File too large"));
    assert_string_equal(text_of(at("f")), "old");
    assert_int_equal(count_files(false), 1);
}

static void refuses_a_file_as_a_folder_and_a_socket(void **unused)
{
    (void)unused;
    kl_file *file;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    write_text(at("f"), "old");
    assert_int_equal(kl_file_create(at("f/g"), &file), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "f/g: cannot write: Not a directory"));
    snprintf(name.sun_path, sizeof name.sun_path, "%s", at("s"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(kl_file_create(at("s"), &file), KLIFT_IO);
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
    write_text(at("f"), "old");
    assert_int_equal(chmod(at("f"), 0400), 0);
    if (root && setreuid(65534, (uid_t)-1) != 0)
        skip();
    klift_status status = kl_file_create(at("f"), &file);
    if (root)
        assert_int_equal(setreuid(0, (uid_t)-1), 0);
    assert_int_equal(status, KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "f: cannot write: Permission denied"));
    assert_int_equal(count_files(false), 1);
}

static void names_of_temporary_files_that_are_taken_are_passed_over(void **unused)
{
    (void)unused;
    enum { TAKEN = 1000 };
    char name[64];
    kl_file *file;
    for (int i = 0; i < TAKEN; i++) {
        snprintf(name, sizeof name, "f.tmp%ld.%d", (long)getpid(), i);
        write_text(at(name), "");
    }
    assert_int_equal(kl_file_create(at("f"), &file), KLIFT_IO);
    assert_null(file);
    assert_non_null(strstr(kl_error_text(), "f: cannot create a temporary file beside it: File exists"));
    assert_int_equal(unlink(at(name)), 0); /* the last one is tried too */
    assert_int_equal(kl_file_create(at("f"), &file), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_int_equal(count_files(false), TAKEN);
}

static void a_name_without_a_folder_is_in_the_present_one(void **unused)
{
    (void)unused;
    kl_file *file;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(folder), 0);
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
    assert_string_equal(text_of(at("alone")), "x");
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
    write_text(at("f"), "old");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kl_file *file;
        int fd = next_descriptor();
        assert_int_equal(kl_file_create(cases[i].device ? "/dev/null" : at("f"), &file), KLIFT_OK);
        assert_int_equal(kl_file_write(file, "new", cases[i].count), KLIFT_OK);
        assert_int_equal(close(fd), 0);
        assert_int_equal(kl_file_finish(file), KLIFT_IO);
        assert_non_null(strstr(kl_error_text(), cases[i].word));
        assert_string_equal(text_of(at("f")), "old");
        assert_int_equal(count_files(false), 1);
    }
}

static void a_target_that_became_a_directory_is_not_replaced(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create(at("f"), &file), KLIFT_OK);
    assert_int_equal(mkdir(at("f"), 0700), 0);
    assert_int_equal(kl_file_finish(file), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "f: cannot replace: Is a directory"));
    assert_int_equal(count_files(false), 1);
    assert_int_equal(rmdir(at("f")), 0);
}

static void a_device_can_be_patched_and_a_pipe_cannot(void **unused)
{
    (void)unused;
    kl_file *file;
    assert_int_equal(kl_file_create("/dev/null", &file), KLIFT_OK);
    assert_int_equal(kl_file_patch(file, 0, "x", 1), KLIFT_OK);
    assert_int_equal(kl_file_finish(file), KLIFT_OK);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    int fd = open(at("fifo"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(kl_file_create(at("fifo"), &file), KLIFT_OK);
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
    drain d = {.path = at("fifo")};
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
        if (kl_file_create(at("shared"), &file) != KLIFT_OK)
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
    /* at() turns one buffer per call, so the writers are separate processes */
    enum { WRITERS = 8 };
    pid_t children[WRITERS];
    write_text(at("shared"), "x");
    for (int w = 0; w < WRITERS; w++)
        if ((children[w] = fork()) == 0) {
            char letter = (char)('a' + w);
            _exit(write_whole_file(&letter) == NULL ? 0 : 1);
        }
    for (int look = 0; look < 200; look++) {
        const char *text = text_of(at("shared"));
        size_t length = strlen(text);
        assert_true(length == 1 || length == 80000);
        assert_int_equal(strspn(text, (char[]){text[0], '\0'}), length);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_files(false), 1);
}

/* ---- svmlight ---- */

static void svmlight_rows_come_back(void **unused)
{
    (void)unused;
    static const char text[] = "1 1:0.5 3:-2 10:1e-7\n-1.5\n0 2:255 4:3.4028235e38 5:16777216 6:0.1 7:-999999 8:1000000\n";
    write_text(at("a.svm"), text);
    assert_int_equal(save(at("a.svm"), NULL, at("b.svm"), NULL), KLIFT_OK);
    assert_string_equal(text_of(at("b.svm")), text);
    assert_int_equal(save(at("b.svm"), "no-label=true", at("c.svm"), "format=svmlight"), KLIFT_OK);
    assert_string_equal(text_of(at("c.svm")), "0 1:0.5 3:-2 10:1e-7\n0\n0 2:255 4:3.4028235e38 5:16777216 6:0.1 7:-999999 8:1000000\n");
    write_text(at("t.svm"), "cat 1:1\ndog 2:1\n");
    assert_int_equal(save(at("t.svm"), "label-type=text", at("u.svm"), NULL), KLIFT_OK);
    assert_string_equal(text_of(at("u.svm")), "cat 1:1\ndog 2:1\n");
}

static void svmlight_writes_dense_rows_without_zeros(void **unused)
{
    (void)unused;
    kl_reader *reader;
    const float dense[] = {0, 1.5f, 9, 2, 0, 9};
    kl_batch rows = {.size = sizeof rows, .rows = 2, .columns = 2, .dense = dense, .stride = 3};
    assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, at("d"), NULL, NULL), KLIFT_OK);
    assert_string_equal(text_of(at("d")), "0 2:1.5\n0 1:2\n");
    kl_reader_free(reader);
}

static void svmlight_refuses_labels_it_cannot_hold(void **unused)
{
    (void)unused;
    static const char *const names[] = {"New York", "", "a#b", "1:2", "tab\t"};
    const float dense[] = {1, 1};
    const double target[] = {1, 2};
    kl_reader *reader;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *label[] = {"fine", names[i]};
        kl_batch rows = {.size = sizeof rows, .rows = 2, .columns = 1, .dense = dense, .stride = 1, .label = label};
        assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
        assert_int_equal(kl_writer_save(reader, at("x"), NULL, NULL), KLIFT_DATA);
        assert_non_null(strstr(kl_error_text(), "row 2"));
        kl_reader_free(reader);
    }
    kl_batch rows = {.size = sizeof rows, .rows = 1, .columns = 2, .dense = dense, .stride = 2, .target = target, .targets = 2};
    assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, at("x"), NULL, NULL), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "format=npy"));
    kl_reader_free(reader);
    assert_int_equal(count_files(false), 0);
}

static void a_bad_row_leaves_the_old_file(void **unused)
{
    (void)unused;
    write_text(at("bad.svm"), "1 1:1\n1 1:x\n");
    write_text(at("out.svm"), "old");
    assert_int_equal(save(at("bad.svm"), NULL, at("out.svm"), NULL), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "bad.svm:2:5"));
    assert_string_equal(text_of(at("out.svm")), "old");
    assert_int_equal(count_files(false), 2);
}

static void a_file_may_be_written_over_itself(void **unused)
{
    (void)unused;
    write_text(at("same.svm"), "1 1:1.0 2:0\n");
    assert_int_equal(save(at("same.svm"), NULL, at("same.svm"), NULL), KLIFT_OK);
    assert_string_equal(text_of(at("same.svm")), "1 1:1\n");
}

static void standard_output_takes_svmlight_only(void **unused)
{
    (void)unused;
    write_text(at("a.svm"), "1 1:1\n");
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), fd = open(at("out"), O_WRONLY | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    klift_status text = save(at("a.svm"), NULL, "-", NULL), npy = save(at("a.svm"), NULL, "-", "format=npy");
    kl_file *file;
    klift_status patch = kl_file_create("-", &file);
    if (patch == KLIFT_OK)
        patch = kl_file_patch(file, 0, "x", 1);
    kl_file_abandon(file);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(fd);
    assert_int_equal(text, KLIFT_OK);
    assert_int_equal(npy, KLIFT_USAGE);
    assert_int_equal(patch, KLIFT_USAGE);
    assert_string_equal(text_of(at("out")), "1 1:1\n");
}

/* ---- NPY ---- */

static void expect_array(const char *options, int64_t rows, int64_t columns, const float *dense, const double *target, int64_t targets)
{
    kl_reader *reader;
    kl_batch batch;
    if (kl_reader_open(at("x.npy"), options, &reader) != KLIFT_OK)
        fail_msg("%s", kl_error_text());
    assert_string_equal(reader->type->name, "npy");
    assert_int_equal(kl_reader_next(reader, 1000, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, rows);
    assert_int_equal(batch.columns, columns);
    if (rows > 0)
        assert_memory_equal(batch.dense, dense, (size_t)(rows * columns) * sizeof *dense);
    if (targets > 0 && rows > 0) {
        assert_int_equal(batch.targets, targets);
        assert_memory_equal(batch.target, target, (size_t)(rows * targets) * sizeof *target);
    }
    kl_reader_free(reader);
}

static void npy_rows_and_labels_come_back(void **unused)
{
    (void)unused;
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", at("y.npy"));
    write_text(at("a.svm"), "1 1:0.5\n-2 3:4\n3.25\n");
    const float dense[] = {0.5f, 0, 0, 0, 0, 4, 0, 0, 0};
    const double target[] = {1, -2, 3.25};
    assert_int_equal(save(at("a.svm"), NULL, at("x.npy"), labels), KLIFT_OK);
    expect_array(labels, 3, 3, dense, target, 1);
    struct stat info;
    assert_int_equal(stat(at("x.npy"), &info), 0);
    assert_int_equal(info.st_size, 128 + 36);
    /* and back to text */
    assert_int_equal(save(at("x.npy"), labels, at("b.svm"), NULL), KLIFT_OK);
    assert_string_equal(text_of(at("b.svm")), "1 1:0.5\n-2 3:4\n3.25\n");
}

static void npy_keeps_many_targets_and_text_labels(void **unused)
{
    (void)unused;
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", at("y.npy"));
    kl_reader *reader;
    const float dense[] = {1, 2, 3, 4};
    const double target[] = {1, 2, 3, 4, 5, 6};
    kl_batch rows = {.size = sizeof rows, .rows = 2, .columns = 2, .dense = dense, .stride = 2, .target = target, .targets = 3};
    assert_int_equal(kl_reader_view(&rows, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, at("x.npy"), labels, NULL), KLIFT_OK);
    kl_reader_free(reader);
    expect_array(labels, 2, 2, dense, target, 3);

    const char *names[] = {"New York", "\xc3\xa4"};
    kl_batch text = {.size = sizeof text, .rows = 2, .columns = 2, .dense = dense, .stride = 2, .label = names}, batch;
    assert_int_equal(kl_reader_view(&text, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, at("x.npy"), labels, NULL), KLIFT_OK);
    kl_reader_free(reader);
    assert_int_equal(kl_reader_open(at("x.npy"), labels, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 9, &batch), KLIFT_OK);
    assert_string_equal(batch.label[0], "New York");
    assert_string_equal(batch.label[1], "\xc3\xa4");
    kl_reader_free(reader);
}

static void npy_finds_the_width_of_sparse_rows_first(void **unused)
{
    (void)unused;
    /* the widest row and the longest label come long after the first batch */
    kl_text text = {0};
    for (int i = 0; i < 9999; i++)
        kl_text_add(&text, "a 1:1\n");
    kl_text_add(&text, "longer 7:2\n");
    write_text(at("a.svm"), text.text);
    kl_text_clear(&text);
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", at("y.npy"));
    assert_int_equal(save(at("a.svm"), "label-type=text", at("x.npy"), labels), KLIFT_OK);
    kl_reader *reader;
    kl_batch batch;
    assert_int_equal(kl_reader_open(at("x.npy"), labels, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 20000, &batch), KLIFT_OK);
    assert_int_equal(batch.rows, 10000);
    assert_int_equal(batch.columns, 7);
    assert_true(batch.dense[9999 * 7 + 6] == 2);
    assert_string_equal(batch.label[9999], "longer");
    kl_reader_free(reader);
}

static void no_rows_make_a_valid_file(void **unused)
{
    (void)unused;
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", at("y.npy"));
    write_text(at("none.svm"), "# nothing\n");
    assert_int_equal(save(at("none.svm"), NULL, at("b.svm"), NULL), KLIFT_OK);
    assert_string_equal(text_of(at("b.svm")), "");
    assert_int_equal(save(at("none.svm"), NULL, at("x.npy"), labels), KLIFT_OK);
    expect_array(labels, 0, 1, NULL, NULL, 1);
    assert_int_equal(save(at("none.svm"), "dim=4", at("x.npy"), NULL), KLIFT_OK);
    expect_array(NULL, 0, 4, NULL, NULL, 0);
    write_text(at("labels-only.svm"), "1\n2\n");
    assert_int_equal(save(at("labels-only.svm"), NULL, at("x.npy"), NULL), KLIFT_OK);
    const float zeros[] = {0, 0};
    expect_array(NULL, 2, 1, zeros, NULL, 0);
}

static void npy_needs_a_file_and_labels_to_write(void **unused)
{
    (void)unused;
    char same[600], other[600];
    snprintf(same, sizeof same, "labels=\"%s\"", at("x.npy"));
    snprintf(other, sizeof other, "labels=\"%s\"", at("y.npy"));
    write_text(at("a.svm"), "1 1:1\n");
    assert_int_equal(save(at("a.svm"), NULL, at("x.npy"), same), KLIFT_USAGE);
    assert_int_equal(save(at("a.svm"), NULL, at("x.npy"), "labels=\"-\""), KLIFT_USAGE);
    assert_int_equal(save(at("a.svm"), "no-label=true", at("x.npy"), other), KLIFT_USAGE);
    assert_int_equal(save(at("a.svm"), NULL, at("x.svm"), other), KLIFT_USAGE);
    assert_int_equal(save(at("a.svm"), NULL, at("x.svm"), "format=csv"), KLIFT_USAGE);
    assert_int_equal(save(at("a.svm"), NULL, at("x.svm"), "dim=3"), KLIFT_USAGE);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(save(at("a.svm"), NULL, "/dev/full", "format=npy"), KLIFT_IO);
    assert_int_equal(count_files(false), 1);
}

static int stop_at_once(const klift_event *event, void *user)
{
    (void)event;
    (void)user;
    return 1;
}

static void a_cancelled_save_leaves_nothing(void **unused)
{
    (void)unused;
    kl_reader *reader;
    klift_run *run;
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    klift_run_on_event(run, stop_at_once, NULL);
    write_text(at("a.svm"), "1 1:1\n");
    assert_int_equal(kl_reader_open(at("a.svm"), NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, at("b.svm"), NULL, run), KLIFT_CANCELLED);
    assert_int_equal(kl_writer_save(reader, at("b.npy"), NULL, run), KLIFT_CANCELLED);
    assert_int_equal(count_files(false), 1);
    kl_reader_free(reader);
    klift_run_free(run);
}

/* ---- faults in the middle ---- */

/* Every write of a row is the one that fills the buffer, as the first label moves them all. */
static void a_device_that_is_full_stops_the_rows_wherever_they_are(void **unused)
{
    (void)unused;
    if (access("/dev/full", W_OK) != 0)
        skip();
    for (int shift = 0; shift < 8; shift++) {
        FILE *file = fopen(at("a.svm"), "w");
        assert_non_null(file);
        fprintf(file, "%.*s 1:1\n", shift + 1, "abcdefgh");
        for (int i = 0; i < 12000; i++)
            fputs("ab 1:1\n", file);
        fclose(file);
        assert_int_equal(save(at("a.svm"), "label-type=text", "/dev/full", NULL), KLIFT_IO);
        assert_non_null(strstr(kl_error_text(), "/dev/full: cannot write: No space"));
    }
    assert_int_equal(save(at("a.svm"), "label-type=text", at("no/folder"), NULL), KLIFT_IO);
    assert_int_equal(save(at("a.svm"), "label-type=text", at("no/folder.npy"), NULL), KLIFT_IO);
}

/* The file of rows or of labels reaches the limit while rows come, or with what is left in the buffer at the end. */
static void a_file_size_limit_leaves_neither_rows_nor_labels(void **unused)
{
    (void)unused;
    static const struct {
        const char *entry; /* of each row: its width */
        int rows;
    } cases[] = {{"1:1", 30000}, {"9:1", 6000}, {"1:1", 9000}, {"30:1", 560}};
    char labels[600];
    struct rlimit old, low;
    snprintf(labels, sizeof labels, "labels=\"%s\"", at("y.npy"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){66000, old.rlim_max};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = fopen(at("a.svm"), "w");
        assert_non_null(file);
        for (int row = 0; row < cases[i].rows; row++)
            fprintf(file, "1 %s\n", cases[i].entry);
        fclose(file);
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
        klift_status status = save(at("a.svm"), NULL, at("x.npy"), labels);
        setrlimit(RLIMIT_FSIZE, &old);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(status, KLIFT_IO);
        assert_non_null(strstr(kl_error_text(), "File too large"));
        assert_int_equal(count_files(false), 1);
    }
}

/* What a callback does at its n-th call. */
typedef struct trick {
    int calls, at;
    enum { STOP, GROW_INPUT, BLOCK_OUTPUT } kind;
} trick;

static int play(const klift_event *event, void *user)
{
    trick *t = user;
    (void)event;
    if (++t->calls != t->at)
        return 0;
    if (t->kind == GROW_INPUT)
        write_text(at("a.svm"), "1 1:1\n2 1:1\n3 1:1\n");
    else if (t->kind == BLOCK_OUTPUT)
        assert_int_equal(mkdir(at("x.npy"), 0700), 0);
    return t->kind == STOP;
}

static klift_status save_with(trick *t)
{
    kl_reader *reader;
    klift_run *run;
    t->calls = 0;
    write_text(at("a.svm"), "1 1:1\n2 2:1\n");
    assert_int_equal(klift_run_new(&run), KLIFT_OK);
    assert_int_equal(klift_run_set(run, "batch", "1"), KLIFT_OK);
    klift_run_on_event(run, play, t);
    assert_int_equal(kl_reader_open(at("a.svm"), NULL, &reader), KLIFT_OK);
    klift_status status = kl_writer_save(reader, at("x.npy"), NULL, run);
    kl_reader_free(reader);
    klift_run_free(run);
    return status;
}

static void what_happens_between_batches_leaves_nothing(void **unused)
{
    (void)unused;
    trick stop = {.kind = STOP, .at = -1}, grow = {.kind = GROW_INPUT}, block = {.kind = BLOCK_OUTPUT};
    assert_int_equal(save_with(&stop), KLIFT_OK);
    int calls = stop.calls;
    assert_true(calls > 3);
    assert_int_equal(unlink(at("x.npy")), 0);
    for (stop.at = 1; stop.at <= calls; stop.at++) {
        assert_int_equal(save_with(&stop), KLIFT_CANCELLED);
        assert_int_equal(count_files(false), 1);
    }
    grow.at = 2; /* while the widths are looked for */
    assert_int_equal(save_with(&grow), KLIFT_DATA);
    assert_non_null(strstr(kl_error_text(), "changed while it was read"));
    assert_int_equal(count_files(false), 1);
    block.at = calls;
    assert_int_equal(save_with(&block), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "x.npy: cannot replace"));
    assert_int_equal(rmdir(at("x.npy")), 0);
    assert_int_equal(count_files(false), 1);
}

/* Batches that do not know of one another. */
typedef struct sequence {
    const kl_batch *batch;
    int64_t count, at;
} sequence;

static klift_status next_of(void *user, klift_batch *batch)
{
    sequence *s = user;
    if (s->at < s->count)
        *batch = s->batch[s->at++];
    return KLIFT_OK;
}

static klift_status save_batches(const kl_batch *first, const kl_batch *second, const char *options)
{
    const kl_batch both[] = {*first, *second};
    sequence s = {both, 2, 0};
    klift_source source = {.size = sizeof source, .user = &s, .next = next_of};
    kl_reader *reader;
    assert_int_equal(kl_reader_from(&source, &reader), KLIFT_OK);
    klift_status status = kl_writer_save(reader, at("x.npy"), options, NULL);
    kl_reader_free(reader);
    return status;
}

static void npy_refuses_rows_that_are_otherwise_than_the_first(void **unused)
{
    (void)unused;
    static const float dense[] = {1, 2};
    static const double target[] = {1, 2};
    static const char *const cat[] = {"cat"};
    static const char seventy[] = "x0123456789012345678901234567890123456789012345678901234567890123456789";
    const char *long_name[] = {seventy + 1}, *longer[] = {seventy};
    const kl_batch plain = {.size = sizeof plain, .rows = 1, .columns = 1, .dense = dense, .stride = 1, .target = target, .targets = 1};
    kl_batch wide = plain, two = plain, named = plain, large = plain, larger = plain;
    wide.columns = wide.stride = 2;
    two.targets = 2;
    named.target = large.target = larger.target = NULL;
    named.targets = large.targets = larger.targets = 0;
    named.label = cat;
    large.label = long_name;
    larger.label = longer;
    const struct {
        const kl_batch *first, *second;
        const char *word;
    } bad[] = {{&plain, &wide, "have 2 columns, those before 1; open the data with dim=2"},
               {&plain, &two, "rows behind row 1 have another number of labels"},
               {&plain, &named, "rows behind row 1 are labelled otherwise"},
               {&named, &plain, "rows behind row 1 are labelled otherwise"},
               {&named, &large, "row 2: label '0123456789012345678901234567890123456789' is longer than the 64 bytes"},
               {&large, &larger, "is longer than the 70 bytes"}};
    char labels[600];
    snprintf(labels, sizeof labels, "labels=\"%s\"", at("y.npy"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        klift_status status = save_batches(bad[i].first, bad[i].second, labels);
        if (status != KLIFT_DATA || strstr(kl_error_text(), bad[i].word) == NULL)
            fail_msg("%zu: status %d: %s", i, status, kl_error_text());
        assert_int_equal(count_files(false), 0);
    }
    assert_int_equal(save_batches(&plain, &plain, labels), KLIFT_OK);
    assert_int_equal(save_batches(&plain, &two, NULL), KLIFT_OK); /* labels that are not written need not agree */
}

static void npy_takes_the_rows_that_are_left_and_a_given_width(void **unused)
{
    (void)unused;
    kl_reader *reader;
    kl_batch batch;
    const float left[] = {0, 2, 3, 0}, padded[] = {1, 0, 0, 0, 2, 0, 3, 0, 0};
    write_text(at("a.svm"), "1 1:1\n2 2:2\n3 1:3\n");
    assert_int_equal(kl_reader_open(at("a.svm"), NULL, &reader), KLIFT_OK);
    assert_int_equal(kl_reader_next(reader, 1, &batch), KLIFT_OK);
    assert_int_equal(kl_writer_save(reader, at("x.npy"), NULL, NULL), KLIFT_OK);
    kl_reader_free(reader);
    expect_array(NULL, 2, 2, left, NULL, 0);
    assert_int_equal(save(at("a.svm"), "dim=3", at("x.npy"), NULL), KLIFT_OK);
    expect_array(NULL, 3, 3, padded, NULL, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, empty_folder)

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
        TEST(svmlight_rows_come_back),
        TEST(svmlight_writes_dense_rows_without_zeros),
        TEST(svmlight_refuses_labels_it_cannot_hold),
        TEST(a_bad_row_leaves_the_old_file),
        TEST(a_file_may_be_written_over_itself),
        TEST(standard_output_takes_svmlight_only),
        TEST(npy_rows_and_labels_come_back),
        TEST(npy_keeps_many_targets_and_text_labels),
        TEST(npy_finds_the_width_of_sparse_rows_first),
        TEST(no_rows_make_a_valid_file),
        TEST(npy_needs_a_file_and_labels_to_write),
        TEST(a_cancelled_save_leaves_nothing),
        TEST(a_device_that_is_full_stops_the_rows_wherever_they_are),
        TEST(a_file_size_limit_leaves_neither_rows_nor_labels),
        TEST(what_happens_between_batches_leaves_nothing),
        TEST(npy_refuses_rows_that_are_otherwise_than_the_first),
        TEST(npy_takes_the_rows_that_are_left_and_a_given_width),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
