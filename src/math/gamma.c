/*
 * gamma.c - log Gamma(x), x > 0: Stirling's series at y = x + k >= 12, and
 *   log Gamma(x) = log Gamma(y) - log(x (x + 1) ... (y - 1)).
 * Factorials that a double holds exactly are multiplied out, so that log 0! = log 1! = 0.
 * Reference: Abramowitz and Stegun, 6.1.15 and 6.1.41.
 */
#include "math/gamma.h"

#include <math.h>

enum { LEAST = 12, EXACT = 23 /* 22! has 51 bits behind its trailing zeros */ };

static double series(double y) /* log Gamma(y); the first term left out is below 2e-18 */
{
    static const double half_log_two_pi = 0.91893853320467274178;
    double v = 1 / (y * y);
    double tail = 1.0 / 12 + v * (-1.0 / 360 + v * (1.0 / 1260 + v * (-1.0 / 1680 + v * (1.0 / 1188 + v * (-691.0 / 360360 + v * (1.0 / 156))))));
    return (y - 0.5) * log(y) - y + half_log_two_pi + tail / y;
}

double kl_log_gamma(double x)
{
    double product = 1;
    if (x <= EXACT && x == floor(x)) {
        for (double n = 2; n < x; n++)
            product *= n;
        return log(product);
    }
    for (; x < LEAST; x++)
        product *= x;
    return series(x) - log(product);
}
