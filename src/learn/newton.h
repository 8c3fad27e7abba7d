/*
 * newton.h - a machine with a squared loss by Newton's method on the rows that cost something (Mangasarian 2002, Keerthi and
 * DeCoste 2005), for a C so large that dual coordinate ascent takes too many passes. With over_i > 0 the part of row i that costs,
 *   r_i = 2 C_i over_i sign_i,  g = w - sum r_i z_i,  H = I + sum 2 C_i z_i z_i' (rows with over_i > 0)
 * w goes to the least objective along -H^-1 g, which ends after a few steps. alpha_i = |r_i| are dual variables, w - g their
 * weights, so that every step has a duality gap. The constant feature of value B is eliminated from the equations.
 */
#ifndef KL_NEWTON_H
#define KL_NEWTON_H

#include "learn/dual.h"
#include "learn/learner.h"

enum { KL_NEWTON_WIDEST = 4096 }; /* features */

bool kl_newton_fits(const kl_dual *d);
int64_t kl_newton_bytes(int64_t rows, int64_t features);
double kl_newton_sweeps(const kl_dual *d); /* how many sweeps cost as much as a step: a matter of counting, not of time */

/* Where the method is with an output: d is as it was before the first step. */
typedef struct kl_newton_place {
    int64_t output, most, steps; /* most: steps that it may take */
    bool begun;   /* w and f are there */
    double *w, b; /* (features) */
    double *f;    /* (rows) */
} kl_newton_place;

/* The output that the place names to a relative gap of tolerance, or as near as the most steps lead, from where it is; the state is whole
 * between steps. Variables and weights are then in d, and the place is that of an output that has not begun, but for its steps. */
klift_status kl_newton_solve(kl_dual *d, kl_passes *passes, double tolerance, kl_newton_place *at, kl_keeping *keeping, klift_run *run);
klift_status kl_newton_begin(const kl_dual *d, kl_newton_place *at); /* room for it, where there is none */
void kl_newton_leave(kl_newton_place *at);
void kl_newton_save(const kl_dual *d, const kl_newton_place *at, kl_record_writer *to);
klift_status kl_newton_load(const kl_dual *d, kl_newton_place *at, kl_record_reader *from);

#endif
