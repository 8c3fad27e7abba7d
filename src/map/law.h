/*
 * law.h - the radial law of frequencies on the unit sphere: atoms (radius_j, share_j), and what a fit of a law needs to know of a
 * kernel. Directions uniform in R^d make it
 *   Khat(z) / K(0) = constant + linear (1 - z^2/2) + sum_j share_j phi_d(radius_j z),   z = |x - y|
 */
#ifndef KL_LAW_H
#define KL_LAW_H

#include "base/record.h"
#include "kernel/kernel.h"
#include "math/sphere.h"

enum { KL_LAW_POINTS = 129, KL_LAW_MOST = 1024 };

typedef struct kl_law {
    int64_t count;
    double *radius, *share;  /* (count) of random frequencies */
    double cell;             /* radii are spread evenly over radius -+ cell / 2 */
    double constant, linear; /* shares without randomness: of 1 and of <x, y> */
    double bias, most;       /* |Khat - K| / K(0): root of the mean square over z in [0, 2], and the largest */
} kl_law;

/* What is fitted: K(z) / K(0) at z_i = 2 i / 128, and how much the square of an error there weighs; weights add up to 1. */
typedef struct kl_target {
    const kl_kernel *kernel;
    int64_t d;                     /* coordinates of the directions */
    double at_zero;                /* K(0) = K(x, x) */
    double steepness;              /* sigma of exp(-sigma^2 z^2) that falls as K does at z = 0 */
    double value[KL_LAW_POINTS], weight[KL_LAW_POINTS];
} kl_target;

double kl_target_at(const kl_kernel *kernel, double z); /* K of two unit vectors at distance z */
/* Refuses a kernel that is not positive at z = 0. Weights are those of z uniform in [0, 2]. */
klift_status kl_target_new(kl_target *target, const kl_kernel *kernel, int64_t d);
/* 9 parts of 10 of the weights by the distances of pairs of sample rows. */
klift_status kl_target_weigh(kl_target *target, const kl_survey *survey);
double kl_target_radius(const kl_target *target, double stretch); /* above all radii that a fit can want */

klift_status kl_law_new(kl_law *law, int64_t count);
/* Random part alone, divided by its share; 0 when there is none */
double kl_law_waves(const kl_law *law, const kl_sphere *sphere, double z);
double kl_law_random(const kl_law *law); /* share of the random part */
/* Sets bias and most. */
klift_status kl_law_judge(kl_law *law, const kl_target *target);
void kl_law_save(const kl_law *law, kl_record_writer *to);
klift_status kl_law_load(kl_law *law, kl_record_reader *from);
void kl_law_clear(kl_law *law);

/* shells.c: the best law there is, by non-negative least squares over radii; linear: <x, y> may have a share */
klift_status kl_law_fit_shells(kl_law *law, const kl_target *target, bool linear);
/* mixture.c: `terms` Gaussians with coefficients of any sign, clipped at 0, as published */
klift_status kl_law_fit_gaussians(kl_law *law, const kl_target *target, int64_t terms);

#endif
