/*
 * degrees.h - how a map of a kernel's series f(t) = sum of a_n t^n spends its columns: which degrees are exact, which are
 * random, and how many features each of these gets. Rows are measured in the length of the longest one, so that
 * c_n = a_n length^2n is the most that degree n can add to K.
 */
#ifndef KL_DEGREES_H
#define KL_DEGREES_H

#include "base/record.h"
#include "base/run.h"
#include "kernel/kernel.h"
#include "map/frame.h"

enum { KL_DEGREES_MOST = 1000, KL_DEGREES_AUTO = -2 };
typedef enum { KL_LAW_OPTIMAL, KL_LAW_GEOMETRIC, KL_LAW_TRUNCATED, KL_LAW_SIGNAL } kl_law;

/* What is asked for. */
typedef struct kl_degrees_wish {
    const char *map;     /* whose messages these are */
    kl_law law;
    double ratio;        /* of the geometric law: degree n has a share of ratio^-(n+1) */
    double bound;        /* truncated: of what is cut off, relative to f */
    bool complex_signs;
    int64_t exact;       /* highest exact degree, -1: none, or KL_DEGREES_AUTO */
    int64_t columns;     /* of z */
    int64_t n_in;
} kl_degrees_wish;

/* What came of it. A unit is one random feature: one column, or with complex signs two, real and imaginary part. */
typedef struct kl_degrees {
    double length;       /* the unit of rows: that of the longest */
    int64_t exact, last; /* exact up to the one (-1: none), nothing above the other */
    bool complex_signs;
    int64_t columns;     /* that the exact degrees take */
    int64_t units;
    int64_t *count;      /* (last + 1) columns of an exact degree, units of a random one; of drawn ones 1 where there may be some */
    double left_out;     /* the most that is missing of K(x, x), relative to f(length^2) */
} kl_degrees;

/* Every feature draws its degree; otherwise degrees have counts. */
bool kl_law_draws(kl_law law);
/* log c_n; -INFINITY when degree n is neither exact nor random */
double kl_degrees_log(const kl_degrees *g, const kl_kernel *kernel, int64_t n);
/* pairs without a count: no data, then every degree is taken for as variable as its largest value. length is set. */
klift_status kl_degrees_fit(kl_degrees *g, const kl_kernel *kernel, const kl_degrees_wish *wish, const kl_frame_pairs *pairs);
/* log of the shares of a geometric law among the random degrees (last + 1) */
void kl_degrees_shares(const kl_degrees *g, double ratio, double *log_share);
/* log of what a unit of each degree is worth in K (last + 1), -INFINITY where there is none; ratio 0: degrees are counted */
void kl_degrees_weights(const kl_degrees *g, const kl_kernel *kernel, double ratio, double *log_weight);
/* The degree of each unit (units): the counts, highest first, or (ratio above 0) drawn from the shares. */
void kl_degrees_lay_out(const kl_degrees *g, const kl_random *from, double ratio, int32_t *degree);
void kl_degrees_save(const kl_degrees *g, kl_record_writer *to);
klift_status kl_degrees_load(kl_degrees *g, const kl_kernel *kernel, const kl_degrees_wish *wish, kl_record_reader *from);
void kl_degrees_clear(kl_degrees *g);

#endif
