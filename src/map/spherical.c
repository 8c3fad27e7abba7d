/*
 * spherical.c - waves for rows of length 1 (Pennington, Yu and Kumar 2015): there every kernel of <x, y> or |x - y| is a function
 * K(z) of z = |x - y| in [0, 2], and waves in uniform directions whose lengths follow a radial law (law.h) come near it:
 *   z(x) = sqrt(K(0)) [sqrt(share/m) (cos w_k.x ..., sin w_k.x ...), sqrt(constant), sqrt(linear) x],  w_k = radius_k u_k
 * fit=shells is the best law there is; radii are drawn systematically (positions (u + k) / m of the law) and shuffled over
 * orthogonal directions, those of the Hadamard form in R^P, so that P is the d of the fit. fit=gaussians is as published: radii and
 * directions independent, cosines with phases. What is left of K - Khat is bias; no number of features removes it.
 */
#include "map/directions.h"

#include "base/memory.h"
#include "map/law.h"
#include "map/systematic.h"
#include "map/waves.h"

#include <math.h>

enum { WEIGHT, FIT, TERMS, DIRECTIONS, FORM, LINEAR };
enum { SHELLS, GAUSSIANS };
enum { AUTO, HADAMARD, DENSE, INDEPENDENT, PAIRED = 1, PHASE, YES = 1, NO, BY_DATA = 1 };

static const double unit_slack = 1e-3;

static const kl_param params[] = {
    {"weight", KL_WORD, "uniform", 0, 0, false, "uniform|data", "where the fit must be good: at all distances alike, or at those of the sample's rows"},
    {"fit", KL_WORD, "shells", 0, 0, false, "shells|gaussians", "shells: the best radii there are; gaussians: a signed mixture of Gaussians cut off at 0, as published"},
    {"terms", KL_WHOLE, "10", 1, 20, false, NULL, "Gaussians of fit=gaussians"},
    {"directions", KL_WORD, "auto", 0, 0, false, "auto|hadamard|dense|independent", "hadamard and dense: orthogonal; independent: as published, radii too; auto: dense up to 32 columns, independent for gaussians"},
    {"form", KL_WORD, "auto", 0, 0, false, "auto|paired|phase", "paired: cosine and sine of each frequency; phase: cosine with a random phase; auto: phase for gaussians"},
    {"linear", KL_WORD, "auto", 0, 0, false, "auto|yes|no", "the columns of x as features for what the kernel has of <x, y>; auto: where they gain more than they cost"},
    {0}};

typedef struct state {
    kl_law law;
    double at_zero; /* K(x, x) */
    double random;  /* share of the waves */
    kl_sphere sphere;
    kl_directions directions;
    float *phase;   /* (frequencies) in turns, form phase only */
} state;

static kl_directions_kind kind(const kl_map *map)
{
    int word = map->value[DIRECTIONS].word;
    if (word == INDEPENDENT || (word == AUTO && map->value[FIT].word == GAUSSIANS))
        return KL_DIRECTIONS_INDEPENDENT;
    return word == DENSE || (word == AUTO && map->n_in <= KL_DIRECTIONS_SMALLEST) ? KL_DIRECTIONS_DENSE : KL_DIRECTIONS_HADAMARD;
}

static bool has_phases(const kl_map *map)
{
    int word = map->value[FORM].word;
    return word == PHASE || (word == AUTO && map->value[FIT].word == GAUSSIANS);
}

/* Columns without randomness. */
static int64_t exact(const kl_map *map)
{
    const state *s = map->state;
    return (s->law.constant > 0 ? 1 : 0) + (s->law.linear > 0 ? map->n_in : 0);
}

/* An odd number of features is rounded up, as in other maps of pairs; a column that finds no partner otherwise is left out. */
static int64_t frequencies(const kl_map *map)
{
    const state *s = map->state;
    int64_t left = map->features - exact(map), count = has_phases(map) ? left : (left + map->features % 2) / 2;
    return s->law.count == 0 ? 0 : count < 1 ? 1 : count;
}

static int64_t wave_columns(const kl_map *map)
{
    return frequencies(map) * (has_phases(map) ? 1 : 2);
}

/* ---- fit ---- */

static klift_status check_row(double length)
{
    if (fabs(length - 1) <= unit_slack)
        return KLIFT_OK;
    if (length == 0)
        return kl_fail(KLIFT_DATA, "map spherical is for rows of length 1, and one has nothing but zeros: it has no place on the sphere; leave it out, or use another map");
    return kl_fail(KLIFT_DATA, "map spherical is for rows of length 1, and one has length %.4g; use prepare=unit", length);
}

static klift_status check_survey(const kl_survey *survey)
{
    kl_batch rows = kl_rows_view(&survey->sample);
    for (int64_t i = 0; i < rows.rows; i++)
        KL_TRY(check_row(kl_batch_row_norm(&rows, i)));
    return check_row(survey->norm_max);
}

/* (1 - z^2/a^2)^p with a < 2 is negative or grows with z somewhere on the sphere: no law comes near it. */
static klift_status check_power(const kl_map *map)
{
    kl_text fitting = {0};
    kl_power p = map->kernel->type->offers & KL_POWER ? map->kernel->type->power(map->kernel) : (kl_power){0};
    if (p.degree < 1 || p.offset >= p.gamma * (1 - 1e-9))
        return KLIFT_OK;
    kl_map_list_fitting(map->kernel->type, map->type, &fitting);
    klift_status status = kl_fail(KLIFT_USAGE, "map spherical: kernel poly with offset %g below gamma %g does not fall from K(x, x) to 0 over the sphere, and waves cannot follow it; "
                                  "raise the offset to gamma, or use one of %s", p.offset, p.gamma, fitting.length > 0 ? fitting.text : "none");
    kl_text_clear(&fitting);
    return status;
}

static klift_status check_linear(const kl_map *map)
{
    if (map->value[LINEAR].word != YES)
        return KLIFT_OK;
    if (map->value[FIT].word == GAUSSIANS)
        return kl_fail(KLIFT_USAGE, "map spherical: fit=gaussians has no place for linear=yes; use fit=shells");
    if (map->features < map->n_in + 3)
        return kl_fail(KLIFT_USAGE, "map spherical: linear=yes takes %lld of %lld features, and at least 3 must be left; use more features, or linear=no",
                       (long long)map->n_in, (long long)map->features);
    return KLIFT_OK;
}

/* The squared error to expect: bias, and the noise of as many features as are left to the waves; infinite when they find no room. */
static double expected(const kl_map *map, const kl_law *law)
{
    double random = kl_law_random(law), left = (double)(map->features - (law->linear > 0 ? map->n_in : 0) - (law->constant > 0));
    if (left < (law->count > 0 ? 2 : 0))
        return law->linear > 0 ? INFINITY : law->bias * law->bias;
    return law->bias * law->bias + (law->count > 0 ? random * random / left : 0);
}

/* linear=auto: <x, y> has columns of its own where they gain more than they cost. */
static klift_status fit_shells(kl_map *map, const kl_target *target)
{
    state *s = map->state;
    int word = map->value[LINEAR].word;
    kl_law with = {0};
    KL_TRY(kl_law_fit_shells(&s->law, target, word == YES));
    if (word != AUTO || map->features <= map->n_in)
        return KLIFT_OK;
    klift_status status = kl_law_fit_shells(&with, target, true);
    bool better = status == KLIFT_OK && with.linear > 0 && expected(map, &with) < expected(map, &s->law);
    kl_law_clear(better ? &s->law : &with);
    if (better)
        s->law = with;
    return status;
}

static void say(const kl_map *map, klift_run *run)
{
    const state *s = map->state;
    double noise = (double)map->features * s->law.bias * s->law.bias;
    kl_run_say(run, KLIFT_EVENT_NOTE, "map", "waves differ from the kernel by %.2g of K(x, x) (root mean square over distances), %.2g at most%s", s->law.bias, s->law.most,
               noise > 1 ? ": with this many features that is more than their own noise" : "");
}

static klift_status fit(kl_map *map, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    kl_target target;
    if (map->n_in < 2)
        return kl_fail(KLIFT_DATA, "map spherical needs at least 2 columns: of one column the unit sphere is the two points -1 and 1; use another map");
    KL_TRY(check_power(map));
    if (survey != NULL)
        KL_TRY(check_survey(survey));
    KL_TRY(check_linear(map));
    KL_TRY(kl_target_new(&target, map->kernel, kl_directions_freedom(kind(map), map->n_in)));
    if (map->value[WEIGHT].word == BY_DATA && survey == NULL)
        return kl_fail(KLIFT_USAGE, "map spherical: weight=data learns from data; none were given: fit it to some, or use weight=uniform");
    if (map->value[WEIGHT].word == BY_DATA)
        KL_TRY(kl_target_weigh(&target, survey));
    if (map->value[FIT].word == GAUSSIANS)
        KL_TRY(kl_law_fit_gaussians(&s->law, &target, (int64_t)map->value[TERMS].number));
    else
        KL_TRY(fit_shells(map, &target));
    say(map, run);
    return KLIFT_OK;
}

/* ---- draw ---- */

/* The radius at a place in (0, 1) of the law of the waves; within: the place inside its cell */
static double radius_at(const state *s, double place, double within)
{
    int64_t j = 0;
    double sum = s->law.share[0];
    while (j < s->law.count - 1 && sum < place * s->random)
        sum += s->law.share[++j];
    return s->law.radius[j] + (within - 0.5) * s->law.cell;
}

static klift_status draw_radii(const kl_map *map, int64_t count, double *length)
{
    const state *s = map->state;
    kl_random lengths = {map->seed, map->stream, KL_DRAW_LENGTH}, shuffle = {map->seed, map->stream, KL_DRAW_ORDER};
    bool independent = kind(map) == KL_DIRECTIONS_INDEPENDENT;
    int32_t *order = NULL;
    double first, u[2];
    klift_status status;
    KL_GO(kl_new(&order, count, sizeof *order, "radii"));
    kl_random_permutation(&shuffle, 0, count, order);
    kl_random_uniforms(&lengths, 0, 1, &first);
    for (int64_t k = 0; k < count; k++) {
        kl_random_uniforms(&lengths, (uint32_t)k + 1, 2, u);
        length[independent ? k : order[k]] = radius_at(s, independent ? u[0] : (first + (double)k) / (double)count, u[1]) * kl_waves_turn;
    }
done:
    kl_free(order);
    return status;
}

static klift_status draw_phases(const kl_map *map, int64_t count)
{
    state *s = map->state;
    kl_random phases = {map->seed, map->stream, KL_DRAW_PHASE};
    KL_TRY(kl_new(&s->phase, count, sizeof *s->phase, "phases"));
    for (int64_t j = 0; j < count; j++) {
        double u;
        kl_random_uniforms(&phases, (uint32_t)j, 1, &u);
        s->phase[j] = (float)u;
    }
    return KLIFT_OK;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    int64_t count = frequencies(map);
    double *length = NULL, furthest = 1;
    klift_status status;
    KL_TRY(kl_map_set_outputs(map, wave_columns(map) + exact(map)));
    s->at_zero = kl_target_at(map->kernel, 0);
    s->random = kl_law_random(&s->law);
    for (int64_t j = 0; j < s->law.count; j++)
        furthest = fmax(furthest, s->law.radius[j]);
    KL_GO(kl_sphere_new(&s->sphere, kl_directions_freedom(kind(map), map->n_in), 4 * (1 + unit_slack) * furthest)); /* variance() asks for 2 |x - y| */
    if (count == 0)
        goto done;
    KL_GO(kl_new(&length, count, sizeof *length, "radii"));
    KL_GO(draw_radii(map, count, length));
    KL_GO(kl_directions_draw(&s->directions, map, kind(map), count, length, run));
    if (has_phases(map))
        status = draw_phases(map, count);
done:
    kl_free(length);
    return status;
}

/* ---- apply ---- */

static void apply_exact(const kl_map *map, const kl_batch *x, int64_t row, float *z)
{
    const state *s = map->state;
    float scale = (float)sqrt(s->at_zero * s->law.linear);
    if (s->law.constant > 0)
        *z++ = (float)sqrt(s->at_zero * s->law.constant);
    if (!(s->law.linear > 0))
        return;
    kl_waves_row(x, row, map->n_in, z);
    for (int64_t j = 0; j < map->n_in; j++)
        z[j] *= scale;
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    double count = (double)s->directions.count;
    const kl_waves waves = {.z = z, .count = s->directions.count, .scale = (float)sqrt((s->phase != NULL ? 2 : 1) * s->at_zero * s->random / count), .phase = s->phase};
    const kl_product_out to = kl_waves_out(&waves);
    for (int64_t i = 0; i < x->rows; i++) {
        KL_TRY(check_row(kl_batch_row_norm(x, i)));
        apply_exact(map, x, i, z->dense + i * z->stride + wave_columns(map));
    }
    if (s->directions.count > 0)
        kl_directions_apply(&s->directions, x, &to, scratch);
    kl_waves_end(&waves, x->rows);
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    int64_t count = frequencies(map);
    return kl_directions_memory(kind(map), map->n_in, count) + count * (int64_t)(sizeof(float) + sizeof(int32_t) + sizeof(double));
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    const state *s = map->state;
    (void)rows;
    return s->directions.count > 0 ? kl_directions_scratch(&s->directions, map->n_in) : 0;
}

/* ---- how good it is ---- */

/* Of the mean of cos(w_k.(x - y)) */
static double of_waves(const kl_map *map, double z)
{
    const state *s = map->state;
    if (kind(map) == KL_DIRECTIONS_INDEPENDENT) {
        double once = kl_law_waves(&s->law, &s->sphere, z), twice = kl_law_waves(&s->law, &s->sphere, 2 * z);
        return ((1 + twice) / 2 - once * once) / (double)s->directions.count;
    }
    return kl_systematic_variance(&s->law, &s->sphere, &s->directions, z);
}

static double variance(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    double scale = s->at_zero * s->random;
    if (s->directions.count == 0)
        return 0;
    return scale * scale * (of_waves(map, kl_pair_distance(pair)) + (s->phase != NULL ? 0.5 / (double)s->directions.count : 0));
}

static double bias(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    double waves = s->law.count > 0 ? s->random * kl_law_waves(&s->law, &s->sphere, kl_pair_distance(pair)) : 0;
    return fabs(s->at_zero * (waves + s->law.constant + s->law.linear * pair->xy) - kl_kernel_value(map->kernel, pair));
}

static double cost(const kl_map *map, int64_t entries)
{
    const state *s = map->state;
    return (s->directions.count > 0 ? kl_directions_cost(&s->directions, entries) : 0) + 10 * (double)wave_columns(map) + (s->law.linear > 0 ? (double)entries : 0);
}

static void describe(const kl_map *map, kl_text *json)
{
    const state *s = map->state;
    kl_json_number(json, "bias", s->law.bias);
    kl_json_number(json, "largest_bias", s->law.most);
    kl_json_number(json, "constant_share", s->law.constant);
    kl_json_number(json, "linear_share", s->law.linear);
    kl_json_count(json, "radii", s->law.count);
}

/* ---- storage ---- */

static void save(const kl_map *map, kl_record_writer *to)
{
    const state *s = map->state;
    kl_law_save(&s->law, to);
}

static klift_status load(kl_map *map, kl_record_reader *from)
{
    state *s = map->state;
    double at_zero = kl_target_at(map->kernel, 0);
    if (map->n_in < 2 || !(at_zero > 0 && isfinite(at_zero)))
        return kl_record_damaged("map spherical does not fit its kernel and columns");
    return kl_law_load(&s->law, from);
}

static float *weights(kl_map *map, int64_t *count)
{
    const state *s = map->state;
    *count = 0;
    return s->directions.count > 0 ? kl_directions_weights(&s->directions, count) : NULL;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_law_clear(&s->law);
    kl_sphere_clear(&s->sphere);
    kl_directions_clear(&s->directions);
    kl_free(s->phase);
}

const kl_map_type kl_map_spherical = {
    .name = "spherical",
    .summary = "waves fitted to a kernel on rows of length 1, for every kernel of <x, y> or |x - y|, indefinite ones too",
    .params = params,
    .needs = KL_RADIAL,
    .domain = KL_UNIT_NORM,
    .accuracy = KL_BIASED,
    .state_size = sizeof(state),
    .fit = fit,
    .fit_without_data = true,
    .draw = draw,
    .apply = apply,
    .memory = memory,
    .scratch = scratch_bytes,
    .variance = variance,
    .bias = bias,
    .cost = cost,
    .describe = describe,
    .save = save,
    .load = load,
    .weights = weights,
    .clear = clear,
};
