/*
 * statistics.h - the sufficient statistics of least squares, one set per fold, that add over blocks, shards and days.
 * Per fold: n, S = sum w z, T = sum w y, G = sum w z z' (lower tiles), B = sum w z y', q = sum w y^2, all float64 about
 * a fixed shift (z - c, y - e), the means of the first block. Classes are 0/1 columns of y (e = 0), so that a class
 * seen late is a new zero column. Call order: begin, { observe, ..., consume }, merge.
 */
#ifndef KL_STATISTICS_H
#define KL_STATISTICS_H

#include "data/sample.h"
#include "learn/targets.h"
#include "math/tiles.h"

enum { KL_KEPT_ROWS = 4096 };

typedef struct kl_fold {
    double weight, rows;
    double *sum;          /* S (features) */
    double *target_sum;   /* T (columns) */
    double *target_square;/* q (columns) */
    double **cross;       /* B: (columns) vectors of (features) */
    kl_tiles gram;        /* G */
} kl_fold;

typedef struct kl_statistics {
    kl_goal goal;
    int64_t features;
    int folds;            /* as asked for: a row's fold is its key modulo this */
    int sets;             /* sets of sums kept: folds, 2 (held out and the rest), or 1 */
    uint64_t seed;
    int64_t columns, column_room; /* targets, or classes so far */
    bool shifted;
    float *shift;         /* c (features) */
    double *target_shift; /* e (columns); zeros for classes */
    kl_fold *fold;        /* (sets) */
    kl_sample kept;       /* raw rows with the smallest content keys: classification by folds or holdout */
    kl_targets targets;     /* of rows observed and not yet consumed; classes of all */
    int32_t *set;         /* (targets.count) */
    int64_t set_room;
    void *packed;         /* work space of consume, kept: fresh pages cost more than what is done to them */
    int64_t packed_room;
} kl_statistics;

klift_status kl_statistics_begin(kl_statistics *s, kl_goal goal, int64_t features, int folds, int sets, uint64_t seed, klift_run *run);
klift_status kl_statistics_observe(kl_statistics *s, const kl_batch *x);
klift_status kl_statistics_consume(kl_statistics *s, const float *z, int64_t stride, int64_t rows, klift_run *run);
klift_status kl_statistics_merge(kl_statistics *into, const kl_statistics *from, int sign);
klift_status kl_statistics_widen(kl_statistics *s); /* a place in the sums for every class or target there is by now */
/* statistics_keep.c: between two blocks; and back into statistics that have begun. width: of the rows that were kept. */
void kl_statistics_save(const kl_statistics *s, kl_record_writer *to);
klift_status kl_statistics_load(kl_statistics *s, int64_t width, kl_record_reader *from);
/* The fold of a row by its key. */
int kl_statistics_fold(uint64_t key, int folds);
/* Whether a row is of the share that a seed holds out, by its key. */
bool kl_statistics_held(uint64_t key, uint64_t seed, double share);
/* Which set a row of this content belongs to. */
int kl_statistics_set_of(const kl_statistics *s, uint64_t key);
/* Key of a row's content and label, the same for every order, shard and format. */
uint64_t kl_statistics_key(const kl_batch *x, int64_t row, const char *class_name);
void kl_statistics_clear(kl_statistics *s);

#endif
