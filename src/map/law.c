/* law.c - what is fitted, how good a fitted law is, and how it is stored. */
#include "map/law.h"

#include "base/memory.h"
#include "kernel/block.h"

#include <math.h>

enum { POINTS = KL_LAW_POINTS, JUDGED = 1001, MOST_ROWS = 300, LEAST_ROWS = 16, MOST_NUMBERS = 1 << 25 };

static const double largest = 1e30, steepest = 32, by_data = 0.9;

/* ---- what is fitted ---- */

double kl_target_at(const kl_kernel *kernel, double z)
{
    double x[2] = {1, 0}, y[2] = {1 - z * z / 2, z * sqrt(fmax(0, 1 - z * z / 4))};
    kl_pair pair;
    kl_pair_set(&pair, 2, x, y);
    return kl_kernel_value(kernel, &pair);
}

static double point(int i)
{
    return 2.0 * i / (POINTS - 1);
}

klift_status kl_target_new(kl_target *t, const kl_kernel *kernel, int64_t d)
{
    *t = (kl_target){.kernel = kernel, .d = d, .at_zero = kl_target_at(kernel, 0)};
    if (!(t->at_zero > 0))
        return kl_fail(KLIFT_USAGE, "map spherical: kernel %s has K(x, x) = %.3g on rows of length 1, and z(x).z(x) cannot be below 0 nor stand for nothing; change its parameters",
                       kernel->type->name, t->at_zero);
    if (!(t->at_zero < largest))
        return kl_fail(KLIFT_DATA, "map spherical: kernel %s has K(x, x) = %.3g on rows of length 1, too large for float32 features (at most %g); change its parameters",
                       kernel->type->name, t->at_zero, largest);
    for (int i = 0; i < POINTS; i++) {
        t->value[i] = kl_target_at(kernel, point(i)) / t->at_zero;
        t->weight[i] = (i == 0 || i == POINTS - 1 ? 0.5 : 1) / (POINTS - 1);
    }
    double fall = t->value[1] > 0 ? -log(t->value[1]) / (point(1) * point(1)) : steepest * steepest;
    t->steepness = fmin(sqrt(fmax(fall, 0)), steepest);
    return KLIFT_OK;
}

klift_status kl_target_weigh(kl_target *t, const kl_survey *survey)
{
    kl_batch rows = kl_rows_view(&survey->sample);
    double room = sqrt((double)MOST_NUMBERS / (double)survey->columns), count[POINTS] = {0}, pairs = 0;
    int64_t most = room < LEAST_ROWS ? LEAST_ROWS : room > MOST_ROWS ? MOST_ROWS : (int64_t)room, n = rows.rows < most ? rows.rows : most;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double at = 0.5 * (POINTS - 1) * sqrt(kl_block_distance(&rows, i, &rows, j, false));
            count[(int)fmin(at + 0.5, POINTS - 1)] += 1;
            pairs += 1;
        }
    if (pairs == 0)
        return kl_fail(KLIFT_DATA, "map spherical: weight=data needs at least two rows; use weight=uniform");
    for (int i = 0; i < POINTS; i++)
        t->weight[i] = by_data * count[i] / pairs + (1 - by_data) * t->weight[i];
    return KLIFT_OK;
}

/* Of exp(-sigma^2 z^2) the radii are those of a normal vector of variance 2 sigma^2: sqrt(2) sigma sqrt(d), and a few wide. */
double kl_target_radius(const kl_target *t, double stretch)
{
    return stretch * sqrt(2.0) * t->steepness * (sqrt((double)t->d) + 6) + 1;
}

/* ---- the law ---- */

klift_status kl_law_new(kl_law *law, int64_t count)
{
    law->count = count;
    KL_TRY(kl_new(&law->radius, count, sizeof *law->radius, "radii"));
    return kl_new(&law->share, count, sizeof *law->share, "radii");
}

double kl_law_random(const kl_law *law)
{
    double sum = 0;
    for (int64_t j = 0; j < law->count; j++)
        sum += law->share[j];
    return sum;
}

double kl_law_waves(const kl_law *law, const kl_sphere *sphere, double z)
{
    double sum = 0, all = kl_law_random(law);
    for (int64_t j = 0; j < law->count; j++)
        sum += law->share[j] / all * kl_sphere_value(sphere, law->radius[j] * z);
    return sum;
}

klift_status kl_law_judge(kl_law *law, const kl_target *t)
{
    double khat[JUDGED] = {0}, step = 2.0 / (JUDGED - 1), sum = 0, furthest = 0;
    kl_sphere sphere = {0};
    klift_status status;
    for (int64_t j = 0; j < law->count; j++)
        furthest = fmax(furthest, law->radius[j]);
    KL_GO(kl_sphere_new(&sphere, t->d, 2 * furthest));
    for (int64_t j = 0; j < law->count; j++)
        kl_sphere_ladder(&sphere, step * law->radius[j], law->share[j], JUDGED, khat);
    law->most = 0;
    for (int i = 0; i < JUDGED; i++) {
        double z = i * step, e = fabs(khat[i] + law->constant + law->linear * (1 - z * z / 2) - kl_target_at(t->kernel, z) / t->at_zero);
        sum += (i == 0 || i == JUDGED - 1 ? 0.5 : 1) * e * e / (JUDGED - 1);
        law->most = fmax(law->most, e);
    }
    law->bias = sqrt(sum);
done:
    kl_sphere_clear(&sphere);
    return status;
}

void kl_law_save(const kl_law *law, kl_record_writer *to)
{
    kl_record_put_i64(to, law->count);
    kl_record_put_doubles(to, law->radius, law->count);
    kl_record_put_doubles(to, law->share, law->count);
    kl_record_put_f64(to, law->cell);
    kl_record_put_f64(to, law->constant);
    kl_record_put_f64(to, law->linear);
    kl_record_put_f64(to, law->bias);
    kl_record_put_f64(to, law->most);
}

klift_status kl_law_load(kl_law *law, kl_record_reader *from)
{
    const double widest = 1e6, slack = 1e-6;
    bool right = true;
    KL_TRY(kl_record_get_i64(from, 0, KL_LAW_MOST, &law->count));
    KL_TRY(kl_record_get_doubles(from, &law->radius, law->count));
    KL_TRY(kl_record_get_doubles(from, &law->share, law->count));
    KL_TRY(kl_record_get_f64(from, &law->cell));
    KL_TRY(kl_record_get_f64(from, &law->constant));
    KL_TRY(kl_record_get_f64(from, &law->linear));
    KL_TRY(kl_record_get_f64(from, &law->bias));
    KL_TRY(kl_record_get_f64(from, &law->most));
    for (int64_t j = 0; j < law->count; j++)
        right = right && law->radius[j] > 0 && law->radius[j] < widest && law->share[j] > 0;
    right = right && law->cell >= 0 && law->cell < widest && law->constant >= 0 && law->linear >= 0 && law->bias >= 0 && law->most >= 0;
    if (!right || !(fabs(kl_law_random(law) + law->constant + law->linear - 1) < slack))
        return kl_record_damaged("its radii and their shares are no law");
    return KLIFT_OK;
}

void kl_law_clear(kl_law *law)
{
    kl_free(law->radius);
    kl_free(law->share);
    *law = (kl_law){0};
}
