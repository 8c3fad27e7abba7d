/* monomials.c - products of columns, degree by degree: each degree is made from the one before it in long runs. */
#include "map/monomials.h"

#include "base/memory.h"

#include <math.h>
#include <stddef.h>

double kl_monomials_count(int64_t n_in, int64_t degree)
{
    double count = 1;
    for (int64_t k = 1; k <= degree; k++)
        count = count * (double)(n_in + k - 1) / (double)k; /* a whole number after every step */
    return count;
}

typedef struct product {
    double number; /* degree! / prod e_i! */
    int32_t top, times; /* its largest column, and how often it is there */
} product;

/* The products of degree k from those of degree k - 1. */
static void raise_degree(int64_t n_in, int64_t k, const product *before, product *now)
{
    for (int64_t i = 0; i < n_in; i++) {
        int64_t run = (int64_t)kl_monomials_count(i + 1, k - 1);
        for (int64_t j = 0; j < run; j++, now++) {
            int32_t times = k > 1 && before[j].top == (int32_t)i ? before[j].times + 1 : 1;
            *now = (product){before[j].number * (double)k / times, (int32_t)i, times};
        }
    }
}

klift_status kl_monomials_factors(int64_t n_in, int64_t degree, double *factor)
{
    product *before = NULL, *now = NULL;
    klift_status status = KLIFT_OK;
    int64_t count = (int64_t)kl_monomials_count(n_in, degree);
    KL_GO(kl_new(&now, count, sizeof *now, "products of columns"));
    KL_GO(kl_new(&before, count, sizeof *before, "products of columns"));
    now[0] = (product){1, -1, 0};
    for (int64_t k = 1; k <= degree; k++) {
        product *other = before;
        before = now;
        now = other;
        raise_degree(n_in, k, before, now);
    }
    for (int64_t j = 0; j < count; j++)
        factor[j] = sqrt(now[j].number);
done:
    kl_free(before);
    kl_free(now);
    return status;
}

void kl_monomials_row(int64_t n_in, int64_t highest, const float *x, float scale, float *products)
{
    products[0] = 1.0f;
    if (highest < 1)
        return;
    float *now = products + 1;
    const float *before = now;
    for (int64_t i = 0; i < n_in; i++) /* degree 1 without the division that runs of one take longest for */
        *now++ = scale * x[i];
    for (int64_t k = 2; k <= highest; k++) {
        const float *next = now;
        int64_t run = 0;
        for (int64_t i = 0; i < n_in; i++) {
            float by = scale * x[i];
            run = i == 0 ? 1 : run * (i + k - 1) / i; /* C(i + k - 1, k - 1) from C(i + k - 2, k - 1) */
            for (int64_t j = 0; j < run; j++)
                now[j] = by * before[j];
            now += run;
        }
        before = next;
    }
}
