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
/* One output to a relative gap of tolerance, or as near as *steps steps lead; *steps: taken. Variables and weights are then in d. */
klift_status kl_newton_solve(kl_dual *d, int64_t output, kl_passes *passes, double tolerance, klift_run *run, int64_t *steps);

#endif
