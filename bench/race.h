/*
 * race.h - what the programs of bench_engine share: a piece of work and the memory of it, klift's and the peer's in turns, and a row of the
 * table printed as JSON.
 */
#ifndef KL_BENCH_RACE_H
#define KL_BENCH_RACE_H

#include "limits.h"

#include "learn/statistics.h"
#include "math/product.h"
#include "math/tiles.h"

typedef struct job {
    int64_t m, n, k;
    float *a, *b, *c, *fresh;
    kl_panels panels;
    void *scratch;
    kl_tiles tiles, copy;
    kl_tile_rows rows;
    kl_statistics statistics;
    klift_batch labelled;
    double *square, *kept;
    klift_run *run;
    klift_map *map;
    float *z, *kernel;
} job;

/* Set by main. */
typedef struct engine {
    int least; /* rounds */
    peers peer;
    klift_run *two, *one; /* runs of two threads and of one */
} engine;
extern engine bench;

enum { MOST_ROUNDS = 40 };

typedef struct result {
    double ratio, first, third; /* the peer's time over klift's: median and quartiles */
    double ours, theirs;        /* median seconds */
} result;

/* What a row is held against. amount: GFLOP, GB or 10^9 additions of one piece of work. */
typedef struct goal {
    double least;
    const char *against, *limit;
    double amount;
} goal;

void check(klift_status status); /* ends the program when it is not KLIFT_OK */
double seconds_of(void (*work)(job *), void (*again)(job *), job *j, int repeats);
/* Two pieces of work in turns after a round that does not count; again is called before each, untimed. Short ones are repeated within a
 * round. The ratio is that of neighbours, which a busy machine disturbs least; it is known to 2 % when the standard error of its median is
 * below that, taken from the quartiles. */
result race(void (*ours)(job *), void (*theirs)(job *), void (*again)(job *), job *j);
void print(const char *name, result r, goal g, int64_t pieces); /* pieces: of work in what was timed, as times are shown */

/* engine_products.c: bare loops. their_product: sgemm of (m, k) and (n, k), also the peer of maps. */
void their_product(job *j);
double product_work(const job *j); /* GFLOP */
int64_t scratch_of(int64_t k);
job product_of(int64_t m, int64_t n, int64_t k);
void clear_product(job *j);
void products(void);
void tile(void);
void factor(int64_t size);
void transforms(void);

/* engine_maps.c: maps, the statistics of ridge, and two threads against one. */
void their_statistics(job *j); /* ssyrk */
void maps(void);
void statistics_of(int folds, bool threads);
void threads(void);

#endif
