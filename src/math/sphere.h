/*
 * sphere.h - phi_d(t) = E cos(t u_1), u uniform on the unit sphere of R^d, d >= 2: the kernel of frequencies of one length in all
 * directions, Gamma(d/2) (2/t)^(d/2-1) J_(d/2-1)(t).
 */
#ifndef KL_SPHERE_H
#define KL_SPHERE_H

#include "base/error.h"

/* Nodes and weights of a quadrature for one d, exact to 1e-12 for |t| <= most. */
typedef struct kl_sphere {
    int64_t count; /* rounded up, with weights of 0 */
    double *node, *weight;
} kl_sphere;

klift_status kl_sphere_new(kl_sphere *sphere, int64_t d, double most);
void kl_sphere_clear(kl_sphere *sphere);
double kl_sphere_value(const kl_sphere *sphere, double t);
/* out[i] += factor phi_d(i step), i = 0 .. count-1: by rotations, a fraction of the time of single values */
void kl_sphere_ladder(const kl_sphere *sphere, double step, double factor, int64_t count, double *out);

#endif
