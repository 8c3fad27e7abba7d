/* lift.c - raw rows to features: each chunk of 256 rows is prepared and mapped by one thread. */
#include "model/lift.h"

#include "base/memory.h"
#include "kernel/block.h"
#include "math/micro.h"

#include <math.h>
#include <string.h>

enum { CACHED = 1 << 22 }; /* values that may stay in a cache until they are read; how they are written changes no bit */

int64_t kl_lift_scratch(const klift_map *lift, const kl_batch *x)
{
    /* the prepared rows have the pattern of x, or are dense: ask the map for both */
    kl_batch dense = {.size = sizeof dense, .rows = x->rows, .columns = lift->prepare.n_out};
    kl_batch like = *x;
    like.columns = lift->prepare.n_out;
    int64_t a = kl_map_dense_scratch(lift->map, &like), b = kl_map_dense_scratch(lift->map, &dense);
    int64_t extra = x->rows * kl_lift_norm_room(lift) * (int64_t)(sizeof(float) + sizeof(int32_t));
    return kl_whole_lines(kl_prepare_scratch(&lift->prepare, x)) + kl_whole_lines((a > b ? a : b) + extra);
}

/* Prepared rows at the beginning of the scratch; *behind: the rest of it. */
static klift_status prepare_chunk(const klift_map *lift, const kl_batch *x, void *scratch, kl_batch *prepared, void **behind)
{
    kl_prepare_apply(&lift->prepare, x, scratch, prepared);
    *behind = (unsigned char *)scratch + kl_whole_lines(kl_prepare_scratch(&lift->prepare, x));
    return kl_domain_check_rows(lift->map->kernel, prepared, lift->index_base);
}

klift_status kl_lift_chunk(const klift_map *lift, const kl_batch *x, float *z, int64_t stride, bool past, void *scratch)
{
    kl_batch prepared;
    void *behind;
    KL_TRY(prepare_chunk(lift, x, scratch, &prepared, &behind));
    return kl_map_apply_dense(lift->map, &prepared, z, stride, past, behind);
}

klift_status kl_lift_values(const klift_map *lift, const kl_batch *x, int64_t outputs, const double *carried, double *values, void *scratch)
{
    kl_batch prepared;
    void *behind;
    KL_TRY(prepare_chunk(lift, x, scratch, &prepared, &behind));
    return lift->map->type->values(lift->map, &prepared, outputs, carried, values, behind);
}

typedef struct lifting {
    const klift_map *lift;
    const kl_batch *x;
    float *z;
    int64_t stride, scratch_bytes;
    bool past;
    const char *unchecked; /* what x is called, or NULL: it was checked */
    unsigned char *scratch;
    int64_t whole; /* chunks; what is behind them goes in pieces, so that no thread waits long for the last one */
} lifting;

enum { PIECE = KL_CHUNK / 3 }; /* whole groups too */

static int64_t tasks_of(const lifting *l)
{
    return l->whole + (l->x->rows - l->whole * KL_CHUNK + PIECE - 1) / PIECE;
}

static kl_batch part_of(const lifting *l, int64_t task, int64_t *first)
{
    bool whole = task < l->whole;
    *first = whole ? task * KL_CHUNK : l->whole * KL_CHUNK + (task - l->whole) * PIECE;
    int64_t left = l->x->rows - *first, most = whole ? KL_CHUNK : PIECE;
    return kl_batch_part(l->x, *first, left < most ? left : most);
}

static klift_status lift_task(void *context, int64_t task, int worker)
{
    const lifting *l = context;
    int64_t first;
    kl_batch part = part_of(l, task, &first);
    if (l->unchecked != NULL)
        KL_TRY(kl_batch_check_values(&part, l->unchecked, first));
    return kl_lift_chunk(l->lift, &part, l->z + first * l->stride, l->stride, l->past, l->scratch + worker * l->scratch_bytes);
}

klift_status kl_lift_rows(const klift_map *lift, const kl_batch *x, float *z, int64_t stride, klift_run *run)
{
    return kl_lift_unchecked(lift, x, NULL, z, stride, run);
}

klift_status kl_lift_unchecked(const klift_map *lift, const kl_batch *x, const char *what, float *z, int64_t stride, klift_run *run)
{
    int64_t threads = kl_run_threads(run), chunks = x->rows / KL_CHUNK, first;
    lifting l = {.lift = lift, .x = x, .z = z, .stride = stride, .past = x->rows * stride > CACHED, .unchecked = what, .whole = threads == 1 ? chunks : chunks > threads ? chunks - threads : 0};
    KL_TRY(kl_lift_check(lift, x));
    for (int64_t t = 0; t < tasks_of(&l); t++) {
        kl_batch part = part_of(&l, t, &first);
        int64_t bytes = kl_lift_scratch(lift, &part);
        l.scratch_bytes = bytes > l.scratch_bytes ? bytes : l.scratch_bytes;
    }
    KL_TRY(kl_run_scratch(run, KL_SCRATCH_MAP, threads * l.scratch_bytes, &l.scratch));
    return kl_run_parallel(run, tasks_of(&l), lift_task, &l);
}

/* Prepared rows with their norms; *memory holds them. */
static klift_status prepare_side(const klift_map *lift, const kl_batch *rows, kl_side *side, unsigned char **memory)
{
    int64_t bytes = kl_whole_lines(kl_prepare_scratch(&lift->prepare, rows));
    KL_TRY(kl_new(memory, bytes + rows->rows * (int64_t)sizeof(double) + 1, 1, "prepared rows"));
    double *norm = (double *)(void *)(*memory + bytes);
    kl_prepare_apply(&lift->prepare, rows, *memory, &side->rows);
    kl_block_norms(&side->rows, norm);
    side->norm = norm;
    return kl_domain_check_rows(lift->map->kernel, &side->rows, lift->index_base);
}

static klift_status kernel_chunk(const klift_map *lift, const kl_batch *x, const kl_side *right, double *k, void *scratch)
{
    unsigned char *memory = NULL;
    kl_side left;
    klift_status status = prepare_side(lift, x, &left, &memory);
    if (status == KLIFT_OK)
        kl_block_values(lift->map->kernel, &left, right, lift->prepare.n_out, k, right->rows.rows, scratch);
    kl_free(memory);
    return status;
}

klift_status kl_lift_kernel(const klift_map *lift, const kl_batch *x, const kl_batch *y, double *k)
{
    unsigned char *memory = NULL, *scratch = NULL;
    kl_side right;
    klift_status status;
    KL_GO(prepare_side(lift, y, &right, &memory));
    KL_GO(kl_new(&scratch, kl_block_scratch(lift->map->kernel, KL_CHUNK, y->rows, lift->prepare.n_out), 1, "kernel values"));
    for (int64_t i = 0; i < x->rows; i += KL_CHUNK) {
        kl_batch part = kl_batch_part(x, i, x->rows - i < KL_CHUNK ? x->rows - i : KL_CHUNK);
        KL_GO(kernel_chunk(lift, &part, &right, k + i * y->rows, scratch));
    }
done:
    kl_free(memory);
    kl_free(scratch);
    return status;
}

static klift_status lift_kept(const void *user, const kl_batch *x, float *z, int64_t stride, int worker)
{
    const klift_map *lift = user;
    void *scratch = NULL;
    (void)worker;
    KL_TRY(kl_new(&scratch, kl_lift_scratch(lift, x), 1, "scratch"));
    klift_status status = kl_lift_chunk(lift, x, z, stride, false, scratch);
    kl_free(scratch);
    return status;
}

kl_lift kl_lift_for_learner(const klift_map *lift)
{
    return (kl_lift){lift, lift_kept};
}

void kl_lift_save(const klift_map *lift, kl_record_writer *to)
{
    kl_record_put_i64(to, lift->index_base);
    kl_record_put_i64(to, lift->goal);
    kl_prepare_save(&lift->prepare, to);
    kl_map_save(lift->map, to);
}

klift_status kl_lift_load(kl_record_reader *from, klift_run *run, klift_map **out)
{
    klift_map *lift;
    int64_t index_base, goal;
    klift_status status;
    *out = NULL;
    KL_TRY(kl_micro_check());
    KL_TRY(kl_new(&lift, 1, sizeof *lift, "a map"));
    KL_GO(kl_record_get_i64(from, 0, 1, &index_base));
    KL_GO(kl_record_get_i64(from, -1, KL_REGRESS, &goal));
    lift->index_base = (int)index_base;
    lift->goal = (int)goal;
    KL_GO(kl_prepare_load(&lift->prepare, from));
    KL_GO(kl_map_load(from, lift->prepare.n_out, run, &lift->map));
    lift->prepare.clamped = kl_domain_of(lift->map->kernel) & KL_NON_NEGATIVE;
done:
    if (status == KLIFT_OK)
        *out = lift;
    else
        kl_lift_free(lift);
    return status;
}

klift_status kl_lift_copy(const klift_map *lift, klift_map **copy)
{
    kl_record_writer bytes;
    kl_record_reader from;
    uint32_t tag;
    klift_status status;
    *copy = NULL;
    kl_record_begin(&bytes, KL_RECORD_MODEL);
    kl_record_open(&bytes, KL_TAG('L', 'I', 'F', 'T'), true);
    kl_lift_save(lift, &bytes);
    kl_record_close(&bytes);
    KL_GO(kl_record_finish(&bytes));
    KL_GO(kl_record_check(&from, bytes.bytes, bytes.length, KL_RECORD_MODEL));
    KL_GO(kl_record_next(&from, &tag));
    KL_GO(kl_lift_load(&from, NULL, copy));
    status = kl_schema_copy(&lift->schema, &(*copy)->schema);
    if (status != KLIFT_OK) {
        kl_lift_free(*copy);
        *copy = NULL;
    }
done:
    kl_record_clear(&bytes);
    return status;
}

/* All that decides the features. */
static klift_status write_features(const klift_map *lift, kl_record_writer *to)
{
    kl_record_open(to, KL_TAG('L', 'I', 'F', 'T'), true);
    kl_prepare_save(&lift->prepare, to);
    kl_map_save(lift->map, to);
    kl_record_close(to);
    return kl_record_finish(to);
}

static void print_features(const klift_map *lift, kl_text *text)
{
    kl_text_add(text, "kernel ");
    kl_kernel_print(lift->map->kernel, text);
    kl_text_add(text, ", map ");
    kl_map_print(lift->map, text);
    kl_text_add(text, ", features %lld, columns %lld, prepare %s, seed %llu", (long long)lift->map->n_out, (long long)lift->prepare.n_in, kl_prepare_name(lift->prepare.kind),
                (unsigned long long)lift->map->seed);
}

klift_status kl_lift_same(const klift_map *a, const klift_map *b)
{
    kl_record_writer first, second;
    kl_text one = {0}, other = {0};
    klift_status status;
    kl_record_begin(&first, KL_RECORD_MODEL);
    kl_record_begin(&second, KL_RECORD_MODEL);
    KL_GO(write_features(a, &first));
    KL_GO(write_features(b, &second));
    if (first.length == second.length && memcmp(first.bytes, second.bytes, (size_t)first.length) == 0)
        goto done;
    print_features(a, &one);
    print_features(b, &other);
    KL_GO(kl_text_status(&one));
    KL_GO(kl_text_status(&other));
    if (strcmp(one.text, other.text) == 0)
        status = kl_fail(KLIFT_USAGE, "the maps (%.300s) were fitted on different rows; fit one map and use it for all parts", one.text);
    else
        status = kl_fail(KLIFT_USAGE, "the maps are different ones: %.300s; and %.300s; fit one map and use it for all parts", one.text, other.text);
done:
    kl_record_clear(&first);
    kl_record_clear(&second);
    kl_text_clear(&one);
    kl_text_clear(&other);
    return status;
}

void kl_lift_describe(const klift_map *lift, kl_text *json)
{
    kl_text kernel = {0}, map = {0};
    kl_kernel_print(lift->map->kernel, &kernel);
    kl_map_print(lift->map, &map);
    json->failed = json->failed || kernel.failed || map.failed;
    kl_json_text(json, "kernel", kernel.text);
    kl_json_text(json, "map", map.text);
    kl_json_count(json, "features", lift->map->n_out);
    kl_json_count(json, "columns", lift->prepare.n_in);
    kl_json_text(json, "prepare", kl_prepare_name(lift->prepare.kind));
    kl_json_count(json, "seed", (int64_t)lift->map->seed);
    kl_json_count(json, "index_base", lift->index_base);
    kl_json_bool(json, "sparse", lift->map->type->nonzeros != NULL);
    kl_schema_describe(&lift->schema, json);
    if (lift->map->type->cost != NULL)
        kl_json_number(json, "operations_per_row", lift->map->type->cost(lift->map, lift->map->n_in));
    if (lift->map->type->describe != NULL)
        lift->map->type->describe(lift->map, json);
    kl_text_clear(&kernel);
    kl_text_clear(&map);
}

void kl_lift_free(klift_map *lift)
{
    if (lift == NULL)
        return;
    kl_prepare_clear(&lift->prepare);
    kl_map_free(lift->map);
    kl_schema_clear(&lift->schema);
    kl_free(lift);
}
