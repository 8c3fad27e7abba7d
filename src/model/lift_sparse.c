/*
 * lift_sparse.c - raw rows to features as CSR. How many entries a row may have is known before they are made, but how many it has only when they are there. So rows
 * are cut into parts, which threads make in room of their own, small enough for a cache, and copy to their places as soon as all parts before them are made and
 * counted; until then they make the next one. A part that is large is made in its place, alone. Every row is by itself: cuts change no bit.
 */
#include "model/lift_room.h"

#include "base/memory.h"
#include "math/past.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { PART_ROWS = KL_CHUNK / 3, PART_ENTRIES = 1 << 15, LARGE = 1 << 20, MOST_PARTS = 256, PARTS_PER_THREAD = 64 };
enum { CACHED = 1 << 21 }; /* entries that may stay in a cache until they are read */

typedef struct part {
    int64_t first, rows, room;
    int64_t at;       /* its place in column and value, once it is counted */
    int64_t count;    /* entries, once it is made */
    atomic_bool made;
} part;

/* Room for the rows of a part. */
typedef struct slot {
    part *holds; /* that is not in its place yet, or NULL */
    int64_t *start;
    int32_t *column;
    float *value;
} slot;

enum { SLOTS = 2 }; /* of a thread: one to make, one that waits */

typedef struct lifting {
    const klift_map *lift;
    const kl_batch *x;
    const char *unchecked; /* what x is called, or NULL: it was checked */
    klift_run *run;
    int64_t *start;
    int32_t *column;
    float *value;
    bool past; /* there are too many entries for a cache */
    part part[MOST_PARTS]; /* of a round */
    int64_t parts, most;   /* there are, and may be */
    atomic_bool counting;  /* somebody counts parts: */
    atomic_llong next;     /* the first one that is not counted, which is behind */
    int64_t counted;       /* so many entries of column and value */
    atomic_bool failed;    /* a part will never be made */
    int64_t scratch_bytes, dense_bytes, slot_bytes;
    unsigned char *scratch, *dense, *slots; /* for each thread; dense: (rows of a part, n_out) of a map with dense z; slots: SLOTS, each behind its struct */
} lifting;

/* The next rows that stay within a part's entries, one at least. */
static void cut(const klift_map *lift, const kl_batch *x, int64_t first, part *p)
{
    const int64_t left = x->rows - first, most = left < PART_ROWS ? left : PART_ROWS;
    const kl_batch all = kl_batch_part(x, first, most);
    *p = (part){.first = first, .rows = most, .room = kl_lift_whole_room(lift, &all)};
    if (p->room <= PART_ENTRIES)
        return;
    p->rows = p->room = 0;
    while (p->rows < most) {
        int64_t room = kl_lift_row_room(lift, x, first + p->rows);
        if (p->rows > 0 && room > PART_ENTRIES - p->room)
            break;
        p->room += room;
        p->rows++;
    }
}

/* Memory for dense features. */
static klift_status begin(lifting *l)
{
    const int64_t threads = kl_run_threads(l->run), n_out = l->lift->map->n_out;
    int64_t rows = l->x->rows < PART_ROWS ? l->x->rows : PART_ROWS, most = PART_ENTRIES / n_out > 1 ? PART_ENTRIES / n_out : 1;
    l->most = threads == 1 && !l->past ? 1 : threads * PARTS_PER_THREAD < MOST_PARTS ? threads * PARTS_PER_THREAD : MOST_PARTS;
    if (!kl_lift_makes_sparse(l->lift, l->x))
        l->dense_bytes = kl_whole_lines((rows < most ? rows : most) * n_out * (int64_t)sizeof(float));
    l->start[0] = 0;
    return kl_run_scratch(l->run, KL_SCRATCH_FEATURES, threads * l->dense_bytes, &l->dense);
}

static slot *slot_of(const lifting *l, int64_t worker, int64_t which)
{
    return (slot *)(void *)(l->slots + (worker * SLOTS + which) * l->slot_bytes);
}

/* Room for parts of so many entries, none of which is there. */
static klift_status make_slots(lifting *l, int64_t entries)
{
    const int64_t threads = kl_run_threads(l->run), head = kl_whole_lines((int64_t)sizeof(slot)), starts = kl_whole_lines((PART_ROWS + 1) * (int64_t)sizeof(int64_t));
    const int64_t columns = kl_whole_lines(entries * (int64_t)sizeof(int32_t));
    l->slot_bytes = head + starts + 2 * columns;
    KL_TRY(kl_run_scratch(l->run, KL_SCRATCH_ROWS, threads * SLOTS * l->slot_bytes, &l->slots));
    for (int64_t i = 0; i < threads * SLOTS; i++) {
        unsigned char *memory = l->slots + i * l->slot_bytes + head;
        *slot_of(l, 0, i) = (slot){.start = (int64_t *)(void *)memory, .column = (int32_t *)(void *)(memory + starts), .value = (float *)(void *)(memory + starts + columns)};
    }
    return KLIFT_OK;
}

/* Some parts for each thread, or a large one. */
static klift_status cut_parts(lifting *l, int64_t *first)
{
    int64_t most = 0;
    atomic_store(&l->next, 0);
    for (l->parts = 0; l->parts < l->most && *first < l->x->rows; l->parts++) {
        part *p = &l->part[l->parts];
        cut(l->lift, l->x, *first, p);
        if (l->parts > 0 && p->room > LARGE)
            break;
        *first += p->rows;
        kl_batch rows = kl_batch_part(l->x, p->first, p->rows);
        int64_t scratch = kl_lift_scratch(l->lift, &rows);
        l->scratch_bytes = scratch > l->scratch_bytes ? scratch : l->scratch_bytes;
        most = p->room > most ? p->room : most;
        if (p->room > LARGE) {
            l->parts = 1;
            break;
        }
    }
    if (l->parts > 1)
        KL_TRY(make_slots(l, most));
    return kl_run_scratch(l->run, KL_SCRATCH_MAP, kl_run_threads(l->run) * l->scratch_bytes, &l->scratch);
}

static void take_nonzeros(const kl_output *z, const float *dense, int64_t rows, int64_t columns)
{
    int64_t count = 0;
    z->start[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            if (dense[i * columns + j] != 0.0f) {
                z->column[count] = (int32_t)j;
                z->value[count++] = dense[i * columns + j];
            }
        z->start[i + 1] = count;
    }
}

klift_status kl_lift_chunk_sparse(const klift_map *lift, const kl_batch *x, const kl_output *z, void *scratch)
{
    kl_batch prepared;
    kl_prepare_apply(&lift->prepare, x, scratch, &prepared);
    KL_TRY(kl_domain_check_rows(lift->map->kernel, &prepared, lift->index_base));
    return lift->map->type->apply(lift->map, &prepared, z, (unsigned char *)scratch + kl_whole_lines(kl_prepare_scratch(&lift->prepare, x)));
}

static klift_status make(const lifting *l, const part *p, const kl_output *z, int worker)
{
    const klift_map *lift = l->lift;
    unsigned char *scratch = l->scratch + worker * l->scratch_bytes;
    kl_batch rows = kl_batch_part(l->x, p->first, p->rows);
    if (l->unchecked != NULL)
        KL_TRY(kl_batch_check_values(&rows, l->unchecked, p->first));
    if (l->dense_bytes > 0) {
        float *dense = (float *)(void *)(l->dense + worker * l->dense_bytes);
        KL_TRY(kl_lift_chunk(lift, &rows, dense, lift->map->n_out, false, scratch));
        take_nonzeros(z, dense, p->rows, lift->map->n_out);
        return KLIFT_OK;
    }
    return kl_lift_chunk_sparse(lift, &rows, z, scratch);
}

/* ---- parts beside each other ---- */

static bool is_next_made(const lifting *l)
{
    int64_t next = atomic_load(&l->next);
    return next < l->parts && atomic_load(&l->part[next].made);
}

/* Nobody waits for who counts: that one looks once more for what was made meanwhile, when others can count again. */
static void count_parts(lifting *l)
{
    while (is_next_made(l) && !atomic_exchange(&l->counting, true)) {
        for (; is_next_made(l); atomic_fetch_add(&l->next, 1)) {
            part *p = &l->part[atomic_load(&l->next)];
            p->at = l->counted;
            l->counted += p->count;
        }
        atomic_store(&l->counting, false);
    }
}

static void copy(const lifting *l, void *to, const void *from, int64_t bytes)
{
    if (bytes > 0 && l->past)
        kl_past_copy(to, from, bytes);
    else if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

static void place(const lifting *l, slot *from)
{
    const part *p = from->holds;
    for (int64_t i = 1; i <= p->rows; i++)
        l->start[p->first + i] = p->at + from->start[i];
    copy(l, l->column + p->at, from->column, p->count * (int64_t)sizeof *from->column);
    copy(l, l->value + p->at, from->value, p->count * (int64_t)sizeof *from->value);
    from->holds = NULL;
}

/* The part of a slot to its place, if it has one and is counted. */
static bool empty(lifting *l, slot *from)
{
    count_parts(l);
    if (from->holds != NULL && from->holds - l->part < atomic_load(&l->next))
        place(l, from);
    return from->holds == NULL;
}

/* Parts begin in their order, so those that are waited for are being made, unless all is in vain. */
static void wait_until_empty(lifting *l, slot *from)
{
    enum { LOOKS = 100 };
    for (int i = 0; !empty(l, from) && !atomic_load(&l->failed); i++)
        if (i >= LOOKS)
            sched_yield();
}

static klift_status make_aside(lifting *l, part *p, slot *to, int worker)
{
    KL_TRY(kl_run_check(l->run));
    KL_TRY(make(l, p, &(kl_output){.start = to->start, .column = to->column, .value = to->value}, worker));
    p->count = to->start[p->rows];
    to->holds = p;
    atomic_store(&p->made, true);
    return KLIFT_OK;
}

static klift_status part_task(void *context, int64_t task, int worker)
{
    lifting *l = context;
    slot *one = slot_of(l, worker, 0), *other = slot_of(l, worker, 1);
    slot *to = one->holds == NULL ? one : other->holds == NULL || other->holds < one->holds ? other : one; /* an empty one, or the older of two */
    wait_until_empty(l, to);
    klift_status status = make_aside(l, &l->part[task], to, worker); /* also when another failed: the first one that does is to be named */
    if (status != KLIFT_OK)
        atomic_store(&l->failed, true);
    empty(l, one);
    empty(l, other);
    return status;
}

static klift_status make_round(lifting *l)
{
    KL_TRY(kl_run_whole(l->run, l->parts, part_task, l));
    for (int64_t i = 0; i < kl_run_threads(l->run) * SLOTS; i++)
        empty(l, slot_of(l, 0, i));
    return KLIFT_OK;
}

/* ---- a part in its place ---- */

static klift_status task_in_place(void *context, int64_t task, int worker)
{
    lifting *l = context;
    const part *p = &l->part[task];
    const kl_output z = {.start = l->start + p->first, .column = l->column + l->counted, .value = l->value + l->counted};
    KL_TRY(make(l, p, &z, worker));
    for (int64_t i = 0; i <= p->rows; i++)
        z.start[i] += l->counted;
    l->counted = z.start[p->rows];
    return KLIFT_OK;
}

klift_status kl_lift_sparse(const klift_map *lift, const kl_batch *x, const char *what, int64_t *start, int32_t *column, float *value, int64_t room, int64_t *needed, klift_run *run)
{
    lifting l = {.lift = lift, .x = x, .run = run, .start = start, .column = column, .value = value};
    klift_status status = KLIFT_OK;
    if (what != NULL && kl_lift_counts_starts(lift, x))
        l.unchecked = what;
    else if (what != NULL)
        KL_TRY(kl_batch_check_values(x, what, 0)); /* where entries are counted they must be right */
    KL_TRY(kl_lift_check(lift, x));
    *needed = kl_lift_whole_room(lift, x);
    if (*needed > room)
        return kl_fail(KLIFT_USAGE, "klift_map_apply_sparse: there may be %lld entries, and room is %lld; give it more, or fewer rows at a time", (long long)*needed,
                       (long long)room);
    l.past = *needed > CACHED;
    KL_TRY(begin(&l));
    for (int64_t first = 0; first < x->rows && status == KLIFT_OK;) {
        status = cut_parts(&l, &first);
        if (status == KLIFT_OK)
            status = l.parts > 1 ? make_round(&l) : kl_run_parallel(run, 1, task_in_place, &l);
    }
    *needed = l.counted;
    return status;
}

klift_status kl_lift_add(const klift_map *lift, const kl_batch *x, kl_rows *to, klift_run *run)
{
    KL_TRY(kl_lift_check(lift, x));
    int64_t room = kl_lift_whole_room(lift, x), needed;
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
