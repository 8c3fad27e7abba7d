/*
 * terms.h - explicit products of columns, for sparse rows: K(x, y) = p(x) f(<x, y>) p(y), f(t) = sum of a_k t^k cut off
 * behind degree r. The product with the exponents e, of degree k, is the feature p(x) sqrt(a_k k! / prod e_i!) prod x_i^e_i;
 * a row of n nonzeros has C(n + r, r) of them, which is what it costs, whatever its width.
 * Columns: degree by degree, in each colexicographically (by the largest column, then by the next): columns i_1 <= .. <= i_k,
 * counted from 0, are at sum of C(i_j + j - 1, j). Degrees with a_k = 0 have none. Of more columns than features the degrees
 * above `exact` are hashed: each product has a random sign and is added to a random one of the columns behind.
 * Shared by taylor.c and monomial.c, whose parameters, state and functions these are. Call order: fit or load, draw, apply.
 */
#ifndef KL_TERMS_H
#define KL_TERMS_H

#include "map/map.h"
#include "math/triangle.h"

enum { KL_TERMS_DEGREE, KL_TERMS_HASH, KL_TERMS_EXACT, KL_TERMS_LIMIT }; /* places in kl_terms_params */
enum { KL_TERMS_MOST = 64 }; /* degrees: of two columns there are 2145 products up to this one, of four 814,385 */

extern const kl_param kl_terms_params[];

typedef struct kl_terms {
    /* what data decided */
    int64_t degree; /* nothing above it; stored as the parameter */
    int64_t exact;  /* degrees up to this one have columns of their own, -1: none, degree: all */
    double length;  /* of the longest row, the unit of rows: no power of it leaves the range of numbers */
    int64_t seen, seen_row; /* (not stored) nonzeros of the row that has the most, and its number: refused by draw, not row by row later */
    /* what follows from it */
    int64_t columns; /* of the degrees up to exact */
    int64_t buckets; /* columns behind them that are hashed into; 0: nothing is hashed */
    int64_t most;    /* nonzeros of a row that are within the limit */
    uint64_t key;    /* that hashing starts from */
    int64_t tabled;  /* degrees above exact and up to this one have so few products that what their hashes say is in a table */
    int64_t *first;  /* (tabled + 1) first column of a degree, or place of its first product in the table */
    int64_t *step;   /* (tabled - 1, n_in) C(i + j - 1, j), j = 2 .. tabled */
    uint32_t *hashed; /* kl_terms_entry of every product of the tabled degrees, in the order of columns */
    int64_t *entries; /* (KL_TERMS_COUNTED) that a row of so many nonzeros has at most */
    double *root;    /* (degree + 1) sqrt(a_k length^2k), 0: there is no such degree */
    double *square_root; /* (degree + 2) of 0, 1, 2, ... */
} kl_terms;

/* Products as they are made, by ascending column as long as they are not hashed: place is the column, or the hash. */
typedef struct kl_terms_sink {
    void *context;
    void (*take)(void *context, int64_t count, const double *value, const uint64_t *place);
} kl_terms_sink;

enum { KL_TERMS_ROOM = 512, KL_TERMS_PAIRED = 256, KL_TERMS_COUNTED = 256 };
enum { KL_TERMS_BLOCK = KL_TRIANGLE_BLOCK }; /* products are made in such blocks: every array of a row has so many more, that mean nothing */
typedef struct kl_terms_row {
    const kl_terms *terms;
    int64_t n_in, n;
    const uint64_t *column; /* (n) of the nonzeros, ascending */
    const double *x;        /* (n) in units of the length */
    double prefactor;       /* p(x) */
    double *value;          /* (KL_TERMS_ROOM) */
    uint64_t *place;        /* (KL_TERMS_ROOM) */
    const double *pair;     /* products of two nonzeros in their order, or NULL */
    const uint64_t *pair_column;
} kl_terms_row;
/* Pairs of n nonzeros that a row has a table of: 0 when there are too many, or too few degrees. */
int64_t kl_terms_pairs(const kl_terms *terms, int64_t n);
void kl_terms_pair(kl_terms_row *row, double *pair, uint64_t *pair_column);
/* All products of the degrees first to last, ranked or by hashes. */
void kl_terms_walk(const kl_terms_row *row, int64_t first, int64_t last, bool ranked, const kl_terms_sink *sink);
/* Where a hash puts a product among so many columns, and its sign: twice the column, and 1 for -1. */
static inline uint32_t kl_terms_entry(uint64_t hash, int64_t buckets)
{
    return (uint32_t)((hash >> 32) * (uint64_t)buckets >> 32) << 1 | (uint32_t)(hash & 1);
}
/* Fills hashed: a row that has every column has all products, by ascending column. Needs all but `entries`. */
klift_status kl_terms_tabulate(kl_terms *terms, int64_t n_in);

/* Products of a row of so many nonzeros, degrees first to last; INT64_MAX when they are more than 2^57. */
int64_t kl_terms_count(const kl_terms *terms, int64_t nonzeros, int64_t first, int64_t last);
/* Entries that the features of a row may have: 0 when it is beyond the limit, apply refuses it. */
int64_t kl_terms_entries(const kl_terms *terms, int64_t nonzeros);
/* KLIFT_DATA when the features of a row, |x|^2 in units of the length, leave float32 */
klift_status kl_terms_reach(const kl_map *map, double square, double prefactor);
/* KLIFT_DATA when row number `row` has more nonzeros than the limit allows; of: "the data", "the batch" */
klift_status kl_terms_refuse(const kl_map *map, int64_t row, const char *of, int64_t nonzeros);

/* the map's functions */
klift_status kl_terms_fit(kl_map *map, const kl_survey *survey, klift_run *run);
klift_status kl_terms_draw(kl_map *map, klift_run *run);
klift_status kl_terms_check(const kl_map *map, int64_t row, int64_t nonzeros);
klift_status kl_terms_apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch);
int64_t kl_terms_memory(const kl_map *map);
int64_t kl_terms_scratch(const kl_map *map, int64_t rows);
int64_t kl_terms_nonzeros(const kl_map *map, const kl_batch *x);
double kl_terms_variance(const kl_map *map, const kl_pair *pair);
double kl_terms_bias(const kl_map *map, const kl_pair *pair);
double kl_terms_cost(const kl_map *map, int64_t nonzeros);
void kl_terms_save(const kl_map *map, kl_record_writer *to);
klift_status kl_terms_load(kl_map *map, kl_record_reader *from);
void kl_terms_clear(kl_map *map);

#endif
