/*
 * taylor.c - Taylor features of the Gaussian kernel (Cotter, Keshet and Srebro 2011): exp(2 gamma <x, y>) expanded up to
 * degree r, each product of columns a feature,
 *   phi_e(x) = exp(-gamma |x|^2) (2 gamma)^(k/2) prod x_i^e_i / sqrt(prod e_i!),   k = |e| <= r.
 * The error is at most (2 gamma |x| |y|)^(r+1) / (r+1)! exp(-gamma (|x| - |y|)^2), their (11); bias() states it exactly.
 * Nothing is centred: sparse rows have sparse features, C(nnz + r, r) of them. terms.c does all of it.
 */
#include "map/terms.h"

/* A kernel of the distance that is also a series in the inner product is the Gaussian. */
const kl_map_type kl_map_taylor = {
    .name = "taylor",
    .summary = "all products of few nonzeros, for the Gaussian kernel on sparse rows: sparse features",
    .params = kl_terms_params,
    .needs = KL_SERIES | KL_ROTATION,
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
