/*
 * shells.c - the radial law with the smallest error over all radial laws: L = sum_i weight_i (K(z_i) - Khat(z_i))^2 is convex in
 * the shares of a grid of radii, so non-negative least squares finds its minimum. Radius 0 is the constant; a last column may be
 * <x, y> = 1 - z^2/2. z = 0 weighs 30 and shares are divided by their sum: Khat(0) = K(0). A few radii are left: the support of
 * the published signed mixtures of Gaussians is part of this set of laws, so they are never better.
 */
#include "map/law.h"

#include "base/memory.h"
#include "math/nonnegative.h"

#include <math.h>

enum { RADII = 300, COLUMNS = RADII + 1, POINTS = KL_LAW_POINTS };

static const double at_zero = 30, stretch = 1.6, negligible = 1e-12;

typedef struct work {
    double a[COLUMNS][POINTS];          /* phi_d(radius_j z_i) times the root of the weight */
    double g[COLUMNS * COLUMNS], c[COLUMNS], x[COLUMNS];
    double root[POINTS];
} work;

static klift_status fill(work *w, const kl_target *t, double step, int64_t columns)
{
    kl_sphere sphere = {0};
    klift_status status;
    KL_GO(kl_sphere_new(&sphere, t->d, 2 * step * (RADII - 1)));
    for (int64_t j = 0; j < RADII; j++)
        kl_sphere_ladder(&sphere, (double)j * step * 2 / (POINTS - 1), 1, POINTS, w->a[j]);
    for (int i = 0; i < POINTS; i++) {
        double z = 2.0 * i / (POINTS - 1);
        w->a[RADII][i] = 1 - z * z / 2;
        w->root[i] = i == 0 ? sqrt(at_zero) : sqrt(t->weight[i]);
    }
    for (int64_t j = 0; j < columns; j++)
        for (int i = 0; i < POINTS; i++)
            w->a[j][i] *= w->root[i];
done:
    kl_sphere_clear(&sphere);
    return status;
}

/* G = A'A and c = A'b */
static void multiply(work *w, const kl_target *t, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t k = 0; k <= j; k++) {
            double sum[4] = {0};
            for (int i = 0; i + 4 <= POINTS; i += 4)
                for (int l = 0; l < 4; l++)
                    sum[l] += w->a[j][i + l] * w->a[k][i + l];
            for (int i = POINTS / 4 * 4; i < POINTS; i++)
                sum[0] += w->a[j][i] * w->a[k][i];
            w->g[j * columns + k] = w->g[k * columns + j] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
        for (int i = 0; i < POINTS; i++)
            w->c[j] += w->a[j][i] * w->root[i] * t->value[i];
    }
}

static klift_status take(kl_law *law, const work *w, double step, int64_t columns)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < columns; j++)
        sum += w->x[j];
    for (int64_t j = 1; j < RADII; j++)
        count += w->x[j] > negligible * sum;
    KL_TRY(kl_law_new(law, count));
    law->constant = w->x[0] > negligible * sum ? w->x[0] / sum : 0;
    law->linear = columns > RADII && w->x[RADII] > negligible * sum ? w->x[RADII] / sum : 0;
    for (int64_t j = 1, at = 0; j < RADII; j++)
        if (w->x[j] > negligible * sum) {
            law->radius[at] = (double)j * step;
            law->share[at++] = w->x[j] / sum;
        }
    return KLIFT_OK;
}

klift_status kl_law_fit_shells(kl_law *law, const kl_target *t, bool linear)
{
    int64_t columns = linear ? COLUMNS : RADII;
    double step = kl_target_radius(t, stretch) / (RADII - 1);
    work *w = NULL;
    klift_status status;
    KL_GO(kl_new(&w, 1, sizeof *w, "a fit"));
    KL_GO(fill(w, t, step, columns));
    multiply(w, t, columns);
    KL_GO(kl_nonnegative_solve(columns, w->g, w->c, w->x));
    KL_GO(take(law, w, step, columns));
    status = kl_law_judge(law, t);
done:
    kl_free(w);
    return status;
}
