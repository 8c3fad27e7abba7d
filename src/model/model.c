/*
 * model.c - scores f(z) = w z + b, by way of the features z or of weights that the map carried behind its last step. Rows go in chunks of 252 through preparation, map and weights on one thread each;
 * every value is sixteen fixed partial sums in float64, so a row's score does not depend on the rows around it, nor on whether its
 * features are had as CSR (row.h). With a code the values are those of its bits, and the scores of classes are decoded from them.
 */
#include "model/model.h"

#include "base/memory.h"

#include <math.h>

klift_status kl_model_new(klift_map **lift, kl_weights *weights, const char *learner, klift_model **model)
{
    klift_status status = kl_new(model, 1, sizeof **model, "a model");
    if (status == KLIFT_OK && learner != NULL)
        status = kl_copy_text(&(*model)->learner, learner);
    if (status != KLIFT_OK) {
        kl_free(*model);
        *model = NULL;
        kl_lift_free(*lift);
        kl_weights_clear(weights);
    } else {
        (*model)->lift = *lift;
        (*model)->weights = *weights;
        status = kl_model_carry(*model);
        if (status != KLIFT_OK) {
            kl_model_free(*model);
            *model = NULL;
        }
    }
    *lift = NULL;
    *weights = (kl_weights){0};
    return status;
}

klift_status kl_model_carry(klift_model *model)
{
    const kl_map *map = model->lift->map;
    if (model->weights.outputs > 0 && map->type->carry != NULL)
        KL_TRY(map->type->carry(map, kl_weights_rows(&model->weights), model->weights.w, &model->carried));
    return model->carried == NULL ? kl_brief_make(&model->weights, kl_map_reach(map), &model->brief) : KLIFT_OK;
}

void kl_model_drop(klift_model *model)
{
    kl_free(model->carried);
    model->carried = NULL;
    kl_brief_clear(&model->brief);
}

typedef struct scoring {
    const klift_model *model;
    const kl_batch *x;
    double *scores;
    double *classes;  /* (rows) or NULL: scores are what is wanted */
    double *brief;    /* per worker: scores of a row by a glance */
    unsigned char *z; /* per worker: features (KL_CHUNK, features), or CSR with room for so many entries */
    unsigned char *scratch;
    double *bits; /* per worker: the values of the bits, of (KL_CHUNK) rows */
    int64_t z_bytes, scratch_bytes, room; /* room -1: dense */
} scoring;

/* Features of a part, at their place: CSR, or dense with start NULL. */
static klift_status lift_part(const scoring *s, const kl_batch *part, int worker, kl_output *z)
{
    unsigned char *memory = s->z + worker * s->z_bytes, *scratch = s->scratch + worker * s->scratch_bytes;
    *z = (kl_output){.dense = (float *)(void *)memory, .stride = s->model->weights.features};
    if (s->room < 0)
        return kl_lift_chunk(s->model->lift, part, z->dense, z->stride, false, scratch);
    *z = (kl_output){.start = (int64_t *)(void *)memory};
    z->column = (int32_t *)(z->start + KL_CHUNK + 1);
    z->value = (float *)(z->column + s->room);
    return kl_lift_chunk_sparse(s->model->lift, part, z, scratch);
}

static kl_row row_of(const kl_output *z, int64_t row)
{
    if (z->start == NULL)
        return (kl_row){.count = z->stride, .value = z->dense + row * z->stride};
    return kl_row_of(z->start, z->column, z->value, row);
}

static klift_status check_finite(const double *value, int64_t count, int64_t row)
{
    for (int64_t o = 0; o < count; o++)
        if (!isfinite(value[o]))
            return kl_fail(KLIFT_DATA, "row %lld of the batch: its score is not finite; its values are too large for this model; correct or scale them",
                           (long long)row);
    return KLIFT_OK;
}

/* The class of each row that a glance tells; -1 for the others, whose values are made. */
static void glance_part(const scoring *s, const kl_output *z, int64_t rows, int worker, double *value, double *class)
{
    const kl_weights *w = &s->model->weights;
    for (int64_t i = 0; i < rows; i++) {
        kl_row row = row_of(z, i);
        class[i] = (double)kl_brief_class(&s->model->brief, w, row.value, s->brief + worker * (2 * w->outputs + 1));
        if (class[i] < 0)
            kl_row_dots(&row, &row, w->features, w->outputs, w->w, w->features, value + i * w->outputs);
    }
}

/* value (part rows, weights' rows) = w z; class (part rows): -1, or what needs no value */
static klift_status weigh_part(const scoring *s, const kl_batch *part, int worker, double *value, double *class)
{
    const klift_model *model = s->model;
    const kl_weights *w = &model->weights;
    int64_t rows = kl_weights_rows(w);
    kl_output z;
    for (int64_t i = 0; class != NULL && i < part->rows; i++)
        class[i] = -1;
    if (model->carried != NULL)
        return kl_lift_values(model->lift, part, rows, model->carried, value, s->scratch + worker * s->scratch_bytes);
    KL_TRY(lift_part(s, part, worker, &z));
    if (class != NULL && kl_brief_is_there(&model->brief) && z.start == NULL) {
        glance_part(s, &z, part->rows, worker, value, class);
        return KLIFT_OK;
    }
    for (int64_t i = 0; i < part->rows; i++) {
        kl_row row = row_of(&z, i);
        kl_row_dots(&row, &row, w->features, rows, w->w, w->features, value + i * rows);
    }
    return KLIFT_OK;
}

static klift_status score_task(void *context, int64_t task, int worker)
{
    const scoring *s = context;
    const kl_weights *w = &s->model->weights;
    int64_t first = task * KL_CHUNK, left = s->x->rows - first, rows = kl_weights_rows(w);
    kl_batch part = kl_batch_part(s->x, first, left < KL_CHUNK ? left : KL_CHUNK);
    double *score = s->scores + first * w->outputs, *value = s->bits != NULL ? s->bits + worker * KL_CHUNK * rows : score;
    double *class = s->classes != NULL ? s->classes + first : NULL;
    KL_TRY(weigh_part(s, &part, worker, value, class));
    for (int64_t i = 0; i < part.rows; i++, score += w->outputs, value += rows) {
        if (class != NULL && class[i] >= 0)
            continue;
        for (int64_t o = 0; o < rows; o++)
            value[o] += w->b[o];
        KL_TRY(check_finite(value, rows, first + i));
        if (s->bits != NULL) {
            kl_code_scores(&w->code, value, score);
            KL_TRY(check_finite(score, w->outputs, first + i)); /* a sum of huge values */
        }
        if (class != NULL)
            class[i] = (double)kl_model_class_of(s->model, score);
    }
    return KLIFT_OK;
}

/* Where CSR takes less than half as much as the rows spread out. */
static void choose_form(scoring *s)
{
    const int64_t entry = sizeof(int32_t) + sizeof(float), starts = (KL_CHUNK + 1) * (int64_t)sizeof(int64_t);
    if (s->room >= 0 && s->room < (s->z_bytes / 2 - starts) / entry)
        s->z_bytes = (starts + (s->room + 1) * entry + 63) / 64 * 64; /* + 1: a row without entries is somewhere too */
    else
        s->room = -1;
}

static klift_status score(const klift_model *model, const kl_batch *x, double *scores, double *classes, klift_run *run)
{
    int64_t tasks = (x->rows + KL_CHUNK - 1) / KL_CHUNK, rows = model->carried != NULL ? 0 : x->rows < KL_CHUNK ? x->rows : KL_CHUNK, threads = kl_run_threads(run);
    scoring s = {.model = model, .x = x, .scores = scores, .classes = classes, .z_bytes = rows * model->weights.features * (int64_t)sizeof(float)};
    if (model->weights.outputs == 0)
        return kl_fail(KLIFT_MODEL, "the model has no weights: it holds a preparation and a map only; train one");
    KL_TRY(kl_lift_check(model->lift, x));
    for (int64_t t = 0; t < tasks; t++) {
        int64_t left = x->rows - t * KL_CHUNK;
        kl_batch part = kl_batch_part(x, t * KL_CHUNK, left < KL_CHUNK ? left : KL_CHUNK);
        int64_t bytes = kl_lift_scratch(model->lift, &part);
        s.scratch_bytes = bytes > s.scratch_bytes ? bytes : s.scratch_bytes;
        int64_t room = kl_lift_room(model->lift, &part);
        s.room = t == 0 || room > s.room ? room : s.room;
    }
    choose_form(&s);
    KL_TRY(kl_run_scratch(run, KL_SCRATCH_FEATURES, threads * s.z_bytes, &s.z));
    KL_TRY(kl_run_scratch(run, KL_SCRATCH_MAP, threads * s.scratch_bytes, &s.scratch));
    if (model->weights.code.bits > 0)
        KL_TRY(kl_run_scratch(run, KL_SCRATCH_BITS, threads * KL_CHUNK * model->weights.code.bits * (int64_t)sizeof(double), &s.bits));
    if (classes != NULL)
        KL_TRY(kl_run_scratch(run, KL_SCRATCH_BRIEF, threads * (2 * model->weights.outputs + 1) * (int64_t)sizeof *s.brief, &s.brief));
    return kl_run_parallel(run, tasks, score_task, &s);
}

klift_status kl_model_scores(const klift_model *model, const kl_batch *x, double *scores, klift_run *run)
{
    return score(model, x, scores, NULL, run);
}

klift_status kl_model_classes(const klift_model *model, const kl_batch *x, double *classes, klift_run *run)
{
    double *scores;
    KL_TRY(kl_run_scratch(run, KL_SCRATCH_ROWS, x->rows * model->weights.outputs * (int64_t)sizeof *scores, &scores));
    return score(model, x, scores, classes, run);
}

klift_status kl_model_check_probabilities(const klift_model *model)
{
    if (model->weights.goal == KL_REGRESS)
        return kl_fail(KLIFT_USAGE, "the model predicts numbers, which have no probabilities; ask for its predictions alone");
    if (!model->weights.probability.known)
        return kl_fail(KLIFT_USAGE, "the model has no probabilities: train it with probability=true");
    return KLIFT_OK;
}

klift_status kl_model_probabilities(const klift_model *model, const kl_batch *x, double *probabilities, klift_run *run)
{
    const kl_weights *w = &model->weights;
    int64_t classes = w->classes.count;
    double *scores = probabilities;
    KL_TRY(kl_model_check_probabilities(model));
    if (w->outputs != classes)
        KL_TRY(kl_run_scratch(run, KL_SCRATCH_ROWS, x->rows * w->outputs * (int64_t)sizeof *scores, &scores));
    KL_TRY(kl_model_scores(model, x, scores, run));
    for (int64_t i = 0; i < x->rows; i++)
        kl_probability_of(&w->probability, classes, scores + i * w->outputs, probabilities + i * classes);
    return KLIFT_OK;
}

int64_t kl_model_class_of(const klift_model *model, const double *scores)
{
    int64_t best = 0;
    if (model->weights.outputs == 1)
        return model->weights.classes.count > 1 && scores[0] > 0;
    for (int64_t o = 1; o < model->weights.outputs; o++)
        if (scores[o] > scores[best])
            best = o;
    return best;
}

static void describe_probability(const kl_weights *w, kl_text *json)
{
    bool two = w->classes.count == 2;
    kl_json_open(json, "probability", '{');
    kl_json_text(json, "method", two ? "platt" : "temperature");
    kl_json_number(json, "scale", w->probability.scale);
    if (two)
        kl_json_number(json, "offset", w->probability.offset);
    kl_json_count(json, "rows", w->probability.rows);
    kl_json_number(json, "log_loss", w->probability.log_loss);
    kl_json_close(json, '}');
}

void kl_model_describe(const klift_model *model, kl_text *json)
{
    const kl_weights *w = &model->weights;
    kl_json_open(json, NULL, '{');
    kl_json_text(json, "format", "klift model");
    kl_lift_describe(model->lift, json);
    if (w->outputs > 0) {
        kl_json_text(json, "learner", model->learner);
        kl_json_text(json, "task", w->goal == KL_CLASSIFY ? "classify" : "regress");
        kl_json_count(json, "outputs", w->outputs);
        kl_json_open(json, "classes", '[');
        for (int64_t i = 0; i < w->classes.count; i++)
            kl_json_text(json, NULL, w->classes.name[i]);
        kl_json_close(json, ']');
        if (w->code.bits > 0) {
            kl_json_text(json, "code", kl_code_name(w->code.kind));
            kl_json_count(json, "bits", w->code.bits);
            kl_json_text(json, "decode", kl_decode_name(w->code.decode));
        }
        if (w->probability.known)
            describe_probability(w, json);
        kl_json_number(json, "rows", w->rows);
        kl_json_number(json, "weight", w->weight);
        kl_json_number(json, "lambda", w->lambda);
        kl_json_text(json, "search", kl_search_name(w->search));
        kl_json_count(json, "folds", w->folds);
        kl_json_number(json, "cv_error", w->cv_error);
        kl_json_count(json, "cv_rows", w->cv_rows);
        kl_json_number(json, "jitter", w->jitter);
        kl_json_open(json, "path", '[');
        for (int64_t i = 0; i < w->path_points; i++) {
            kl_json_open(json, NULL, '{');
            kl_json_number(json, "lambda", w->path[i].lambda);
            kl_json_number(json, "error", w->path[i].error);
            kl_json_close(json, '}');
        }
        kl_json_close(json, ']');
    }
    kl_json_close(json, '}');
}

void kl_model_free(klift_model *model)
{
    if (model == NULL)
        return;
    kl_lift_free(model->lift);
    kl_weights_clear(&model->weights);
    kl_model_drop(model);
    kl_free(model->learner);
    kl_free(model);
}
