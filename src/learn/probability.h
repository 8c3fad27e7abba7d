/*
 * probability.h - scores become probabilities of classes by two numbers, fitted on scores of rows by models that did not see them.
 * Call order: { add ... } of one model per fold, fit; then of, or log, for every row to predict. A learner whose scores are
 * logarithms of odds needs no fit: its scale is 1, its offset 0.
 */
#ifndef KL_PROBABILITY_H
#define KL_PROBABILITY_H

#include "base/record.h"
#include "data/names.h"

/* Two classes: P(1) = 1 / (1 + exp(-(scale f + offset))). Otherwise P(k) in proportion to exp(scale f_k), offset 0. */
typedef struct kl_probability {
    bool known;           /* false: the model has none */
    double scale, offset; /* scale >= 0 */
    int64_t rows;         /* they were fitted on; 0: they come with the scores */
    double log_loss;      /* of these rows: mean of -log P(class) */
} kl_probability;

typedef struct kl_held_row {
    int64_t truth; /* its class */
    double weight;
} kl_held_row;

/* Scores of rows that were held out. */
typedef struct kl_held {
    int64_t classes; /* two have one score, positive for class 1 */
    int64_t rows;
    kl_held_row *row; /* (rows) */
    double *score;    /* (rows, outputs) */
    int64_t row_room, score_room;
} kl_held;

static inline int64_t kl_held_outputs(const kl_held *held)
{
    return held->classes == 2 ? 1 : held->classes;
}
/* score (outputs); NULL: zeros, to be written later. */
klift_status kl_held_add(kl_held *held, const double *score, int64_t truth, double weight);
void kl_held_save(const kl_held *held, kl_record_writer *to);
klift_status kl_held_load(kl_held *held, int64_t most, kl_record_reader *from); /* at most so many rows, of the classes that it has */
void kl_held_clear(kl_held *held);

/* KLIFT_DATA when no row was held out, or of two classes none of one. classes: their names. */
klift_status kl_probability_fit(const kl_held *held, const kl_names *classes, kl_probability *to);
/* out (classes), for other than two classes also score itself */
void kl_probability_of(const kl_probability *p, int64_t classes, const double *score, double *out);
/* log P(class), finite where P is too small for a number */
double kl_probability_log(const kl_probability *p, int64_t classes, const double *score, int64_t class);
void kl_probability_save(const kl_probability *p, kl_record_writer *to);
klift_status kl_probability_load(kl_probability *p, kl_record_reader *from);

#endif
