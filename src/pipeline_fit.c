/* pipeline_fit.c - reader -> survey -> preparation, kernel and map: all that is learnt of the rows before any of them is learnt from. */
#include "pipeline.h"

#include "base/memory.h"
#include "math/micro.h"
#include "warm.h"

#include <math.h>
#include <string.h>

enum { SAMPLE = 2048, SEARCH_SAMPLE = 8192, CANDIDATES = 7 };

static void say_survey(const klift_spec *spec, const kl_survey *survey, klift_run *run)
{
    if (!survey->complete)
        kl_run_say(run, KLIFT_EVENT_NOTE, "survey", "the input can be read once only: width, scales and gamma come from its first %lld rows", (long long)survey->rows);
    if (survey->sparse && (spec->prepare == KL_STANDARDISE || spec->prepare == KL_MINMAX))
        kl_run_say(run, KLIFT_EVENT_NOTE, "prepare", "sparse rows are divided by their columns' scale, not centred: %s would fill their zeros", kl_prepare_name(spec->prepare));
}

static void say_map(const klift_spec *spec, const kl_map *map, klift_run *run)
{
    bool constant = spec->features % 2 == 0;
    if (kl_map_parts(map) > 1 && map->n_out != spec->features)
        kl_run_say(run, KLIFT_EVENT_NOTE, "map", "%lld copies of as many features: %lld instead of %lld", (long long)kl_map_parts(map), (long long)map->n_out, (long long)spec->features);
    else if (map->type->accuracy != KL_EXACT && map->n_out == spec->features + 1)
        kl_run_say(run, KLIFT_EVENT_NOTE, "map", "features come in pairs%s: %lld instead of %lld", constant ? ", and one is for the kernel's constant" : "", (long long)map->n_out, (long long)spec->features);
}

static const char *map_text(const klift_spec *spec, const kl_kernel *kernel, const kl_survey *survey)
{
    if (strcmp(spec->map, "auto") != 0)
        return spec->map;
    return kl_map_choose(kernel, spec->features, survey->columns, (double)survey->nonzeros / (double)survey->rows);
}

/* The map of the settings; for a learner by parts, copies of it. */
static klift_status new_map(const klift_spec *spec, const char *text, const kl_kernel *kernel, kl_map **map)
{
    kl_text around = {0};
    bool by_parts;
    KL_TRY(kl_learner_by_parts(spec->learner, &by_parts));
    KL_TRY(kl_map_new(text, kernel, spec->features, spec->seed, 0, map));
    if (!by_parts || (*map)->type->part != NULL)
        return KLIFT_OK;
    kl_map_free(*map);
    *map = NULL;
    kl_text_add(&around, "copies(%s)", text);
    klift_status status = kl_text_status(&around);
    if (status == KLIFT_OK)
        status = kl_map_new(around.text, kernel, spec->features, spec->seed, 0, map);
    kl_text_clear(&around);
    return status == KLIFT_USAGE ? kl_fail_in(status, "learner %s", spec->learner) : status;
}

/* The cross-validated error of a kernel on the prepared sample: of ridge, whoever learns from all rows, since it has that error
 * without a second look at them. */
static klift_status try_kernel(const klift_spec *spec, const kl_kernel *kernel, const kl_survey *survey, const kl_tally *tally, kl_goal goal, klift_run *run, double *error)
{
    klift_map lift = {.index_base = 1};
    kl_batch rows = kl_rows_view(&survey->sample);
    kl_reader *reader = NULL;
    kl_learner *learner = NULL;
    kl_weights weights = {0};
    kl_learn_spec learn = kl_settings_learn(spec, goal, survey->sample.rows);
    kl_lift back = kl_lift_for_learner(&lift);
    klift_status status;
    learn.tally = tally;
    learn.search = KL_BY_FOLDS;
    learn.search_given = true;
    learn.probability = false;
    learn.holdout = 0;
    learn.early_stop = 0;
    learn.code = KL_CODE_NONE; /* the error is that of one class against the rest */
    learn.bits = 0;
    learn.decode = KL_DECODE_SOFT;
    KL_GO(kl_prepare_plain(&lift.prepare, KL_NONE, survey->columns));
    KL_GO(kl_map_new(map_text(spec, kernel, survey), kernel, spec->features, spec->seed, 0, &lift.map));
    KL_GO(kl_map_make(lift.map, survey, survey->columns, run));
    KL_GO(kl_reader_view(&rows, &reader));
    KL_GO(kl_learner_new("ridge", &learn, lift.map->n_out, run, &learner));
    KL_GO(kl_pipeline_feed(&lift, reader, learner, NULL, run));
    KL_GO(learner->type->finish(learner, &back, run, &weights));
    *error = weights.cv_error;
done:
    kl_weights_clear(&weights);
    kl_learner_free(learner);
    kl_reader_free(reader);
    kl_map_free(lift.map);
    return status;
}

/* `search` of a parameter of the kernel, or of the part of it that has it: seven values a factor 2 apart around the automatic one, by cross-validation on the survey's sample, so
 * that it reads no data and works on a pipe. Ties go to the smoother kernel, the first one tried. */
static klift_status search_kernel(const klift_spec *spec, const kl_kernel *kernel, kl_kernel *part, int64_t param, const kl_survey *survey, const kl_tally *tally, klift_run *run)
{
    double middle = part->value[param].number, best_value = middle, best = INFINITY;
    klift_status refused = KLIFT_OK;
    kl_goal goal;
    KL_TRY(kl_settings_goal(spec, survey, &goal));
    for (int i = 0; i < CANDIDATES; i++) {
        double error = INFINITY;
        part->value[param].number = ldexp(middle, i - CANDIDATES / 2);
        klift_status status = try_kernel(spec, kernel, survey, tally, goal, run, &error);
        if (status == KLIFT_DATA) { /* these rows are outside this kernel, not outside them all */
            kl_run_say(run, KLIFT_EVENT_NOTE, "search", "%s %g: left out: %s", part->type->params[param].name, part->value[param].number, kl_error_text());
            refused = status;
            continue;
        }
        KL_TRY(status);
        kl_run_say(run, KLIFT_EVENT_NOTE, "search", "%s %g: error %.4g on a sample of %lld rows", part->type->params[param].name, part->value[param].number, error, (long long)survey->sample.rows);
        KL_TRY(kl_run_check(run));
        if (error < best) {
            best = error;
            best_value = part->value[param].number;
        }
    }
    part->value[param].number = best_value;
    return best < INFINITY ? KLIFT_OK : refused;
}

static klift_status fit_kernel(const klift_spec *spec, kl_kernel *kernel, const kl_survey *survey, const kl_tally *tally, klift_run *run)
{
    int64_t param;
    kl_kernel *part = kl_kernel_searched(kernel, &param);
    KL_TRY(kl_kernel_fit(kernel, survey));
    return part == NULL ? KLIFT_OK : search_kernel(spec, kernel, part, param, survey, tally, run);
}

/* Without data: everything must be given. */
static klift_status fit_plain(const klift_spec *spec, kl_kernel *kernel, klift_run *run, klift_map *lift)
{
    if (spec->dim == 0)
        return kl_fail(KLIFT_USAGE, "a map without data needs the number of columns: say dim=N");
    KL_TRY(kl_prepare_plain(&lift->prepare, spec->prepare, spec->dim));
    KL_TRY(new_map(spec, strcmp(spec->map, "auto") == 0 ? kl_map_choose(kernel, spec->features, 1, 1) : spec->map, kernel, &lift->map));
    return kl_map_make(lift->map, NULL, spec->dim, run);
}

/* Frequencies times rows must stay far from the largest float32; long before it a cosine of them is noise. */
static klift_status check_scale(const kl_map *map, const kl_survey *survey)
{
    const double longest = 1e18;
    while (map->inner != NULL) /* the one that rows go through first */
        map = map->inner;
    if ((map->type->needs & (KL_SPECTRUM | KL_SCALAR)) == 0 || (map->kernel->type->offers & KL_SPECTRUM) == 0 || survey->norm_max < longest)
        return KLIFT_OK;
    return kl_fail(KLIFT_DATA, "rows are as long as %.3g, too long for map %s (float32, at most %g); scale the data, for example with prepare=maxnorm", survey->norm_max, map->type->name, longest);
}

/* Labels that weights were given for must occur: known now when all rows were seen. */
static klift_status count_labels(const klift_spec *spec, const kl_tally *tally)
{
    kl_class_weight given;
    klift_status status = kl_class_weight_read(spec->class_weight, &given);
    if (status == KLIFT_OK && tally->complete && tally->classes.count > 0)
        status = kl_class_weight_check(&given, &tally->classes);
    kl_class_weight_clear(&given);
    return status;
}

/* Preparation, kernel and map by the survey; one that has them goes on with them. */
static klift_status fit_map(const klift_spec *spec, kl_kernel *kernel, kl_survey *survey, const kl_tally *tally, klift_run *run, klift_map *lift)
{
    if (lift->map != NULL) {
        KL_TRY(kl_warm_check_rows(lift, survey));
        return kl_prepare_survey(&lift->prepare, survey);
    }
    KL_TRY(kl_prepare_fit(&lift->prepare, spec->prepare, survey));
    lift->prepare.clamped = kl_domain_of(kernel) & KL_NON_NEGATIVE;
    KL_TRY(kl_prepare_survey(&lift->prepare, survey));
    survey->prepare = &lift->prepare;
    KL_TRY(fit_kernel(spec, kernel, survey, tally, run));
    KL_TRY(new_map(spec, map_text(spec, kernel, survey), kernel, &lift->map));
    KL_TRY(check_scale(lift->map, survey));
    KL_TRY(kl_map_make(lift->map, survey, survey->columns, run));
    say_map(spec, lift->map, run);
    return KLIFT_OK;
}

static int64_t sample_of(int64_t wanted, bool searched)
{
    int64_t least = searched ? SEARCH_SAMPLE : SAMPLE;
    return wanted > least ? wanted : least;
}

static klift_status fit_data(const klift_spec *spec, kl_kernel *kernel, kl_reader *reader, bool needs_goal, klift_run *run, kl_tally *tally, kl_seen *seen, klift_map *lift)
{
    kl_survey survey = {0};
    kl_goal goal;
    int64_t sample, param;
    bool counts = strcmp(spec->class_weight, "none") != 0;
    klift_status status;
    if (spec->dim > 0 && reader->dim == 0)
        reader->dim = spec->dim;
    KL_GO(kl_map_sample(spec->map, kernel, spec->features, &sample));
    sample = lift->map != NULL ? SAMPLE : sample_of(sample, kl_kernel_searched(kernel, &param) != NULL);
    KL_GO(kl_survey_count(reader, spec->seed, sample, run, counts ? tally : NULL, seen, &survey));
    say_survey(spec, &survey, run);
    if (lift->map == NULL) {
        KL_GO(kl_schema_keep(&reader->schema, &lift->schema));
        lift->index_base = survey.index_base == 0 ? 0 : 1; /* 1 is also what rows without indices get: the same model from every format */
    }
    status = kl_settings_goal(spec, &survey, &goal);
    if (status == KLIFT_OK)
        lift->goal = (int)goal;
    else if (needs_goal)
        goto done;
    if (counts && needs_goal && goal == KL_CLASSIFY)
        KL_GO(count_labels(spec, tally));
    lift->row_bytes = survey.sparse ? survey.nonzeros / survey.rows * (int64_t)(sizeof(float) + sizeof(int32_t)) + (int64_t)sizeof(int64_t)
                                    : survey.columns * (int64_t)sizeof(float);
    lift->table_bytes = reader->schema.count * KL_SCHEMA_COLUMN_BYTES;
    lift->rows = survey.complete ? survey.rows : INT64_MAX;
    lift->sample = survey.sample.rows;
    KL_GO(fit_map(spec, kernel, &survey, tally, run, lift));
    kl_batch prepared = kl_rows_view(&survey.sample);
    lift->entries = kl_lift_entries(lift, &prepared);
    if (reader->dim == 0 && survey.sparse)
        reader->dim = lift->prepare.n_in; /* so that the reader itself places an index beyond it */
done:
    kl_survey_clear(&survey);
    return status;
}

/* The lift of a model, for rows that go on where it ended. */
static klift_status fit_start(const klift_spec *spec, const klift_model *start, kl_reader *reader, klift_run *run, kl_tally *tally, klift_map **out)
{
    klift_map *lift;
    klift_status status;
    KL_TRY(kl_lift_copy(start->lift, &lift));
    if (kl_reader_can_match(reader))
        KL_GO(kl_pipeline_match(lift, &start->weights.classes, reader));
    KL_GO(fit_data(spec, lift->map->kernel, reader, true, run, tally, NULL, lift));
    *out = lift;
    return KLIFT_OK;
done:
    kl_lift_free(lift);
    return status;
}

static klift_status fit(const klift_spec *spec, kl_reader *reader, bool needs_goal, klift_run *run, kl_tally *tally, kl_seen *seen, klift_map **out)
{
    kl_kernel *kernel = NULL;
    klift_map *lift = NULL;
    klift_status status;
    *out = NULL;
    KL_TRY(kl_micro_check());
    KL_GO(kl_kernel_new(kl_settings_kernel(spec), &kernel));
    KL_GO(kl_new(&lift, 1, sizeof *lift, "a map"));
    lift->index_base = 1;
    lift->goal = -1;
    status = reader == NULL ? fit_plain(spec, kernel, run, lift) : fit_data(spec, kernel, reader, needs_goal, run, tally, seen, lift);
done:
    kl_kernel_free(kernel);
    if (status == KLIFT_OK)
        *out = lift;
    else
        kl_lift_free(lift);
    return status;
}

klift_status kl_pipeline_fit(const klift_spec *spec, kl_reader *reader, bool needs_goal, klift_run *run, klift_map **out)
{
    kl_tally tally = {0};
    KL_TRY(kl_warm_refuse(spec));
    klift_status status = fit(spec, reader, needs_goal, run, &tally, NULL, out);
    kl_tally_clear(&tally);
    return status;
}

klift_status kl_pipeline_survey(const klift_spec *spec, const klift_model *start, kl_reader *reader, klift_run *run, kl_tally *tally, kl_seen *seen, klift_map **out)
{
    return start != NULL ? fit_start(spec, start, reader, run, tally, out) : fit(spec, reader, true, run, tally, seen, out);
}
