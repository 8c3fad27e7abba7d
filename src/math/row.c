/* row.c - dense rows and sparse ones by the loops of the table in use. */
#include "math/row.h"

#include "math/micro.h"

enum { LINE = 16 }; /* values of a cache line */

void kl_row_dots(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const double *w, int64_t stride, double *out)
{
    if (z->column == NULL) {
        kl_micro_get()->row_dots(n, z->value, next->value, count, w, stride, out);
        return;
    }
    for (int64_t p = 0; p < next->count; p += LINE) {
        __builtin_prefetch(next->column + p);
        __builtin_prefetch(next->value + p);
    }
    kl_micro_get()->sparse_dots(z, n, count, w, stride, out);
}

void kl_row_add(const kl_row *z, int64_t n, double factor, double *w)
{
    if (z->column == NULL)
        kl_micro_get()->row_add(n, factor, z->value, w);
    else
        kl_micro_get()->sparse_add(z, n, factor, w);
}

double kl_row_square(double sum, const kl_row *z)
{
    for (int64_t p = 0; p < z->count; p++)
        sum += (double)z->value[p] * (double)z->value[p];
    return sum;
}
