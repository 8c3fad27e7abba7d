/*
 * bandwidth.c - the median and the mean distance of pairs of sample rows: all pairs of at most 1000 rows while they
 * are at most 10^5, otherwise 10^5 pairs drawn by Philox from a fixed key. A median of 0 (duplicates) falls back to
 * the mean of the positive distances.
 */
#include "kernel/block.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 1000, MOST_PAIRS = 100000 };

static double distance(const kl_batch *rows, int64_t i, int64_t j, bool taxicab)
{
    double sum = kl_block_distance(rows, i, rows, j, taxicab);
    return taxicab ? sum : sqrt(sum);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The distances of the chosen pairs. */
static int64_t collect(const kl_batch *rows, bool taxicab, double *out)
{
    int64_t n = rows->rows < MOST_ROWS ? rows->rows : MOST_ROWS, count = 0;
    if (n * (n - 1) / 2 <= MOST_PAIRS) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                out[count++] = distance(rows, i, j, taxicab);
    } else {
        kl_random from = {0, 0, KL_DRAW_PAIRS};
        while (count < MOST_PAIRS) {
            double u[2];
            kl_random_uniforms(&from, (uint32_t)count, 2, u);
            int64_t i = (int64_t)(u[0] * (double)n), j = (int64_t)(u[1] * (double)(n - 1));
            out[count++] = distance(rows, i, j + (j >= i), taxicab); /* j skips i: a pair of different rows */
        }
    }
    return count;
}

/* What is wanted of the distances. */
typedef double (*summary)(double *all, int64_t count);

/* Added up from the smallest on. */
static double mean_of(double *all, int64_t count)
{
    double sum = 0;
    qsort(all, (size_t)count, sizeof *all, compare);
    for (int64_t i = 0; i < count; i++)
        sum += all[i];
    return count > 0 ? sum / (double)count : 0;
}

/* Puts the one that is k-th of the sorted ones at k, none larger before it and none smaller behind (Hoare). */
static double choose(double *all, int64_t count, int64_t k)
{
    for (int64_t first = 0, last = count - 1; first < last;) {
        double pivot = all[k];
        int64_t i = first, j = last;
        while (i <= j) {
            while (all[i] < pivot)
                i++;
            while (pivot < all[j])
                j--;
            if (i <= j) {
                double other = all[i];
                all[i++] = all[j];
                all[j--] = other;
            }
        }
        if (j < k)
            first = i;
        if (k < i)
            last = j;
    }
    return all[k];
}

static double median_of(double *all, int64_t count)
{
    if (count == 0)
        return 0;
    double upper = choose(all, count, count / 2), lower = choose(all, count, (count - 1) / 2), median = (lower + upper) / 2;
    int64_t positive = 0;
    for (int64_t i = 0; median == 0 && i < count; i++)
        if (all[i] > 0)
            all[positive++] = all[i];
    return median == 0 ? mean_of(all, positive) : median;
}

static klift_status summarise(const kl_survey *survey, bool taxicab, summary of, double *distance_out)
{
    kl_batch rows = kl_rows_view(&survey->sample);
    double *all = NULL;
    KL_TRY(kl_new(&all, MOST_PAIRS, sizeof *all, "distances"));
    int64_t count = collect(&rows, taxicab, all);
    *distance_out = of(all, count);
    kl_free(all);
    if (!(*distance_out > 0))
        return kl_fail(KLIFT_DATA, "the kernel's width cannot be learnt: all sampled rows are equal; give it as a number (gamma, length or sigma)");
    return KLIFT_OK;
}

klift_status kl_bandwidth_median(const kl_survey *survey, bool taxicab, double *median)
{
    return summarise(survey, taxicab, median_of, median);
}

klift_status kl_bandwidth_mean(const kl_survey *survey, double *mean)
{
    return summarise(survey, false, mean_of, mean);
}
