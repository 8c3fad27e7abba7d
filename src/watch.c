/* watch.c - see watch.h. What is shown is made from the learner's state, which stays as it is: nothing of the result hangs on it. */
#include "watch.h"

#include "base/memory.h"

static klift_status show(kl_watch *watch, kl_weights *weights, klift_run *run)
{
    const kl_watcher *w = (const kl_watcher *)watch;
    kl_text text = {0};
    kl_learner_print(w->learner, &text);
    klift_model model = {.lift = (klift_map *)w->lift, .learner = text.text, .weights = *weights}; /* only looked at */
    klift_status status = kl_text_status(&text);
    if (status == KLIFT_OK)
        status = kl_model_carry(&model); /* so that its scores are those of the same model from a file */
    if (status == KLIFT_OK)
        status = kl_run_show(run, &model, watch->rows);
    kl_model_drop(&model);
    kl_text_clear(&text);
    kl_weights_clear(weights);
    return status;
}

klift_status kl_watcher_begin(kl_watcher *w, const klift_map *lift, kl_learner *learner, klift_run *run)
{
    *w = (kl_watcher){.watch = {.show = show}, .lift = lift, .learner = learner};
    if (kl_run_wanted(run) == INT64_MAX)
        return KLIFT_OK;
    if (!kl_learner_streams(learner) && !learner->type->shows)
        return kl_fail(KLIFT_USAGE, "learner %s has no model before it has all rows, so there are no snapshots and no curve; leave them out, or use learner=ridge or learner=sgd",
                       learner->type->name);
    learner->watch = &w->watch;
    return KLIFT_OK;
}

klift_status kl_watcher_block(const klift_map *lift, const kl_learner *learner, int64_t rows, klift_run *run)
{
    kl_weights weights = {0};
    kl_lift back = kl_lift_for_learner(lift);
    if (!kl_watch_due(learner->watch, rows, run))
        return KLIFT_OK;
    bool hushed = kl_run_hush(run, true); /* a search on the way is not a stage */
    klift_status status = learner->type->finish(learner, &back, run, &weights);
    kl_run_hush(run, hushed);
    if (status == KLIFT_DATA) /* of one class so far, or no weight: there is no model yet */
        return KLIFT_OK;
    KL_TRY(status);
    return learner->watch->show(learner->watch, &weights, run);
}

klift_status kl_watcher_end(const kl_watcher *w, const klift_model *model, klift_run *run)
{
    return w->learner->watch != NULL ? kl_run_show(run, model, w->watch.rows) : KLIFT_OK;
}
