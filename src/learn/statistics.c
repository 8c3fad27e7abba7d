/*
 * statistics.c - observes labels, sums blocks of features, merges.
 * The pool's tasks are tiles of G and column ranges of S and B; each sums the block's rows in their order, fold by
 * fold, so no number depends on the threads. Two shifts differ by dl = c_from - c_into when shards are merged:
 *   G += S dl' + dl S' + n dl dl' (old S),  B += dl T',  S += n dl, and the same for the targets' shift.
 */
#include "learn/statistics.h"

#include "base/memory.h"
#include "base/record.h"
#include "math/random.h"
#include "math/row.h"

#include <math.h>
#include <string.h>

uint64_t kl_statistics_key(const kl_batch *x, int64_t row, const char *class_name)
{
    uint64_t key = kl_batch_row_key(x, row);
    if (class_name != NULL)
        return kl_mix(key, kl_record_hash(class_name, strlen(class_name), 1));
    for (int64_t t = 0; t < x->targets; t++) {
        double value = x->target[row * x->targets + t] + 0.0; /* -0 becomes 0 */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = kl_mix(key, bits);
    }
    return key;
}

int kl_statistics_fold(uint64_t key, int folds)
{
    return (int)(kl_mix(key, UINT64_C(0xF01D)) % (uint64_t)folds);
}

bool kl_statistics_held(uint64_t key, uint64_t seed, double share)
{
    kl_random from = {seed, 0, KL_DRAW_HELD};
    return (double)(kl_random_key(&from, key) >> 11) < share * 0x1p53;
}

int kl_statistics_set_of(const kl_statistics *s, uint64_t key)
{
    if (s->sets == 1)
        return 0;
    int fold = kl_statistics_fold(key, s->folds);
    return s->sets == 2 && s->folds != 2 ? fold != 0 : fold;
}

static klift_status add_column(kl_statistics *s)
{
    int64_t room = s->column_room, count = s->columns + 1;
    if (count > s->column_room)
        for (int f = 0; f < s->sets; f++) {
            kl_fold *fold = &s->fold[f];
            int64_t r1 = s->column_room, r2 = s->column_room, r3 = s->column_room;
            KL_TRY(kl_grow(&fold->target_sum, &r1, s->columns, count, sizeof(double), "the statistics"));
            KL_TRY(kl_grow(&fold->target_square, &r2, s->columns, count, sizeof(double), "the statistics"));
            KL_TRY(kl_grow(&fold->cross, &r3, s->columns, count, sizeof *fold->cross, "the statistics"));
            room = r3;
        }
    int64_t shift_room = s->column_room;
    KL_TRY(kl_grow(&s->target_shift, &shift_room, s->columns, count, sizeof(double), "the statistics"));
    s->column_room = room;
    for (int f = 0; f < s->sets; f++) {
        klift_status status = kl_new(&s->fold[f].cross[s->columns], s->features, sizeof(double), "the statistics");
        while (status != KLIFT_OK && f-- > 0)
            kl_free(s->fold[f].cross[s->columns]);
        KL_TRY(status);
    }
    s->columns = count;
    return KLIFT_OK;
}

klift_status kl_statistics_begin(kl_statistics *s, kl_goal goal, int64_t features, int folds, int sets, uint64_t seed, klift_run *run)
{
    *s = (kl_statistics){.goal = goal, .targets.goal = goal, .features = features, .folds = folds, .sets = sets, .seed = seed};
    s->kept.limit = goal == KL_CLASSIFY && sets > 1 ? KL_KEPT_ROWS : 0;
    s->kept.merge_equal = true;
    KL_TRY(kl_new(&s->shift, features, sizeof *s->shift, "the statistics"));
    KL_TRY(kl_new(&s->fold, sets, sizeof *s->fold, "the statistics"));
    for (int f = 0; f < sets; f++) {
        KL_TRY(kl_new(&s->fold[f].sum, features, sizeof(double), "the statistics"));
        KL_TRY(kl_tiles_new(&s->fold[f].gram, features, run));
    }
    return KLIFT_OK;
}

klift_status kl_statistics_widen(kl_statistics *s)
{
    while (s->columns < s->targets.columns)
        KL_TRY(add_column(s));
    return KLIFT_OK;
}

static klift_status keep_row(kl_statistics *s, const kl_batch *x, int64_t row, int64_t at, uint64_t key)
{
    const char *class_name = kl_targets_class(&s->targets, at);
    const double own = 1;
    kl_batch one = kl_batch_part(x, row, 1);
    one.target = NULL;
    one.targets = 0;
    one.label = &class_name;
    one.weight = x->weight != NULL ? x->weight + row : &own; /* errors count rows, not what their classes weigh */
    return kl_sample_offer(&s->kept, &one, 0, kl_mix(key, s->seed));
}

klift_status kl_statistics_observe(kl_statistics *s, const kl_batch *x)
{
    int64_t first = s->targets.count;
    KL_TRY(kl_targets_observe(&s->targets, x));
    KL_TRY(kl_statistics_widen(s));
    KL_TRY(kl_grow(&s->set, &s->set_room, first, s->targets.count, sizeof *s->set, "the statistics"));
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t at = first + i;
        uint64_t key = s->sets > 1 ? kl_statistics_key(x, i, kl_targets_class(&s->targets, at)) : 0;
        s->set[at] = kl_statistics_set_of(s, key);
        if (s->kept.limit > 0 && s->targets.weight[at] > 0 && (s->sets == s->folds || s->set[at] == 0)) /* with one set held out only its rows will be scored */
            KL_TRY(keep_row(s, x, i, at, key));
    }
    return KLIFT_OK;
}

typedef struct block {
    kl_statistics *s;
    const float *z;
    int64_t stride, rows;
    int32_t **index; /* per set: its rows */
    int64_t *count;
} block;

static klift_status shift_task(void *context, int64_t task, int worker)
{
    (void)worker;
    block *b = context;
    int64_t edge = b->s->fold[0].gram.edge, first = task * edge, last = first + edge < b->s->features ? first + edge : b->s->features;
    double sum[KL_TILE] = {0};
    for (int64_t i = 0; i < b->rows; i++) /* along the rows: a column's numbers are pages apart */
        for (int64_t j = first; j < last; j++)
            sum[j - first] += (double)b->z[i * b->stride + j];
    for (int64_t j = first; j < last; j++)
        b->s->shift[j] = (float)(sum[j - first] / (double)b->rows);
    return KLIFT_OK;
}

static void shift_targets(kl_statistics *s)
{
    for (int64_t t = 0; s->goal == KL_REGRESS && t < s->columns; t++) {
        double sum = 0;
        for (int64_t i = 0; i < s->targets.count; i++)
            sum += s->targets.target[i * s->columns + t];
        s->target_shift[t] = sum / (double)s->targets.count;
    }
}

/* sum (n) += factor (z - shift), n <= KL_TILE; where the difference is rounded to float32 it is a row like any other, for which there is a fast loop */
static void add_row(const kl_tiles *tiles, int64_t n, double factor, const float *restrict z, const float *restrict shift, double *restrict sum)
{
    float line[KL_TILE];
    if (kl_tiles_exact(tiles)) {
        for (int64_t j = 0; j < n; j++)
            sum[j] += factor * kl_tiles_centred(tiles, z[j], shift[j]);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        line[j] = kl_tiles_rounded(tiles, z[j], shift[j]);
    kl_row_add(&(kl_row){.count = n, .value = line}, n, factor, sum);
}

/* S and B of a range of features, row by row. A row is in one class, so S is the sum of the classes' columns of B. */
static void sum_vectors(const block *b, int f, int64_t first, int64_t last)
{
    kl_statistics *s = b->s;
    kl_fold *fold = &s->fold[f];
    bool classes = s->goal == KL_CLASSIFY;
    for (int64_t r = 0; r < b->count[f]; r++) {
        int64_t row = b->index[f][r], from = classes ? (int64_t)s->targets.target[row] : 0, to = classes ? from + 1 : s->columns;
        const float *z = b->z + row * b->stride + first;
        double weight = s->targets.weight[row];
        if (!classes)
            add_row(&fold->gram, last - first, weight, z, s->shift + first, fold->sum + first);
        for (int64_t t = from; t < to; t++)
            add_row(&fold->gram, last - first, classes ? weight : weight * (s->targets.target[row * s->columns + t] - s->target_shift[t]), z, s->shift + first, fold->cross[t] + first);
    }
    for (int64_t j = first; classes && j < last; j++)
        fold->sum[j] = 0;
    for (int64_t t = 0; classes && t < s->columns; t++)
        for (int64_t j = first; j < last; j++)
            fold->sum[j] += fold->cross[t][j];
}

static klift_status vector_task(void *context, int64_t task, int worker)
{
    block *b = context;
    (void)worker;
    int64_t edge = b->s->fold[0].gram.edge, first = task * edge, last = first + edge < b->s->features ? first + edge : b->s->features;
    for (int f = 0; f < b->s->sets; f++)
        sum_vectors(b, f, first, last);
    return KLIFT_OK;
}

/* G of every set, some rows at a time. */
static klift_status sum_tiles(block *b, klift_run *run)
{
    kl_statistics *s = b->s;
    for (int f = 0; f < s->sets; f++)
        for (int64_t from = 0; from < b->count[f]; from += KL_TILES_ROWS) {
            int64_t left = b->count[f] - from;
            kl_tile_rows rows = {b->z, b->stride, left < KL_TILES_ROWS ? left : KL_TILES_ROWS, b->index[f] + from, s->shift, s->targets.weighted ? s->targets.weight : NULL};
            KL_TRY(kl_tiles_add(&s->fold[f].gram, &rows, s->packed, run));
        }
    return KLIFT_OK;
}

static void sum_targets(kl_statistics *s)
{
    for (int64_t i = 0; i < s->targets.count; i++) {
        kl_fold *fold = &s->fold[s->set[i]];
        double weight = s->targets.weight[i];
        fold->weight += weight;
        fold->rows += 1;
        int64_t from = s->goal == KL_CLASSIFY ? (int64_t)s->targets.target[i] : 0, to = s->goal == KL_CLASSIFY ? from + 1 : s->columns;
        for (int64_t t = from; t < to; t++) {
            double y = s->goal == KL_CLASSIFY ? 1 : s->targets.target[i * s->columns + t] - s->target_shift[t];
            fold->target_sum[t] += weight * y;
            fold->target_square[t] += weight * y * y;
        }
    }
}

static klift_status sort_by_set(block *b)
{
    kl_statistics *s = b->s;
    KL_TRY(kl_new(&b->count, s->sets, sizeof *b->count, "the statistics"));
    KL_TRY(kl_new(&b->index, s->sets, sizeof *b->index, "the statistics"));
    for (int f = 0; f < s->sets; f++)
        KL_TRY(kl_new(&b->index[f], b->rows, sizeof **b->index, "the statistics"));
    for (int64_t i = 0; i < b->rows; i++)
        b->index[s->set[i]][b->count[s->set[i]]++] = (int32_t)i;
    return KLIFT_OK;
}

klift_status kl_statistics_consume(kl_statistics *s, const float *z, int64_t stride, int64_t rows, klift_run *run)
{
    const kl_tiles *tiles = &s->fold[0].gram;
    block b = {.s = s, .z = z, .stride = stride, .rows = rows};
    klift_status status = KLIFT_OK;
    if (rows == 0)
        return KLIFT_OK;
    KL_GO(sort_by_set(&b));
    KL_GO(kl_make_room(&s->packed, &s->packed_room, kl_tiles_packed(tiles, rows < KL_TILES_ROWS ? rows : KL_TILES_ROWS), 1, "the statistics"));
    if (!s->shifted) {
        KL_GO(kl_run_parallel(run, tiles->count, shift_task, &b));
        shift_targets(s);
        s->shifted = true;
    }
    KL_GO(kl_run_parallel(run, tiles->count, vector_task, &b));
    KL_GO(sum_tiles(&b, run));
    sum_targets(s);
    s->targets.count = 0;
    if (s->kept.rows.rows > s->kept.limit)
        KL_GO(kl_sample_settle(&s->kept));
done:
    for (int f = 0; b.index != NULL && f < s->sets; f++)
        kl_free(b.index[f]);
    kl_free(b.index);
    kl_free(b.count);
    return status;
}

/* One tile of `into` += sign * (tile of `from` moved by dl). */
static void merge_tile(kl_fold *into, const kl_fold *from, const double *dl, int64_t i, int64_t j, double sign)
{
    const kl_tiles *g = &into->gram;
    double *a = kl_tiles_at(g, i, j);
    const double *b = kl_tiles_at(&from->gram, i, j);
    for (int64_t r = 0; r < g->edge; r++)
        for (int64_t c = 0; c < g->edge; c++) {
            int64_t p = i * g->edge + r, q = j * g->edge + c;
            double moved = b[r * g->edge + c];
            if (p < g->n && q < g->n)
                moved += from->sum[p] * dl[q] + dl[p] * from->sum[q] + from->weight * dl[p] * dl[q];
            a[r * g->edge + c] += sign * moved;
        }
}

/* B and T of one column; y moves by dy, z by dl: sum w (z + dl)(y + dy). */
static void merge_column(kl_fold *into, const kl_fold *from, int64_t to, int64_t column, const double *dl, double dy, int64_t features, double sign)
{
    double total = from->target_sum[column];
    for (int64_t p = 0; p < features; p++)
        into->cross[to][p] += sign * (from->cross[column][p] + dl[p] * total + dy * (from->sum[p] + from->weight * dl[p]));
    into->target_square[to] += sign * (from->target_square[column] + 2 * dy * total + dy * dy * from->weight);
    into->target_sum[to] += sign * (total + dy * from->weight);
}

static void merge_fold(kl_fold *into, const kl_fold *from, const double *dl, double sign)
{
    const kl_tiles *g = &into->gram;
    for (int64_t i = 0; i < g->count; i++)
        for (int64_t j = 0; j <= i; j++)
            merge_tile(into, from, dl, i, j, sign);
    for (int64_t p = 0; p < g->n; p++)
        into->sum[p] += sign * (from->sum[p] + from->weight * dl[p]);
    into->weight += sign * from->weight;
    into->rows += sign * from->rows;
}

/* Adds or takes away the weights of kept rows; one whose weight is used up counts for nothing. */
static klift_status merge_kept(kl_sample *into, const kl_sample *from, int sign)
{
    kl_batch rows = kl_rows_view(&from->rows);
    for (int64_t i = 0; i < rows.rows; i++) {
        double weight = sign * rows.weight[i];
        kl_batch one = kl_batch_part(&rows, i, 1);
        one.weight = &weight;
        KL_TRY(kl_sample_offer(into, &one, 0, from->key[i]));
    }
    return kl_sample_settle(into);
}

static klift_status check_mergeable(const kl_statistics *a, const kl_statistics *b)
{
    if (a->goal != b->goal || a->features != b->features || a->folds != b->folds || a->sets != b->sets || a->seed != b->seed)
        return kl_fail(KLIFT_USAGE, "statistics of different specs cannot be merged: task, features (%lld, %lld), folds (%d, %d) or seed differ",
                       (long long)a->features, (long long)b->features, a->folds, b->folds);
    if (a->goal == KL_REGRESS && a->columns > 0 && b->columns > 0 && a->columns != b->columns)
        return kl_fail(KLIFT_USAGE, "statistics with %lld and %lld targets cannot be merged", (long long)a->columns, (long long)b->columns);
    return KLIFT_OK;
}

klift_status kl_statistics_merge(kl_statistics *into, const kl_statistics *from, int sign)
{
    double *dl = NULL;
    klift_status status = KLIFT_OK;
    KL_TRY(check_mergeable(into, from));
    if (!from->shifted)
        return KLIFT_OK; /* no rows */
    if (!into->shifted) {
        memcpy(into->shift, from->shift, (size_t)into->features * sizeof *into->shift);
        if (into->goal == KL_REGRESS)
            into->targets.columns = from->columns;
        KL_TRY(kl_statistics_widen(into));
        for (int64_t t = 0; into->goal == KL_REGRESS && t < into->columns; t++)
            into->target_shift[t] = from->target_shift[t];
        into->shifted = true;
    }
    KL_GO(kl_new(&dl, into->features, sizeof *dl, "a merge"));
    for (int64_t p = 0; p < into->features; p++)
        dl[p] = (double)from->shift[p] - (double)into->shift[p];
    for (int64_t t = 0; t < from->columns; t++) {
        int64_t to = t;
        double dy = 0;
        if (into->goal == KL_CLASSIFY) {
            KL_GO(kl_names_add(&into->targets.classes, from->targets.classes.name[t], &to));
            into->targets.columns = into->targets.classes.count;
            KL_GO(kl_statistics_widen(into));
        } else
            dy = from->target_shift[t] - into->target_shift[t];
        for (int f = 0; f < into->sets; f++)
            merge_column(&into->fold[f], &from->fold[f], to, t, dl, dy, into->features, sign);
    }
    for (int f = 0; f < into->sets; f++)
        merge_fold(&into->fold[f], &from->fold[f], dl, sign);
    if (into->kept.limit > 0)
        KL_GO(merge_kept(&into->kept, &from->kept, sign));
done:
    kl_free(dl);
    return status;
}

void kl_statistics_clear(kl_statistics *s)
{
    for (int f = 0; s->fold != NULL && f < s->sets; f++) {
        for (int64_t t = 0; t < s->columns; t++)
            kl_free(s->fold[f].cross[t]);
        kl_free(s->fold[f].cross);
        kl_free(s->fold[f].sum);
        kl_free(s->fold[f].target_sum);
        kl_free(s->fold[f].target_square);
        kl_tiles_clear(&s->fold[f].gram);
    }
    kl_free(s->fold);
    kl_free(s->shift);
    kl_free(s->target_shift);
    kl_free(s->set);
    kl_targets_clear(&s->targets);
    kl_free(s->packed);
    kl_sample_clear(&s->kept);
    *s = (kl_statistics){0};
}
