/*
 * orthonormal.c - Householder QR of a Gaussian matrix; columns of Q times the sign of R's diagonal, which makes Q Haar
 * distributed (Mezzadri 2007). Row r of block b is sequence b n + r of the source.
 */
#include "math/orthonormal.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* The reflection I - 2 v v'/v'v applied from the left to columns first .. n-1 of a; v starts at row k. */
static void reflect(int64_t n, int64_t k, const double *v, double size, int64_t first, double *a, double *sums)
{
    for (int64_t j = first; j < n; j++)
        sums[j] = 0;
    for (int64_t i = k; i < n; i++)
        for (int64_t j = first; j < n; j++)
            sums[j] += v[i] * a[i * n + j];
    for (int64_t i = k; i < n; i++)
        for (int64_t j = first; j < n; j++)
            a[i * n + j] -= 2 / size * v[i] * sums[j];
}

klift_status kl_orthonormal_draw(const kl_random *from, uint32_t block, int64_t n, double *q)
{
    double *a = NULL, *v = NULL, *sums = NULL;
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&a, n * n, sizeof *a, "a rotation"));
    KL_GO(kl_new(&v, n * n, sizeof *v, "a rotation")); /* row k: the k-th reflection */
    KL_GO(kl_new(&sums, 2 * n, sizeof *sums, "a rotation"));
    for (int64_t i = 0; i < n; i++)
        kl_random_normals(from, (uint32_t)(block * (uint64_t)n + (uint64_t)i), n, a + i * n);
    double *sign = sums + n;
    for (int64_t k = 0; k < n; k++) {
        double *r = v + k * n, norm = 0, size = 0;
        for (int64_t i = k; i < n; i++)
            norm += a[i * n + k] * a[i * n + k];
        norm = sqrt(norm);
        for (int64_t i = k; i < n; i++)
            r[i] = a[i * n + k];
        sign[k] = r[k] > 0 ? -1 : 1; /* of R's diagonal: r[k] moves away from zero */
        r[k] -= sign[k] * norm;
        for (int64_t i = k; i < n; i++)
            size += r[i] * r[i];
        if (size > 0)
            reflect(n, k, r, size, k, a, sums);
    }
    memset(q, 0, (size_t)(n * n) * sizeof *q);
    for (int64_t i = 0; i < n; i++)
        q[i * n + i] = sign[i];
    for (int64_t k = n - 1; k >= 0; k--) {
        double size = 0;
        for (int64_t i = k; i < n; i++)
            size += v[k * n + i] * v[k * n + i];
        if (size > 0)
            reflect(n, k, v + k * n, size, 0, q, sums);
    }
done:
    kl_free(a);
    kl_free(v);
    kl_free(sums);
    return status;
}
