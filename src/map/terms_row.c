/*
 * terms_row.c - the products of one row. Degree k is walked from the largest column down, the smallest one fastest, which
 * is colexicographic order. The s-th factor brings x_i sqrt(s / m), m the times that i is there by now, so that a product of
 * k factors has sqrt(k! / prod e_i!) in it and none on the way is larger than the longest row's power: one multiplication
 * per product, one addition for its column, or one step of a hash chain. Ranked, the last two factors come from a table of pairs.
 */
#include "map/terms.h"

#include <math.h>
#include <string.h>

/* ---- walk ---- */

typedef struct walk {
    const kl_terms_row *row;
    const kl_terms_sink *sink;
    int64_t degree, count; /* count: products in the room */
    bool ranked;
} walk;

/* splitmix64's finaliser: every product of one more column has a hash of its own. */
static inline uint64_t chain(uint64_t hash, int64_t column)
{
    uint64_t z = (hash + 1) * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)column + 1;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void flush(walk *w)
{
    if (w->count > 0)
        w->sink->take(w->sink->context, w->count, w->row->value, w->row->place);
    w->count = 0;
}

static inline void put(walk *w, double value, uint64_t place)
{
    w->row->value[w->count] = value;
    w->row->place[w->count] = place;
    if (++w->count == KL_TERMS_ROOM)
        flush(w);
}

/* value times x (count), at place plus `at` (count), or at the hash of place and column. */
static void put_run(walk *w, int64_t count, double value, uint64_t place, const double *x, const uint64_t *at)
{
    for (int64_t from = 0; from < count;) {
        int64_t here = KL_TERMS_ROOM - w->count < count - from ? KL_TERMS_ROOM - w->count : count - from;
        double *restrict values = w->row->value + w->count;
        uint64_t *restrict places = w->row->place + w->count;
        for (int64_t t = 0; t < here; t++)
            values[t] = value * x[from + t];
        if (w->ranked)
            for (int64_t t = 0; t < here; t++)
                places[t] = place + at[from + t];
        else
            for (int64_t t = 0; t < here; t++)
                places[t] = chain(place, (int64_t)at[from + t]);
        w->count += here;
        from += here;
        if (w->count == KL_TERMS_ROOM)
            flush(w);
    }
}

/* The last factor: nonzeros 0 .. top, of which top is already there `times` times. */
static void finish(walk *w, int64_t top, int64_t times, double value, uint64_t place)
{
    const kl_terms_row *row = w->row;
    put_run(w, top, value, place, row->x, row->column);
    put(w, value * row->x[top] / row->terms->square_root[times + 1], w->ranked ? place + row->column[top] : chain(place, (int64_t)row->column[top]));
}

/* The last two at once, from the table of pairs: runs of one are short. Those with top once more come last, top twice at the end. */
static void finish_pairs(walk *w, int64_t top, int64_t times, double value, uint64_t place)
{
    const kl_terms_row *row = w->row;
    const double *root = row->terms->square_root;
    int64_t below = top * (top + 1) / 2;
    put_run(w, below, value, place, row->pair, row->pair_column);
    put_run(w, top, value / root[times + 1], place, row->pair + below, row->pair_column + below);
    put(w, value * row->x[top] * row->x[top] / (root[times + 1] * root[times + 2]), place + row->pair_column[below + top]);
}

/* Factors 1 .. degree - left are chosen. */
static void descend(walk *w, int64_t left, int64_t top, int64_t times, double value, uint64_t place)
{
    const kl_terms_row *row = w->row;
    const kl_terms *terms = row->terms;
    double by = value * terms->square_root[w->degree - left + 1];
    if (left == 1) {
        finish(w, top, times, by, place);
        return;
    }
    if (left == 2 && w->ranked && row->pair != NULL) {
        finish_pairs(w, top, times, by * terms->square_root[w->degree], place);
        return;
    }
    for (int64_t t = 0; t <= top; t++) {
        int64_t column = (int64_t)row->column[t], m = t == top ? times + 1 : 1;
        uint64_t next = w->ranked ? place + (uint64_t)terms->step[(left - 2) * row->n_in + column] : chain(place, column);
        descend(w, left - 1, t, m, by * row->x[t] / terms->square_root[m], next);
    }
}

int64_t kl_terms_pairs(const kl_terms *terms, int64_t n)
{
    return terms->exact > 1 && n <= KL_TERMS_PAIRED ? n * (n + 1) / 2 : 0;
}

void kl_terms_pair(kl_terms_row *row, double *pair, uint64_t *pair_column)
{
    int64_t at = 0;
    if (kl_terms_pairs(row->terms, row->n) == 0)
        return;
    for (int64_t t = 0; t < row->n; t++) {
        uint64_t step = (uint64_t)row->terms->step[row->column[t]];
        for (int64_t u = 0; u <= t; u++, at++) {
            pair[at] = row->x[t] * row->x[u];
            pair_column[at] = step + row->column[u];
        }
        pair[at - 1] /= row->terms->square_root[2]; /* a column twice */
    }
    row->pair = pair;
    row->pair_column = pair_column;
}

void kl_terms_walk(const kl_terms_row *row, int64_t first, int64_t last, bool ranked, const kl_terms_sink *sink)
{
    const kl_terms *terms = row->terms;
    walk w = {.row = row, .sink = sink, .ranked = ranked};
    for (int64_t k = first; k <= last; k++) {
        double value = terms->root[k] * row->prefactor;
        uint64_t place = ranked ? (uint64_t)terms->first[k] : terms->key;
        w.degree = k;
        if (terms->root[k] == 0)
            continue;
        if (k > 0 && row->n > 0)
            descend(&w, k, row->n - 1, 0, value, place);
        if (k == 0)
            put(&w, value, place);
    }
    flush(&w);
}

/* ---- sinks ---- */

typedef struct target {
    float *dense;    /* of hashed columns their sums */
    uint64_t *touched; /* a bit for each of these, or NULL */
    int32_t *column; /* CSR */
    float *value;
    int64_t count, buckets;
} target;

static void take_dense(void *context, int64_t count, const double *value, const uint64_t *place)
{
    target *to = context;
    for (int64_t i = 0; i < count; i++)
        to->dense[place[i]] = (float)value[i];
}

static void take_sparse(void *context, int64_t count, const double *value, const uint64_t *place)
{
    target *to = context;
    float *restrict out = to->value + to->count;
    int32_t *restrict column = to->column + to->count;
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)value[i];
    for (int64_t i = 0; i < count; i++)
        column[i] = (int32_t)place[i];
    to->count += count;
}

static void take_hashed(void *context, int64_t count, const double *value, const uint64_t *place)
{
    target *to = context;
    for (int64_t i = 0; i < count; i++) {
        int64_t bucket = kl_terms_bucket(place[i], to->buckets);
        to->dense[bucket] += kl_terms_sign(place[i]) * (float)value[i];
        if (to->touched != NULL)
            to->touched[bucket / 64] |= UINT64_C(1) << (bucket % 64);
    }
}

/* Columns that were added to, ascending, as entries behind those that are there; leaves the sums zero. */
static void collect(target *to, int64_t before)
{
    for (int64_t word = 0; word < (to->buckets + 63) / 64; word++)
        for (uint64_t bits = to->touched[word]; bits != 0; bits &= bits - 1) {
            int64_t bucket = word * 64 + __builtin_ctzll(bits);
            to->column[to->count] = (int32_t)(before + bucket);
            to->value[to->count++] = to->dense[bucket];
            to->dense[bucket] = 0.0f;
        }
    memset(to->touched, 0, (size_t)(to->buckets + 63) / 64 * sizeof *to->touched);
}

/* ---- rows ---- */

typedef struct work {
    double *x, *value, *pair;
    uint64_t *column, *place, *touched, *pair_column;
    float *sums;
    int64_t bytes;
} work;

static work divide(const kl_map *map, void *scratch)
{
    const kl_terms *t = map->state;
    int64_t entries = t->most < map->n_in ? t->most : map->n_in; /* a row with more is refused before they are written */
    int64_t pairs = kl_terms_pairs(t, entries < KL_TERMS_PAIRED ? entries : KL_TERMS_PAIRED), words = (t->buckets + 63) / 64;
    work w = {.x = scratch};
    w.bytes = (2 * (entries + KL_TERMS_ROOM + pairs) + words) * 8 + t->buckets * 4;
    if (scratch == NULL)
        return w;
    w.value = w.x + entries;
    w.pair = w.value + KL_TERMS_ROOM;
    w.column = (uint64_t *)(void *)(w.pair + pairs);
    w.place = w.column + entries;
    w.pair_column = w.place + KL_TERMS_ROOM;
    w.touched = w.pair_column + pairs;
    w.sums = (float *)(void *)(w.touched + words);
    return w;
}

int64_t kl_terms_scratch(const kl_map *map, int64_t rows)
{
    (void)rows;
    return divide(map, NULL).bytes;
}


/* The nonzeros of a row, and its prefactor. */
static klift_status take_row(const kl_map *map, const kl_batch *x, int64_t row, const work *w, kl_terms_row *out)
{
    const kl_terms *t = map->state;
    double by = 1 / t->length, square = 0;
    int64_t n = 0;
    KL_TRY(kl_terms_refuse(map, row, "the batch", kl_batch_row_nonzeros(x, row)));
    if (x->dense != NULL) {
        for (int64_t j = 0; j < x->columns; j++)
            if (x->dense[row * x->stride + j] != 0.0f) {
                w->x[n] = by * (double)x->dense[row * x->stride + j];
                w->column[n++] = (uint64_t)j;
            }
    } else
        for (int64_t p = x->start[row]; p < x->start[row + 1]; p++)
            if (x->value[p] != 0.0f) {
                w->x[n] = by * (double)x->value[p];
                w->column[n++] = (uint64_t)x->column[p];
            }
    for (int64_t i = 0; i < n; i++)
        square += w->x[i] * w->x[i];
    *out = (kl_terms_row){.terms = t, .n_in = map->n_in, .n = n, .column = w->column, .x = w->x, .prefactor = 1, .value = w->value, .place = w->place};
    if (map->kernel->type->log_prefactor != NULL)
        out->prefactor = exp(map->kernel->type->log_prefactor(map->kernel, square * t->length * t->length));
    kl_terms_pair(out, w->pair, w->pair_column);
    return kl_terms_reach(map, square, out->prefactor);
}

static void write_dense(const kl_terms_row *row, float *z, int64_t n_out)
{
    const kl_terms *t = row->terms;
    target to = {.dense = z, .buckets = t->buckets};
    memset(z, 0, (size_t)n_out * sizeof *z);
    kl_terms_walk(row, 0, t->exact, true, &(kl_terms_sink){&to, take_dense});
    to.dense = z + t->columns;
    if (t->buckets > 0)
        kl_terms_walk(row, t->exact + 1, t->degree, false, &(kl_terms_sink){&to, take_hashed});
}

static int64_t write_sparse(const kl_terms_row *row, const work *w, int32_t *column, float *value)
{
    const kl_terms *t = row->terms;
    target to = {.dense = w->sums, .touched = w->touched, .column = column, .value = value, .buckets = t->buckets};
    kl_terms_walk(row, 0, t->exact, true, &(kl_terms_sink){&to, take_sparse});
    if (t->buckets > 0) {
        kl_terms_walk(row, t->exact + 1, t->degree, false, &(kl_terms_sink){&to, take_hashed});
        collect(&to, t->columns);
    }
    return to.count;
}

klift_status kl_terms_apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const kl_terms *t = map->state;
    work w = divide(map, scratch);
    int64_t at = 0;
    if (z->dense == NULL) {
        z->start[0] = 0;
        memset(w.touched, 0, (size_t)(t->buckets + 63) / 64 * sizeof *w.touched);
        memset(w.sums, 0, (size_t)t->buckets * sizeof *w.sums);
    }
    for (int64_t i = 0; i < x->rows; i++) {
        kl_terms_row row;
        KL_TRY(take_row(map, x, i, &w, &row));
        if (z->dense != NULL)
            write_dense(&row, z->dense + i * z->stride, map->n_out);
        else {
            at += write_sparse(&row, &w, z->column + at, z->value + at);
            z->start[i + 1] = at;
        }
    }
    return KLIFT_OK;
}

static int64_t entries_of(const kl_terms *t, int64_t nonzeros)
{
    if (nonzeros > t->most) /* apply refuses it */
        return 0;
    int64_t hashed = t->buckets > 0 ? kl_terms_count(t, nonzeros, t->exact + 1, t->degree) : 0;
    return kl_terms_count(t, nonzeros, 0, t->exact) + (hashed < t->buckets ? hashed : t->buckets);
}

int64_t kl_terms_nonzeros(const kl_map *map, const kl_batch *x)
{
    const kl_terms *t = map->state;
    int64_t sum = 0;
    for (int64_t i = 0; i < x->rows; i++)
        if (__builtin_add_overflow(sum, entries_of(t, kl_batch_row_nonzeros(x, i)), &sum))
            return INT64_MAX;
    return sum;
}
