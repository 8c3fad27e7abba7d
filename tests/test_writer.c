/* test_writer.c - atomic files, and rows that come back as they were written. */
#include "base/memory.h"
#include "data/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
