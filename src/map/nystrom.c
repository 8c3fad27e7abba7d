/*
 * nystrom.c - landmarks of the data themselves: z(x) = L^-1 k(S, x), L L' = K_SS + jitter, so that z(x).z(y) is the kernel's
 * projection on the landmarks (Williams and Seeger 2001): exact between landmarks, never above K(x,x) in length.
 *   landmarks  rpcholesky: randomly pivoted Cholesky on the survey's sample (pivoted.c); uniform; kmeans++; all rows, which
 *              makes ridge the exact kernel ridge; or those of a file
 * By Cauchy-Schwarz |K(x,y) - z(x).z(y)| <= sqrt(r(x) r(y)), r(x) = K(x,x) - |z(x)|^2: that, and the rounding of k times
 * 1 / sqrt(jitter), is bias().
 * Stored: the landmarks and L^-1, which took n^3 operations to find.
 */
#include "map/map.h"

#include "base/memory.h"
#include "data/prepare.h"
#include "map/landmarks.h"
#include "map/similarity.h"
#include "map/whitening.h"

#include <math.h>

enum { LANDMARKS, JITTER, PRECISION, FILE_NAME };
enum { RPCHOLESKY, UNIFORM, KMEANS, ALL, FROM_FILE };
enum { AUTO, FLOAT32, FLOAT64 };
enum { LEAST_SAMPLE = 4096, MOST_ALL = 20000, MOST_LANDMARKS = 1 << 20, EXPLAINED = 256, LANES = 16 };

static const double overshoot = 2, shown = 1e-6;

static const kl_param params[] = {
    {"landmarks", KL_WORD, "rpcholesky", 0, 0, false, "rpcholesky|uniform|kmeans++|all|file", "how landmarks are chosen among the sample's rows; all: every row, up to 20,000; file: those of file"},
    {"jitter", KL_REAL, "auto", 0, 0.1, true, "auto", "added to the landmarks' kernel matrix, relative to its diagonal; auto: 1e-6, with float64 1e-13"},
    {"precision", KL_WORD, "auto", 0, 0, false, "auto|float32|float64", "arithmetic of the features; auto: float64 for landmarks=all"},
    {"file", KL_FREE, "", 0, 0, false, NULL, "rows to take as landmarks, in the form of the data"},
    {0}};

typedef struct state {
    kl_rows landmark;
    kl_whitening whitening;
    kl_similarity similarity;
} state;

static bool is_exact(const kl_map *map)
{
    int word = map->value[PRECISION].word;
    return word == FLOAT64 || (word == AUTO && map->value[LANDMARKS].word == ALL);
}

static int64_t sample(const kl_map *map)
{
    int word = map->value[LANDMARKS].word;
    if (word == ALL)
        return MOST_ALL + 1;
    if (word == UNIFORM || word == FROM_FILE || kl_map_text(map, "file") != NULL)
        return word == UNIFORM ? map->features : 0;
    return 2 * map->features > LEAST_SAMPLE ? 2 * map->features : LEAST_SAMPLE;
}

/* ---- landmarks ---- */

/* The sample without labels and weights. */
static kl_batch bare(const kl_survey *survey)
{
    kl_batch rows = kl_rows_view(&survey->sample);
    rows.target = rows.weight = NULL;
    rows.targets = 0;
    rows.label = NULL;
    return rows;
}

static klift_status choose_pivoted(const kl_map *map, const kl_batch *rows, const kl_random *from, klift_run *run, kl_landmarks *chosen)
{
    int64_t needed = kl_landmarks_bytes(rows->rows, map->features), limit = kl_run_memory(run);
    if (needed > limit)
        return kl_fail(KLIFT_MEMORY, "map nystrom: choosing %lld landmarks among %lld rows needs %.0f MB, the limit is %.0f MB; use fewer features, landmarks=uniform, or raise max-memory",
                       (long long)map->features, (long long)rows->rows, (double)needed / 1e6, (double)limit / 1e6);
    KL_TRY(kl_landmarks_pivoted(map->kernel, rows, map->n_in, map->features, from, run, chosen));
    if (chosen->trace > 0)
        kl_run_say(run, KLIFT_EVENT_NOTE, "landmarks", "%lld landmarks leave %.3g %% of the kernel's trace on a sample of %lld rows", (long long)chosen->count, 100 * chosen->error / chosen->trace, (long long)rows->rows);
    return KLIFT_OK;
}

static klift_status choose(kl_map *map, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    kl_batch rows = bare(survey);
    kl_random from = {map->seed, map->stream, KL_DRAW_LANDMARK};
    kl_landmarks chosen = {0};
    klift_status status = KLIFT_OK;
    int word = map->value[LANDMARKS].word;
    if (word == ALL && (survey->rows > MOST_ALL || !survey->complete))
        return kl_fail(KLIFT_USAGE, "map nystrom: landmarks=all is for at most %d rows %s; use rpcholesky", MOST_ALL, survey->complete ? "and there are more" : "that can be read twice, not from a pipe");
    if (word == RPCHOLESKY && !map->kernel->type->indefinite) /* whose residuals say nothing */
        KL_GO(choose_pivoted(map, &rows, &from, run, &chosen));
    else if (word == KMEANS)
        KL_GO(kl_landmarks_spread(map->kernel, &rows, map->n_in, map->features, &from, run, &chosen));
    else
        KL_GO(kl_landmarks_uniform(rows.rows, word == ALL ? rows.rows : map->features, &from, &chosen));
    if (chosen.count == 0) {
        status = kl_fail(KLIFT_DATA, "map nystrom: kernel %s is zero on all rows of the sample, so none can be a landmark", map->kernel->type->name);
        goto done;
    }
    for (int64_t i = 0; i < chosen.count; i++)
        KL_GO(kl_rows_add(&s->landmark, &rows, chosen.row[i], 1));
    if (chosen.count < map->features && word != ALL)
        kl_run_say(run, KLIFT_EVENT_NOTE, "landmarks", "%lld features instead of %lld: the sample of %lld rows has no more landmarks to give", (long long)chosen.count, (long long)map->features, (long long)rows.rows);
done:
    kl_landmarks_clear(&chosen);
    return status;
}

/* The rows of a file, prepared as the data are; the file's labels are left out. */
static klift_status read_batch(kl_map *map, kl_batch *batch, const kl_survey *survey, const char *path)
{
    state *s = map->state;
    kl_batch rows = *batch, ready;
    void *scratch = NULL;
    klift_status status = KLIFT_OK;
    int64_t width = survey->prepare != NULL ? survey->prepare->n_in : map->n_in;
    if (rows.start == NULL && rows.columns != width)
        return kl_fail(KLIFT_DATA, "landmarks file %s has %lld columns, the data have %lld", path, (long long)rows.columns, (long long)width);
    rows.target = rows.weight = NULL;
    rows.targets = 0;
    rows.label = NULL;
    ready = rows;
    if (survey->prepare != NULL) {
        KL_GO(kl_new(&scratch, kl_prepare_scratch(survey->prepare, &rows), 1, "landmarks"));
        kl_prepare_apply(survey->prepare, &rows, scratch, &ready);
    }
    if (s->landmark.rows + ready.rows > MOST_LANDMARKS)
        KL_GO(kl_fail(KLIFT_DATA, "landmarks file %s has more than %d rows", path, MOST_LANDMARKS));
    status = kl_rows_add(&s->landmark, &ready, 0, ready.rows);
done:
    kl_free(scratch);
    return status;
}

static klift_status read_landmarks(kl_map *map, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    const char *path = kl_map_text(map, "file");
    kl_reader *reader = NULL;
    kl_batch batch;
    klift_status status;
    if (path == NULL || path[0] == '\0')
        return kl_fail(KLIFT_USAGE, "map nystrom: landmarks=file needs file=PATH");
    KL_GO(kl_reader_open(path, NULL, &reader));
    reader->dim = survey->prepare != NULL ? survey->prepare->n_in : map->n_in; /* so that the reader itself places an index beyond it */
    if (survey->index_base >= 0 && reader->index_base >= 0)
        reader->index_base = survey->index_base;
    kl_reader_use_threads(reader, kl_run_threads(run));
    do {
        KL_GO(kl_run_check(run));
        KL_GO(kl_reader_next(reader, kl_run_batch(run), &batch));
        KL_GO(read_batch(map, &batch, survey, path));
    } while (batch.rows > 0);
    if (s->landmark.rows == 0)
        status = kl_fail(KLIFT_DATA, "landmarks file %s has no rows", path);
    kl_run_say(run, KLIFT_EVENT_NOTE, "landmarks", "%lld landmarks of %s", (long long)s->landmark.rows, path);
done:
    kl_reader_free(reader);
    return status;
}

/* ---- apply ---- */

static int64_t round_up(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int64_t values_bytes(const kl_map *map, int64_t rows)
{
    return round_up(rows * map->n_out * (int64_t)(is_exact(map) ? sizeof(double) : sizeof(float)));
}

static int64_t scratch_bytes(const kl_map *map, int64_t rows)
{
    const state *s = map->state;
    int64_t a = is_exact(map) ? kl_similarity_exact_scratch(&s->similarity, rows) : kl_similarity_scratch(&s->similarity, rows), b = kl_whitening_scratch(&s->whitening, rows);
    return values_bytes(map, rows) + round_up(a > b ? a : b);
}

static klift_status apply(const kl_map *map, const kl_batch *x, const kl_output *z, void *scratch)
{
    const state *s = map->state;
    void *behind = (unsigned char *)scratch + values_bytes(map, x->rows);
    if (is_exact(map)) {
        kl_similarity_exact(&s->similarity, x, scratch, behind);
        kl_whitening_apply_exact(&s->whitening, x->rows, scratch, z->dense, z->stride, behind);
    } else {
        kl_similarity_apply(&s->similarity, x, scratch, behind);
        kl_whitening_apply(&s->whitening, x->rows, scratch, z->dense, z->stride, behind);
    }
    return KLIFT_OK;
}

/* ---- weights on k(S, x) ---- */

/* sqrt K(s, s) of every landmark: |k_j| is at most that times sqrt K(x, x). */
static klift_status lengths(const kl_map *map, double *out)
{
    const state *s = map->state;
    void *scratch = NULL;
    KL_TRY(kl_new(&scratch, kl_block_scratch(map->kernel, 1, 1, map->n_in), 1, "the carried weights"));
    kl_block_diagonal(map->kernel, &s->similarity.landmarks, map->n_in, out, scratch);
    for (int64_t j = 0; j < map->n_out; j++)
        out[j] = sqrt(fmax(out[j], 0));
    kl_free(scratch);
    return KLIFT_OK;
}

/* Whether w z can be had as carried'k in float64. The rounding of k does the same to both, and z has float32's roundings, which carried'k
 * has not; what the steps of its own sums, whose terms are together `sum`, can do must stay below `shown` of |w| sqrt K(x, x), the size of
 * a score. */
static bool is_safe(const kl_whitening *whitening, const double *w, double sum)
{
    double square = 0, steps = (double)(kl_whitening_carry_steps(whitening) + whitening->n / LANES + LANES);
    for (int64_t i = 0; i < whitening->n; i++)
        square += w[i] * w[i];
    return steps * 0x1p-53 * sum <= shown * sqrt(square);
}

static klift_status carry(const kl_map *map, int64_t outputs, const double *w, double **carried)
{
    const state *s = map->state;
    int64_t n = map->n_out;
    double *most = NULL, *sum = NULL, *out = NULL;
    bool safe = !map->kernel->type->indefinite; /* of which k has no such bound */
    klift_status status;
    *carried = NULL;
    KL_GO(kl_new(&most, n, sizeof *most, "the carried weights"));
    KL_GO(kl_new(&sum, outputs, sizeof *sum, "the carried weights"));
    KL_GO(kl_new(&out, outputs * n, sizeof *out, "the carried weights"));
    KL_GO(lengths(map, most));
    KL_GO(kl_whitening_carry(&s->whitening, outputs, w, most, out, sum));
    for (int64_t o = 0; o < outputs; o++)
        safe = safe && is_safe(&s->whitening, w + o * n, sum[o]);
    if (safe) {
        *carried = out;
        out = NULL;
    }
done:
    kl_free(most);
    kl_free(sum);
    kl_free(out);
    return status;
}

/* In sixteen sums, of which compilers make vectors. */
static double dot(int64_t n, const double *a, const double *b)
{
    double lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += a[j + l] * b[j + l];
    for (; j < n; j++)
        lane[j % LANES] += a[j] * b[j];
    return kl_row_total(lane);
}

static klift_status values(const kl_map *map, const kl_batch *x, int64_t outputs, const double *carried, double *out, void *scratch)
{
    const state *s = map->state;
    int64_t n = map->n_out;
    void *behind = (unsigned char *)scratch + values_bytes(map, x->rows);
    if (is_exact(map)) {
        const double *k = scratch;
        kl_similarity_exact(&s->similarity, x, scratch, behind);
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t o = 0; o < outputs; o++)
                out[i * outputs + o] = dot(n, k + i * n, carried + o * n);
        return KLIFT_OK;
    }
    const float *k = scratch;
    kl_similarity_apply(&s->similarity, x, scratch, behind);
    for (int64_t i = 0; i < x->rows; i++) {
        kl_row row = {.count = n, .value = k + i * n};
        kl_row_dots(&row, &row, n, outputs, carried, n, out + i * outputs);
    }
    return KLIFT_OK;
}

static int64_t memory(const kl_map *map)
{
    const state *s = map->state;
    int64_t count = s->landmark.rows;
    return kl_similarity_bytes(map->kernel, count, map->n_in) + kl_whitening_bytes(count, is_exact(map));
}

/* |z(x)|^2 of one row of doubles, NaN without memory */
static double explained(const kl_map *map, const double *x)
{
    float *row = NULL, *z = NULL;
    void *scratch = NULL;
    double sum = NAN;
    if (kl_new(&row, map->n_in, sizeof *row, "a row") == KLIFT_OK && kl_new(&z, map->n_out, sizeof *z, "a row") == KLIFT_OK && kl_new(&scratch, scratch_bytes(map, 1), 1, "a row") == KLIFT_OK) {
        for (int64_t i = 0; i < map->n_in; i++)
            row[i] = (float)x[i];
        kl_batch one = {.size = sizeof one, .rows = 1, .columns = map->n_in, .dense = row, .stride = map->n_in};
        kl_output out = {.dense = z, .stride = map->n_out};
        apply(map, &one, &out, scratch);
        sum = 0;
        for (int64_t i = 0; i < map->n_out; i++)
            sum += (double)z[i] * (double)z[i];
    }
    kl_free(row);
    kl_free(z);
    kl_free(scratch);
    return sum;
}

/* The largest |z(x)|^2 / K(x, x) of some rows of the sample. At most 1 for a positive definite kernel, which is not looked at; of
 * another one landmarks can make more of a row than there is, and then errors have no bound. */
static klift_status explains(kl_map *map, const kl_survey *survey, double *most)
{
    state *s = map->state;
    kl_batch rows = kl_rows_view(&survey->sample), landmarks = kl_rows_view(&s->landmark);
    double *x = NULL;
    klift_status status = KLIFT_OK;
    *most = 0;
    if (!map->kernel->type->indefinite)
        return KLIFT_OK;
    map->n_out = s->landmark.rows;
    KL_GO(kl_similarity_make(&s->similarity, map->kernel, &landmarks, map->n_in));
    KL_GO(kl_new(&x, map->n_in, sizeof *x, "a row"));
    for (int64_t i = 0; i < rows.rows && i < EXPLAINED; i++) {
        kl_pair self;
        kl_batch_row_doubles(&rows, i, map->n_in, x);
        kl_pair_set(&self, map->n_in, x, x);
        double whole = kl_kernel_value(map->kernel, &self), made = explained(map, x);
        if (isnan(made))
            KL_GO(kl_fail(KLIFT_MEMORY, "no memory for the features of a row"));
        *most = fmax(*most, made > 1e-12 ? made / fmax(whole, 1e-12) : 0);
    }
done:
    kl_free(x);
    kl_similarity_clear(&s->similarity);
    return status;
}

static klift_status fit(kl_map *map, const kl_survey *survey, klift_run *run)
{
    state *s = map->state;
    double jitter = map->value[JITTER].number, *norm = NULL;
    bool exact = is_exact(map), given = kl_map_text(map, "file") != NULL;
    klift_status status;
    if (given && map->value[LANDMARKS].word != RPCHOLESKY && map->value[LANDMARKS].word != FROM_FILE)
        return kl_fail(KLIFT_USAGE, "map nystrom: file=PATH gives the landmarks; leave landmarks out, or set it to file");
    if (given)
        map->value[LANDMARKS].word = FROM_FILE;
    KL_TRY(map->value[LANDMARKS].word == FROM_FILE ? read_landmarks(map, survey, run) : choose(map, survey, run));
    kl_side rows = {kl_rows_view(&s->landmark), NULL};
    int64_t needed = 2 * kl_tiles_bytes(s->landmark.rows), limit = kl_run_memory(run);
    if (needed > limit)
        return kl_fail(KLIFT_MEMORY, "map nystrom: the kernel matrix of %lld landmarks needs %.0f MB, the limit is %.0f MB; use fewer, or raise max-memory",
                       (long long)s->landmark.rows, (double)needed / 1e6, (double)limit / 1e6);
    KL_GO(kl_new(&norm, s->landmark.rows, sizeof *norm, "landmarks"));
    kl_block_norms(&rows.rows, norm);
    rows.norm = norm;
    jitter = map->value[JITTER].word >= 0 ? (exact ? 1e-13 : 1e-6) : jitter;
    for (double given_jitter = jitter, most = INFINITY; most > overshoot; given_jitter *= 10) {
        kl_whitening_clear(&s->whitening);
        KL_GO(kl_whitening_make(&s->whitening, map->kernel, &rows, map->n_in, given_jitter, exact, run));
        given_jitter = s->whitening.jitter;
        KL_GO(explains(map, survey, &most));
        if (most > overshoot && given_jitter * 10 > kl_whitening_largest(map->kernel, s->landmark.rows))
            KL_GO(kl_fail(KLIFT_DATA, "kernel %s is too far from positive definite on these rows: with jitter %.3g landmarks make %.3g times K(x, x) of one; change its parameters, "
                          "or use map spherical with prepare=unit", map->kernel->type->name, given_jitter, most));
    }
    if (s->whitening.jitter > jitter)
        kl_run_say(run, KLIFT_EVENT_WARNING, "landmarks", "the landmarks' kernel matrix was not positive with jitter %g; %g was added", jitter, s->whitening.jitter);
done:
    kl_free(norm);
    return status;
}

static klift_status draw(kl_map *map, klift_run *run)
{
    state *s = map->state;
    kl_batch rows = kl_rows_view(&s->landmark);
    (void)run;
    KL_TRY(kl_map_set_outputs(map, s->landmark.rows));
    return kl_similarity_make(&s->similarity, map->kernel, &rows, map->n_in);
}

static double bias(const kl_map *map, const kl_pair *pair)
{
    const state *s = map->state;
    kl_pair self[2];
    double left[2], most = 1, made = 1;
    kl_pair_set(&self[0], pair->n, pair->x, pair->x);
    kl_pair_set(&self[1], pair->n, pair->y, pair->y);
    for (int i = 0; i < 2; i++) {
        double whole = kl_kernel_value(map->kernel, &self[i]);
        double here = explained(map, self[i].x);
        left[i] = fmax(0, whole - here);
        most *= sqrt(fmax(whole, 0));
        made *= sqrt(here);
    }
    if (map->kernel->type->indefinite) /* no Cauchy-Schwarz for K - z.z */
        return fabs(kl_kernel_value(map->kernel, pair)) + made;
    return sqrt(left[0] * left[1]) + most * (is_exact(map) ? 1e-6 : 6e-8 / sqrt(s->whitening.jitter));
}

static double cost(const kl_map *map, int64_t entries)
{
    double count = (double)map->n_out;
    return count * 2 * (double)entries + count * 20 + count * count;
}

/* ---- storage ---- */

static void save(const kl_map *map, kl_record_writer *to)
{
    const state *s = map->state;
    const kl_rows *rows = &s->landmark;
    kl_record_put_i64(to, rows->rows);
    kl_record_put_u32(to, rows->sparse ? 1 : 0);
    if (!rows->sparse)
        kl_record_put_floats(to, rows->dense, rows->rows * rows->columns);
    for (int64_t i = 0; rows->sparse && i < rows->rows; i++) {
        int64_t from = rows->start[i], count = rows->start[i + 1] - from;
        kl_record_put_i64(to, count);
        for (int64_t p = from; p < from + count; p++)
            kl_record_put_u32(to, (uint32_t)rows->column[p]);
        kl_record_put_floats(to, count > 0 ? rows->value + from : NULL, count);
    }
    kl_whitening_save(&s->whitening, to);
}

static klift_status load_sparse_row(kl_map *map, kl_record_reader *from)
{
    state *s = map->state;
    int64_t count, last = -1, start[2] = {0};
    int32_t *column = NULL;
    float *value = NULL;
    klift_status status;
    KL_GO(kl_record_get_i64(from, 0, map->n_in, &count));
    if (count > (from->end - from->at) / (int64_t)sizeof(uint32_t))
        KL_GO(kl_record_damaged("a landmark is cut off"));
    KL_GO(kl_new(&column, count + 1, sizeof *column, "landmarks"));
    for (int64_t p = 0; p < count; p++) {
        uint32_t at;
        KL_GO(kl_record_get_u32(from, &at));
        if ((int64_t)at <= last || (int64_t)at >= map->n_in)
            KL_GO(kl_record_damaged("a landmark's columns do not ascend"));
        last = column[p] = (int32_t)at;
    }
    KL_GO(kl_record_get_floats(from, &value, count));
    start[1] = count;
    kl_batch one = {.size = sizeof one, .rows = 1, .columns = map->n_in, .start = start, .column = column, .value = value};
    status = kl_rows_add(&s->landmark, &one, 0, 1);
done:
    kl_free(column);
    kl_free(value);
    return status;
}

static klift_status load(kl_map *map, kl_record_reader *from)
{
    state *s = map->state;
    int64_t count;
    uint32_t sparse;
    float *dense = NULL;
    KL_TRY(kl_record_get_i64(from, 1, MOST_LANDMARKS, &count));
    KL_TRY(kl_record_get_u32(from, &sparse));
    if (sparse == 0) {
        KL_TRY(kl_record_get_floats(from, &dense, count * map->n_in));
        kl_batch rows = {.size = sizeof rows, .rows = count, .columns = map->n_in, .dense = dense, .stride = map->n_in};
        klift_status status = kl_rows_add(&s->landmark, &rows, 0, count);
        kl_free(dense);
        KL_TRY(status);
    }
    for (int64_t i = 0; sparse != 0 && i < count; i++)
        KL_TRY(load_sparse_row(map, from));
    return kl_whitening_load(&s->whitening, count, is_exact(map), from);
}

static float *weights(kl_map *map, int64_t *count)
{
    state *s = map->state;
    bool products = s->similarity.panel == NULL;
    *count = products ? kl_panels_floats(&s->similarity.products) : (s->landmark.rows + KL_KERNEL_PANEL - 1) / KL_KERNEL_PANEL * KL_KERNEL_PANEL * map->n_in;
    return products ? s->similarity.products.packed : s->similarity.panel;
}

static void clear(kl_map *map)
{
    state *s = map->state;
    kl_rows_clear(&s->landmark);
    kl_whitening_clear(&s->whitening);
    kl_similarity_clear(&s->similarity);
}

const kl_map_type kl_map_nystrom = {
    .name = "nystrom",
    .summary = "landmarks of the data, for every kernel: the most accuracy per feature",
    .params = params,
    .accuracy = KL_BIASED,
    .state_size = sizeof(state),
    .sample = sample,
    .fit = fit,
    .draw = draw,
    .apply = apply,
    .carry = carry,
    .values = values,
    .memory = memory,
    .scratch = scratch_bytes,
    .bias = bias,
    .cost = cost,
    .save = save,
    .load = load,
    .weights = weights,
    .clear = clear,
};
