/*
 * row_file.h - rows in a temporary file, each to be had again by its number: raw ones or features, dense or CSR. The file has no
 * name: it goes with the process, however that ends. Call order: open, add ..., take ..., close.
 */
#ifndef KL_ROW_FILE_H
#define KL_ROW_FILE_H

#include "data/batch.h"
#include "math/row.h"

typedef struct kl_row_file {
    bool open;
    int file;
    int64_t rows;
    int64_t *place; /* (rows + 1): twice the byte at which it begins, and 1 for CSR */
    unsigned char *bytes; /* rows on their way */
    int64_t place_room, bytes_room;
} kl_row_file;

klift_status kl_row_file_open(kl_row_file *f);
/* Dense rows of so many bytes each, one behind the other. */
klift_status kl_row_file_add_lines(kl_row_file *f, const void *lines, int64_t bytes, int64_t rows);
klift_status kl_row_file_add(kl_row_file *f, const kl_batch *rows); /* CSR or dense without gaps: labels and weights are left out */
/* row (count): rows index[..], valid until the next call. Of lines that are not float32 only the place counts. */
klift_status kl_row_file_take(kl_row_file *f, const int32_t *index, int64_t count, kl_row *row);
void kl_row_file_close(kl_row_file *f); /* also of one that is all zero */

#endif
