/*
 * lift_sparse.c - raw rows to features as CSR. How many entries a row may have is known before they are made, so rows are cut
 * into parts, rounds of them made by the pool where they would be if all had that many, and moved together as soon as those before
 * them are there, while they are in the caches of who made them. Every row is by itself: cuts change no bit.
 */
#include "model/lift.h"

#include "base/memory.h"

#include <pthread.h>
#include <string.h>

enum { PART_ENTRIES = 1 << 20, MOST_PARTS = 64, PARTS_PER_THREAD = 16 };

/* Of a row behind the preparation, at most. */
static int64_t row_entries(const klift_map *lift, const kl_batch *x, int64_t row)
{
    if (lift->prepare.centred)
        return lift->prepare.n_out;
    return (x->start != NULL ? x->start[row + 1] - x->start[row] : kl_batch_row_nonzeros(x, row)) + (lift->prepare.kind == KL_UNIT_KEEP_NORM);
}

klift_status kl_lift_check(const klift_map *lift, const kl_batch *x)
{
    const kl_map *map = lift->map;
    for (int64_t i = 0; map->type->check != NULL && i < x->rows; i++)
        KL_TRY(map->type->check(map, i, row_entries(lift, x, i)));
    return KLIFT_OK;
}

/* The map makes CSR of these rows. */
static bool makes_sparse(const klift_map *lift, const kl_batch *x)
{
    const kl_map_type *type = lift->map->type;
    return type->nonzeros != NULL && (type->either || (x->start != NULL && !lift->prepare.centred));
}

int64_t kl_lift_norm_room(const klift_map *lift)
{
    const int64_t start[2] = {0, 1};
    const int32_t column = (int32_t)(lift->prepare.n_out - 1);
    const kl_batch one = {.size = sizeof one, .rows = 1, .columns = lift->prepare.n_out, .start = start, .column = &column};
    bool by_column = lift->map->type->nonzeros != NULL && !lift->map->type->either;
    return by_column && lift->prepare.kind == KL_UNIT_KEEP_NORM ? lift->map->type->nonzeros(lift->map, &one) : 0;
}

/* Entries that the features of a row may have. A map that makes either counts the row's, others each by its column. */
static int64_t row_room(const klift_map *lift, const kl_batch *x, int64_t row)
{
    const kl_map_type *type = lift->map->type;
    if (!makes_sparse(lift, x))
        return lift->map->n_out;
    const int64_t start[2] = {0, row_entries(lift, x, row)};
    kl_batch one = {.size = sizeof one, .rows = 1, .columns = lift->prepare.n_out, .start = start};
    if (type->either)
        return type->nonzeros(lift->map, &one);
    one.start = x->start + row;
    one.column = x->column;
    return type->nonzeros(lift->map, &one) + kl_lift_norm_room(lift);
}

/* A map that makes either counts nothing but the entries of rows: of CSR that the preparation leaves as it is, all at once. */
static bool counts_starts(const klift_map *lift, const kl_batch *x)
{
    return lift->map->type->nonzeros != NULL && lift->map->type->either && x->start != NULL && !lift->prepare.centred && lift->prepare.kind != KL_UNIT_KEEP_NORM;
}

static int64_t whole_room(const klift_map *lift, const kl_batch *x)
{
    int64_t sum = 0;
    if (counts_starts(lift, x))
        return lift->map->type->nonzeros(lift->map, &(kl_batch){.size = sizeof *x, .rows = x->rows, .columns = lift->prepare.n_out, .start = x->start});
    for (int64_t i = 0; i < x->rows; i++)
        if (__builtin_add_overflow(sum, row_room(lift, x, i), &sum))
            return INT64_MAX;
    return sum;
}

typedef struct part {
    int64_t first, rows, room;
    int64_t *start; /* (rows + 1) */
    int32_t *column;
    float *value;
    bool made;
} part;

typedef struct lifting {
    const klift_map *lift;
    const kl_batch *x;
    const char *unchecked; /* what x is called, or NULL: it was checked */
    int64_t *start;
    int32_t *column;
    float *value;
    part part[MOST_PARTS]; /* of a round */
    int64_t parts, most;   /* there are, and may be */
    int64_t *starts;       /* (most, KL_CHUNK + 1) */
    pthread_mutex_t joins; /* who has it moves parts: */
    int64_t next;          /* the first one that is not in its place, which is behind */
    int64_t joined;        /* so many entries of column and value */
    int64_t scratch_bytes, dense_bytes;
    unsigned char *scratch, *dense; /* for each thread; dense: (rows of a part, n_out) of a map with dense z */
} lifting;

/* The next rows that stay within a part's entries, one at least. */
static part cut(const klift_map *lift, const kl_batch *x, int64_t first)
{
    const int64_t left = x->rows - first, most = left < KL_CHUNK ? left : KL_CHUNK;
    const kl_batch all = kl_batch_part(x, first, most);
    part p = {.first = first, .rows = most, .room = whole_room(lift, &all)};
    if (p.room <= PART_ENTRIES)
        return p;
    p = (part){.first = first};
    while (first + p.rows < x->rows && p.rows < KL_CHUNK) {
        int64_t room = row_room(lift, x, first + p.rows);
        if (p.rows > 0 && room > PART_ENTRIES - p.room)
            break;
        p.room += room;
        p.rows++;
    }
    return p;
}

/* Memory for the starts of a round, and for dense features. */
static klift_status begin(lifting *l, klift_run *run)
{
    const int64_t threads = kl_run_threads(run), n_out = l->lift->map->n_out;
    int64_t rows = l->x->rows < KL_CHUNK ? l->x->rows : KL_CHUNK, most = PART_ENTRIES / n_out > 1 ? PART_ENTRIES / n_out : 1;
    unsigned char *memory;
    l->most = threads == 1 ? 1 : threads * PARTS_PER_THREAD < MOST_PARTS ? threads * PARTS_PER_THREAD : MOST_PARTS;
    l->most = l->most < l->x->rows ? l->most : l->x->rows;
    const int64_t starts = kl_whole_lines(l->most * (KL_CHUNK + 1) * (int64_t)sizeof(int64_t));
    if (!makes_sparse(l->lift, l->x))
        l->dense_bytes = kl_whole_lines((rows < most ? rows : most) * n_out * (int64_t)sizeof(float));
    KL_TRY(kl_run_scratch(run, KL_SCRATCH_FEATURES, starts + threads * l->dense_bytes, &memory));
    l->starts = (int64_t *)(void *)memory;
    l->dense = memory + starts;
    l->start[0] = 0;
    return KLIFT_OK;
}

/* Some parts for each thread, each at its place in column and value if those before it have all the entries that they may have. */
static klift_status cut_parts(lifting *l, int64_t *first, klift_run *run)
{
    int64_t taken = l->joined;
    l->next = 0;
    for (l->parts = 0; l->parts < l->most && *first < l->x->rows; l->parts++) {
        part *p = &l->part[l->parts];
        *p = cut(l->lift, l->x, *first);
        *first += p->rows;
        kl_batch rows = kl_batch_part(l->x, p->first, p->rows);
        int64_t scratch = kl_lift_scratch(l->lift, &rows);
        l->scratch_bytes = scratch > l->scratch_bytes ? scratch : l->scratch_bytes;
        p->start = l->starts + l->parts * (KL_CHUNK + 1);
        p->column = l->column + taken;
        p->value = l->value + taken;
        taken += p->room;
    }
    return kl_run_scratch(run, KL_SCRATCH_MAP, kl_run_threads(run) * l->scratch_bytes, &l->scratch);
}

static void take_nonzeros(const part *p, const float *dense, int64_t columns)
{
    int64_t count = 0;
    p->start[0] = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            if (dense[i * columns + j] != 0.0f) {
                p->column[count] = (int32_t)j;
                p->value[count++] = dense[i * columns + j];
            }
        p->start[i + 1] = count;
    }
}

klift_status kl_lift_chunk_sparse(const klift_map *lift, const kl_batch *x, const kl_output *z, void *scratch)
{
    kl_batch prepared;
    kl_prepare_apply(&lift->prepare, x, scratch, &prepared);
    KL_TRY(kl_domain_check_rows(lift->map->kernel, &prepared, lift->index_base));
    return lift->map->type->apply(lift->map, &prepared, z, (unsigned char *)scratch + kl_whole_lines(kl_prepare_scratch(&lift->prepare, x)));
}

static klift_status make(const lifting *l, const part *p, int worker)
{
    const klift_map *lift = l->lift;
    unsigned char *scratch = l->scratch + worker * l->scratch_bytes;
    kl_batch rows = kl_batch_part(l->x, p->first, p->rows);
    if (l->unchecked != NULL)
        KL_TRY(kl_batch_check_values(&rows, l->unchecked, p->first));
    if (l->dense_bytes > 0) {
        float *dense = (float *)(void *)(l->dense + worker * l->dense_bytes);
        KL_TRY(kl_lift_chunk(lift, &rows, dense, lift->map->n_out, false, scratch));
        take_nonzeros(p, dense, lift->map->n_out);
        return KLIFT_OK;
    }
    const kl_output out = {.start = p->start, .column = p->column, .value = p->value};
    return kl_lift_chunk_sparse(lift, &rows, &out, scratch);
}

/* To where it belongs, which is never behind where it is. */
static void join(lifting *l, const part *p)
{
    int64_t count = p->start[p->rows], at = l->joined;
    for (int64_t i = 0; i < p->rows; i++)
        l->start[p->first + i + 1] = at + p->start[i + 1];
    if (l->column + at != p->column && count > 0) {
        memmove(l->column + at, p->column, (size_t)count * sizeof *p->column);
        memmove(l->value + at, p->value, (size_t)count * sizeof *p->value);
    }
    l->joined += count;
}

/* What is moved is written to where parts were that are in their places: nobody writes there any more. */
static klift_status part_task(void *context, int64_t task, int worker)
{
    lifting *l = context;
    KL_TRY(make(l, &l->part[task], worker));
    pthread_mutex_lock(&l->joins);
    l->part[task].made = true;
    for (; l->next < l->parts && l->part[l->next].made; l->next++)
        join(l, &l->part[l->next]);
    pthread_mutex_unlock(&l->joins);
    return KLIFT_OK;
}

int64_t kl_lift_room(const klift_map *lift, const kl_batch *x)
{
    return makes_sparse(lift, x) ? whole_room(lift, x) : -1;
}

klift_status kl_lift_sparse(const klift_map *lift, const kl_batch *x, const char *what, int64_t *start, int32_t *column, float *value, int64_t room, int64_t *needed, klift_run *run)
{
    lifting l = {.lift = lift, .x = x, .start = start, .column = column, .value = value};
    klift_status status = KLIFT_OK;
    if (what != NULL && counts_starts(lift, x))
        l.unchecked = what;
    else if (what != NULL)
        KL_TRY(kl_batch_check_values(x, what, 0)); /* where entries are counted they must be right */
    KL_TRY(kl_lift_check(lift, x));
    *needed = whole_room(lift, x);
    if (*needed > room)
        return kl_fail(KLIFT_USAGE, "klift_map_apply_sparse: there may be %lld entries, and room is %lld; give it more, or fewer rows at a time", (long long)*needed,
                       (long long)room);
    KL_TRY(begin(&l, run));
    pthread_mutex_init(&l.joins, NULL);
    for (int64_t first = 0; first < x->rows && status == KLIFT_OK;) {
        status = cut_parts(&l, &first, run);
        if (status == KLIFT_OK)
            status = kl_run_parallel(run, l.parts, part_task, &l);
    }
    pthread_mutex_destroy(&l.joins);
    *needed = l.joined;
    return status;
}

klift_status kl_lift_add(const klift_map *lift, const kl_batch *x, kl_rows *to, klift_run *run)
{
    KL_TRY(kl_lift_check(lift, x));
    int64_t room = whole_room(lift, x), needed;
    if (room > INT64_MAX / 4)
        return kl_fail(KLIFT_MEMORY, "%lld rows have too many features; use fewer", (long long)x->rows);
    KL_TRY(kl_rows_extend(to, x->rows, room + 1)); /* a row without entries is somewhere too */
    int64_t *start = to->start + to->rows, used = to->rows > 0 ? *start : 0;
    KL_TRY(kl_lift_sparse(lift, x, NULL, start, to->column + used, to->value + used, room, &needed, run));
    for (int64_t i = 0; i <= x->rows; i++)
        start[i] += used;
    to->rows += x->rows;
    to->columns = lift->map->n_out;
    return KLIFT_OK;
}

int64_t kl_lift_entries(const klift_map *lift, const kl_batch *sample)
{
    const kl_map_type *type = lift->map->type;
    int64_t room = type->nonzeros != NULL && sample->rows > 0 ? type->nonzeros(lift->map, sample) : -1;
    if (room < 0 || room / sample->rows >= lift->map->n_out / 4)
        return 0;
    return room >= sample->rows ? room / sample->rows : 1;
}
