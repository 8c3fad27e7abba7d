/*
 * dual_core.h - the variables of a machine that still move, when they are few, by the inner products of their rows:
 *   q_ij = z_i'z_j + B^2;  alpha_i goes where dual.h sends it, then f_j += change_i y_i q_ij for every j
 * A visit costs an operation for each of these rows, not for each feature, and none where the variable stays. The weights follow at
 * the end. What rests is taken to go on resting: a look at all rows comes behind it.
 */
#ifndef KL_DUAL_CORE_H
#define KL_DUAL_CORE_H

#include "learn/dual.h"
#include "learn/learner.h"

int64_t kl_core_bytes(int64_t rows, int64_t features); /* 0: none, or nothing is known of the rows */
/* Whether every output that is not done has few rows, and as many sweeps behind it as making their inner products costs: a matter of counting, not of time. */
bool kl_core_ready(const kl_dual *d);
/* The outputs from *output on, to about half of the relative gap that is allowed; *output: that to go on with, between two of which the state is whole. */
klift_status kl_core_solve(kl_dual *d, kl_passes *passes, double tolerance, int64_t *output, kl_keeping *keeping, klift_run *run);

#endif
