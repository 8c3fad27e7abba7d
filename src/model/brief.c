/*
 * brief.c - f_o = w_o z + b_o by float32: within slip_o |z| of the float64 score, so that class c is the one when
 *   f_c - f_o > (slip_c + slip_o) |z| for every other o,
 * or, of one output, when |f| > slip |z|. Scores and lengths that are not finite lead by nothing, since what they may err by is not finite either: float64 finds words
 * for them.
 */
#include "model/brief.h"

#include "base/memory.h"
#include "math/glance.h"

#include <math.h>

enum { LANES = KL_GLANCE_LANES };

klift_status kl_brief_make(const kl_weights *weights, kl_brief *brief)
{
    int64_t features = weights->features, outputs = weights->outputs;
    *brief = (kl_brief){0};
    if (weights->goal != KL_CLASSIFY || weights->code.bits > 0 || outputs == 0 || features % LANES != 0)
        return KLIFT_OK;
    KL_TRY(kl_new(&brief->slip, outputs, sizeof *brief->slip, "what scores may err by"));
    klift_status status = kl_new(&brief->w, outputs * features, sizeof *brief->w, "weights in float32"); /* no overflow: there are as many in float64 */
    if (status != KLIFT_OK) {
        kl_brief_clear(brief);
        return status;
    }
    for (int64_t o = 0; o < outputs; o++) {
        double square = 0;
        for (int64_t p = 0; p < features; p++) {
            double w = weights->w[o * features + p];
            brief->w[(p / LANES * outputs + o) * LANES + p % LANES] = (float)w;
            square += w * w;
        }
        brief->slip[o] = 1.02 * kl_glance_error(features) * sqrt(square) + 0x1p-124 * (double)features; /* the hundredths: for |z|, which is of float32 too */
    }
    return KLIFT_OK;
}

/* What score f may err by: with what is too small for float32, and the rounding of float64. */
static double error_of(double slip, double length, int64_t features, double f)
{
    return slip * length + 0x1p-123 * (double)features + 0x1p-50 * fabs(f);
}

int64_t kl_brief_class(const kl_brief *brief, const kl_weights *weights, const float *z, float *score)
{
    int64_t outputs = weights->outputs, best = 0;
    kl_glance(weights->features, z, outputs, brief->w, score);
    double length = sqrt((double)score[outputs] + 0x1p-124 * (double)weights->features), lead = -INFINITY;
    for (int64_t o = 0; o < outputs; o++) {
        double f = (double)score[o] + weights->b[o];
        best = f > lead ? o : best;
        lead = f > lead ? f : lead;
    }
    double error = error_of(brief->slip[best], length, weights->features, lead);
    if (outputs == 1)
        return fabs(lead) > error ? weights->classes.count > 1 && lead > 0 : -1;
    for (int64_t o = 0; o < outputs; o++) {
        double f = (double)score[o] + weights->b[o];
        if (o != best && !(lead - f > error + error_of(brief->slip[o], length, weights->features, f)))
            return -1;
    }
    return best;
}

void kl_brief_clear(kl_brief *brief)
{
    kl_free(brief->w);
    kl_free(brief->slip);
    *brief = (kl_brief){0};
}
