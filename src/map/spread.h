/* spread.h - the exact variance of products of random projections whose degrees were counted or drawn. */
#ifndef KL_SPREAD_H
#define KL_SPREAD_H

#include "map/degrees.h"
#include "map/rademacher.h"

/* Of the sum over the units of weight Re q, without the kernel's prefactors; ratio: of drawn degrees, 0: they are counted */
double kl_spread(const kl_degrees *g, const kl_rademacher *r, const kl_kernel *kernel, double ratio, const kl_moments *m);

#endif
