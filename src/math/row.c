/* row.c - dense rows and sparse ones by the loops of the table in use. */
#include "math/row.h"

#include "math/bfloat16.h"
#include "math/micro.h"

#include <string.h>

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
    if (z->half != NULL) {
        kl_micro_get()->half_dots(n, z->half, next->half, count, w, stride, out);
        return;
    }
    if (z->column == NULL) {
        kl_micro_get()->row_dots(n, z->value, next->value, count, w, stride, out);
        return;
    }
    prefetch(next);
    kl_micro_get()->sparse_dots(z, n, count, w, stride, out);
}

void kl_row_add(const kl_row *z, int64_t n, double factor, double *w)
{
    if (z->column == NULL)
        kl_micro_get()->row_add(n, factor, z->value, w);
    else
        kl_micro_get()->sparse_add(z, n, factor, w);
}

void kl_row_dots32(const kl_row *z, const kl_row *next, int64_t n, int64_t count, const float *w, int64_t stride, double *out)
{
    if (z->half != NULL) {
        kl_micro_get()->half_dots32(n, z->half, next->half, count, w, stride, out);
        return;
    }
    if (z->column == NULL) {
        kl_micro_get()->row_dots32(n, z->value, next->value, count, w, stride, out);
        return;
    }
    prefetch(next);
    kl_micro_get()->sparse_dots32(z, count, w, stride, out);
}

void kl_row_add32(const kl_row *z, int64_t n, float factor, float *copy, float *delta)
{
    if (z->half != NULL)
        kl_micro_get()->half_add32(n, factor, z->half, copy, delta);
    else if (z->column == NULL)
        kl_micro_get()->row_add32(n, factor, z->value, copy, delta);
    else
        for (int64_t p = 0; p < z->count; p++) {
            float change = factor * z->value[p];
            copy[z->column[p]] += change;
            delta[z->column[p]] += change;
        }
}

static double half_square(double sum, const kl_row *z)
{
    double lane[LINE] = {0};
    int64_t whole = z->count / LINE * LINE;
    float value[LINE];
    for (int64_t p = 0; p < whole; p += LINE) {
        uint32_t bits[LINE];
        for (int k = 0; k < LINE; k++)
            bits[k] = (uint32_t)z->half[p + k] << 16;
        memcpy(value, bits, sizeof value);
        for (int k = 0; k < LINE; k++)
            lane[k] += (double)value[k] * (double)value[k];
    }
    kl_bfloat16_widen(z->count - whole, z->half + whole, value);
    for (int64_t p = whole; p < z->count; p++)
        lane[p - whole] += (double)value[p - whole] * (double)value[p - whole];
    return sum + kl_row_total(lane);
}

double kl_row_square(double sum, const kl_row *z)
{
    double lane[LINE] = {0};
    if (z->half != NULL)
        return half_square(sum, z);
    int64_t whole = z->column == NULL ? z->count / LINE * LINE : 0;
    for (int64_t p = 0; p < whole; p += LINE)
        for (int k = 0; k < LINE; k++)
            lane[k] += (double)z->value[p + k] * (double)z->value[p + k];
    for (int64_t p = whole; p < z->count; p++)
        lane[(z->column != NULL ? z->column[p] : p) % LINE] += (double)z->value[p] * (double)z->value[p];
    return sum + kl_row_total(lane);
}
