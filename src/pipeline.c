/*
 * pipeline.c - how data flow: reader -> survey (first pass) -> reader -> batch -> prepare -> map -> learner -> model.
 * train = fit + stats + feed + solve; partial fits and shards are the same calls.
 */
#include "pipeline.h"

#include "base/memory.h"
#include "base/number.h"
#include "data/gather.h"
#include "math/micro.h"
#include "model/checkpoint.h"
#include "model/passes.h"
#include "warm.h"
#include "watch.h"

#include <math.h>
#include <string.h>

/* ---- plan ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The map could put all its columns into fewer. */
static bool hashes(const kl_map *map)
{
    return kl_params_find(map->type->params, "hash") >= 0;
}

/* Rows may have features of few entries: the settings do not tell how many. */
static klift_status may_be_sparse(const klift_spec *spec, bool *sparse)
{
    kl_kernel *kernel;
    kl_map *map = NULL;
    KL_TRY(kl_kernel_new(kl_settings_kernel(spec), &kernel));
    klift_status status = kl_map_new(spec->map, kernel, spec->features, spec->seed, 0, &map);
    *sparse = status == KLIFT_OK && map->type->nonzeros != NULL;
    kl_map_free(map);
    kl_kernel_free(kernel);
    return status;
}

/* What training will hold, before it holds it, with so many bytes of a checkpoint. Without a lift, before the rows were looked at, only
 * what the settings tell is counted, and nothing is said. */
static klift_status check_plan(const klift_spec *spec, kl_goal goal, const klift_map *lift, int64_t checkpoint, klift_run *run)
{
    int64_t features = lift != NULL ? lift->map->n_out : spec->features, row = lift != NULL ? lift->row_bytes : 0, threads = kl_run_threads(run);
    int64_t rows = lift != NULL ? lift->rows : INT64_MAX;
    kl_learn_spec learn = kl_settings_learn(spec, goal, rows);
    learn.reach = lift != NULL ? kl_map_reach(lift->map) : 0;
    kl_extent extent = {.rows = rows, .row_bytes = row, .entries = lift != NULL ? lift->entries : 0, .parts = lift != NULL ? kl_map_parts(lift->map) : 0};
    kl_plan plan = {0};
    kl_text learner = {0};
    bool sparse = false;
    if (lift == NULL)
        KL_TRY(may_be_sparse(spec, &sparse));
    extent.entries = sparse ? 1 : extent.entries;
    klift_status status = kl_settings_learner(spec, &learner);
    if (status == KLIFT_OK)
        status = kl_learner_plan(learner.text, &learn, features, &extent, run, &plan);
    kl_text_clear(&learner);
    KL_TRY(status);
    if (lift != NULL) {
        int64_t sample = lift->sample, chunks = least(threads * KL_CHUNK, rows), batch = least(kl_run_batch(run), rows);
        kl_plan_add(&plan, kl_map_memory(lift->map), "the map");
        kl_plan_add(&plan, lift->table_bytes, "the columns of the table");
        kl_plan_add(&plan, sample * row, "a sample of %lld rows", (long long)sample);
        kl_plan_add(&plan, chunks * row + threads * kl_map_scratch(lift->map, KL_CHUNK), "scratch of %lld thread%s", (long long)threads, threads == 1 ? "" : "s");
        kl_plan_add(&plan, batch * row, "batches of %lld rows", (long long)batch);
        kl_plan_add(&plan, checkpoint, "a checkpoint");
    }
    if (lift != NULL && hashes(lift->map) && kl_plan_total(&plan) > kl_run_memory(run))
        return kl_fail(KLIFT_MEMORY, "map %s makes %lld columns, and learner %s needs %.0f MB of memory for them, the limit is %.0f MB; let the map hash them: leave hash=never "
                       "out, and use fewer features, such as features=4096", lift->map->type->name, (long long)features, spec->learner, (double)kl_plan_total(&plan) / 1e6,
                       (double)kl_run_memory(run) / 1e6);
    return kl_plan_check(&plan, features, lift == NULL, run);
}

/* ---- learn ---- */

klift_status kl_pipeline_feed(const klift_map *lift, kl_reader *reader, kl_learner *learner, kl_checkpoint *checkpoint, klift_run *run)
{
    int64_t features = lift->map->n_out, block = kl_learner_block(features), rows, total;
    bool sparse = lift->entries > 0 && learner->type->consume_sparse != NULL;
    kl_gather gather = {.reader = reader, .width = lift->prepare.n_in};
    kl_rows entries = {0};
    float *z = NULL;
    klift_status status;
    KL_GO(kl_new_bare(&z, sparse ? 0 : block * features, sizeof *z, "a block of features"));
    KL_GO(kl_checkpoint_go_on(checkpoint, &gather, learner, &total));
    do {
        kl_rows_empty(&entries);
        KL_GO(kl_checkpoint_enter(checkpoint, &gather, block));
        KL_GO(kl_passes_fill(lift, &gather, learner, block, &(kl_passes_sink){.dense = sparse ? NULL : z, .sparse = sparse ? &entries : NULL}, run, &rows));
        KL_GO(sparse ? learner->type->consume_sparse(learner, &entries, run) : learner->type->consume(learner, z, features, rows, run));
        total += rows;
        KL_GO(kl_checkpoint_leave(checkpoint, learner));
        KL_GO(kl_run_tell(run, (klift_event){.stage = learner->type->merge != NULL ? "statistics" : "rows", .rows = total, .rows_total = reader->total, .loss = learner->loss,
                                             .holdout = NAN, .weight = learner->loss_weight}));
        if (rows == block) /* those of the last block are the model itself */
            KL_GO(kl_watcher_block(lift, learner, total, run));
        else
            kl_watch_due(learner->watch, total, run);
    } while (rows == block);
    kl_reader_say(reader, run);
done:
    kl_free(z);
    kl_rows_clear(&entries);
    kl_gather_clear(&gather);
    return status;
}

static klift_status match(const klift_map *lift, bool words, kl_reader *reader)
{
    kl_expect expect = {.schema = &lift->schema, .width = lift->prepare.n_in, .index_base = lift->index_base, .words = words};
    return kl_reader_match(reader, &expect);
}

klift_status kl_pipeline_match(const klift_map *lift, const kl_names *classes, kl_reader *reader)
{
    bool words = false;
    double value;
    for (int64_t i = 0; classes != NULL && i < classes->count; i++)
        words = words || !kl_number_parse(classes->name[i], &value);
    return match(lift, words, reader);
}

static klift_status new_learner(const klift_map *lift, const klift_spec *spec, const kl_tally *tally, const klift_model *start, klift_run *run, kl_learner **learner)
{
    kl_goal goal = (kl_goal)lift->goal;
    if (spec->task != 0)
        goal = spec->task == 2 ? KL_REGRESS : KL_CLASSIFY;
    else if (lift->goal < 0)
        return kl_fail(KLIFT_USAGE, "the map was made without labels: say task=classify or task=regress");
    kl_learn_spec learn = kl_settings_learn(spec, goal, lift->rows);
    learn.reach = kl_map_reach(lift->map);
    learn.tally = tally != NULL && tally->complete ? tally : NULL;
    learn.start = start != NULL ? &start->weights : NULL;
    KL_TRY(check_plan(spec, goal, lift, 0, run));
    kl_text text = {0};
    klift_status status = kl_settings_learner(spec, &text);
    if (status == KLIFT_OK)
        status = kl_learner_new(text.text, &learn, lift->map->n_out, run, learner);
    kl_text_clear(&text);
    return status;
}

static klift_status make_model(klift_map **lift, kl_weights *weights, const kl_learner *learner, klift_model **model)
{
    kl_text text = {0};
    kl_learner_print(learner, &text);
    klift_status status = kl_text_status(&text);
    if (status == KLIFT_OK)
        status = kl_class_weight_check(&learner->class_weight, &weights->classes);
    if (status == KLIFT_OK)
        status = kl_model_new(lift, weights, text.text, model);
    else
        kl_weights_clear(weights);
    kl_text_clear(&text);
    return status;
}

/* The learner wants all features several times: kept where they fit beside the rest of the plan. */
static klift_status learn(klift_map **lift, kl_reader *reader, kl_learner *learner, kl_checkpoint *checkpoint, klift_run *run, klift_model **model)
{
    kl_feature_passes passes;
    kl_weights weights = {0};
    klift_status status;
    KL_GO(kl_passes_open(&passes, *lift, reader, learner, checkpoint != NULL ? &checkpoint->seen : NULL, run));
    KL_GO(kl_checkpoint_check_rows(checkpoint));
    passes.passes.keep = kl_checkpoint_keep(checkpoint, &passes.passes);
    KL_GO(kl_checkpoint_name(checkpoint, learner->type->learn(learner, &passes.passes, run, &weights)));
    status = make_model(lift, &weights, learner, model);
done:
    kl_passes_close(&passes);
    return status;
}

static klift_status solve(klift_map **lift, const kl_learner *learner, klift_run *run, klift_model **model)
{
    kl_weights weights = {0};
    kl_lift back = kl_lift_for_learner(*lift);
    KL_TRY(learner->type->finish(learner, &back, run, &weights));
    if (weights.jitter > 0)
        kl_run_say(run, KLIFT_EVENT_WARNING, "solve",
                   "the normal equations were not positive at lambda %g; %g was added to it (say a larger lambda=NUMBER to choose it yourself)", weights.lambda,
                   weights.jitter);
    return make_model(lift, &weights, learner, model);
}

/* Rows -> learner -> model. */
static klift_status teach(klift_map **lift, kl_reader *reader, kl_learner *learner, kl_checkpoint *checkpoint, klift_run *run, klift_model **model)
{
    if (!kl_learner_streams(learner))
        return learn(lift, reader, learner, checkpoint, run, model);
    klift_status status = kl_pipeline_feed(*lift, reader, learner, checkpoint, run);
    if (status == KLIFT_OK)
        status = kl_checkpoint_check_rows(checkpoint);
    if (status == KLIFT_OK)
        status = solve(lift, learner, run, model);
    return kl_checkpoint_stop(checkpoint, learner, status);
}

/* What a run before fitted, and the reader as it was behind the survey. */
static klift_status take_up(kl_checkpoint *checkpoint, kl_reader *reader, klift_map **lift, kl_tally *tally)
{
    if (!kl_checkpoint_take(checkpoint, lift, tally))
        return KLIFT_OK;
    if (kl_reader_can_rewind(reader))
        KL_TRY(kl_reader_rewind(reader));
    KL_TRY(match(*lift, checkpoint->before.words, reader));
    reader->total = (*lift)->rows < INT64_MAX ? (*lift)->rows : 0;
    return KLIFT_OK;
}

klift_status kl_pipeline_train(const klift_spec *given, kl_reader *reader, klift_run *run, klift_model **model)
{
    bool keeps = kl_run_upkeep(run).path != NULL;
    kl_checkpoint checkpoint = {0};
    klift_model *start;
    klift_map *lift = NULL;
    kl_learner *learner = NULL;
    kl_watcher watcher;
    kl_tally tally = {0};
    klift_status status;
    *model = NULL;
    KL_TRY(kl_warm_open(given, run, &start));
    const klift_spec own = kl_warm_settings(given, start), *spec = &own;
    KL_GO(start != NULL && keeps ? kl_fail(KLIFT_USAGE, "a training that goes on from a model keeps no checkpoint; leave checkpoint out, or warm-start") : KLIFT_OK);
    if (start == NULL && strcmp(kl_settings_kernel(spec), "linear") != 0) /* its features are the columns, not known yet */
        KL_GO(check_plan(spec, KL_CLASSIFY, NULL, 0, run));
    if (keeps)
        KL_GO(kl_checkpoint_open(&checkpoint, spec, klift_version(), run));
    KL_GO(take_up(&checkpoint, reader, &lift, &tally));
    if (lift == NULL)
        KL_GO(kl_pipeline_survey(spec, start, reader, run, &tally, keeps ? &checkpoint.all : NULL, &lift));
    KL_GO(new_learner(lift, spec, &tally, start, run, &learner));
    if (keeps) {
        KL_GO(kl_checkpoint_begin(&checkpoint, lift, &tally));
        KL_GO(check_plan(spec, learner->spec.goal, lift, kl_checkpoint_bytes(&checkpoint, learner) + least(kl_learner_block(learner->features), lift->rows) * lift->row_bytes, run));
    }
    KL_GO(kl_watcher_begin(&watcher, lift, learner, run));
    KL_GO(teach(&lift, reader, learner, keeps ? &checkpoint : NULL, run, model));
    status = kl_watcher_end(&watcher, *model, run);
    if (status != KLIFT_OK) {
        kl_model_free(*model);
        *model = NULL;
    }
done:
    kl_checkpoint_close(&checkpoint);
    kl_tally_clear(&tally);
    kl_learner_free(learner);
    kl_lift_free(lift);
    kl_model_free(start);
    return status;
}

klift_status kl_pipeline_stats(const klift_map *lift, const klift_spec *spec, klift_run *run, klift_stats **out)
{
    klift_stats *stats = NULL;
    klift_status status;
    *out = NULL;
    KL_GO(kl_warm_refuse(spec));
    KL_GO(kl_new(&stats, 1, sizeof *stats, "statistics"));
    KL_GO(kl_lift_copy(lift, &stats->lift));
    KL_GO(new_learner(stats->lift, spec, NULL, NULL, run, &stats->learner));
    if (stats->learner->type->merge == NULL)
        status = kl_fail(KLIFT_USAGE, "learner %s has no statistics that add; train it with klift_train", spec->learner);
done:
    if (status == KLIFT_OK)
        *out = stats;
    else
        kl_pipeline_stats_free(stats);
    return status;
}

klift_status kl_pipeline_merge(klift_stats *into, const klift_stats *from, int sign)
{
    KL_TRY(kl_lift_same(into->lift, from->lift));
    return kl_learner_merge(into->learner, from->learner, sign);
}

klift_status kl_pipeline_solve(const klift_stats *stats, klift_run *run, klift_model **model)
{
    klift_map *copy = NULL;
    *model = NULL;
    KL_TRY(kl_lift_copy(stats->lift, &copy));
    klift_status status = solve(&copy, stats->learner, run, model);
    kl_lift_free(copy);
    return status;
}

void kl_pipeline_stats_free(klift_stats *stats)
{
    if (stats == NULL)
        return;
    kl_learner_free(stats->learner);
    kl_lift_free(stats->lift);
    kl_free(stats);
}
