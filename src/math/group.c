/* group.c - dense groups by the loops of the table in use; sparse ones here, entry by entry. */
#include "math/group.h"

#include "math/micro.h"

#include <math.h>
#include <stddef.h>

enum { LANES = KL_GROUP_LANES };

static const int first_of[KL_GROUP_PAIRS] = {0, 0, 1, 0, 1, 2}, second_of[KL_GROUP_PAIRS] = {1, 2, 2, 3, 3, 3};

static double sparse_dot(const kl_row *z, const float *w)
{
    float lane[LANES] = {0};
    for (int64_t p = 0; p < z->count; p++)
        lane[z->column[p] % LANES] = fmaf(z->value[p], w[z->column[p]], lane[z->column[p] % LANES]);
    return kl_group_total(lane);
}

static double sparse_inner(const kl_row *a, const kl_row *b)
{
    float lane[LANES] = {0};
    for (int64_t p = 0, q = 0; p < a->count && q < b->count;)
        if (a->column[p] == b->column[q]) {
            lane[a->column[p] % LANES] = fmaf(a->value[p], b->value[q], lane[a->column[p] % LANES]);
            p++;
            q++;
        } else if (a->column[p] < b->column[q])
            p++;
        else
            q++;
    return kl_group_total(lane);
}

/* Column after column over the rows that have it. */
static void sparse_add(const kl_row *const z[KL_GROUP], const float *factor, float *copy, float *delta)
{
    int64_t at[KL_GROUP] = {0};
    for (;;) {
        int32_t column = INT32_MAX;
        float sum = 0;
        for (int g = 0; g < KL_GROUP; g++)
            if (at[g] < z[g]->count && z[g]->column[at[g]] < column)
                column = z[g]->column[at[g]];
        if (column == INT32_MAX)
            return;
        for (int g = 0; g < KL_GROUP; g++)
            if (at[g] < z[g]->count && z[g]->column[at[g]] == column)
                sum = fmaf(factor[g], z[g]->value[at[g]++], sum);
        copy[column] += sum;
        delta[column] += sum;
    }
}

void kl_group_dots(const kl_row *const z[KL_GROUP], const kl_row *const next[KL_GROUP], int64_t n, const float *w, double f[KL_GROUP], double inner[KL_GROUP_PAIRS])
{
    if (z[0]->column == NULL) {
        kl_micro_get()->group_dots(z, next, n, w, f, inner);
        for (int g = 0; g < KL_GROUP; g++)
            f[g] *= (double)kl_row_scale(z[g]);
        for (int k = 0; k < KL_GROUP_PAIRS; k++)
            inner[k] *= (double)kl_row_scale(z[first_of[k]]) * (double)kl_row_scale(z[second_of[k]]);
        return;
    }
    for (int g = 0; g < KL_GROUP; g++)
        f[g] = sparse_dot(z[g], w);
}

double kl_group_inner(const kl_row *const z[KL_GROUP], const double inner[KL_GROUP_PAIRS], int h, int g)
{
    return z[0]->column == NULL ? inner[g * (g - 1) / 2 + h] : sparse_inner(z[h], z[g]);
}

void kl_group_add(const kl_row *const z[KL_GROUP], int64_t n, const float factor[KL_GROUP], float *copy, float *delta)
{
    float scaled[KL_GROUP];
    for (int g = 0; g < KL_GROUP; g++)
        scaled[g] = factor[g] * kl_row_scale(z[g]);
    if (z[0]->column == NULL)
        kl_micro_get()->group_add(z, n, scaled, copy, delta);
    else
        sparse_add(z, factor, copy, delta);
}

void kl_group_settle(const kl_row *z, int64_t count, int64_t n, double *w, float *copy, float *delta)
{
    if (z[0].column == NULL) {
        kl_micro_get()->group_settle(n, w, copy, delta);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t e = 0; e < z[i].count; e++) {
            int32_t p = z[i].column[e];
            w[p] += (double)delta[p];
            copy[p] = (float)w[p];
            delta[p] = 0;
        }
}
