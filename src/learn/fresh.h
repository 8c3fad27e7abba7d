/*
 * fresh.h - steps in the features of one copy of a map at a time, on some of the rows: what doubly stochastic training is made of. With
 * z_t the features of copy t over sqrt(copies), f(x) = sum over copies w_t z_t(x) + b, slopes s_i of the loss and weights m_i,
 *   gradient    g = sum m_i s_i z_t(x_i) / M,  M = sum m_i of the rows
 *   descend     w_t -= step copies g, all other weights shrink by 1 - step lambda: as published (Dai et al. 2014)
 *   settle      w_t -= a (c Z_t' m Z_t / M + lambda)^-1 (g + lambda w_t), c the largest curvature of the loss: with a = 1 the least of a bound on the
 *               objective from above (random blocks of coordinates: Tu, Roelofs, Venkataraman and Recht 2016), so that the
 *               least along the same line has an a of 1 or more for each output; some rows only would be followed too far: a = 1
 * Call order: new, { rows, score, look, descend or settle } per step. Scores of rows that stay the same are kept.
 */
#ifndef KL_FRESH_H
#define KL_FRESH_H

#include "learn/loss.h"
#include "learn/targets.h"
#include "math/tiles.h"

typedef struct kl_fresh {
    kl_passes *passes;
    klift_run *run;
    const kl_targets *targets;
    const int64_t *column; /* (outputs) class or target of an output */
    const kl_loss_type *loss;
    double epsilon, lambda;
    bool curved;           /* settle will be called */
    int64_t outputs;
    double *w, *b;         /* (outputs, features), (outputs): not owned, zero at first */

    int64_t each;          /* features of a copy */
    double scale;          /* 1 / sqrt(copies) */
    int64_t count;         /* rows of a step */
    bool all;              /* they are all there are, and their scores are kept */
    const int32_t *row;    /* (count) */
    double mass;           /* M */
    double mean;           /* loss of these rows before the step */
    double *score;         /* (count, outputs), without b */
    double *push;          /* (count, outputs) m_i s_i; then what a change of w_t adds to the scores */
    double *weight;        /* (at_most) m_i on their way */
    double *sum, *change;  /* (outputs, each) */
    double *far, *before;  /* (outputs) a, and b before the step */
    double *right;         /* (each, outputs) */
    float *zero;           /* (each) */
    int32_t *order;        /* (at_most) 0, 1, ... */
    kl_tiles curve;
    void *packed;
} kl_fresh;

/* The fields above each are set; count: rows of a step. Call clear also after a failure. */
klift_status kl_fresh_new(kl_fresh *f, int64_t count);
int64_t kl_fresh_bytes(int64_t rows, int64_t count, int64_t each, int64_t outputs, bool curved);
void kl_fresh_rows(kl_fresh *f, const int32_t *row); /* of the step to come: row (count) */
/* Their scores under copies 0 .. copies-1, where they are not kept. */
klift_status kl_fresh_score(kl_fresh *f, int64_t copies);
klift_status kl_fresh_look(kl_fresh *f); /* loss and slopes; KLIFT_FAILED when weights run away */
/* A step that fails or is stopped has changed nothing. */
klift_status kl_fresh_descend(kl_fresh *f, int64_t part, double step);
klift_status kl_fresh_settle(kl_fresh *f, int64_t part); /* b first, by its own bound */
/* What is between two steps: weights, and the scores that are kept. */
void kl_fresh_save(const kl_fresh *f, kl_record_writer *to);
klift_status kl_fresh_load(kl_fresh *f, kl_record_reader *from);
void kl_fresh_clear(kl_fresh *f);

#endif
