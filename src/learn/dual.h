/*
 * dual.h - dual coordinate ascent for linear machines with an L2 penalty (Hsieh et al. 2008, Ho and Lin 2012), in
 * LIBLINEAR's scaling: min |w|^2 / 2 + sum C_i loss_i, w over the features and a constant one of value B.
 *   hinge: 0 <= alpha_i <= C_i; squared hinge: 0 <= alpha_i, alpha_i / (2 C_i) more on the diagonal; w = sum alpha_i y_i z_i
 *   epsilon: -C_i <= beta_i <= C_i, cost epsilon |beta_i|; squared: the same diagonal; w = sum beta_i z_i
 * A sweep takes every row once, in a seeded order inside its block. Outputs never look at each other: threads split them.
 * Call order: new, { sweep per block, end } ..., measure per block, gap; the state lies in alpha and w.
 */
#ifndef KL_DUAL_H
#define KL_DUAL_H

#include "base/run.h"
#include "data/batch.h"

typedef enum { KL_HINGE, KL_SQUARED_HINGE, KL_EPSILON, KL_SQUARED_EPSILON } kl_loss;

/* What one output is told about the rows: y +-1 or the target, cost C_i. */
typedef struct kl_dual_row {
    double y, cost;
} kl_dual_row;
typedef kl_dual_row (*kl_dual_rows)(const void *user, int64_t row, int64_t output);

typedef struct kl_dual {
    kl_loss loss;
    double epsilon, bias; /* bias: B, 0 for none */
    int64_t rows, features, outputs;
    uint64_t seed;
    kl_dual_rows row_of;
    const void *user;
    double *alpha;  /* (outputs, rows) */
    double *w;      /* (outputs, features) */
    double *b;      /* (outputs): weight of the constant feature */
    double *square; /* (rows): |z|^2 + B^2, once known */
    bool *done;     /* (outputs): its gap is small enough; it rests */
    double *sum;    /* (outputs): C loss of the rows since the last end */
    double *primal, *dual; /* (outputs) at the last gap */
    int64_t passes;        /* sweeps so far, for whoever asks */
} kl_dual;

klift_status kl_dual_new(kl_dual *d); /* the fields above alpha are set */
/* One block of a pass: z (rows of the block, from row `first` on). sweep: ascends; otherwise the loss is only summed. */
klift_status kl_dual_block(kl_dual *d, const kl_batch *z, int64_t first, int64_t pass, bool sweep, klift_run *run);
/* After a pass: the largest relative gap of an output that is not done. exact: the pass was no sweep, so that the loss is that of w;
 * outputs below tolerance are then done. */
double kl_dual_gap(kl_dual *d, bool exact, double tolerance);
void kl_dual_clear(kl_dual *d);

/* Parts of it, for crammer.c. */
/* The order of a block's rows in a sweep, to be freed; before it, in the first pass, their lengths. */
klift_status kl_dual_order(kl_dual *d, const kl_batch *z, int64_t first, int64_t pass, bool sweep, int32_t **order);
/* f (count) = w'z + b B of outputs from..; next: the row to come */
void kl_dual_scores(const kl_dual *d, const kl_batch *z, int64_t row, int64_t next, int64_t from, int64_t count, double *f);
void kl_dual_add(kl_dual *d, const kl_batch *z, int64_t row, int64_t output, double factor); /* factor times the row to its weights */
double kl_dual_norm(const kl_dual *d, int64_t output); /* |w|^2 + b^2 */

#endif
