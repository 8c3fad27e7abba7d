/* map.c - the registry of maps, the rule of `auto`, and what all maps share. */
#include "map/map.h"

#include "base/memory.h"
#include "map/power.h"

#include <math.h>
#include <string.h>

#define MAP(name) extern const kl_map_type kl_map_##name;
#include "map/map_list.h"
#undef MAP

static const kl_map_type *const types[] = {
#define MAP(name) &kl_map_##name,
#include "map/map_list.h"
#undef MAP
    NULL};

/* What is in the parentheses of a map around another one when nothing is: the first that fits. */
static const char *const inner_names[] = {"maclaurin", "orthogonal", "fourier", "tree", "product"};

enum { MOST_FEATURES = 1 << 24 };

const kl_map_type *kl_map_type_at(int64_t index)
{
    return types[index];
}

const char *kl_map_name_at(int64_t index, const void *context)
{
    (void)context;
    return types[index] != NULL ? types[index]->name : NULL;
}

static const kl_map_type *find_type(const char *name)
{
    for (int64_t i = 0; types[i] != NULL; i++)
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    return NULL;
}

bool kl_map_fits(const kl_map_type *type, const kl_kernel_type *kernel)
{
    bool fits = false;
    if (!type->wraps)
        return (type->needs & kernel->offers) == type->needs;
    for (int64_t i = 0; types[i] != NULL; i++) /* a random map of dense features */
        fits = fits || (!types[i]->wraps && types[i]->accuracy == KL_UNBIASED && types[i]->nonzeros == NULL && kl_map_fits(types[i], kernel));
    return fits;
}

/* A fixed rule: it counts, it never times. Orthogonal directions are worth four times the operations of independent ones;
 * very wide sparse rows, which they would have to fill with zeros, go beyond. */
const char *kl_map_choose(const kl_kernel *kernel, int64_t features, int64_t n_in, double nonzeros)
{
    unsigned offers = kernel->type->offers;
    if (offers & KL_LINEAR)
        return "identity";
    if (offers & KL_POWER)
        return kl_power_choose(kernel, features, n_in, nonzeros);
    if (offers & KL_SIGNATURE)
        return "homogeneous";
    if (!(offers & KL_SPECTRUM))
        return offers & KL_SERIES ? "maclaurin" : offers & KL_SCALAR ? "product" : "nystrom";
    if (!(offers & KL_ROTATION))
        return "fourier";
    double count = 0.5 * (double)features, size = 32;
    while (size < (double)n_in)
        size *= 2;
    double structured = 3 * ceil(count / size) * size * log2(size), plain = 2 * count * nonzeros;
    return structured > 4 * plain && n_in > 32 ? "fourier" : "orthogonal";
}

void kl_map_list_fitting(const kl_kernel_type *kernel, const kl_map_type *but, kl_text *text)
{
    for (int64_t i = 0; types[i] != NULL; i++)
        if (types[i] != but && kl_map_fits(types[i], kernel))
            kl_text_add(text, "%s%s", text->length > 0 ? ", " : "", types[i]->name);
}

static klift_status refuse(const kl_map_type *type, const kl_kernel *kernel)
{
    kl_text fitting = {0}, name = {0};
    kl_kernel_name(kernel, &name);
    kl_map_list_fitting(kernel->type, NULL, &fitting);
    klift_status status = kl_fail(KLIFT_USAGE, "map %s does not fit kernel %s%s; maps that fit it: %s", type->name, name.length > 0 ? name.text : kernel->type->name,
                                  kernel->type->indefinite ? ", which is not positive definite" : "", fitting.length > 0 ? fitting.text : "none");
    kl_text_clear(&fitting);
    kl_text_clear(&name);
    return status;
}

static klift_status read_type(kl_map *map, const kl_spec *spec)
{
    char where[80] = "map ";
    map->type = find_type(spec->name);
    if (map->type == NULL)
        return kl_unknown("map", spec->name, kl_map_name_at, NULL);
    strncat(where, spec->name, 60);
    if (spec->arguments > (map->type->wraps ? 1 : 0))
        return kl_fail(KLIFT_USAGE, map->type->wraps ? "%s takes one map in parentheses" : "%s takes no arguments in parentheses", where);
    return kl_params_read(map->type->params, spec, where, map->value);
}

/* The map in the parentheses; its spec moves from that of the map around it. */
static klift_status take_inner(kl_map *map, kl_spec *spec, kl_spec **inner)
{
    const char *name = NULL;
    if (spec->arguments > 0) {
        *inner = spec->argument[0];
        spec->arguments = 0;
        return KLIFT_OK;
    }
    for (size_t i = 0; name == NULL && i < sizeof inner_names / sizeof inner_names[0]; i++) {
        const kl_map_type *type = find_type(inner_names[i]);
        if (type != NULL && kl_map_fits(type, map->kernel->type))
            name = inner_names[i];
    }
    if (name == NULL)
        return kl_fail(KLIFT_USAGE, "map %s: say which map it is around, as in %s(fourier)", map->type->name, map->type->name);
    return kl_spec_parse(name, "map", inner);
}

static klift_status build(kl_spec **text, const kl_kernel *kernel, int64_t features, uint64_t seed, uint32_t stream, kl_map **out)
{
    kl_spec *spec = *text, *inner = NULL;
    kl_map *map = NULL;
    klift_status status;
    *text = NULL;
    KL_GO(kl_new(&map, 1, sizeof *map, "a map"));
    KL_GO(read_type(map, spec));
    if (!kl_map_fits(map->type, kernel->type)) {
        status = refuse(map->type, kernel);
        goto done;
    }
    KL_GO(kl_kernel_copy(kernel, &map->kernel));
    KL_GO(kl_new(&map->state, (int64_t)map->type->state_size, 1, "a map"));
    map->features = features;
    map->seed = seed;
    map->stream = stream;
    if (map->type->wraps) {
        KL_GO(take_inner(map, spec, &inner));
        KL_GO(build(&inner, kernel, features, seed, stream, &map->inner)); /* as deep as the grammar allows parentheses */
        if (map->type->wrap != NULL)
            KL_GO(map->type->wrap(map));
    }
    map->spec = spec;
    spec = NULL;
    *out = map;
    map = NULL;
done:
    kl_spec_free(spec);
    kl_spec_free(inner);
    kl_map_free(map);
    return status;
}

klift_status kl_map_new(const char *text, const kl_kernel *kernel, int64_t features, uint64_t seed, uint32_t stream, kl_map **out)
{
    kl_spec *spec = NULL;
    *out = NULL;
    KL_TRY(kl_spec_parse(strcmp(text, "auto") == 0 ? kl_map_choose(kernel, features, 1, 1) : text, "map", &spec));
    return build(&spec, kernel, features, seed, stream, out);
}

const char *kl_map_text(const kl_map *map, const char *key)
{
    for (int64_t i = 0; map->spec != NULL && i < map->spec->items; i++)
        if (map->spec->item[i].key != NULL && strcmp(map->spec->item[i].key, key) == 0)
            return map->spec->item[i].value;
    return NULL;
}

klift_status kl_map_sample(const char *text, const kl_kernel *kernel, int64_t features, int64_t *rows)
{
    kl_map *map;
    KL_TRY(kl_map_new(text, kernel, features, 0, 0, &map));
    *rows = 0;
    for (const kl_map *m = map; m != NULL; m = m->inner) {
        int64_t wanted = m->type->sample != NULL ? m->type->sample(m) : 0;
        *rows = wanted > *rows ? wanted : *rows;
    }
    kl_map_free(map);
    return KLIFT_OK;
}

static klift_status check_spec(const kl_spec *spec)
{
    kl_map map = {0};
    KL_TRY(read_type(&map, spec));
    return spec->arguments > 0 ? check_spec(spec->argument[0]) : KLIFT_OK;
}

klift_status kl_map_check(const char *text)
{
    kl_spec *spec = NULL;
    if (strcmp(text, "auto") == 0)
        return KLIFT_OK;
    KL_TRY(kl_spec_parse(text, "map", &spec));
    klift_status status = check_spec(spec);
    kl_spec_free(spec);
    return status;
}

int64_t kl_map_memory(const kl_map *map)
{
    return (int64_t)map->type->state_size + (map->type->memory != NULL ? map->type->memory(map) : 0);
}

static klift_status check_memory(const kl_map *map, klift_run *run, klift_status status)
{
    int64_t needed = kl_map_memory(map), limit = kl_run_memory(run);
    if (needed <= limit)
        return KLIFT_OK;
    return kl_fail(status, "map %s with %lld features of %lld columns needs %.0f MB, the limit is %.0f MB; use fewer features or a larger max-memory=SIZE",
                   map->type->name, (long long)map->features, (long long)map->n_in, (double)needed / 1e6, (double)limit / 1e6);
}

klift_status kl_map_set_outputs(kl_map *map, int64_t n_out)
{
    if (map->n_out != 0 && map->n_out != n_out)
        return kl_fail(KLIFT_MODEL, "the file is damaged: map %s has %lld features, not %lld; copy or train it again", map->type->name, (long long)n_out,
                       (long long)map->n_out);
    map->n_out = n_out;
    return KLIFT_OK;
}

/* The inner map first. */
static klift_status fit_map(kl_map *map, const kl_survey *survey, int64_t n_in, klift_run *run)
{
    map->n_in = n_in;
    if (map->inner != NULL)
        KL_TRY(fit_map(map->inner, survey, n_in, run));
    if (map->type->fit == NULL)
        return KLIFT_OK;
    if (survey == NULL && !map->type->fit_without_data)
        return kl_fail(KLIFT_USAGE, "map %s learns from data; none were given: fit it to some", map->type->name);
    return map->type->fit(map, survey, run);
}

klift_status kl_map_make(kl_map *map, const kl_survey *survey, int64_t n_in, klift_run *run)
{
    KL_TRY(kl_kernel_ready(map->kernel));
    KL_TRY(fit_map(map, survey, n_in, run));
    KL_TRY(check_memory(map, run, KLIFT_MEMORY));
    return map->type->draw(map, run);
}

double kl_map_reach(const kl_map *map)
{
    return map->type->reach != NULL ? map->type->reach(map) : 0;
}

int64_t kl_map_parts(const kl_map *map)
{
    int64_t count = 0;
    while (map->type->part != NULL && map->type->part(map, count) != NULL)
        count++;
    return count;
}

void kl_map_free(kl_map *map)
{
    if (map == NULL)
        return;
    if (map->type != NULL && map->type->clear != NULL && map->state != NULL)
        map->type->clear(map);
    kl_map_free(map->inner);
    kl_kernel_free(map->kernel);
    kl_spec_free(map->spec);
    kl_free(map->state);
    kl_free(map);
}

void kl_map_print(const kl_map *map, kl_text *text)
{
    kl_text_add(text, "%s", map->type->name);
    if (map->inner != NULL) {
        kl_text_add(text, "(");
        kl_map_print(map->inner, text);
        kl_text_add(text, ")");
    }
    kl_params_print(map->type->params, map->value, text);
}

int64_t kl_map_scratch(const kl_map *map, int64_t rows)
{
    return map->type->scratch != NULL ? map->type->scratch(map, rows) : 0;
}

/* Of a z that has to be spread out. */
static int64_t sparse_room(const kl_map *map, const kl_batch *x)
{
    return map->type->nonzeros != NULL && !map->type->either ? map->type->nonzeros(map, x) : -1;
}

int64_t kl_map_dense_scratch(const kl_map *map, const kl_batch *x)
{
    int64_t room = sparse_room(map, x), bytes = (kl_map_scratch(map, x->rows) + 7) / 8 * 8;
    if (room >= 0)
        bytes += (x->rows + 1) * (int64_t)sizeof(int64_t) + room * (int64_t)(sizeof(int32_t) + sizeof(float));
    return bytes;
}

klift_status kl_map_apply_dense(const kl_map *map, const kl_batch *x, float *z, int64_t stride, bool past, void *scratch)
{
    int64_t room = sparse_room(map, x);
    kl_output out = {.dense = z, .stride = stride, .past = past};
    if (room < 0)
        return map->type->apply(map, x, &out, scratch);
    unsigned char *behind = (unsigned char *)scratch + (kl_map_scratch(map, x->rows) + 7) / 8 * 8;
    out = (kl_output){.start = (int64_t *)(void *)behind};
    out.value = (float *)(out.start + x->rows + 1);
    out.column = (int32_t *)(out.value + room);
    KL_TRY(map->type->apply(map, x, &out, scratch));
    for (int64_t i = 0; i < x->rows; i++) {
        memset(z + i * stride, 0, (size_t)map->n_out * sizeof *z);
        for (int64_t p = out.start[i]; p < out.start[i + 1]; p++)
            z[i * stride + out.column[p]] = out.value[p];
    }
    return KLIFT_OK;
}

/* What data decided: the map's own, then its inner map's. */
static void save_fitted(const kl_map *map, kl_record_writer *to)
{
    if (map->type->save != NULL)
        map->type->save(map, to);
    if (map->inner != NULL)
        save_fitted(map->inner, to);
}

static klift_status load_fitted(kl_map *map, int64_t n_in, kl_record_reader *from)
{
    map->n_in = n_in;
    if (map->type->load != NULL)
        KL_TRY(map->type->load(map, from));
    return map->inner != NULL ? load_fitted(map->inner, n_in, from) : KLIFT_OK;
}

/* By way of the bytes that save writes: what they hold is what a map is, but for its stream. */
klift_status kl_map_stream(const kl_map *map, uint32_t stream, klift_run *run, kl_map **out)
{
    kl_record_writer bytes;
    kl_record_reader from;
    kl_text text = {0};
    kl_map *copy = NULL;
    uint32_t tag;
    klift_status status;
    *out = NULL;
    kl_record_begin(&bytes, KL_RECORD_MODEL);
    kl_record_open(&bytes, KL_TAG('C', 'O', 'P', 'Y'), true);
    save_fitted(map, &bytes);
    kl_record_close(&bytes);
    kl_map_print(map, &text);
    bytes.failed = bytes.failed || text.failed;
    KL_GO(kl_record_finish(&bytes));
    KL_GO(kl_record_check(&from, bytes.bytes, bytes.length, KL_RECORD_MODEL));
    KL_GO(kl_record_next(&from, &tag));
    KL_GO(kl_map_new(text.text, map->kernel, map->features, map->seed, stream, &copy));
    KL_GO(load_fitted(copy, map->n_in, &from));
    status = copy->type->draw(copy, run);
done:
    kl_text_clear(&text);
    kl_record_clear(&bytes);
    if (status == KLIFT_OK)
        *out = copy;
    else
        kl_map_free(copy);
    return status;
}

void kl_map_save(const kl_map *map, kl_record_writer *to)
{
    kl_text kernel = {0}, text = {0};
    kl_kernel_print(map->kernel, &kernel);
    kl_map_print(map, &text);
    to->failed = to->failed || kernel.failed || text.failed;
    if (!to->failed) {
        kl_record_put_text(to, kernel.text);
        kl_record_put_text(to, text.text);
    }
    kl_record_put_u32(to, KL_STREAM_VERSION);
    kl_record_put_i64(to, (int64_t)map->seed);
    kl_record_put_u32(to, map->stream);
    kl_record_put_i64(to, map->features);
    kl_record_put_i64(to, map->n_in);
    kl_record_put_i64(to, map->n_out);
    save_fitted(map, to);
    kl_text_clear(&kernel);
    kl_text_clear(&text);
}

typedef struct stored {
    char *kernel, *map;
    uint32_t version, stream;
    int64_t seed, features, n_in, n_out;
} stored;

static klift_status read_stored(kl_record_reader *from, stored *s)
{
    KL_TRY(kl_record_get_text(from, &s->kernel));
    KL_TRY(kl_record_get_text(from, &s->map));
    KL_TRY(kl_record_get_u32(from, &s->version));
    if (s->version != KL_STREAM_VERSION)
        return kl_fail(KLIFT_MODEL, "its random numbers are of version %u, this klift draws version %d: use the klift that wrote it", s->version, KL_STREAM_VERSION);
    KL_TRY(kl_record_get_i64(from, INT64_MIN, INT64_MAX, &s->seed));
    KL_TRY(kl_record_get_u32(from, &s->stream));
    KL_TRY(kl_record_get_i64(from, 1, MOST_FEATURES, &s->features));
    KL_TRY(kl_record_get_i64(from, 1, INT32_MAX, &s->n_in));
    return kl_record_get_i64(from, 1, INT32_MAX, &s->n_out);
}

klift_status kl_map_load(kl_record_reader *from, int64_t n_in, klift_run *run, kl_map **out)
{
    stored s = {0};
    kl_kernel *kernel = NULL;
    kl_map *map = NULL;
    klift_status status;
    *out = NULL;
    KL_GO(read_stored(from, &s));
    if (s.n_in != n_in) {
        status = kl_record_damaged("preparation and map have different widths");
        goto done;
    }
    KL_GO(kl_kernel_new(s.kernel, &kernel));
    KL_GO(kl_map_new(s.map, kernel, s.features, (uint64_t)s.seed, s.stream, &map));
    KL_GO(kl_kernel_ready(map->kernel));
    KL_GO(load_fitted(map, s.n_in, from));
    KL_GO(check_memory(map, run, KLIFT_MODEL));
    map->n_out = s.n_out;
    KL_GO(map->type->draw(map, run));
    int64_t drawn = map->n_out; /* by a map that does not ask kl_map_set_outputs */
    map->n_out = s.n_out;
    status = kl_map_set_outputs(map, drawn);
done:
    kl_free(s.kernel);
    kl_free(s.map);
    kl_kernel_free(kernel);
    if (status == KLIFT_OK)
        *out = map;
    else
        kl_map_free(map);
    /* a text that does not parse came from the file, not from the user */
    return status == KLIFT_USAGE ? kl_fail_in(KLIFT_MODEL, "the model's map") : status;
}
