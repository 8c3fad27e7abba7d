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

static void scale_all(const kl_row *z, int64_t count, double *out)
{
    for (int64_t o = 0; z->scale > 0 && o < count; o++)
        out[o] *= (double)z->scale;
}

void kl_row_dots(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const double *w, int64_t stride, double *out)
{
    if (z->column == NULL) {
        kl_micro_get()->row_dots(n, z, next, count, w, stride, out);
        scale_all(z, count, out);
        return;
    }
    prefetch(next);
    kl_micro_get()->sparse_dots(z, n, count, w, stride, out);
}

void kl_row_add(const kl_row *z, int64_t n, double factor, double *w)
{
    if (z->column == NULL)
        kl_micro_get()->row_add(n, factor * (double)kl_row_scale(z), z, w);
    else
        kl_micro_get()->sparse_add(z, n, factor, w);
}

void kl_row_spread(const kl_row *z, int64_t n, float *to)
{
    kl_narrow kind = kl_row_kind(z);
    float scale = kl_row_scale(z);
    for (int64_t p = 0; p < n; p++)
        to[p] = z->column != NULL ? 0 : scale * kl_row_at(kind, z, p);
    for (int64_t p = 0; z->column != NULL && p < z->count; p++)
        to[z->column[p]] = z->value[p];
}

/* kind is a constant where it is called: a loop for each. */
static inline void add_squares(kl_narrow kind, const kl_row *z, double lane[LINE])
{
    int64_t p = 0;
    for (; p + LINE <= z->count; p += LINE)
        for (int k = 0; k < LINE; k++)
            lane[k] += (double)kl_row_at(kind, z, p + k) * (double)kl_row_at(kind, z, p + k);
    for (int64_t q = p; q < z->count; q++)
        lane[q - p] += (double)kl_row_at(kind, z, q) * (double)kl_row_at(kind, z, q);
}

double kl_row_square(double sum, const kl_row *z)
{
    double lane[LINE] = {0}, scale = (double)kl_row_scale(z);
    if (z->column == NULL && kl_row_kind(z) == KL_INT16)
        add_squares(KL_INT16, z, lane);
    else if (z->column == NULL && kl_row_kind(z) == KL_BFLOAT16)
        add_squares(KL_BFLOAT16, z, lane);
    else if (z->column == NULL)
        add_squares(KL_FLOAT32, z, lane);
    for (int64_t p = 0; z->column != NULL && p < z->count; p++)
        lane[z->column[p] % LINE] += (double)z->value[p] * (double)z->value[p];
    return sum + kl_row_total(lane) * scale * scale;
}
