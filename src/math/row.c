/* row.c - dense rows and sparse ones by the loops of the table in use. */
#include "math/row.h"

#include "math/micro.h"

enum { LINE = 16 }; /* values of a cache line */

static void prefetch(const kl_row *next)
{
    for (int64_t p = 0; p < next->count; p += LINE) {
        __builtin_prefetch(next->column + p);
        __builtin_prefetch(next->value + p);
    }
}

void kl_row_dots(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const double *w, int64_t stride, double *out)
{
    if (z->column == NULL) {
        kl_micro_get()->row_dots(n, z, next, count, w, stride, out);
        return;
    }
    prefetch(next);
    kl_micro_get()->sparse_dots(z, n, count, w, stride, out);
}

void kl_row_add(const kl_row *z, int64_t n, double factor, double *w)
{
    if (z->column == NULL)
        kl_micro_get()->row_add(n, factor, z, w);
    else
        kl_micro_get()->sparse_add(z, n, factor, w);
}

void kl_row_dots32(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const float *w, int64_t stride, double *out)
{
    if (z->column == NULL) {
        kl_micro_get()->row_dots32(n, z, next, count, w, stride, out);
        return;
    }
    prefetch(next);
    kl_micro_get()->sparse_dots32(z, count, w, stride, out);
}

void kl_row_add32(const kl_row *z, int64_t n, float factor, float *copy, float *delta)
{
    if (z->column == NULL) {
        kl_micro_get()->row_add32(n, factor, z, copy, delta);
        return;
    }
    for (int64_t p = 0; p < z->count; p++) {
        float change = factor * z->value[p];
        copy[z->column[p]] += change;
        delta[z->column[p]] += change;
    }
}

/* half is a constant where it is called: a loop for either kind. */
static inline void add_squares(bool half, const kl_row *z, double lane[LINE])
{
    int64_t p = 0;
    for (; p + LINE <= z->count; p += LINE)
        for (int k = 0; k < LINE; k++) {
            double value = (double)(half ? kl_bfloat16_value(z->half[p + k]) : z->value[p + k]);
            lane[k] += value * value;
        }
    for (int64_t q = p; q < z->count; q++)
        lane[q - p] += (double)kl_row_at(z, q) * (double)kl_row_at(z, q);
}

double kl_row_square(double sum, const kl_row *z)
{
    double lane[LINE] = {0};
    if (z->half != NULL)
        add_squares(true, z, lane);
    else if (z->column == NULL)
        add_squares(false, z, lane);
    for (int64_t p = 0; z->column != NULL && p < z->count; p++)
        lane[z->column[p] % LINE] += (double)z->value[p] * (double)z->value[p];
    return sum + kl_row_total(lane);
}
