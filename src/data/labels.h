/*
 * labels.h - the labels of rows that carry none: an NPY array (n,) or (n, targets) of numbers, (n,) of texts, or an IDX
 * file of one dimension, compressed or not. All zero is "no labels".
 */
#ifndef KL_LABELS_H
#define KL_LABELS_H

#include "data/array.h"
#include "data/batch.h"
#include "data/names.h"

typedef struct kl_labels {
    kl_stream *stream; /* NULL: none */
    kl_array y;
    double *target;
    const char **label; /* into names */
    char *text;         /* one label as UTF-8 */
    int64_t target_room, label_room;
    kl_names names;
} kl_labels;

klift_status kl_labels_open(kl_labels *labels, const char *path);
klift_status kl_labels_take(kl_labels *labels, kl_stream *stream); /* the stream is taken, also on failure */
/* Puts the labels of the next rows into batch; valid until the next call. */
klift_status kl_labels_next(kl_labels *labels, int64_t rows, kl_batch *batch);
klift_status kl_labels_rewind(kl_labels *labels);
void kl_labels_clear(kl_labels *labels);

#endif
