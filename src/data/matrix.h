/*
 * matrix.h - what NPY, NPZ and IDX readers share: dense rows of an array X and labels in step with them. The state of
 * such a reader starts with a kl_matrix; its open function opens x and calls kl_matrix_begin, the rest is here.
 */
#ifndef KL_MATRIX_H
#define KL_MATRIX_H

#include "data/labels.h"
#include "data/reader.h"

typedef struct kl_matrix {
    kl_array x;
    kl_labels labels;
    float *dense;
    int64_t dense_room;
    int64_t bad;        /* first value of the batch, in row order, that is no float; -1: none */
    double bad_value;
} kl_matrix;

/* x is open. labels: a stream that is taken, or NULL; labels=FILE goes before it. */
klift_status kl_matrix_begin(kl_reader *reader, kl_stream *labels);
klift_status kl_matrix_next(kl_reader *reader, int64_t at_most, kl_batch *batch);
klift_status kl_matrix_rewind(kl_reader *reader);
void kl_matrix_close(kl_reader *reader);

#endif
