/*
 * brief.c - f_o = w_o z + b_o, within an error e_o of the float64 score, so that class c is the one when
 *   f_c - f_o > e_c + e_o for every other o, or, of one output, when |f| > e.
 * Of float32: e_o = slip_o |z|. Of whole numbers, z = (q + d) / s with |d| <= 1/2 and v = (W + g) / t with |q| <= KL_GLANCE_MOST: v z - W q / (s t) is
 * sum v_p d_p / s + sum g_p q_p / (s t), at most |v|_1 / (2 s) + |g|_1 KL_GLANCE_MOST / (s t), whatever z is. v is w_o - w_0: scores are those above the first one's, which
 * is one vector less to read, and e_0 = 0.
 * Scores and lengths that are not finite lead by nothing, since what they may err by is not finite either: float64 finds words for them.
 */
#include "model/brief.h"

#include "base/memory.h"
#include "math/glance.h"
#include "math/glance_whole.h"

#include <math.h>

enum { LANES = KL_GLANCE_LANES, STEP = KL_GLANCE_STEP };

/* ---- make ---- */

static klift_status make_float(const kl_weights *weights, kl_brief *brief)
{
    int64_t features = weights->features, outputs = weights->outputs;
    KL_TRY(kl_new(&brief->w, outputs * features, sizeof *brief->w, "weights in float32")); /* no overflow: there are as many in float64 */
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

/* One vector of weights alone, or what each is above the first. */
static int64_t whole_count(const kl_weights *weights)
{
    return weights->outputs > 1 ? weights->outputs - 1 : 1;
}

static double above(const kl_weights *weights, int64_t o, int64_t p)
{
    return o == 0 ? weights->w[p] : weights->w[o * weights->features + p] - weights->w[p];
}

/* What weights are multiplied by to become whole numbers: none too large, nor the sum of a lane; 0 where there is no such number. */
static double scale_of(const kl_weights *weights, int64_t o)
{
    int64_t features = weights->features;
    double lane[STEP / 2] = {0}, largest = 0, sum = 0;
    for (int64_t p = 0; p < features; p++) {
        double v = fabs(above(weights, o, p));
        largest = fmax(largest, v);
        lane[kl_glance_lane(p)] += v;
    }
    for (int k = 0; k < STEP / 2; k++)
        sum = fmax(sum, lane[k]);
    double scale = fmin(KL_GLANCE_WEIGHT / largest, (KL_GLANCE_WHOLE_SUM - (double)features / STEP - 1) / sum); /* every number may grow by a half */
    return scale > 0 && isfinite(scale) && isfinite(1 / scale) ? scale : 0;
}

/* Vector `to` of whole, of output o. */
static void round_weights(const kl_weights *weights, int64_t o, int64_t to, double reach, kl_brief *brief)
{
    int64_t features = weights->features, count = whole_count(weights);
    const double s = (double)brief->scale, t = scale_of(weights, o);
    double length = 0, lost = 0, all = 0;
    for (int64_t p = 0; p < features; p++) {
        double v = above(weights, o, p), whole = rint(v * t);
        brief->whole[(p / STEP * count + to) * STEP + p % STEP] = (int16_t)whole;
        length += fabs(v);
        lost += t > 0 ? fabs(v - whole / t) : fabs(v);
        all += fabs(weights->w[p]) + fabs(weights->w[o * features + p]);
    }
    brief->unit[to] = t > 0 ? 1 / (s * t) : 0;
    brief->slip[o] = 1.001 * (0.5003 * length / s + lost * (KL_GLANCE_MOST / s)) + 0x1p-40 * all * reach; /* 3 more: for the product with s; then float64's own */
}

static klift_status make_whole(const kl_weights *weights, double reach, kl_brief *brief)
{
    int64_t features = weights->features, outputs = weights->outputs;
    KL_TRY(kl_new(&brief->whole, whole_count(weights) * features, sizeof *brief->whole, "weights as whole numbers"));
    KL_TRY(kl_new(&brief->unit, outputs, sizeof *brief->unit, "units of scores"));
    brief->scale = (float)(KL_GLANCE_MOST / reach);
    if (outputs == 1)
        round_weights(weights, 0, 0, reach, brief);
    for (int64_t o = 1; o < outputs; o++)
        round_weights(weights, o, o - 1, reach, brief);
    return KLIFT_OK;
}

klift_status kl_brief_make(const kl_weights *weights, double reach, kl_brief *brief)
{
    int64_t features = weights->features, outputs = weights->outputs;
    bool whole = reach > 0 && features % STEP == 0 && isnormal((float)(KL_GLANCE_MOST / reach)) && features / STEP < KL_GLANCE_WHOLE_SUM / 2;
    *brief = (kl_brief){0};
    if (weights->goal != KL_CLASSIFY || weights->code.bits > 0 || outputs == 0 || features % LANES != 0)
        return KLIFT_OK;
    KL_TRY(kl_new(&brief->slip, outputs, sizeof *brief->slip, "what scores may err by"));
    klift_status status = whole ? make_whole(weights, reach, brief) : make_float(weights, brief);
    if (status != KLIFT_OK)
        kl_brief_clear(brief);
    return status;
}

bool kl_brief_is_there(const kl_brief *brief)
{
    return brief->slip != NULL;
}

/* ---- class ---- */

/* What score f may err by: with what is too small for float32, and the rounding of float64. */
static double error_of(double slip, double length, int64_t features, double f)
{
    return slip * length + 0x1p-123 * (double)features + 0x1p-50 * fabs(f);
}

/* score (outputs), without b; length: 1 where slips are of whole scores */
static int64_t decide(const kl_brief *brief, const kl_weights *weights, double length, double *score)
{
    int64_t outputs = weights->outputs, best = 0;
    double lead = -INFINITY;
    for (int64_t o = 0; o < outputs; o++) {
        score[o] += weights->b[o];
        best = score[o] > lead ? o : best;
        lead = score[o] > lead ? score[o] : lead;
    }
    double error = error_of(brief->slip[best], length, weights->features, lead);
    if (outputs == 1)
        return fabs(lead) > error ? weights->classes.count > 1 && lead > 0 : -1;
    for (int64_t o = 0; o < outputs; o++)
        if (o != best && !(lead - score[o] > error + error_of(brief->slip[o], length, weights->features, score[o])))
            return -1;
    return best;
}

int64_t kl_brief_class(const kl_brief *brief, const kl_weights *weights, const float *z, double *score)
{
    int64_t outputs = weights->outputs;
    if (brief->whole != NULL) {
        int64_t count = whole_count(weights), before = outputs - count;
        score[0] = 0;
        if (kl_glance_whole(weights->features, z, brief->scale, count, brief->whole, score + before) > KL_GLANCE_MOST)
            return -1;
        for (int64_t k = 0; k < count; k++)
            score[before + k] *= brief->unit[k];
        return decide(brief, weights, 1, score);
    }
    float *narrow = (float *)(void *)(score + outputs);
    kl_glance(weights->features, z, outputs, brief->w, narrow);
    for (int64_t o = 0; o < outputs; o++)
        score[o] = (double)narrow[o];
    return decide(brief, weights, sqrt((double)narrow[outputs] + 0x1p-124 * (double)weights->features), score);
}

void kl_brief_clear(kl_brief *brief)
{
    kl_free(brief->w);
    kl_free(brief->whole);
    kl_free(brief->unit);
    kl_free(brief->slip);
    *brief = (kl_brief){0};
}
