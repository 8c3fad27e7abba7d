/*
 * moments.c - s = <x, y>, N = |x|^2 |y|^2, A = sum of x_i^2 y_i^2, degree n:
 *   real     E q^2 = (N + 2 s^2 - 2 A)^n;       complex  E (Re q)^2 = ((s^2 + N - A)^n + (2 s^2 - A)^n) / 2
 * Two rows k, k' of H diag(w): w_k(i) w_k'(i) is the character (-1)^popcount((k ^ k') & i), which over different k, k' in
 * random order has the mean -1/(P-1) at two different places, 1 at one. Hence, factor by factor,
 *   real     s^2 - (N + s^2 - 2 A) / (P - 1);   complex  the mean of the powers of s^2 - (s^2 - A) / (P - 1) and s^2 - (N - A) / (P - 1)
 * and s for a factor that only one of the two features has.
 */
#include "map/moments.h"

#include <math.h>

/* e^factor base^n */
static double power(double base, int64_t n, double factor)
{
    if (n == 0)
        return exp(factor);
    if (base == 0)
        return 0;
    double size = exp(factor + (double)n * log(fabs(base)));
    return base < 0 && n % 2 == 1 ? -size : size;
}

double kl_moments_mean(const kl_moments *m, int64_t degree, double factor)
{
    return power(m->s, degree, factor);
}

double kl_moments_square(const kl_moments *m, bool complex_signs, int64_t degree, double factor)
{
    double square = m->s * m->s;
    if (!complex_signs)
        return power(m->n + 2 * square - 2 * m->a, degree, factor);
    return 0.5 * (power(square + m->n - m->a, degree, factor) + power(2 * square - m->a, degree, factor));
}

double kl_moments_shared(const kl_moments *m, bool complex_signs, int64_t block, int64_t low, int64_t high, double factor)
{
    double square = m->s * m->s, others = (double)(block - 1), both = (square - m->a) / others, own = (m->n - m->a) / others, joint;
    if (complex_signs)
        joint = 0.5 * (power(square - both, low, factor) + power(square - own, low, factor));
    else
        joint = power(square - both - own, low, factor);
    return joint * power(m->s, high - low, 0);
}
