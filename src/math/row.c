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

double kl_row_square(double sum, const kl_row *z, const kl_row *next)
{
    double lane[LINE] = {0}, scale = (double)kl_row_scale(z);
    if (z->column == NULL)
        return sum + kl_micro_get()->row_square(z->count, z, next) * scale * scale;
    prefetch(next);
    for (int64_t p = 0; p < z->count; p++)
        lane[z->column[p] % LINE] += (double)z->value[p] * (double)z->value[p];
    return sum + kl_row_total(lane);
}
