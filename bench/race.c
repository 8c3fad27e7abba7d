/* race.c - see race.h. */
#include "race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

engine bench = {.least = 5};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted values, between neighbours where need be. */
static double quantile(int count, const double *x, double share)
{
    double at = share * (count - 1);
    int i = (int)at;
    return i + 1 < count ? x[i] + (at - i) * (x[i + 1] - x[i]) : x[i];
}

double seconds_of(void (*work)(job *), void (*again)(job *), job *j, int repeats)
{
    if (work == NULL)
        return 0;
    if (again != NULL)
        again(j);
    double start = bench_now();
    for (int i = 0; i < repeats; i++)
        work(j);
    return (bench_now() - start) / repeats;
}

result race(void (*ours)(job *), void (*theirs)(job *), void (*again)(job *), job *j)
{
    double took[2][MOST_ROUNDS], ratio[MOST_ROUNDS], start = bench_now();
    double first = seconds_of(ours, again, j, 1), other = seconds_of(theirs, again, j, 1), shorter = theirs != NULL ? fmin(first, other) : first;
    int count = 0, repeats = again != NULL || shorter > 0.02 ? 1 : (int)(0.02 / shorter) + 1, fewest = bench_quick() ? 3 : bench.least;
    result r = {0};
    for (bool known = false; count < fewest || (!known && !bench_quick() && count < MOST_ROUNDS);) {
        bench_rest();
        took[0][count] = seconds_of(ours, again, j, repeats);
        bench_rest();
        took[1][count] = seconds_of(theirs, again, j, repeats);
        count++;
        for (int i = 0; i < count; i++)
            ratio[i] = took[1][i] / took[0][i];
        qsort(ratio, (size_t)count, sizeof *ratio, ascending);
        r = (result){quantile(count, ratio, 0.5), quantile(count, ratio, 0.25), quantile(count, ratio, 0.75), 0, 0};
        known = 0.93 * (r.third - r.first) / sqrt(count) <= 0.02 * r.ratio;
        if (bench_now() - start > 20 && count >= 3)
            break;
    }
    for (int i = 0; i < 2; i++)
        qsort(took[i], (size_t)count, sizeof **took, ascending);
    r.ours = quantile(count, took[0], 0.5);
    r.theirs = quantile(count, took[1], 0.5);
    return r;
}

static const char *in_units(double seconds, char text[32])
{
    if (seconds < 1e-6)
        snprintf(text, 32, "%.3g ns", seconds * 1e9);
    else if (seconds < 1e-3)
        snprintf(text, 32, "%.3g us", seconds * 1e6);
    else
        snprintf(text, 32, seconds < 1 ? "%.3g ms" : "%.3g s", seconds < 1 ? seconds * 1e3 : seconds);
    return text;
}


void print(const char *name, result r, goal g, int64_t pieces)
{
    char ours[32], theirs[32];
    printf("{\"name\": \"%s\", \"ratio\": %.4f, \"goal\": %.4f, \"reached\": %s, \"spread\": [%.4f, %.4f]", name, r.ratio, g.least,
           r.ratio >= g.least ? "true" : "false", r.first, r.third);
    printf(", \"klift\": \"%s\", \"peer\": \"%s %s\"", in_units(r.ours / (double)pieces, ours), in_units(r.theirs / (double)pieces, theirs), g.against);
    if (g.limit != NULL)
        printf(", \"seconds\": %.9g, \"amount\": %.9g, \"limit\": \"%s\"", r.ours, g.amount, g.limit);
    printf("}\n");
    fflush(stdout);
}

static void fail(void)
{
    fprintf(stderr, "bench_engine: %s\n", klift_error());
    exit(1);
}

void check(klift_status status)
{
    if (status != KLIFT_OK)
        fail();
}
