/* loss.c - the table of losses, see loss.h. */
#include "learn/loss.h"

#include <math.h>

static double above(double value)
{
    return value > 0 ? value : 0;
}

static double hinge(double y, double f, double epsilon)
{
    (void)epsilon;
    return above(1 - y * f);
}

static double hinge_slope(double y, double f, double epsilon)
{
    (void)epsilon;
    return y * f < 1 ? -y : 0;
}

static double squared_hinge(double y, double f, double epsilon)
{
    double miss = hinge(y, f, epsilon);
    return miss * miss;
}

static double squared_hinge_slope(double y, double f, double epsilon)
{
    return -2 * y * hinge(y, f, epsilon);
}

static double logistic(double y, double f, double epsilon)
{
    double m = y * f;
    (void)epsilon;
    return m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m; /* no power that is too large */
}

static double logistic_slope(double y, double f, double epsilon)
{
    double m = y * f, small = exp(-fabs(m));
    (void)epsilon;
    return -y * (m > 0 ? small / (1 + small) : 1 / (1 + small));
}

static double squared(double y, double f, double epsilon)
{
    (void)epsilon;
    return (f - y) * (f - y) / 2;
}

static double squared_slope(double y, double f, double epsilon)
{
    (void)epsilon;
    return f - y;
}

static double huber(double y, double f, double epsilon)
{
    double miss = fabs(f - y);
    return miss <= epsilon ? miss * miss / 2 : epsilon * (miss - epsilon / 2);
}

static double huber_slope(double y, double f, double epsilon)
{
    return fabs(f - y) <= epsilon ? f - y : copysign(epsilon, f - y);
}

static double tube(double y, double f, double epsilon)
{
    return above(fabs(f - y) - epsilon);
}

static double tube_slope(double y, double f, double epsilon)
{
    return tube(y, f, epsilon) > 0 ? copysign(1, f - y) : 0;
}

const kl_loss_type kl_loss_types[KL_LOSSES] = {
    {"hinge", true, false, 1, 0, hinge, hinge_slope},
    {"squared-hinge", true, false, 2, 2, squared_hinge, squared_hinge_slope},
    {"logistic", true, false, 1, 0.25, logistic, logistic_slope},
    {"squared", true, true, 2, 1, squared, squared_slope},
    {"huber", false, true, 1, 1, huber, huber_slope},
    {"epsilon", false, true, 1, 0, tube, tube_slope},
};

klift_status kl_loss_check(const kl_loss_type *loss, bool classes, const char *learner)
{
    if (classes ? loss->classes : loss->numbers)
        return KLIFT_OK;
    return kl_fail(KLIFT_USAGE, "learner %s: loss=%s is for %s; use %s", learner, loss->name, classes ? "regression" : "classes",
                   classes ? "hinge, squared-hinge, logistic or squared" : "squared, huber or epsilon");
}
