/* metric.h - how good a model is on labelled rows: sums over batches, then JSON. */
#ifndef KL_METRIC_H
#define KL_METRIC_H

#include "model/model.h"

typedef struct kl_metric {
    const klift_model *model;
    int64_t rows;
    double weight, wrong;
    int64_t *confusion; /* (classes + 1, classes): true class, the last row for labels the model does not know; predicted */
    double log_loss, known;  /* sum of -log P(class), weight of the rows whose class the model knows */
    double *sum, *square, *residual; /* (outputs) of the targets and of the errors */
} kl_metric;

klift_status kl_metric_begin(kl_metric *metric, const klift_model *model);
/* Labelled rows and their scores (rows, outputs). */
klift_status kl_metric_add(kl_metric *metric, const kl_batch *x, const double *scores);
void kl_metric_json(const kl_metric *metric, double seconds, kl_text *json);
void kl_metric_clear(kl_metric *metric);

#endif
