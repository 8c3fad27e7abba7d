/* lift.h - preparation and map as one thing, the public klift_map: raw rows to features. Immutable once made. */
#ifndef KL_LIFT_H
#define KL_LIFT_H

#include "data/prepare.h"
#include "data/schema.h"
#include "learn/learner.h"
#include "map/map.h"

enum { KL_CHUNK = 252 }; /* rows of one task, whole groups of 14, 6 or 4 of the product; fixed, so that no cut changes a bit */

struct klift_map {
    kl_prepare prepare;
    kl_map *map;
    int index_base; /* first column number of the text it was made from: 0, else 1 */
    int64_t row_bytes; /* of a raw row in memory, as the survey saw them; for plans, 0: unknown */
    int64_t entries;   /* of a row's features in the mean, where they are kept as CSR; 0: they are dense. For plans and passes */
    int64_t sample;    /* rows of the survey's sample; for plans */
    int64_t rows;      /* there are, or INT64_MAX when only the head of a pipe was seen; for plans */
    int64_t table_bytes; /* what the reader holds of the columns of a table; for plans */
    int goal;       /* what the labels looked like: kl_goal, -1: no labels were seen */
    kl_schema schema; /* of the table it was made from; empty for plain numbers */
};

/* z (rows, stride) for at most KL_CHUNK rows on this thread; scratch: kl_lift_scratch bytes */
int64_t kl_lift_scratch(const klift_map *lift, const kl_batch *x);
klift_status kl_lift_chunk(const klift_map *lift, const kl_batch *x, float *z, int64_t stride, bool past, void *scratch);
/* values (rows, outputs) of weights that the map carried (map.h), for at most KL_CHUNK rows on this thread */
klift_status kl_lift_values(const klift_map *lift, const kl_batch *x, int64_t outputs, const double *carried, double *values, void *scratch);
/* z (rows, stride) for any number of rows over the run's pool */
klift_status kl_lift_rows(const klift_map *lift, const kl_batch *x, float *z, int64_t stride, klift_run *run);
/* The same for rows whose entries nobody has checked yet: every thread checks its own; `what` is x in messages. */
klift_status kl_lift_unchecked(const klift_map *lift, const kl_batch *x, const char *what, float *z, int64_t stride, klift_run *run);
/* lift_each.c: the same, some rows at a time given to the thread that made them, while they are in its caches: z (rows, n_out), of rows first .. of x. */
typedef void (*kl_lift_take)(void *context, int64_t first, int64_t rows, const float *z);
klift_status kl_lift_each(const klift_map *lift, const kl_batch *x, kl_lift_take take, void *context, klift_run *run);
/* lift_sparse.c: z as CSR, start (rows + 1). *needed: the entries, or, when there is no room for what they may be, a room that will
 * do (KLIFT_USAGE). Of a map with dense z those that are not zero. what: as in kl_lift_unchecked, or NULL: they were checked. */
klift_status kl_lift_sparse(const klift_map *lift, const kl_batch *x, const char *what, int64_t *start, int32_t *column, float *value, int64_t room, int64_t *needed, klift_run *run);
/* The same for at most KL_CHUNK rows on this thread, of which a map makes CSR: z has the room. -1: it makes dense features of them. */
int64_t kl_lift_room(const klift_map *lift, const kl_batch *x);
int64_t kl_lift_norm_room(const klift_map *lift); /* of it for the kept norm of a row, which x has not; 0 of a map that counts no columns */
klift_status kl_lift_chunk_sparse(const klift_map *lift, const kl_batch *x, const kl_output *z, void *scratch);
/* All of x behind the rows of `to`, which has nothing but features. */
klift_status kl_lift_add(const klift_map *lift, const kl_batch *x, kl_rows *to, klift_run *run);
/* What lift->entries is to be, by a prepared sample: the map makes CSR of it, with less than a quarter of the columns. */
int64_t kl_lift_entries(const klift_map *lift, const kl_batch *sample);
/* Refuses the first row that the map cannot map for its nonzeros, by its number in x: before any work is done. */
klift_status kl_lift_check(const klift_map *lift, const kl_batch *x);
/* Exact kernel values of raw rows: k (x rows, y rows). */
klift_status kl_lift_kernel(const klift_map *lift, const kl_batch *x, const kl_batch *y, double *k);
/* The view of a learner that wants to lift the rows it kept. */
kl_lift kl_lift_for_learner(const klift_map *lift);
/* Two that give the same features; KLIFT_USAGE with what differs. */
klift_status kl_lift_same(const klift_map *a, const klift_map *b);
klift_status kl_lift_copy(const klift_map *lift, klift_map **copy);
void kl_lift_describe(const klift_map *lift, kl_text *json); /* members of an open JSON object */
void kl_lift_save(const klift_map *lift, kl_record_writer *to);
klift_status kl_lift_load(kl_record_reader *from, klift_run *run, klift_map **lift);
void kl_lift_free(klift_map *lift);

/* Rounded up to whole cache lines: parts of scratch begin with one. */
static inline int64_t kl_whole_lines(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

#endif
