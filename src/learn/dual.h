/*
 * dual.h - dual coordinate ascent for linear machines with an L2 penalty (Hsieh et al. 2008, Ho and Lin 2012), in
 * LIBLINEAR's scaling: min |w|^2 / 2 + sum C_i loss_i, w over the features and a constant one of value B.
 *   hinge: 0 <= alpha_i <= C_i; squared hinge: 0 <= alpha_i, alpha_i / (2 C_i) more on the diagonal; w = sum alpha_i y_i z_i
 *   epsilon: -C_i <= beta_i <= C_i, cost epsilon |beta_i|; squared: the same diagonal; w = sum beta_i z_i
 * A sweep takes every row once, in an order of its own; an order that is not one of all rows costs many times the passes.
 * Variables at their bound that will stay there are left out of sweeps, as in LIBLINEAR, until a gap measured over all rows is too large.
 * Outputs never look at each other: threads split them. Call order: new, { block ... gap } ...; the state lies in alpha and w.
 */
#ifndef KL_DUAL_H
#define KL_DUAL_H

#include "base/record.h"
#include "base/run.h"
#include "math/row.h"

typedef enum { KL_HINGE, KL_SQUARED_HINGE, KL_EPSILON, KL_SQUARED_EPSILON } kl_loss;

bool kl_loss_is_squared(kl_loss loss);
double kl_loss_of(kl_loss loss, double epsilon, double y, double f);

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
    bool single;    /* scores in float32 will do for sweeps: gaps above 1e-5 or so */
    float *copy;    /* (outputs, features) of w, during a sweep with single */
    float *delta;   /* (outputs, features): what copy has more than w, of the rows of a chunk */
    bool *moved;    /* (outputs): there is some */
    double *look;   /* scores of a block of rows that are looked at */
    int64_t look_room;
    double *square; /* (rows): |z|^2 + B^2, once known */
    bool *done;     /* (outputs): its gap is small enough; it is left alone */
    bool *rest;     /* (outputs, rows): classes: the variable was at its bound and will hardly move; a sweep leaves it out */
    double *limit;  /* (outputs, 2): least and largest slope that a variable could follow in the last sweep: beyond them, they rest */
    double *seen;   /* (outputs, 2): those of this sweep */
    int64_t *load;  /* (outputs + 1): visits of a block, of the outputs before */
    double *sum;    /* (outputs): since the last end, C loss of the rows that were looked at, or what rows of a sweep had of the gap */
    double *primal, *dual; /* (outputs) at the last gap */
    int64_t passes, steps; /* sweeps and Newton's steps (newton.h) so far, for whoever asks */
    double swept;          /* sweeps by the rows that were visited */
    double c;              /* of all costs: where the variables are, for whoever grows them */
} kl_dual;

enum { KL_DUAL_CHUNK = 64 };

/* Rows of a pass: their numbers, and where their features are. A pass is cut at multiples of KL_DUAL_CHUNK: where else, is seen in the last bits. */
typedef struct kl_dual_block {
    int64_t count;
    const int32_t *index; /* (count) */
    const kl_row *z;      /* (count) */
    bool first; /* of the first sweep: lengths are not known yet */
    bool sweep; /* ascend; otherwise the loss is only summed */
} kl_dual_block;

klift_status kl_dual_new(kl_dual *d); /* the fields above alpha are set */
klift_status kl_dual_visit(kl_dual *d, const kl_dual_block *rows, klift_run *run); /* all of the block or, when the run is stopped before, none */
/* After a pass: the largest relative gap of an output that is not done. A row's part of the gap is never negative, and 0 where it goes to rest: a sweep
 * adds those of its rows, each with the weights that it met. exact: the pass was no sweep, so that the loss is that of w; outputs below
 * tolerance are then done. */
double kl_dual_gap(kl_dual *d, bool exact, double tolerance);
int64_t kl_dual_awake(const kl_dual *d, int32_t *row); /* row (rows): those that some output visits, ascending; returns how many */
void kl_dual_wake(kl_dual *d);           /* all visit all rows again */
void kl_dual_grow(kl_dual *d, double c); /* variables and weights in the measure of a larger C */
/* All that passes have changed, also in the middle of one, between two blocks; load: into a new one of the same problem. */
void kl_dual_save(const kl_dual *d, kl_record_writer *to);
klift_status kl_dual_load(kl_dual *d, kl_record_reader *from);
void kl_dual_clear(kl_dual *d);

/* Parts of it, for crammer.c and dual_core.c. */
klift_status kl_dual_measure(kl_dual *d, const kl_dual_block *rows, klift_run *run); /* lengths of the rows */
/* f (count) = w'z + b B of outputs from..; next: the row to come */
void kl_dual_scores(const kl_dual *d, const kl_row *z, const kl_row *next, int64_t from, int64_t count, double *f);
void kl_dual_add(kl_dual *d, const kl_row *z, int64_t output, double factor); /* factor times the row to its weights */
double kl_dual_value(const kl_dual *d, kl_dual_row row, double alpha); /* a variable's part of D, without |w|^2 / 2 */
double kl_dual_best(const kl_dual *d, kl_dual_row row, double f, double square, double alpha); /* where the dual is largest, all other variables as they are */
double kl_dual_part(const kl_dual *d, kl_dual_row row, double f, double alpha); /* a row's part of the gap */
double kl_dual_norm(const kl_dual *d, int64_t output); /* |w|^2 + b^2 */

#endif
