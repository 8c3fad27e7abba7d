/*
 * model_file.c - which sections make a model file: LIFT (preparation and map), COLS (columns of a table, when there is
 * something to say of them), then for trained models LERN (learner, lambda and how it was found), CLAS (class names), CODE (the code
 * of the classes, when they have one), WGHT (weights, float64) and PROB (how scores become probabilities, when they do; optional, since
 * a reader without it still predicts classes). Maps are redrawn from their seed.
 * Nothing of time, host, path or threads is written. docs/model_format.md has the bytes.
 */
#include "model/model.h"

#include "base/memory.h"
#include "data/file.h"
#include "data/stream.h"

#include <math.h>
#include <string.h>

#define LIFT KL_TAG('L', 'I', 'F', 'T')
#define COLUMNS KL_TAG('C', 'O', 'L', 'S')
#define LEARN KL_TAG('L', 'E', 'R', 'N')
#define CLASSES KL_TAG('C', 'L', 'A', 'S')
#define CODE KL_TAG('C', 'O', 'D', 'E')
#define WEIGHTS KL_TAG('W', 'G', 'H', 'T')
#define PROBABILITY KL_TAG('P', 'R', 'O', 'B')

enum { MOST_OUTPUTS = 1 << 24 };

static void write_learn(const klift_model *model, kl_record_writer *to)
{
    const kl_weights *w = &model->weights;
    bool cv = !isnan(w->cv_error);
    kl_record_put_text(to, model->learner);
    kl_record_put_i64(to, w->goal);
    kl_record_put_i64(to, w->features);
    kl_record_put_i64(to, w->outputs);
    kl_record_put_f64(to, w->rows);
    kl_record_put_f64(to, w->weight);
    kl_record_put_f64(to, w->lambda);
    kl_record_put_i64(to, w->search);
    kl_record_put_i64(to, w->folds);
    kl_record_put_i64(to, cv);
    kl_record_put_f64(to, cv ? w->cv_error : 0);
    kl_record_put_i64(to, w->cv_rows);
    kl_record_put_f64(to, w->jitter);
    kl_record_put_i64(to, w->path_points);
    for (int64_t i = 0; i < w->path_points; i++) {
        kl_record_put_f64(to, w->path[i].lambda);
        kl_record_put_f64(to, isfinite(w->path[i].error) ? w->path[i].error : 1e308);
    }
}

static klift_status read_learn(klift_model *model, kl_record_reader *from)
{
    kl_weights *w = &model->weights;
    int64_t goal, search, folds, cv;
    KL_TRY(kl_record_get_text(from, &model->learner));
    KL_TRY(kl_record_get_i64(from, 0, KL_REGRESS, &goal));
    KL_TRY(kl_record_get_i64(from, 1, INT32_MAX, &w->features));
    KL_TRY(kl_record_get_i64(from, 1, MOST_OUTPUTS, &w->outputs));
    KL_TRY(kl_record_get_f64(from, &w->rows));
    KL_TRY(kl_record_get_f64(from, &w->weight));
    KL_TRY(kl_record_get_f64(from, &w->lambda));
    KL_TRY(kl_record_get_i64(from, 0, KL_BY_HAND, &search));
    KL_TRY(kl_record_get_i64(from, 2, 100, &folds));
    KL_TRY(kl_record_get_i64(from, 0, 1, &cv));
    KL_TRY(kl_record_get_f64(from, &w->cv_error));
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX, &w->cv_rows));
    KL_TRY(kl_record_get_f64(from, &w->jitter));
    KL_TRY(kl_record_get_i64(from, 0, KL_PATH_MAX, &w->path_points));
    for (int64_t i = 0; i < w->path_points; i++) {
        KL_TRY(kl_record_get_f64(from, &w->path[i].lambda));
        KL_TRY(kl_record_get_f64(from, &w->path[i].error));
    }
    w->goal = (kl_goal)goal;
    w->search = (kl_search)search;
    w->folds = (int)folds;
    if (cv == 0)
        w->cv_error = NAN;
    return KLIFT_OK;
}

static klift_status read_columns(klift_model *model, kl_record_reader *from)
{
    if (model->lift == NULL || model->lift->schema.count > 0 || model->lift->schema.label_at > 0)
        return kl_record_damaged("its columns come twice, or before its map");
    kl_schema *schema = &model->lift->schema;
    KL_TRY(kl_schema_load(schema, from));
    if (schema->count > 0 && schema->width != model->lift->prepare.n_in)
        return kl_record_damaged("its columns and its preparation have different widths");
    return KLIFT_OK;
}

static klift_status read_code(klift_model *model, kl_record_reader *from)
{
    kl_weights *w = &model->weights;
    if (w->code.bits > 0 || w->classes.count == 0 || w->w != NULL)
        return kl_record_damaged("its code comes twice, or not between its classes and its weights");
    return kl_code_load(&w->code, w->classes.count, from);
}

static klift_status read_weights(klift_model *model, kl_record_reader *from)
{
    kl_weights *w = &model->weights;
    int64_t size, rows = kl_weights_rows(w);
    if (kl_multiply(rows, w->features, &size) || w->outputs == 0)
        return kl_record_damaged("its weights come before their sizes");
    if (w->w != NULL)
        return kl_record_damaged("it has two sets of weights");
    KL_TRY(kl_record_get_doubles(from, &w->w, size));
    return kl_record_get_doubles(from, &w->b, rows);
}

klift_status kl_model_write(const klift_model *model, kl_record_writer *to)
{
    const kl_weights *w = &model->weights;
    kl_record_begin(to, KL_RECORD_MODEL);
    kl_record_open(to, LIFT, true);
    kl_lift_save(model->lift, to);
    kl_record_close(to);
    if (model->lift->schema.count > 0 || model->lift->schema.label_at > 0) {
        kl_record_open(to, COLUMNS, true);
        kl_schema_save(&model->lift->schema, to);
        kl_record_close(to);
    }
    if (w->outputs > 0) {
        kl_record_open(to, LEARN, true);
        write_learn(model, to);
        kl_record_close(to);
        kl_record_open(to, CLASSES, true);
        kl_names_save(&w->classes, to);
        kl_record_close(to);
        if (w->code.bits > 0) {
            kl_record_open(to, CODE, true);
            kl_code_save(&w->code, to);
            kl_record_close(to);
        }
        kl_record_open(to, WEIGHTS, true);
        kl_record_put_doubles(to, w->w, kl_weights_rows(w) * w->features);
        kl_record_put_doubles(to, w->b, kl_weights_rows(w));
        kl_record_close(to);
        if (w->probability.known) {
            kl_record_open(to, PROBABILITY, false);
            kl_probability_save(&w->probability, to);
            kl_record_close(to);
        }
    }
    return kl_record_finish(to);
}

static klift_status read_section(klift_model *model, uint32_t tag, kl_record_reader *from, klift_run *run)
{
    switch (tag) {
    case LIFT:
        if (model->lift != NULL)
            return kl_record_damaged("it has two maps");
        KL_TRY(kl_lift_load(from, run, &model->lift));
        break;
    case COLUMNS:
        KL_TRY(read_columns(model, from));
        break;
    case LEARN:
        if (model->learner != NULL)
            return kl_record_damaged("it has two learners");
        KL_TRY(read_learn(model, from));
        break;
    case CLASSES:
        KL_TRY(kl_names_load(&model->weights.classes, from));
        break;
    case CODE:
        KL_TRY(read_code(model, from));
        break;
    case WEIGHTS:
        KL_TRY(read_weights(model, from));
        break;
    case PROBABILITY:
        if (model->weights.probability.known)
            return kl_record_damaged("it has probabilities twice");
        KL_TRY(kl_probability_load(&model->weights.probability, from));
        break;
    default:
        return kl_record_skip(from, tag);
    }
    return kl_record_done(from);
}

/* The parts agree with one another. */
static klift_status check(const klift_model *model)
{
    const kl_weights *w = &model->weights;
    if (model->lift == NULL)
        return kl_record_damaged("it has no map");
    if (w->outputs == 0)
        return w->classes.count > 0 || w->code.bits > 0 || w->probability.known ? kl_record_damaged("classes without weights") : KLIFT_OK;
    int64_t wanted = w->goal == KL_REGRESS ? w->outputs : w->classes.count == 2 ? 1 : w->classes.count;
    if (w->w == NULL || w->b == NULL || w->features != model->lift->map->n_out || w->outputs != wanted || (w->goal == KL_REGRESS) != (w->classes.count == 0))
        return kl_record_damaged("features, classes and weights do not agree");
    if (w->code.bits > 0 && w->code.classes != w->classes.count)
        return kl_record_damaged("its code and its classes do not agree");
    if (w->probability.known && (w->goal == KL_REGRESS || (w->classes.count != 2 && w->probability.offset != 0)))
        return kl_record_damaged("its probabilities and its classes do not agree");
    return KLIFT_OK;
}

klift_status kl_model_read(const void *bytes, int64_t count, klift_run *run, klift_model **out)
{
    kl_record_reader from;
    klift_model *model = NULL;
    klift_status status;
    uint32_t tag;
    *out = NULL;
    KL_TRY(kl_record_check(&from, bytes, count, KL_RECORD_MODEL));
    KL_GO(kl_new(&model, 1, sizeof *model, "a model"));
    for (;;) {
        KL_GO(kl_record_next(&from, &tag));
        if (tag == 0)
            break;
        KL_GO(read_section(model, tag, &from, run));
    }
    KL_GO(check(model));
    status = kl_model_carry(model);
done:
    if (status == KLIFT_OK)
        *out = model;
    else
        kl_model_free(model);
    return status;
}

klift_status kl_model_save(const klift_model *model, const char *path)
{
    kl_record_writer to = {0};
    klift_status status = kl_model_write(model, &to);
    if (status == KLIFT_OK)
        status = kl_file_save(path, to.bytes, to.length);
    kl_record_clear(&to);
    return status;
}

klift_status kl_model_load(const char *path, klift_model **model)
{
    kl_stream *stream = NULL;
    unsigned char *bytes = NULL;
    int64_t length;
    klift_status status;
    *model = NULL;
    KL_GO(kl_stream_open_raw(path, &stream));
    KL_GO(kl_stream_read_all(stream, &bytes, &length));
    status = kl_model_read(bytes, length, NULL, model);
    if (status == KLIFT_MODEL)
        kl_fail_in(status, "%s", path);
done:
    kl_free(bytes);
    kl_stream_close(stream);
    return status;
}
