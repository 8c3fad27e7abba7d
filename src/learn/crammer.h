/*
 * crammer.h - the multi-class machine of Crammer and Singer (2001) by dual coordinate ascent over rows (Keerthi et al. 2008):
 *   min sum_k |w_k|^2 / 2 + sum_i C_i max(0, 1 - (f_y - max_{k != y} f_k))
 * with one vector of variables per row: alpha_i^k <= C_i for its own class, <= 0 for the others, their sum 0; w_k = sum_i alpha_i^k z_i.
 * It works on the arrays of kl_dual (dual.h), in its call order; outputs are all classes, also when there are two.
 */
#ifndef KL_CRAMMER_H
#define KL_CRAMMER_H

#include "learn/dual.h"

klift_status kl_crammer_visit(kl_dual *d, const kl_dual_block *rows, klift_run *run);
double kl_crammer_gap(kl_dual *d, bool exact, double tolerance);

#endif
