/* row_file.c - see row_file.h. A dense row is its values; a CSR row is its columns, then its values. */
#include "model/row_file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY = sizeof(int32_t) + sizeof(float) };

klift_status kl_row_file_open(kl_row_file *f)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/klift-features-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    f->file = mkstemp(path);
    if (f->file < 0)
        return kl_fail(KLIFT_IO, "%s: cannot make a temporary file for the features: %s; set TMPDIR to a folder with room, or allow more memory", path, strerror(errno));
    f->open = true;
    unlink(path);
    return kl_grow(&f->place, &f->place_room, 0, 1, sizeof *f->place, "places of rows");
}

static klift_status move_bytes(const kl_row_file *f, int64_t first, int64_t count, unsigned char *bytes, bool out)
{
    for (int64_t done = 0; done < count;) {
        size_t left = (size_t)(count - done);
        off_t at = (off_t)(first + done);
        ssize_t moved = out ? pwrite(f->file, bytes + done, left, at) : pread(f->file, bytes + done, left, at);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return kl_fail(KLIFT_IO, "the temporary file for the features: cannot %s it: %s; set TMPDIR to a folder with room, or allow more memory", out ? "write" : "read",
                           moved < 0 ? strerror(errno) : "it ends early");
        done += moved;
    }
    return KLIFT_OK;
}

static int64_t begin_of(const kl_row_file *f, int64_t row)
{
    return f->place[row] / 2;
}

static klift_status reserve(kl_row_file *f, int64_t rows, int64_t bytes)
{
    KL_TRY(kl_grow(&f->place, &f->place_room, f->rows + 1, f->rows + rows + 1, sizeof *f->place, "places of rows"));
    return kl_grow(&f->bytes, &f->bytes_room, 0, bytes, 1, "rows of a file");
}

static void add_place(kl_row_file *f, int64_t bytes, bool sparse)
{
    int64_t begin = begin_of(f, f->rows);
    f->place[f->rows++] = 2 * begin + sparse;
    f->place[f->rows] = 2 * (begin + bytes);
}

klift_status kl_row_file_add_lines(kl_row_file *f, const void *lines, int64_t bytes, int64_t rows)
{
    KL_TRY(reserve(f, rows, 0));
    KL_TRY(move_bytes(f, begin_of(f, f->rows), rows * bytes, (unsigned char *)lines, true)); /* it is only written from */
    for (int64_t i = 0; i < rows; i++)
        add_place(f, bytes, false);
    return KLIFT_OK;
}

klift_status kl_row_file_add(kl_row_file *f, const kl_batch *rows)
{
    if (rows->start == NULL)
        return kl_row_file_add_lines(f, rows->dense, rows->columns * (int64_t)sizeof(float), rows->rows);
    int64_t first = begin_of(f, f->rows), at = 0;
    KL_TRY(reserve(f, rows->rows, (rows->start[rows->rows] - rows->start[0]) * ENTRY));
    for (int64_t i = 0; i < rows->rows; i++) {
        int64_t from = rows->start[i], count = rows->start[i + 1] - from;
        if (count > 0) {
            memcpy(f->bytes + at, rows->column + from, (size_t)count * sizeof *rows->column);
            memcpy(f->bytes + at + count * (int64_t)sizeof *rows->column, rows->value + from, (size_t)count * sizeof *rows->value);
        }
        at += count * ENTRY;
        add_place(f, count * ENTRY, true);
    }
    return move_bytes(f, first, at, f->bytes, true);
}

klift_status kl_row_file_take(kl_row_file *f, const int32_t *index, int64_t count, kl_row *row)
{
    int64_t all = 0, at = 0;
    for (int64_t i = 0; i < count; i++)
        all += begin_of(f, index[i] + 1) - begin_of(f, index[i]);
    KL_TRY(reserve(f, 0, all + 1)); /* a row without entries is somewhere too */
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = begin_of(f, index[i]), bytes = begin_of(f, index[i] + 1) - begin, entries = bytes / ENTRY;
        unsigned char *to = f->bytes + at;
        bool sparse = f->place[index[i]] % 2 == 1;
        KL_TRY(move_bytes(f, begin, bytes, to, false));
        row[i] = (kl_row){.count = sparse ? entries : bytes / (int64_t)sizeof(float), .column = sparse ? (const int32_t *)(void *)to : NULL,
                          .value = (const float *)(void *)(to + (sparse ? entries * (int64_t)sizeof(int32_t) : 0))};
        at += bytes;
    }
    return KLIFT_OK;
}

void kl_row_file_close(kl_row_file *f)
{
    if (f->open)
        close(f->file);
    kl_free(f->place);
    kl_free(f->bytes);
    *f = (kl_row_file){0};
}
