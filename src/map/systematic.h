/* systematic.h - radii at the places (u + k) / m of their law, k = 0 .. m-1, one uniform u for all. */
#ifndef KL_SYSTEMATIC_H
#define KL_SYSTEMATIC_H

#include "map/directions.h"
#include "map/law.h"

/* Of the mean of cos(w_k.(x - y)), z = |x - y|, over u, shuffle and directions; NaN where there is no closed form: for radii that
 * are spread over cells, and for more than 64 of them */
double kl_systematic_variance(const kl_law *law, const kl_sphere *sphere, const kl_directions *d, double z);

#endif
