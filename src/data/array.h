/*
 * array.h - a typed array in a file, NPY or IDX: a header that says kind and shape, then the elements. What is read is
 * the same for both; only the headers differ (npy_header.c, idx.c). Nothing is believed before it is compared with the
 * size of the file, and buffers grow with the bytes that really came, so a header that lies about a pipe costs no memory.
 * Call order: open, { rows or text, ... , finish, rewind }, clear. The stream is borrowed.
 */
#ifndef KL_ARRAY_H
#define KL_ARRAY_H

#include "data/stream.h"

#define KL_ARRAY_LIMIT 0x1.ffffffp127 /* the smallest double that rounds to infinity as a float */
enum { KL_ARRAY_DIMS = 8 };

typedef struct kl_array {
    kl_stream *stream;
    char kind;    /* f i u b, S U: as NumPy names them */
    int64_t size; /* bytes of an element */
    bool swap;    /* elements are in the other byte order */
    bool fortran; /* more than one column, column after column */
    int dims;
    int64_t shape[KL_ARRAY_DIMS];
    int64_t rows, columns;
    int64_t data_at, at, total; /* bytes: of the header, consumed, promised */
    int64_t row;                /* the next one */
    unsigned char *raw;         /* a block of elements, or one text */
    double *wide;
} kl_array;

/* header: kl_array_npy or kl_array_idx; NULL: by the first bytes. */
klift_status kl_array_open(kl_array *array, kl_stream *stream, klift_status (*header)(kl_array *array));
bool kl_array_is_text(const kl_array *array);

/* Takes count values, the first at index (row-major, 0 is the first of these rows), the others `step` further on each. */
typedef klift_status (*kl_array_put)(void *to, int64_t index, int64_t step, const double *value, int64_t count);
/* The next rows; there must be that many left. */
klift_status kl_array_rows(kl_array *array, int64_t rows, kl_array_put put, void *to);
/* The next elements of an array in row order as float32, at most kl_array_block of them. *bad: the first that is not finite or out of range of
 * float32, and its value; -1: none. The caller counts rows: array->row. */
klift_status kl_array_floats(kl_array *array, int64_t count, float *out, int64_t *bad, double *bad_value);
int64_t kl_array_block(const kl_array *array);
/* The next element of an array of texts as its bytes: array->raw, array->size of them. */
klift_status kl_array_text(kl_array *array);
/* All rows were read: is there more behind them? Also tests the checksum of a compressed file. */
klift_status kl_array_finish(kl_array *array, bool *more);
klift_status kl_array_rewind(kl_array *array); /* the stream is at its start */
void kl_array_clear(kl_array *array);
/* KLIFT_DATA "FILE: row 3, column 2: what"; index as in kl_array_put. */
klift_status kl_array_refuse(const kl_array *array, int64_t index, const char *what);

/* for the headers: exactly count bytes; and, when kind, size, rows and columns are known, a test against the file's size */
klift_status kl_array_fetch(kl_array *array, void *bytes, int64_t count);
klift_status kl_array_check(kl_array *array);
bool kl_host_is_little(void);

/* npy_header.c, idx.c: array->stream is at its start */
klift_status kl_array_npy(kl_array *array);
klift_status kl_array_idx(kl_array *array);
bool kl_is_npy(const unsigned char *head, int64_t count);
bool kl_is_idx(const unsigned char *head, int64_t count);

#endif
