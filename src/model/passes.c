/* passes.c - see passes.h. Blocks are filled in multiples of the chunk, so that chunks start at the same rows whatever the threads. */
#include "model/passes.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- from the reader ---- */

static klift_status keep_rows(kl_rows *raw, const kl_batch *x)
{
    kl_batch bare = *x;
    bare.label = NULL;
    bare.target = NULL;
    bare.weight = NULL;
    bare.targets = 0;
    return kl_rows_add(raw, &bare, 0, bare.rows);
}

enum { AT_ONCE = 16 }; /* rows of one task */

/* Features (rows, features) that are rounded where they are. */
typedef struct rounding {
    kl_narrow kind;
    int64_t rows, features;
    float *z;
} rounding;

static klift_status round_task(void *context, int64_t task, int worker)
{
    const rounding *r = context;
    (void)worker;
    for (int64_t i = task * AT_ONCE; i < r->rows && i < (task + 1) * AT_ONCE; i++)
        kl_narrow_round(r->kind, r->features, r->z + i * r->features);
    return KLIFT_OK;
}

/* Lines of features in 16 bits, and where the next ones go. */
typedef struct narrowing {
    kl_narrow kind;
    int64_t features, line;
    uint16_t *half; /* (.., line) */
} narrowing;

static void narrow_rows(void *context, int64_t first, int64_t rows, const float *z)
{
    const narrowing *n = context;
    for (int64_t i = 0; i < rows; i++) {
        uint16_t *to = n->half + (first + i) * n->line;
        float scale = kl_narrow_row(n->kind, n->features, z + i * n->features, to);
        memset(to + n->features, 0, (size_t)(n->line - n->features) * sizeof *to);
        memcpy(to + n->line - 2, &scale, sizeof scale);
    }
}

/* Rows lifted at a time: those that go on in 16 bits need no room as float32, so that as many as are read may come. */
static int64_t step_of(const kl_passes_sink *to, klift_run *run)
{
    int64_t least = (int64_t)kl_run_threads(run) * KL_CHUNK, read = kl_run_batch(run) / KL_CHUNK * KL_CHUNK;
    return to->half != NULL && read > least ? read : least;
}

/* Behind the rows of the block that are there. */
static klift_status add_dense(const klift_map *lift, const kl_batch *x, int64_t rows, const kl_passes_sink *to, klift_run *run)
{
    int64_t features = lift->map->n_out, line = kl_learner_halves(features);
    if (to->half == NULL)
        return kl_lift_rows(lift, x, to->dense + rows * features, features, run);
    return kl_lift_each(lift, x, narrow_rows, &(narrowing){to->narrow, features, line, to->half + rows * line}, run);
}

klift_status kl_passes_fill(const klift_map *lift, kl_gather *gather, kl_learner *learner, int64_t block, const kl_passes_sink *to, klift_run *run, int64_t *rows)
{
    int64_t step = step_of(to, run);
    *rows = 0;
    while (*rows < block) {
        kl_batch x;
        KL_TRY(kl_gather_next(gather, block - *rows < step ? block - *rows : step, run, &x));
        if (x.rows == 0)
            return KLIFT_OK;
        KL_TRY(learner->type->observe(learner, &x));
        if (to->raw != NULL)
            KL_TRY(keep_rows(to->raw, &x));
        if (to->dense != NULL || to->half != NULL)
            KL_TRY(add_dense(lift, &x, *rows, to, run));
        if (to->sparse != NULL)
            KL_TRY(kl_lift_add(lift, &x, to->sparse, run));
        *rows += x.rows;
    }
    return KLIFT_OK;
}

static bool makes_again(const kl_feature_passes *p)
{
    return p->keep == KL_KEEP_ROWS || p->keep == KL_FILE_ROWS;
}

/* ---- to memory or to the file ---- */

static klift_status copy_entries(const kl_rows *from, kl_feature_block *to, int64_t *bytes)
{
    int64_t count = from->start[from->rows];
    KL_TRY(kl_new(&to->start, from->rows + 1, sizeof *to->start, "a block of features"));
    KL_TRY(kl_new(&to->column, count + 1, sizeof *to->column, "a block of features")); /* + 1: a row without entries is somewhere too */
    KL_TRY(kl_new(&to->value, count + 1, sizeof *to->value, "a block of features"));
    memcpy(to->start, from->start, (size_t)(from->rows + 1) * sizeof *to->start);
    memcpy(to->column, from->column, (size_t)count * sizeof *to->column);
    memcpy(to->value, from->value, (size_t)count * sizeof *to->value);
    *bytes += (from->rows + 1) * (int64_t)sizeof *to->start + count * (int64_t)(sizeof *to->column + sizeof *to->value);
    return KLIFT_OK;
}

static klift_status keep_block(kl_feature_passes *p)
{
    KL_TRY(kl_grow(&p->kept, &p->room, p->blocks, p->blocks + 1, sizeof *p->kept, "features"));
    kl_feature_block *to = &p->kept[p->blocks++];
    *to = (kl_feature_block){0};
    if (p->sparse)
        return copy_entries(&p->entries, to, &p->bytes);
    if (p->narrow != KL_FLOAT32) {
        to->half = p->half;
        p->half = NULL;
        p->bytes += p->block * p->line * (int64_t)sizeof *to->half;
    } else {
        to->dense = p->made;
        p->made = NULL;
        p->bytes += p->block * p->passes.features * (int64_t)sizeof *to->dense;
    }
    return KLIFT_OK;
}

static void free_block(kl_feature_block *block)
{
    kl_free(block->dense);
    kl_free(block->half);
    kl_free(block->start);
    kl_free(block->column);
    kl_free(block->value);
}

static klift_status write_block(kl_feature_passes *p, const kl_feature_block *block, int64_t rows)
{
    if (p->sparse) {
        kl_batch view = {.size = sizeof view, .rows = rows, .columns = p->passes.features, .start = block->start, .column = block->column, .value = block->value};
        return kl_row_file_add(&p->file, &view);
    }
    if (p->narrow != KL_FLOAT32)
        return kl_row_file_add_lines(&p->file, block->half, p->line * (int64_t)sizeof *block->half, rows);
    return kl_row_file_add_lines(&p->file, block->dense, p->passes.features * (int64_t)sizeof *block->dense, rows);
}

/* What was just made. */
static klift_status write_made(kl_feature_passes *p, int64_t rows)
{
    kl_feature_block block = {.dense = p->made, .half = p->half, .start = p->entries.start, .column = p->entries.column, .value = p->entries.value};
    return write_block(p, &block, rows);
}

static klift_status write_raw(kl_feature_passes *p)
{
    kl_batch rows = kl_rows_view(&p->raw);
    klift_status status = kl_row_file_add(&p->file, &rows);
    kl_rows_empty(&p->raw);
    return status;
}

/* From here on to the file, and what is in memory first. */
static klift_status spill(kl_feature_passes *p, klift_run *run)
{
    p->keep = p->keep == KL_FILE_ROWS ? KL_FILE_ROWS : KL_FILE_FEATURES;
    KL_TRY(kl_row_file_open(&p->file));
    if (p->passes.parts > 0)
        kl_run_say(run, KLIFT_EVENT_NOTE, "rows", "the rows %s: they go to a temporary file", p->lift->rows == INT64_MAX ? "of a pipe are not counted yet" : "do not fit their part of max-memory");
    else
        kl_run_say(run, KLIFT_EVENT_NOTE, "features", "neither the features nor the rows fit their part of max-memory: the %s go to a temporary file",
                   makes_again(p) ? "rows" : "features");
    for (int64_t b = 0; b < p->blocks; b++) {
        KL_TRY(write_block(p, &p->kept[b], p->block));
        free_block(&p->kept[b]);
        p->kept[b] = (kl_feature_block){0};
    }
    p->blocks = 0;
    return KLIFT_OK;
}

/* Each by itself, as dense ones are. */
static void round_entries(const kl_feature_passes *p, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        kl_narrow_round(p->narrow, p->entries.start[i + 1] - p->entries.start[i], p->entries.value + p->entries.start[i]);
}

/* Where dense features of the next block go. */
static klift_status make_block(kl_feature_passes *p)
{
    if (p->narrow != KL_FLOAT32)
        return p->half == NULL ? kl_new_bare(&p->half, p->block * p->line, sizeof *p->half, "a block of features") : KLIFT_OK;
    return p->made == NULL ? kl_new_bare(&p->made, p->block * p->width, sizeof *p->made, "a block of features") : KLIFT_OK;
}

/* One block more from the reader, and where it goes. */
static klift_status take_block(kl_feature_passes *p, kl_learner *learner, int64_t most, klift_run *run, int64_t *rows)
{
    if (p->keep == KL_KEEP_FEATURES && p->blocks > 0 && p->bytes + p->bytes / p->blocks > most)
        KL_TRY(spill(p, run));
    bool again = makes_again(p);
    if (!p->sparse && !again)
        KL_TRY(make_block(p));
    kl_rows_empty(&p->entries);
    kl_passes_sink to = {.raw = again ? &p->raw : NULL, .dense = again ? NULL : p->made, .sparse = again || !p->sparse ? NULL : &p->entries, .half = again ? NULL : p->half, .narrow = p->narrow};
    KL_TRY(kl_passes_fill(p->lift, &p->gather, learner, p->block, &to, run, rows));
    if (p->sparse && !again)
        round_entries(p, *rows);
    if (*rows == 0 || p->keep == KL_KEEP_ROWS)
        return KLIFT_OK;
    return p->keep == KL_KEEP_FEATURES ? keep_block(p) : again ? write_raw(p) : write_made(p, *rows);
}

/* ---- to the learner ---- */

static void show_made(const kl_feature_passes *p, int64_t count, kl_row *z)
{
    for (int64_t i = 0; i < count; i++)
        z[i] = (kl_row){.count = p->passes.features, .value = p->made + i * p->passes.features};
}

/* Of a line of half. */
static kl_row narrow_row(const kl_feature_passes *p, const uint16_t *half)
{
    kl_row z = {.count = p->passes.features, .half = half};
    memcpy(&z.scale, half + p->line - 2, sizeof z.scale);
    return z;
}

static klift_status take_kept(kl_feature_passes *p, const int32_t *index, int64_t count, kl_row *z)
{
    for (int64_t i = 0; i < count; i++) {
        const kl_feature_block *block = &p->kept[index[i] / p->block];
        int64_t row = index[i] % p->block;
        if (p->sparse)
            z[i] = kl_row_of(block->start, block->column, block->value, row);
        else if (p->narrow != KL_FLOAT32)
            z[i] = narrow_row(p, block->half + row * p->line);
        else
            z[i] = (kl_row){.count = p->passes.features, .value = block->dense + row * p->passes.features};
    }
    return KLIFT_OK;
}

static klift_status take_filed(kl_feature_passes *p, const int32_t *index, int64_t count, kl_row *z)
{
    KL_TRY(kl_row_file_take(&p->file, index, count, z));
    for (int64_t i = 0; !p->sparse && p->narrow != KL_FLOAT32 && i < count; i++)
        z[i] = narrow_row(p, (const uint16_t *)(const void *)z[i].value);
    return KLIFT_OK;
}

static klift_status choose_filed(kl_feature_passes *p, const int32_t *index, int64_t count, kl_row *row)
{
    KL_TRY(kl_row_file_take(&p->file, index, count, row));
    for (int64_t i = 0; i < count; i++) {
        const int64_t start[2] = {0, row[i].count};
        kl_batch one = {.size = sizeof one, .rows = 1, .columns = row[i].count, .dense = row[i].value, .stride = row[i].count};
        if (row[i].column != NULL)
            one = (kl_batch){.size = sizeof one, .rows = 1, .columns = p->lift->prepare.n_in, .start = start, .column = row[i].column, .value = row[i].value};
        KL_TRY(kl_rows_add(&p->chosen, &one, 0, 1));
    }
    return KLIFT_OK;
}

/* Raw rows in p->chosen; row (count) is work space. */
static klift_status choose(kl_feature_passes *p, const int32_t *index, int64_t count, kl_row *row)
{
    kl_batch all = kl_rows_view(&p->raw);
    kl_rows_empty(&p->chosen);
    if (p->keep == KL_FILE_ROWS)
        return choose_filed(p, index, count, row);
    for (int64_t i = 0; i < count; i++)
        KL_TRY(kl_rows_add(&p->chosen, &all, index[i], 1));
    return KLIFT_OK;
}

static klift_status take_again(kl_feature_passes *p, const int32_t *index, int64_t count, klift_run *run, kl_row *z)
{
    KL_TRY(choose(p, index, count, z));
    kl_batch x = kl_rows_view(&p->chosen);
    if (!p->sparse) {
        KL_TRY(kl_lift_rows(p->lift, &x, p->made, p->passes.features, run));
        show_made(p, count, z);
        rounding r = {p->narrow, count, p->passes.features, p->made};
        return p->narrow != KL_FLOAT32 ? kl_run_parallel(run, (count + AT_ONCE - 1) / AT_ONCE, round_task, &r) : KLIFT_OK;
    }
    kl_rows_empty(&p->entries);
    KL_TRY(kl_lift_add(p->lift, &x, &p->entries, run));
    round_entries(p, count);
    for (int64_t i = 0; i < count; i++)
        z[i] = kl_row_of(p->entries.start, p->entries.column, p->entries.value, i);
    return KLIFT_OK;
}

static klift_status take(kl_passes *passes, const int32_t *index, int64_t count, klift_run *run, kl_row *z)
{
    kl_feature_passes *p = (kl_feature_passes *)passes;
    KL_TRY(kl_run_check(run));
    passes->taken += count;
    if (makes_again(p))
        return take_again(p, index, count, run, z);
    return p->keep == KL_KEEP_FEATURES ? take_kept(p, index, count, z) : take_filed(p, index, count, z);
}

/* The map of a copy, behind the same preparation. */
static klift_status take_part(kl_passes *passes, const int32_t *index, int64_t count, int64_t part, klift_run *run, const float **z)
{
    kl_feature_passes *p = (kl_feature_passes *)passes;
    klift_map one = *p->lift;
    one.map = one.map->type->part(one.map, part);
    KL_TRY(kl_run_check(run));
    KL_TRY(choose(p, index, count, p->row));
    kl_batch x = kl_rows_view(&p->chosen);
    *z = p->made;
    return kl_lift_rows(&one, &x, p->made, p->width, run);
}

/* ---- open and close ---- */

/* What take needs beside the features themselves, and not what only the reader's rows needed. */
static klift_status make_room(kl_feature_passes *p)
{
    kl_free(p->made);
    kl_free(p->half);
    p->made = NULL;
    p->half = NULL;
    if (p->keep != KL_KEEP_ROWS)
        kl_rows_clear(&p->raw);
    kl_rows_clear(&p->entries);
    kl_gather_clear(&p->gather);
    if (makes_again(p) && !p->sparse)
        KL_TRY(kl_new_bare(&p->made, p->block * p->width, sizeof *p->made, "a block of features"));
    return p->passes.parts > 0 ? kl_new(&p->row, p->passes.at_most, sizeof *p->row, "rows of features") : KLIFT_OK;
}

klift_status kl_passes_open(kl_feature_passes *p, const klift_map *lift, kl_reader *reader, kl_learner *learner, kl_seen *seen, klift_run *run)
{
    int64_t rows, most = INT64_MAX, limit = kl_run_memory(run), features = lift->map->n_out;
    kl_extent extent = {.rows = lift->rows, .row_bytes = lift->row_bytes, .entries = lift->entries, .parts = learner->type->by_parts ? kl_map_parts(lift->map) : 0};
    int64_t block = kl_learner_taken(learner, &extent);
    *p = (kl_feature_passes){.passes = {.features = features, .at_most = block, .take = take, .parts = extent.parts, .take_part = take_part}, .lift = lift,
                             .gather = {.reader = reader, .width = lift->prepare.n_in, .seen = seen}, .width = kl_learner_width(learner, &extent),
                             .sparse = lift->entries > 0, .narrow = kl_learner_narrow(learner), .block = block, .line = kl_learner_halves(features)};
    if (lift->rows == INT64_MAX && !learner->type->by_parts)
        most = limit / 2;
    else
        p->keep = kl_learner_keep(learner, &extent, limit);
    if (p->keep == KL_FILE_FEATURES || p->keep == KL_FILE_ROWS)
        KL_TRY(spill(p, run));
    do {
        KL_TRY(take_block(p, learner, most, run, &rows));
        p->passes.rows += rows;
        KL_TRY(kl_run_progress(run, p->passes.parts > 0 ? "rows" : "features", p->passes.rows, reader->total, NAN));
    } while (rows == p->block);
    kl_reader_say(reader, run);
    return make_room(p);
}

void kl_passes_close(kl_feature_passes *p)
{
    for (int64_t b = 0; b < p->blocks; b++)
        free_block(&p->kept[b]);
    kl_free(p->kept);
    kl_free(p->made);
    kl_free(p->half);
    kl_free(p->row);
    kl_rows_clear(&p->entries);
    kl_rows_clear(&p->raw);
    kl_rows_clear(&p->chosen);
    kl_gather_clear(&p->gather);
    kl_row_file_close(&p->file);
}
