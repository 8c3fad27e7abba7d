/* quadrature.c - the points and weights of Abramowitz and Stegun, table 25.4: exact for polynomials up to degree 15. */
#include "math/quadrature.h"

enum { HALF = 4 };

static const double point[HALF] = {0.183434642495649804939, 0.525532409916328985818, 0.796666477413626739592, 0.960289856497536231684};
static const double weight[HALF] = {0.362683783378361982965, 0.313706645877887287338, 0.222381034453374470544, 0.101228536290376259153};

double kl_quadrature(kl_integrand f, const void *context, double low, double high, int pieces)
{
    double half = 0.5 * (high - low) / pieces, sum = 0;
    for (int p = 0; p < pieces; p++) {
        double middle = low + half * (2 * p + 1);
        for (int i = 0; i < HALF; i++)
            sum += weight[i] * (f(middle - half * point[i], context) + f(middle + half * point[i], context));
    }
    return half * sum;
}
