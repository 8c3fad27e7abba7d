/*
 * tiles.h - symmetric matrices as lower tiles: the ridge statistics and their Cholesky factor.
 * Every tile operation is single-threaded and in a fixed order, so results do not depend on the number of threads.
 */
#ifndef KL_TILES_H
#define KL_TILES_H

#include "base/run.h"
#include "math/whole.h"

enum { KL_TILE = 512 };
/* Up to this many columns updates are summed in float64 throughout, beyond it in float32 over 512 rows at a time. */
enum { KL_TILES_EXACT = 2048 };

typedef struct kl_tiles {
    int64_t n;     /* rows and columns of the matrix */
    int64_t edge;  /* rows and columns of a tile: KL_TILE, or n rounded up to 16 when that is less, or less still */
    int64_t count; /* tiles on a side */
    float step;    /* not 0: rows that are added are rounded to whole multiples of it, a power of two, at most KL_WHOLE_MOST of them; unweighted ones are multiplied as such */
    double *value; /* tile (i, j), j <= i, row-major (edge, edge), at (i (i + 1) / 2 + j) edge^2 */
} kl_tiles;

int64_t kl_tiles_bytes(int64_t n);
klift_status kl_tiles_new(kl_tiles *tiles, int64_t n, klift_run *run); /* zeros, their pages taken by all threads */
klift_status kl_tiles_new_of(kl_tiles *tiles, int64_t n, int64_t edge, klift_run *run); /* of at most that edge, a multiple of 16: more tasks of a matrix that is factored */
klift_status kl_tiles_new_bare(kl_tiles *tiles, int64_t n); /* for what is written before it is read */
void kl_tiles_clear(kl_tiles *tiles);
double *kl_tiles_at(const kl_tiles *tiles, int64_t i, int64_t j); /* tile (i, j), j <= i */
double kl_tiles_get(const kl_tiles *tiles, int64_t row, int64_t column);

/* Which rows of a block go into an update: z (.., stride) float32, row numbers in index, z - shift, weights or NULL. */
typedef struct kl_tile_rows {
    const float *z;
    int64_t stride, count;
    const int32_t *index;   /* (count) */
    const float *shift;     /* (n) */
    const double *weight;   /* by row of the block, or NULL: all 1 */
} kl_tile_rows;

/* An update in two steps, each over the pool: every strip (the columns of a tile) of some rows is packed, then both halves of every tile are added to:
 *   tile (i, j) += sum over rows of weight (z - shift)_i (z - shift)_j'
 * At most KL_TILES_ROWS rows at a time keep the packed form small: kl_tiles_packed bytes. */
enum { KL_TILES_ROWS = 1024 };
int64_t kl_tiles_packed(const kl_tiles *tiles, int64_t rows);
void kl_tiles_pack(const kl_tiles *tiles, const kl_tile_rows *rows, int64_t strip, void *packed);
void kl_tiles_update(const kl_tiles *tiles, int64_t i, int64_t j, int half, const kl_tile_rows *rows, void *packed);
klift_status kl_tiles_add(const kl_tiles *tiles, const kl_tile_rows *rows, void *packed, klift_run *run); /* both, of all tiles */

/* z - shift as the updates see it: exact, or rounded to float32 or to steps; S and B must be of the same numbers as G. */
static inline bool kl_tiles_exact(const kl_tiles *tiles)
{
    return tiles->n <= KL_TILES_EXACT && tiles->step == 0;
}

static inline float kl_tiles_rounded(const kl_tiles *tiles, float z, float shift)
{
    return tiles->step == 0 ? z - shift : kl_whole_round((z - shift) * (1 / tiles->step)) * tiles->step;
}

static inline double kl_tiles_centred(const kl_tiles *tiles, float z, float shift)
{
    return kl_tiles_exact(tiles) ? (double)z - (double)shift : (double)kl_tiles_rounded(tiles, z, shift);
}

/* In place: the lower triangle becomes L with L L' = A. *failed is the column that is not positive, or -1. */
klift_status kl_tiles_factor(kl_tiles *a, klift_run *run, int64_t *failed);
int64_t kl_tiles_factor_bytes(int64_t n); /* of the panels it makes besides, n rows */
/* b (n, m) row-major becomes A^-1 b, a holding L. */
klift_status kl_tiles_solve(const kl_tiles *a, int64_t m, double *b, klift_run *run);
/* w = L^-1, zero above the diagonal; l holds L. */
klift_status kl_tiles_invert(const kl_tiles *l, klift_run *run, kl_tiles *w);
/* trace of A^-1 = |L^-1|_F^2 */
klift_status kl_tiles_inverse_trace(const kl_tiles *a, klift_run *run, double *trace);
/* y (n, m) = A x for the symmetric A whose lower tiles are stored; x (n, m). Diagonal tiles are read below the diagonal only. */
klift_status kl_tiles_multiply(const kl_tiles *a, int64_t m, const double *x, double *y, klift_run *run);

/* The same in float32, for factors that need not be better: half the time. The value is a part of other memory. */
typedef struct kl_tiles32 {
    int64_t n, edge, count;
    float *value;
} kl_tiles32;

float *kl_tiles32_at(const kl_tiles32 *tiles, int64_t i, int64_t j);
klift_status kl_tiles32_factor(kl_tiles32 *a, klift_run *run, int64_t *failed);
klift_status kl_tiles32_solve(const kl_tiles32 *a, int64_t m, float *b, klift_run *run);

#endif
