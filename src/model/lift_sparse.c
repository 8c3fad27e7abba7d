/*
 * lift_sparse.c - raw rows to features as CSR. How many entries a row may have is known before they are made, so rows are cut
 * into parts, some at a time made by the pool where they would be if all had that many, and then moved together.
 * Every row is by itself: cuts change no bit.
 */
#include "model/lift.h"

#include "base/memory.h"

#include <string.h>

enum { PART_ENTRIES = 1 << 20, MOST_PARTS = 64 };

static int64_t round_up(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

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

typedef struct part {
    int64_t first, rows, room;
    float *dense; /* (rows, n_out) of a map with dense z, or NULL */
    int64_t *start;
    int32_t *column;
    float *value;
} part;

typedef struct lifting {
    const klift_map *lift;
    const kl_batch *x;
    part part[MOST_PARTS];
    int64_t parts, scratch_bytes;
    unsigned char *scratch;
} lifting;

/* The next rows that stay within a part's entries, one at least. */
static part cut(const klift_map *lift, const kl_batch *x, int64_t first)
{
    part p = {.first = first};
    while (first + p.rows < x->rows && p.rows < KL_CHUNK) {
        int64_t room = row_room(lift, x, first + p.rows);
        if (p.rows > 0 && room > PART_ENTRIES - p.room)
            break;
        p.room += room;
        p.rows++;
    }
    return p;
}

/* As many parts as there are threads, each at its place in column and value; memory for their starts, and for dense features. */
static klift_status cut_parts(lifting *l, int64_t first, int64_t *taken, int32_t *column, float *value, klift_run *run)
{
    int64_t threads = kl_run_threads(run), bytes = 0, floats = makes_sparse(l->lift, l->x) ? 0 : l->lift->map->n_out;
    unsigned char *memory;
    for (l->parts = 0; l->parts < threads && l->parts < MOST_PARTS && first < l->x->rows; l->parts++) {
        part *p = &l->part[l->parts];
        *p = cut(l->lift, l->x, first);
        first += p->rows;
        kl_batch rows = kl_batch_part(l->x, p->first, p->rows);
        int64_t scratch = kl_lift_scratch(l->lift, &rows);
        l->scratch_bytes = scratch > l->scratch_bytes ? scratch : l->scratch_bytes;
        p->column = column + *taken;
        p->value = value + *taken;
        *taken += p->room;
        bytes += round_up((p->rows + 1) * 8 + p->rows * floats * 4);
    }
    KL_TRY(kl_run_scratch(run, KL_SCRATCH_FEATURES, bytes, &memory));
    for (int64_t i = 0; i < l->parts; i++) {
        part *p = &l->part[i];
        p->start = (int64_t *)(void *)memory;
        p->dense = floats > 0 ? (float *)(void *)(p->start + p->rows + 1) : NULL;
        memory += round_up((p->rows + 1) * 8 + p->rows * floats * 4);
    }
    return kl_run_scratch(run, KL_SCRATCH_MAP, threads * l->scratch_bytes, &l->scratch);
}

static void take_nonzeros(const part *p, int64_t columns)
{
    int64_t count = 0;
    p->start[0] = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            if (p->dense[i * columns + j] != 0.0f) {
                p->column[count] = (int32_t)j;
                p->value[count++] = p->dense[i * columns + j];
            }
        p->start[i + 1] = count;
    }
}

klift_status kl_lift_chunk_sparse(const klift_map *lift, const kl_batch *x, const kl_output *z, void *scratch)
{
    kl_batch prepared;
    kl_prepare_apply(&lift->prepare, x, scratch, &prepared);
    KL_TRY(kl_domain_check_rows(lift->map->kernel, &prepared, lift->index_base));
    return lift->map->type->apply(lift->map, &prepared, z, (unsigned char *)scratch + round_up(kl_prepare_scratch(&lift->prepare, x)));
}

static klift_status part_task(void *context, int64_t task, int worker)
{
    const lifting *l = context;
    const part *p = &l->part[task];
    const klift_map *lift = l->lift;
    unsigned char *scratch = l->scratch + worker * l->scratch_bytes;
    kl_batch rows = kl_batch_part(l->x, p->first, p->rows);
    if (p->dense != NULL) {
        KL_TRY(kl_lift_chunk(lift, &rows, p->dense, lift->map->n_out, false, scratch));
        take_nonzeros(p, lift->map->n_out);
        return KLIFT_OK;
    }
    const kl_output out = {.start = p->start, .column = p->column, .value = p->value};
    return kl_lift_chunk_sparse(lift, &rows, &out, scratch);
}

static int64_t whole_room(const klift_map *lift, const kl_batch *x)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < x->rows; i++)
        if (__builtin_add_overflow(sum, row_room(lift, x, i), &sum))
            return INT64_MAX;
    return sum;
}

int64_t kl_lift_room(const klift_map *lift, const kl_batch *x)
{
    return makes_sparse(lift, x) ? whole_room(lift, x) : -1;
}

klift_status kl_lift_sparse(const klift_map *lift, const kl_batch *x, int64_t *start, int32_t *column, float *value, int64_t room, int64_t *needed, klift_run *run)
{
    lifting l = {.lift = lift, .x = x};
    int64_t at = 0, taken = 0;
    KL_TRY(kl_lift_check(lift, x));
    *needed = whole_room(lift, x);
    if (*needed > room)
        return kl_fail(KLIFT_USAGE, "klift_map_apply_sparse: there may be %lld entries, and room is %lld; give it more, or fewer rows at a time", (long long)*needed,
                       (long long)room);
    start[0] = 0;
    for (int64_t first = 0; first < x->rows;) {
        KL_TRY(cut_parts(&l, first, &taken, column, value, run));
        KL_TRY(kl_run_parallel(run, l.parts, part_task, &l));
        for (int64_t k = 0; k < l.parts; k++) {
            const part *p = &l.part[k];
            int64_t count = p->start[p->rows];
            for (int64_t i = 0; i < p->rows; i++)
                start[p->first + i + 1] = at + p->start[i + 1];
            if (column + at != p->column && count > 0) {
                memmove(column + at, p->column, (size_t)count * sizeof *column);
                memmove(value + at, p->value, (size_t)count * sizeof *value);
            }
            at += count;
            first += p->rows;
        }
    }
    *needed = at;
    return KLIFT_OK;
}

klift_status kl_lift_add(const klift_map *lift, const kl_batch *x, kl_rows *to, klift_run *run)
{
    KL_TRY(kl_lift_check(lift, x));
    int64_t room = whole_room(lift, x), needed;
    if (room > INT64_MAX / 4)
        return kl_fail(KLIFT_MEMORY, "%lld rows have too many features; use fewer", (long long)x->rows);
    KL_TRY(kl_rows_extend(to, x->rows, room + 1)); /* a row without entries is somewhere too */
    int64_t *start = to->start + to->rows, used = to->rows > 0 ? *start : 0;
    KL_TRY(kl_lift_sparse(lift, x, start, to->column + used, to->value + used, room, &needed, run));
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
