/* quadrature.h - integrals of smooth functions by pieces of 8 Gauss-Legendre points. */
#ifndef KL_QUADRATURE_H
#define KL_QUADRATURE_H

typedef double (*kl_integrand)(double x, const void *context);

/* Of f from low to high, cut into so many equal pieces. */
double kl_quadrature(kl_integrand f, const void *context, double low, double high, int pieces);

#endif
