/* power.c - x' = (sqrt(gamma) x, sqrt(offset)), whose inner product to the degree is the kernel. */
#include "map/power.h"

#include "math/scaled.h"

#include <math.h>
#include <string.h>

static kl_power power(const kl_map *map)
{
    return map->kernel->type->power(map->kernel);
}

int64_t kl_power_degree(const kl_map *map)
{
    return power(map).degree;
}

int64_t kl_power_columns(const kl_map *map)
{
    return map->n_in + (power(map).offset > 0);
}

kl_power_pair kl_power_moments(const kl_map *map, const kl_pair *pair)
{
    kl_power p = power(map);
    double shared = 0;
    for (int64_t i = 0; i < pair->n; i++)
        shared += pair->x[i] * pair->x[i] * pair->y[i] * pair->y[i];
    return (kl_power_pair){p.gamma * pair->xy + p.offset, (p.gamma * pair->xx + p.offset) * (p.gamma * pair->yy + p.offset), p.gamma * p.gamma * shared + p.offset * p.offset};
}

/* Variance of one pair of columns of degree n, complex signs, for rows of length 1 with the product s. */
static double degree_variance(double s, double shared, double n)
{
    return pow(s * s + 1 - shared, n) + pow(fmax(2 * s * s - shared, 0), n) - 2 * pow(s * s, n);
}

/* (sum over n > h of a_n sqrt(V_n))^2 / (features - exact columns), the least over h: degrees up to h exact, complex signs above. */
static double series_variance(const kl_kernel *kernel, int64_t features, int64_t n_in)
{
    const double shared = 1 / (double)(n_in + 1);
    int64_t degree = kernel->type->power(kernel).degree;
    double best = INFINITY, columns = 0, products = 1; /* products of n columns: C(d + n - 1, n) */
    for (int64_t h = 0; h <= degree; h++) {
        double sum = 0, kept = 0;
        columns += exp(kernel->type->log_coefficient(kernel, h)) > 0 ? products : 0;
        products *= (double)(n_in + h) / (double)(h + 1);
        for (int64_t n = h + 1; n <= degree; n++) {
            double a = exp(kernel->type->log_coefficient(kernel, n)), typical = degree_variance(0.25, shared, (double)n), alike = degree_variance(1, shared, (double)n);
            sum += a * sqrt(0.995 * typical + 0.005 * alike); /* some rows are alike, and count more than the others from degree 7 on */
            kept += a > 0 ? 2 : 0;
        }
        if (columns + kept <= (double)features)
            best = fmin(best, sum > 0 ? sum * sum / ((double)features - columns) : 0);
        if (columns > (double)features)
            break;
    }
    return best;
}

const char *kl_power_choose(const kl_kernel *kernel, int64_t features, int64_t n_in, double nonzeros)
{
    kl_power p = kernel->type->power(kernel);
    const double s = 0.25;
    double degree = (double)p.degree, count = (double)features, size = 1;
    double limit = (pow((p.gamma + p.offset) * (p.gamma + p.offset), degree) + pow(s * p.gamma + p.offset, 2 * degree)) / count;
    if (p.degree > 1 && series_variance(kernel, features, n_in) < 1.2 * limit) /* a tree is 1.1 to 1.3 times above the limit */
        return "maclaurin";
    while (size < (double)n_in + 1)
        size *= 2;
    /* a tree fills rows with zeros: worth four times the operations of a flat sketch */
    return 2 * size * log2(size) > 4 * (nonzeros + count * log2(count + 1)) ? "tensor-sketch" : "tree";
}

bool kl_power_exact(const kl_map *map)
{
    int64_t degree = kl_power_degree(map);
    return degree == 0 || (degree == 1 && map->features >= kl_power_columns(map));
}

klift_status kl_power_apply_exact(const kl_map *map, const kl_batch *x, const kl_output *z)
{
    kl_power p = power(map);
    float scale = (float)sqrt(p.gamma);
    for (int64_t i = 0; i < x->rows; i++) {
        float *out = z->dense + i * z->stride;
        memset(out, 0, (size_t)map->n_out * sizeof *out);
        if (p.degree == 0) {
            out[0] = 1;
            continue;
        }
        for (int64_t j = 0; x->dense != NULL && j < x->columns; j++)
            out[j] = scale * x->dense[i * x->stride + j];
        for (int64_t q = x->dense == NULL ? x->start[i] : 0; x->dense == NULL && q < x->start[i + 1]; q++)
            out[x->column[q]] = scale * x->value[q];
        if (p.offset > 0)
            out[map->n_in] = (float)sqrt(p.offset);
    }
    return KLIFT_OK;
}

static bool fits_float32(const kl_power *p, double square)
{
    const double largest = 83; /* log of 1e36: features stay a factor of 100 below the largest float */
    return 0.5 * (double)p->degree * log(p->gamma * square + p->offset) <= largest;
}

static klift_status check_length(const kl_power *p, double square)
{
    if (fits_float32(p, square))
        return KLIFT_OK;
    return kl_fail(KLIFT_DATA, "kernel poly: a row with (gamma |x|^2 + offset) = %.3g is too long for degree %lld: its features leave float32; make the rows shorter, for "
                   "example with prepare=unit or prepare=maxnorm, or lower gamma or the degree", p->gamma * square + p->offset, (long long)p->degree);
}

/* |x|^2 is known in float32, about: only what comes near the limit is summed once more. */
static klift_status check_dense(const kl_power *p, int64_t n, const float *x, float about)
{
    double square = 0;
    if (fits_float32(p, 2 * (double)about))
        return KLIFT_OK;
    for (int64_t j = 0; j < n; j++)
        square += (double)x[j] * (double)x[j];
    return check_length(p, square);
}

klift_status kl_power_row(const kl_map *map, const kl_batch *x, int64_t i, double scale, float *row, int64_t *nonzeros)
{
    kl_power p = power(map);
    float factor = (float)(sqrt(p.gamma) * scale);
    if (p.offset > 0)
        row[map->n_in] = (float)(sqrt(p.offset) * scale);
    if (x->dense != NULL) {
        const float *from = x->dense + i * x->stride;
        float about;
        *nonzeros = kl_scaled(x->columns, factor, from, row, &about) + (p.offset > 0);
        return check_dense(&p, x->columns, from, about);
    }
    double square = 0;
    memset(row, 0, (size_t)map->n_in * sizeof *row);
    for (int64_t q = x->start[i]; q < x->start[i + 1]; q++) {
        row[x->column[q]] = factor * x->value[q];
        square += (double)x->value[q] * (double)x->value[q];
    }
    *nonzeros = x->start[i + 1] - x->start[i] + (p.offset > 0);
    return check_length(&p, square);
}

klift_status kl_power_entries(const kl_map *map, const kl_batch *x, int64_t row, double scale, int32_t *column, float *value, int64_t *count)
{
    kl_power p = power(map);
    float factor = (float)(sqrt(p.gamma) * scale);
    int64_t n = 0;
    double square = 0;
    if (x->dense != NULL) {
        const float *from = x->dense + row * x->stride;
        for (int64_t j = 0; j < x->columns; j++) { /* no branch: zeros are written and written over */
            column[n] = (int32_t)j;
            value[n] = factor * from[j];
            square += (double)from[j] * (double)from[j];
            n += from[j] != 0;
        }
    } else
        for (int64_t q = x->start[row]; q < x->start[row + 1]; q++, n++) {
            column[n] = x->column[q];
            value[n] = factor * x->value[q];
            square += (double)x->value[q] * (double)x->value[q];
        }
    if (p.offset > 0) {
        column[n] = (int32_t)map->n_in;
        value[n++] = (float)(sqrt(p.offset) * scale);
    }
    *count = n;
    return check_length(&p, square);
}
