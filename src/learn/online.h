/*
 * online.h - stochastic gradient descent on (1/n) sum weight loss(y, w'z + b B) + lambda (|w|^2 + b^2) / 2, one row after the other.
 * With T the sum of the weights so far, a row of weight m moves w by
 *   pegasos   w := (1 - m / T) w - m slope z / (lambda T)   (Shalev-Shwartz et al. 2007; project: then onto |w| <= 1 / sqrt(lambda))
 *   otherwise w := w / (1 + lambda step m) - min(step m, reach loss / (slope^2 |z|^2)) slope z, step = first / (1 + lambda first T):
 *             Bottou's 1 / (lambda (t + t0)); no row is followed beyond where its own loss is gone (Asi and Duchi 2019).
 * w is scale times v, so that a row costs what its entries cost; so does the mean of all w: share u + mix v.
 * Outputs never look at each other: threads split them. Call order: grow, { begin, visit ... }, weights.
 */
#ifndef KL_ONLINE_H
#define KL_ONLINE_H

#include "base/record.h"
#include "base/run.h"
#include "learn/loss.h"
#include "math/row.h"

/* What one output is told about a row: y. */
typedef double (*kl_online_target)(const void *user, int64_t row, int64_t output);

typedef struct kl_online_output {
    double scale, share, mix;
    double v, u;         /* of the constant feature */
    double norm;         /* |v|^2 where it is projected */
    double first, shift; /* the first step; what y is taken less */
    double sum;          /* weight times loss of the rows, each before it moved w */
} kl_online_output;

typedef struct kl_online {
    const kl_loss_type *loss;
    double epsilon, bias, lambda; /* bias: B, 0 for none */
    double step;                  /* the first, NaN: from the first block */
    bool pegasos, project, average;
    bool numbers;                 /* y are targets: taken less their mean in the first block */
    int64_t features;
    kl_online_target target_of;
    const void *user;
    int64_t outputs, v_room, u_room, output_room;
    double *v, *u;            /* (outputs, features); u only where it is averaged */
    kl_online_output *output; /* (outputs) */
    double weight;            /* T */
    double start;             /* T at the beginning: of the weights that it went on from */
    int64_t rows;             /* seen */
} kl_online;

/* Rows in the order in which they are taken. */
typedef struct kl_online_rows {
    int64_t count;
    const int32_t *index; /* (count) their numbers; NULL: 0, 1, ... */
    const kl_row *z;      /* (count) */
    const double *weight; /* by their numbers */
    bool still;           /* only sum the loss */
} kl_online_rows;

klift_status kl_online_grow(kl_online *s, int64_t outputs); /* the fields above outputs are set; new ones are zero */
/* An output goes on from w (features) and b, which `start` made. KLIFT_USAGE where there is no intercept for b. */
klift_status kl_online_resume(kl_online *s, int64_t output, double sign, const double *w, double b);
/* Before the first visit: the first steps and shifts of all outputs, from the first rows. */
void kl_online_begin(kl_online *s, const kl_online_rows *rows);
void kl_online_copy(kl_online *s, int64_t from, int64_t to, double sign); /* output `to` becomes sign times output `from` */
/* Outputs from .. to-1 see the rows, all of them or, when the run is stopped before, none. */
klift_status kl_online_visit(kl_online *s, const kl_online_rows *rows, int64_t from, int64_t to, klift_run *run);
/* w (features) and b of an output: the mean where it is averaged, otherwise the last. */
void kl_online_weights(const kl_online *s, int64_t output, double *w, double *b);
/* What an output is from here on is what kl_online_weights gives. */
void kl_online_settle(kl_online *s, int64_t output);
/* All of it that rows have changed, between two visits; load: into one of the same spec that has seen none, its outputs are added. */
void kl_online_save(const kl_online *s, kl_record_writer *to);
klift_status kl_online_load(kl_online *s, kl_record_reader *from);
void kl_online_clear(kl_online *s);

#endif
