/*
 * terms_row.c - the products of one row. Degree k is walked from the largest column down, the smallest one fastest, which
 * is colexicographic order. The s-th factor brings x_i sqrt(s / m), m the times that i is there by now, so that a product of
 * k factors has sqrt(k! / prod e_i!) in it and none on the way is larger than the longest row's power: one multiplication
 * per product, one addition for its column or its place in the table of hashes, or one step of a hash chain.
 */
#include "map/terms.h"

#include "base/memory.h"
#include "math/buckets.h"
#include "math/triangle.h"

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

/* Whole blocks, though runs are short: how many they have would be foretold wrongly at the end of every one. */
static inline void put_values(double *restrict to, double value, const double *restrict x)
{
    for (int k = 0; k < KL_TERMS_BLOCK; k++)
        to[k] = value * x[k];
}

static inline void put_places(uint64_t *restrict to, uint64_t place, const uint64_t *restrict at)
{
    for (int k = 0; k < KL_TERMS_BLOCK; k++)
        to[k] = place + at[k];
}

/* value times x (count), at place plus `at` (count), or at the hash of place and column. */
static inline void put_run(walk *w, int64_t count, double value, uint64_t place, const double *x, const uint64_t *at)
{
    for (int64_t from = 0; from < count;) {
        int64_t here = KL_TERMS_ROOM - w->count < count - from ? KL_TERMS_ROOM - w->count : count - from;
        double *values = w->row->value + w->count;
        uint64_t *places = w->row->place + w->count;
        for (int64_t t = 0; t < here; t += KL_TERMS_BLOCK)
            put_values(values + t, value, x + from + t);
        if (w->ranked)
            for (int64_t t = 0; t < here; t += KL_TERMS_BLOCK)
                put_places(places + t, place, at + from + t);
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
static inline void finish(walk *w, int64_t top, int64_t times, double value, uint64_t place)
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

/* The last two of the first nonzeros, none of which is there yet, ranked: what descend does for each, in one go. Returns how many are done: 0 when the room is short. */
static int64_t finish_first(walk *w, int64_t nonzeros, double by, uint64_t place)
{
    const kl_terms_row *row = w->row;
    const double *root = row->terms->square_root;
    int64_t count = nonzeros * (nonzeros + 1) / 2;
    if (count >= KL_TERMS_ROOM - w->count)
        return 0;
    kl_triangle_fill(&(kl_triangle){nonzeros, row->x, row->column, row->terms->step, by, root[w->degree], root[2], place}, row->value + w->count, row->place + w->count);
    w->count += count;
    return nonzeros;
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
    for (int64_t t = left == 2 && w->ranked ? finish_first(w, times == 0 ? top + 1 : top, by, place) : 0; t <= top; t++) {
        int64_t column = (int64_t)row->column[t], m = t == top ? times + 1 : 1;
        uint64_t next = w->ranked ? place + (uint64_t)terms->step[(left - 2) * row->n_in + column] : chain(place, column);
        double product = by * row->x[t] / terms->square_root[m];
        if (left == 2)
            finish(w, t, m, product * terms->square_root[w->degree], next);
        else
            descend(w, left - 1, t, m, product, next);
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
        if (k == 0)
            put(&w, value, place);
        else if (k == 1)
            put_run(&w, row->n, value, place, row->x, row->column);
        else if (row->n > 0)
            descend(&w, k, row->n - 1, 0, value, place);
    }
    flush(&w);
}

/* ---- sinks ---- */

typedef struct target {
    float *dense;
    kl_buckets sums;        /* of hashed columns */
    const uint32_t *hashed; /* kl_terms_entry by place, of tabled degrees */
    int32_t *column;        /* CSR */
    float *value;
    int64_t count;
    int64_t added; /* products that were hashed */
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
    const kl_buckets sums = to->sums;
    to->added += count;
    for (int64_t i = 0; i < count; i++)
        kl_buckets_put(&sums, kl_terms_entry(place[i], sums.count), value[i]);
}

static void take_tabled(void *context, int64_t count, const double *value, const uint64_t *place)
{
    target *to = context;
    to->added += count;
    kl_buckets_add(&to->sums, count, value, place, to->hashed);
}

/* ---- table ---- */

typedef struct filling {
    uint32_t *hashed;
    int64_t count, buckets;
} filling;

static void take_table(void *context, int64_t count, const double *value, const uint64_t *place)
{
    filling *to = context;
    (void)value;
    for (int64_t i = 0; i < count; i++)
        to->hashed[to->count++] = kl_terms_entry(place[i], to->buckets);
}

klift_status kl_terms_tabulate(kl_terms *terms, int64_t n_in)
{
    int64_t n = terms->tabled > 0 ? n_in : 0;
    double value[KL_TERMS_ROOM + KL_TERMS_BLOCK], *x = NULL;
    uint64_t place[KL_TERMS_ROOM + KL_TERMS_BLOCK], *column = NULL;
    klift_status status;
    if (terms->tabled == terms->exact)
        return KLIFT_OK;
    KL_GO(kl_new(&x, n + KL_TERMS_BLOCK, sizeof *x, "a row"));
    KL_GO(kl_new(&column, n + KL_TERMS_BLOCK, sizeof *column, "a row"));
    for (int64_t i = 0; i < n; i++)
        column[i] = (uint64_t)i;
    const kl_terms_row row = {.terms = terms, .n_in = n_in, .n = n, .column = column, .x = x, .value = value, .place = place};
    filling to = {.hashed = terms->hashed, .buckets = terms->buckets};
    kl_terms_walk(&row, terms->exact + 1, terms->tabled, false, &(kl_terms_sink){&to, take_table});
done:
    kl_free(x);
    kl_free(column);
    return status;
}

/* ---- rows ---- */

typedef struct work {
    double *x[2], *value, *pair; /* x and column: of the present row and the next */
    uint64_t *column[2], *place, *touched, *pair_column;
    kl_buckets_few *few;
    float *sums;
    int32_t *list;
    int64_t bytes;
} work;

static work divide(const kl_map *map, void *scratch)
{
    const kl_terms *t = map->state;
    int64_t entries = t->most < map->n_in ? t->most : map->n_in; /* a row with more is refused before they are written */
    int64_t pairs = kl_terms_pairs(t, entries < KL_TERMS_PAIRED ? entries : KL_TERMS_PAIRED), words = (t->buckets + 63) / 64;
    const int64_t room = KL_TERMS_ROOM + KL_TERMS_BLOCK;
    work w = {.x = {scratch}};
    entries += KL_TERMS_BLOCK;
    pairs += KL_TERMS_BLOCK;
    w.bytes = (2 * (2 * entries + room + pairs) + words) * 8 + (int64_t)sizeof *w.few + (2 * t->buckets + KL_BUCKETS_SPARE) * 4;
    if (scratch == NULL)
        return w;
    w.x[1] = w.x[0] + entries;
    w.value = w.x[1] + entries;
    w.pair = w.value + room;
    w.column[0] = (uint64_t *)(void *)(w.pair + pairs);
    w.column[1] = w.column[0] + entries;
    w.place = w.column[1] + entries;
    w.pair_column = w.place + room;
    w.touched = w.pair_column + pairs;
    w.few = (kl_buckets_few *)(void *)(w.touched + words);
    w.sums = (float *)(void *)(w.few + 1);
    w.list = (int32_t *)(void *)(w.sums + t->buckets);
    return w;
}

int64_t kl_terms_scratch(const kl_map *map, int64_t rows)
{
    (void)rows;
    return divide(map, NULL).bytes;
}

/* The nonzeros of so many entries (column NULL: all columns) in units of the length; returns how many, and the sum of their squares. */
static int64_t take_nonzeros(int64_t entries, const int32_t *column, const float *value, double by, double *x, uint64_t *at, double *square)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t p = 0; p < entries; p++)
        if (value[p] != 0.0f) {
            double scaled = by * (double)value[p];
            x[n] = scaled;
            at[n++] = (uint64_t)(column != NULL ? column[p] : p);
            sum += scaled * scaled;
        }
    *square = sum;
    return n;
}

/* The nonzeros of a row, and its prefactor, in one half of the room. */
static klift_status take_row(const kl_map *map, const kl_batch *x, int64_t row, const work *w, kl_terms_row *out)
{
    const kl_terms *t = map->state;
    const int32_t *column;
    const float *value;
    double square;
    int64_t entries = kl_batch_row(x, row, &column, &value);
    if (x->dense != NULL || entries > t->most) /* nonzeros of fewer entries need not be counted */
        KL_TRY(kl_terms_refuse(map, row, "the batch", kl_batch_row_nonzeros(x, row)));
    int64_t n = take_nonzeros(entries, column, value, 1 / t->length, w->x[row % 2], w->column[row % 2], &square);
    *out = (kl_terms_row){.terms = t, .n_in = map->n_in, .n = n, .column = w->column[row % 2], .x = w->x[row % 2], .prefactor = 1, .value = w->value, .place = w->place};
    if (map->kernel->type->log_prefactor != NULL)
        out->prefactor = exp(map->kernel->type->log_prefactor(map->kernel, square * t->length * t->length));
    return kl_terms_reach(map, square, out->prefactor);
}

/* The degrees that are hashed. A table of pairs is not for them: it would round differently. */
static void add_hashed(const kl_terms_row *row, target *to)
{
    const kl_terms *t = row->terms;
    kl_terms_row single = *row;
    single.pair = NULL;
    to->hashed = t->hashed;
    kl_terms_walk(&single, t->exact + 1, t->tabled, true, &(kl_terms_sink){to, take_tabled});
    if (t->degree > t->tabled)
        kl_buckets_settle(&to->sums);
    kl_terms_walk(&single, t->tabled + 1, t->degree, false, &(kl_terms_sink){to, take_hashed});
}

static void write_dense(const kl_terms_row *row, const work *w, float *z, int64_t n_out)
{
    const kl_terms *t = row->terms;
    target to = {.dense = z, .sums = {t->buckets, z + t->columns, w->touched, NULL}};
    memset(z, 0, (size_t)n_out * sizeof *z);
    kl_terms_walk(row, 0, t->exact, true, &(kl_terms_sink){&to, take_dense});
    if (t->buckets > 0)
        add_hashed(row, &to);
}

/* Degrees 0 and 1, the most of a short row that is not hashed, without the room between: the same numbers. Returns the next degree. */
static int64_t write_lowest(const kl_terms_row *row, target *to)
{
    const kl_terms *t = row->terms;
    if (t->exact < 1)
        return 0;
    float *restrict out = to->value;
    int32_t *restrict column = to->column;
    if (t->root[0] != 0) {
        *out++ = (float)(t->root[0] * row->prefactor);
        *column++ = (int32_t)t->first[0];
    }
    const double by = t->root[1] * row->prefactor, *restrict x = row->x;
    const uint64_t *restrict at = row->column, first = (uint64_t)t->first[1];
    int64_t count = t->root[1] != 0 ? row->n : 0;
    for (int64_t i = 0; i < count; i++) {
        out[i] = (float)(by * x[i]);
        column[i] = (int32_t)(first + at[i]);
    }
    to->count = out + count - to->value;
    return 2;
}

static int64_t write_sparse(const kl_terms_row *row, const work *w, int32_t *column, float *value)
{
    const kl_terms *t = row->terms;
    target to = {.sums = {t->buckets, w->sums, w->touched, w->few}, .column = column, .value = value};
    int64_t next = write_lowest(row, &to);
    if (next <= t->exact)
        kl_terms_walk(row, next, t->exact, true, &(kl_terms_sink){&to, take_sparse});
    if (t->buckets > 0) {
        add_hashed(row, &to);
        to.count += kl_buckets_take(&to.sums, to.added, (int32_t)t->columns, w->list, column + to.count, value + to.count);
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
        w.few->count = 0;
    }
    kl_terms_row row, next;
    KL_TRY(x->rows > 0 ? take_row(map, x, 0, &w, &next) : KLIFT_OK);
    for (int64_t i = 0; i < x->rows; i++) { /* a row is taken before the last one is written: its prefactor is a chain of steps, each of which waits for the one before */
        row = next;
        if (i + 1 < x->rows)
            KL_TRY(take_row(map, x, i + 1, &w, &next));
        kl_terms_pair(&row, w.pair, w.pair_column);
        if (z->dense != NULL)
            write_dense(&row, &w, z->dense + i * z->stride, map->n_out);
        else {
            at += write_sparse(&row, &w, z->column + at, z->value + at);
            z->start[i + 1] = at;
        }
    }
    return KLIFT_OK;
}

int64_t kl_terms_nonzeros(const kl_map *map, const kl_batch *x)
{
    const kl_terms *t = map->state;
    int64_t sum = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t n = kl_batch_row_nonzeros(x, i);
        if (__builtin_add_overflow(sum, n < KL_TERMS_COUNTED ? t->entries[n] : kl_terms_entries(t, n), &sum))
            return INT64_MAX;
    }
    return sum;
}
