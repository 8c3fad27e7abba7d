/*
 * monomial.c - explicit polynomial features of any kernel that is a series in the inner product, cut off behind degree r:
 *   phi_e(x) = p(x) sqrt(a_k k! / prod e_i!) prod x_i^e_i,   k = |e| <= r.
 * A polynomial (poly, vovk, series) of degree r is exact, as in Chang et al. (2010) and Sonnenburg and Franc (2010); with
 * offset 0 only products of exactly r columns are there. The Gaussian kernel gives taylor's features. terms.c does all of it.
 */
#include "map/terms.h"

const kl_map_type kl_map_monomial = {
    .name = "monomial",
    .summary = "all products of few nonzeros, for kernels of the inner product on sparse rows: sparse features",
    .params = kl_terms_params,
    .needs = KL_SERIES,
    .accuracy = KL_UNBIASED,
    .state_size = sizeof(kl_terms),
    .fit = kl_terms_fit,
    .fit_without_data = true,
    .draw = kl_terms_draw,
    .check = kl_terms_check,
    .apply = kl_terms_apply,
    .memory = kl_terms_memory,
    .scratch = kl_terms_scratch,
    .either = true,
    .nonzeros = kl_terms_nonzeros,
    .variance = kl_terms_variance,
    .bias = kl_terms_bias,
    .cost = kl_terms_cost,
    .save = kl_terms_save,
    .load = kl_terms_load,
    .clear = kl_terms_clear,
};
