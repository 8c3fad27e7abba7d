/* test_npz.c - NPZ archives: stored, deflated, zip64, which arrays are taken, and archives that lie. */
#include "data/reader.h"
#include "pack.h"
#include "support.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *path;

static int name_file(void **unused)
{
    (void)unused;
    size_t packed;
    unsigned char *bytes = pack_deflate("", 0, &packed);
    path = temp_path("a.npz");
    free(bytes);
    if (bytes == NULL)
        puts("skipped: built without zlib");
    return bytes == NULL;
}

typedef struct member {
    const char *name, *dict; /* dict NULL: data alone */
    const void *data;
    size_t count;
    bool deflate, zip64, encrypted;
    int method;              /* instead of the right one, when not 0 */
    int64_t lie_size, lie_packed, lie_header; /* added to the truth in the directory */
    uint32_t lie_crc;
} member;

typedef struct archive {
    unsigned char bytes[70000], directory[5000];
    size_t used, directory_used;
    int entries;
    bool zip64;
} archive;

static void put(unsigned char *out, size_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[(*at)++] = (unsigned char)(i < 8 ? value >> (8 * i) : 0);
}

static size_t make_npy(char *out, const char *dict, const void *data, size_t count)
{
    size_t length = strlen(dict) + 1;
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (char)(length & 255);
    out[9] = (char)(length >> 8);
    memcpy(out + 10, dict, length - 1);
    out[9 + length] = '\n';
    memcpy(out + 10 + length, data, count);
    return 10 + length + count;
}

static void add_entry(archive *a, const member *m, uint32_t crc, uint64_t packed, uint64_t size, uint64_t header)
{
    unsigned char *d = a->directory;
    size_t *at = &a->directory_used, name = strlen(m->name);
    memcpy(d + *at, "PK\1\2\x2d\0\x2d\0", 8);
    *at += 8;
    put(d, at, m->encrypted, 2);
    put(d, at, (uint64_t)(m->method != 0 ? m->method : m->deflate ? 8 : 0), 2);
    put(d, at, 0, 4);
    put(d, at, crc ^ m->lie_crc, 4);
    put(d, at, m->zip64 ? UINT32_MAX : packed + (uint64_t)m->lie_packed, 4);
    put(d, at, m->zip64 ? UINT32_MAX : size + (uint64_t)m->lie_size, 4);
    put(d, at, name, 2);
    put(d, at, m->zip64 ? 28 + 5 : 0, 2);
    put(d, at, 0, 2 + 2 + 2 + 4);
    put(d, at, m->zip64 ? UINT32_MAX : header + (uint64_t)m->lie_header, 4);
    memcpy(d + *at, m->name, name);
    *at += name;
    if (m->zip64) { /* behind another extra field */
        put(d, at, 0x7777, 2);
        put(d, at, 1, 2);
        put(d, at, 'x', 1);
        put(d, at, 1, 2);
        put(d, at, 24, 2);
        put(d, at, size + (uint64_t)m->lie_size, 8);
        put(d, at, packed + (uint64_t)m->lie_packed, 8);
        put(d, at, header + (uint64_t)m->lie_header, 8);
    }
    a->entries++;
}

static void add_member(archive *a, const member *m)
{
    char plain[20000];
    size_t count = m->dict != NULL ? make_npy(plain, m->dict, m->data, m->count) : m->count, packed = count, name = strlen(m->name);
    if (m->dict == NULL)
        memcpy(plain, m->data, m->count);
    unsigned char *deflated = m->deflate ? pack_deflate(plain, count, &packed) : NULL;
    uint32_t crc = pack_crc32((unsigned char *)plain, count);
    size_t header = a->used, *at = &a->used;
    memcpy(a->bytes + *at, "PK\3\4\x2d\0\0\0", 8);
    *at += 8;
    put(a->bytes, at, (uint64_t)(m->method != 0 ? m->method : m->deflate ? 8 : 0), 2);
    put(a->bytes, at, 0, 4 + 4 + 4 + 4); /* the directory has the sizes, as behind a data descriptor */
    put(a->bytes, at, name, 2);
    put(a->bytes, at, 3, 2);
    memcpy(a->bytes + *at, m->name, name);
    memcpy(a->bytes + *at + name, "abc", 3);
    *at += name + 3;
    memcpy(a->bytes + *at, deflated != NULL ? deflated : (unsigned char *)plain, packed);
    *at += packed;
    free(deflated);
    add_entry(a, m, crc, packed, count, header);
}

static void finish(archive *a, const char *comment)
{
    size_t directory = a->used, *at = &a->used;
    memcpy(a->bytes + *at, a->directory, a->directory_used);
    *at += a->directory_used;
    if (a->zip64) {
        size_t end = *at;
        memcpy(a->bytes + *at, "PK\6\6", 4);
        *at += 4;
        put(a->bytes, at, 44, 8);
        put(a->bytes, at, 0x2d002d, 4);
        put(a->bytes, at, 0, 8);
        put(a->bytes, at, (uint64_t)a->entries, 8);
        put(a->bytes, at, (uint64_t)a->entries, 8);
        put(a->bytes, at, a->directory_used, 8);
        put(a->bytes, at, directory, 8);
        memcpy(a->bytes + *at, "PK\6\7", 4);
        *at += 4;
        put(a->bytes, at, 0, 4);
        put(a->bytes, at, end, 8);
        put(a->bytes, at, 1, 4);
    }
    memcpy(a->bytes + *at, "PK\5\6", 4);
    *at += 4;
    put(a->bytes, at, 0, 4);
    put(a->bytes, at, a->zip64 ? UINT16_MAX : (uint64_t)a->entries, 2);
    put(a->bytes, at, a->zip64 ? UINT16_MAX : (uint64_t)a->entries, 2);
    put(a->bytes, at, a->zip64 ? UINT32_MAX : a->directory_used, 4);
    put(a->bytes, at, a->zip64 ? UINT32_MAX : directory, 4);
    put(a->bytes, at, strlen(comment), 2);
    memcpy(a->bytes + *at, comment, strlen(comment));
    *at += strlen(comment);
}

/* Members up to one without a name, to path. */
static archive *write_archive(const member *m, bool zip64, const char *comment)
{
    static archive a;
    a = (archive){.zip64 = zip64};
    for (; m->name != NULL; m++)
        add_member(&a, m);
    finish(&a, comment);
    pack_write(path, a.bytes, a.used);
    return &a;
}

#define DICT(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }"
/* the first four fields of a member */
#define OF(its_name, its_dict, its_data, its_count) .name = its_name, .dict = its_dict, .data = its_data, .count = its_count
#define X {OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6)}
#define Y {OF("y.npy", DICT("|i1", "(3,)"), "\1\xff\1", 3)}

static klift_status read_all(const char *options, int64_t *rows, double *sum, double *targets)
{
    kl_reader *reader;
    kl_batch batch;
    *rows = 0;
    *sum = *targets = 0;
    klift_status status = kl_reader_open(path, options, &reader);
    while (status == KLIFT_OK) {
        status = kl_reader_next(reader, 2, &batch);
        if (status != KLIFT_OK || batch.rows == 0)
            break;
        for (int64_t i = 0; i < batch.rows * batch.columns; i++)
            *sum += (double)batch.dense[i];
        for (int64_t i = 0; batch.target != NULL && i < batch.rows; i++)
            *targets += 10 * batch.target[i];
        *rows += batch.rows;
    }
    kl_reader_free(reader);
    return status;
}

static void expect_rows(const char *options, double expected, double expected_targets)
{
    int64_t rows;
    double sum, targets;
    klift_status status = read_all(options, &rows, &sum, &targets);
    if (status != KLIFT_OK || rows != 3 || sum != expected || targets != expected_targets)
        fail_msg("status %d, %lld rows, sum %g, targets %g: %s", status, (long long)rows, sum, targets, kl_error_text());
}

static void expect_refusal(const char *options, const char *word)
{
    int64_t rows;
    double sum, targets;
    klift_status status = read_all(options, &rows, &sum, &targets);
    if (status != KLIFT_DATA || strstr(kl_error_text(), word) == NULL || strstr(kl_error_text(), path) == NULL)
        fail_msg("expected '%s', got status %d, %lld rows: %s", word, status, (long long)rows, kl_error_text());
}

static void reads_stored_and_deflated_members_in_every_form(void **unused)
{
    (void)unused;
    for (int form = 0; form < 8; form++) {
        member all[] = {X, Y, {0}};
        for (int i = 0; i < 2; i++) {
            all[i].deflate = form & 1;
            all[i].zip64 = form & 2;
        }
        write_archive(all, form & 4, form & 1 ? "a comment PK\5\6 with a false end that is not the last thing in the file" : "");
        expect_rows(NULL, 21, 10);
        kl_reader *reader;
        kl_batch batch;
        assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_OK);
        assert_string_equal(reader->type->name, "npz");
        for (int pass = 0; pass < 3; pass++) { /* X and y have places of their own in one file */
            assert_int_equal(kl_reader_next(reader, 1 + pass, &batch), KLIFT_OK);
            assert_int_equal(batch.rows, 1 + pass);
            assert_true(batch.dense[0] == 1 && batch.target[0] == 1);
            assert_int_equal(kl_reader_rewind(reader), KLIFT_OK);
        }
        kl_reader_free(reader);
    }
}

static void chooses_arrays_by_shape_and_name(void **unused)
{
    (void)unused;
    const member two = {OF("other.npy", DICT("|u1", "(3, 1)"), "\7\7\7", 3)};
    const member flat = {OF("feat.npy", DICT("|u1", "(3, 2)"), "\2\2\2\2\2\2", 6)};
    member a[] = {Y, flat, {OF("note.txt", NULL, "hello", 5)}, {0}};
    write_archive(a, false, "");
    expect_rows(NULL, 12, 10); /* the only 2-D array */
    member b[] = {two, Y, X, {0}};
    write_archive(b, false, "");
    expect_rows(NULL, 21, 10); /* X among two */
    expect_rows("key=other", 21, 10);
    expect_rows("key=X,label-key=other", 21, 210);
    expect_rows("key=X,label-key=none", 21, 0);
    expect_rows("no-label=true", 21, 0);
    expect_rows("key=y", 1, 0); /* rows are not their own labels */
    member c[] = {{OF("arr_0.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6)}, {OF("arr_1.npy", DICT("|u1", "(3,)"), "\1\1\2", 3)}, {0}};
    write_archive(c, false, "");
    expect_rows(NULL, 21, 40);
    member d[] = {{OF("arr_0.npy", DICT("|u1", "(3,)"), "\1\2\3", 3)}, {0}};
    write_archive(d, false, "");
    expect_rows(NULL, 6, 0); /* one column, no labels */
    member e[] = {two, flat, Y, {0}};
    write_archive(e, false, "");
    expect_refusal(NULL, "say key=NAME; there are other, feat, y");
    expect_refusal("key=nothing", "no array 'nothing'; there are other, feat, y");
    expect_refusal("key=feat,label-key=nothing", "no array 'nothing'");
    member f[] = {{OF("readme.txt", NULL, "hello", 5)}, {0}};
    write_archive(f, false, "");
    expect_refusal(NULL, "no array in the zip archive");
    member none[] = {{0}};
    write_archive(none, false, "");
    expect_refusal(NULL, "no array in the zip archive");
}

static void names_are_never_paths(void **unused)
{
    (void)unused;
    member a[] = {{OF("../../etc/X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6)}, {OF("/y.npy", DICT("|u1", "(3,)"), "\1\1\2", 3)}, {0}};
    write_archive(a, false, "");
    expect_rows("key=\"../../etc/X\",label-key=\"/y\"", 21, 40);
    member b[] = {{OF("\33[2JX.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6)}, {OF("\33z.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6)}, {0}};
    write_archive(b, false, "");
    expect_refusal(NULL, "there are ?[2JX, ?z");
}

static void refuses_what_does_not_agree(void **unused)
{
    (void)unused;
    static const char zeros[12000]; /* more than opening looks at */
    static const struct {
        member m;
        const char *word;
    } bad[] = {
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_crc = 1}, "wrong CRC-32"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_crc = 1, .deflate = true}, "wrong CRC-32"},
        {{OF("X.npy", DICT("|u1", "(6000, 2)"), zeros, 12000), .lie_crc = 1}, "wrong CRC-32"},
        {{OF("X.npy", DICT("|u1", "(6000, 2)"), zeros, 12000), .lie_crc = 1, .deflate = true}, "wrong CRC-32"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .encrypted = true}, "is encrypted"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .method = 14}, "method 14"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6\7", 7)}, "its NPY header describes"}, /* more than announced */
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6\7", 7), .deflate = true}, "its NPY header describes"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5", 5)}, "truncated"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5", 5), .lie_size = 1}, "break off"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5", 5), .lie_size = 1, .deflate = true}, "the size that the directory has"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6\7", 7), .lie_size = -1, .deflate = true}, "the size that the directory has"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_packed = -1, .deflate = true}, "break off"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_packed = 1}, "longer than the file"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_packed = 1000000}, "longer than the file"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_packed = INT64_MAX - 9999, .zip64 = true}, "longer than the file"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_size = INT64_MIN, .zip64 = true}, "longer than the file"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_header = 1}, "not where the directory says"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_header = 100000}, "not where the directory says"},
        {{OF("X.npy", DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), .lie_header = INT64_MIN, .zip64 = true}, "not where the directory says"},
        {{OF("X.npy", DICT("|u1", "(64000000000000, 2)"), "\1\2\3\4\5\6", 6), .deflate = true}, "truncated"},
        {{OF("X.npy", DICT("|O", "(3, 2)"), "\1\2\3\4\5\6", 6)}, "object"},
        {{OF("X.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "1234123412341234", 16)}, "ascontiguousarray"},
        {{OF("X.npy", NULL, "hello", 5)}, "not an NPY file"},
        {{OF("X.npy", NULL, "", 0)}, "not an NPY file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        member all[] = {bad[i].m, {0}};
        write_archive(all, false, "");
        expect_refusal(NULL, bad[i].word);
    }
    member rows[] = {X, {OF("y.npy", DICT("|i1", "(2,)"), "\1\2", 2)}, {0}};
    write_archive(rows, false, "");
    expect_refusal(NULL, "has 2 labels");
    member longer[] = {X, {OF("y.npy", DICT("|i1", "(3,)"), "\1\2\3\4", 4)}, {0}};
    write_archive(longer, false, "");
    expect_refusal(NULL, "its NPY header describes");
}

/* 100 MB of zeros in 100 KB: the directory and the header agree on six bytes, or are refused before anything is unpacked. */
static void a_bomb_is_not_unpacked(void **unused)
{
    (void)unused;
    enum { SIZE = 100000000 };
    char *zeros = calloc(SIZE, 1);
    size_t head = make_npy(zeros, DICT("|u1", "(3, 2)"), "\1\2\3\4\5\6", 6), packed;
    unsigned char *bomb = pack_deflate(zeros, SIZE, &packed);
    for (int honest = 0; honest < 2; honest++) {
        unsigned char *bytes = calloc(packed + 1000, 1);
        archive *a = calloc(1, sizeof *a);
        member m = {.name = "X.npy", .deflate = true};
        size_t at = 0;
        memcpy(bytes, "PK\3\4\x2d\0\0\0\x08\0", 10);
        at = 26;
        put(bytes, &at, 5, 2);
        put(bytes, &at, 0, 2);
        memcpy(bytes + at, "X.npy", 5);
        memcpy(bytes + at + 5, bomb, packed);
        at += 5 + packed;
        add_entry(a, &m, 0, packed, honest ? SIZE : head, 0);
        size_t directory = at;
        finish(a, "");
        memcpy(bytes + at, a->bytes, a->used);
        at += a->used;
        size_t place = at - 6;
        put(bytes, &place, directory, 4);
        pack_write(path, bytes, at);
        expect_refusal(NULL, honest ? "100000000 bytes, its NPY header describes" : "the size that the directory has");
        free(a);
        free(bytes);
    }
    free(bomb);
    free(zeros);
}

static void every_truncation_is_refused(void **unused)
{
    (void)unused;
    for (int form = 0; form < 2; form++) {
        member all[] = {X, Y, {0}};
        all[0].deflate = all[1].deflate = form == 0;
        const archive *a = write_archive(all, form == 1, "");
        for (size_t cut = 0; cut < a->used; cut++) {
            pack_write(path, a->bytes, cut);
            expect_refusal("format=npz", "damaged or truncated");
        }
    }
}

/* Any changed byte is refused, or changes nothing but a name, a date or a flag that nobody reads. */
static void a_changed_byte_never_changes_the_rows(void **unused)
{
    (void)unused;
    for (int form = 0; form < 4; form++) {
        member all[] = {X, Y, {0}};
        all[0].deflate = all[1].deflate = form & 1;
        all[0].zip64 = form & 2;
        archive *a = write_archive(all, form & 2, "");
        for (size_t at = 0; at < a->used; at++)
            for (int bit = 0; bit < 8; bit += quick() ? 3 : 1) {
                int64_t rows;
                double sum, targets;
                a->bytes[at] = (unsigned char)(a->bytes[at] ^ 1u << bit);
                pack_write(path, a->bytes, a->used);
                a->bytes[at] = (unsigned char)(a->bytes[at] ^ 1u << bit);
                klift_status status = read_all("format=npz", &rows, &sum, &targets);
                bool right = rows == 3 && sum == 21 && (targets == 10 || targets == 0); /* y under another name is no label */
                if (status == KLIFT_OK && !right)
                    fail_msg("form %d: bit %d of byte %zu: %lld rows, sum %g, targets %g", form, bit, at, (long long)rows, sum, targets);
            }
    }
}

static void a_pipe_and_a_compressed_archive_are_refused_with_advice(void **unused)
{
    (void)unused;
    kl_reader *reader;
    int fd[2], kept = dup(STDIN_FILENO);
    member all[] = {X, Y, {0}};
    const archive *a = write_archive(all, false, "");
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], a->bytes, a->used), (ssize_t)a->used);
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    assert_int_equal(kl_reader_open("-", NULL, &reader), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "save it to a file first"));
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(fd[0]);
    size_t packed;
    unsigned char *bytes = pack("gzip", a->bytes, a->used, &packed);
    pack_write(path, bytes, packed);
    free(bytes);
    assert_int_equal(kl_reader_open(path, NULL, &reader), KLIFT_IO);
    assert_non_null(strstr(kl_error_text(), "save it to a file first"));
}

static void reads_what_numpy_writes(void **unused)
{
    (void)unused;
    static const char *const calls[] = {"numpy.savez(f, X=X, y=y)", "numpy.savez_compressed(f, y=y, X=X)", "numpy.savez_compressed(f, X, y)",
                                        "numpy.savez(f, data=X.astype('>i2'), target=y.astype('f8'))"};
    char command[600];
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        snprintf(command, sizeof command,
                 "/usr/bin/python3 -c \"import numpy; X = numpy.array([[1, 2], [3, 4], [5, 6]]); y = numpy.array([1, -1, 1]); f = '%s'; %s\" 2>/dev/null", path,
                 calls[i]);
        unlink(path);
        if (system(command) != 0) {
            puts("skipped: no numpy");
            return;
        }
        expect_rows(NULL, 21, 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_stored_and_deflated_members_in_every_form),
        cmocka_unit_test(chooses_arrays_by_shape_and_name),
        cmocka_unit_test(names_are_never_paths),
        cmocka_unit_test(refuses_what_does_not_agree),
        cmocka_unit_test(a_bomb_is_not_unpacked),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(a_changed_byte_never_changes_the_rows),
        cmocka_unit_test(a_pipe_and_a_compressed_archive_are_refused_with_advice),
        cmocka_unit_test(reads_what_numpy_writes),
    };
    if (name_file(NULL) != 0)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
