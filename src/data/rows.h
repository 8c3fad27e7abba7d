/* rows.h - rows that are kept: a growing copy of parts of batches, dense or CSR as the first part was. */
#ifndef KL_ROWS_H
#define KL_ROWS_H

#include "data/batch.h"
#include "data/names.h"

typedef struct kl_rows {
    int64_t rows, columns, targets;
    bool sparse, has_label, has_weight;
    float *dense; /* (rows, columns) */
    int64_t *start;
    int32_t *column;
    float *value;
    double *target, *weight;
    const char **label; /* into names */
    kl_names names;
    int64_t dense_room, start_room, column_room, value_room, target_room, weight_room, label_room;
} kl_rows;

/* Copies rows first .. first+count-1 of batch behind those already there. */
klift_status kl_rows_add(kl_rows *rows, const kl_batch *batch, int64_t first, int64_t count);
/* Room for as many rows as batch has, of its form, before the first one is added: it is not zeroed, and pages come as rows do. */
klift_status kl_rows_reserve(kl_rows *rows, const kl_batch *batch);
/* Room behind CSR rows without labels for so many more, with so many entries: the caller fills it and counts them. */
klift_status kl_rows_extend(kl_rows *rows, int64_t count, int64_t entries);
kl_batch kl_rows_view(const kl_rows *rows);
void kl_rows_empty(kl_rows *rows); /* keeps the memory */
void kl_rows_clear(kl_rows *rows);

#endif
