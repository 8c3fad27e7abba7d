/* ridge.h - least squares from statistics: one model of some of the folds at one lambda: normal.c, used by ridge.c and search.c. */
#ifndef KL_RIDGE_H
#define KL_RIDGE_H

#include "learn/statistics.h"

/* The work space of all solves of one finish: one tiled matrix and one set of right-hand sides. */
typedef struct kl_ridge {
    const kl_statistics *s;
    int64_t outputs;
    const int64_t *column; /* (outputs): which column of Y an output is */
    kl_tiles a;
    double *w;    /* (features, outputs) about the shift */
    double *b;    /* (outputs) about the shift */
    double *mean; /* m (features) of the rows in the present model */
    double jitter;/* largest that was needed */
    bool single;  /* a factor in float32 will do */
    kl_held *held;/* where the search leaves the scores of rows held out, at the lambda it takes; NULL: nowhere */
} kl_ridge;

/* Features of kept rows that the search makes once; of more features they are made anew for every model. */
enum { KL_RIDGE_KEPT = 1 << 26 };

/* Sums without set `without` (-1: all sets). */
double kl_ridge_weight(const kl_statistics *s, int without);
/* Total variance of the features, trace(Gc) / n: what lambda is measured against. */
double kl_ridge_spread(const kl_statistics *s);
/* w and b of the model of all sets but `without`, at lambda n; leaves the factor in a. */
klift_status kl_ridge_model(kl_ridge *r, int without, double lambda, klift_run *run);
/* The model in r from centred z and y to plain ones, an output's weights in one piece: w (outputs, features), b (outputs) */
void kl_ridge_plain(const kl_ridge *r, double *w, double *b);

/* search.c: tries lambdas, fills path, lambda, cv_error, cv_rows of weights. lambda given (not NaN): that one only. */
klift_status kl_ridge_search(kl_ridge *r, kl_search search, double lambda, const kl_lift *lift, klift_run *run, kl_weights *weights);

#endif
