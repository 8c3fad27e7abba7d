/* pipeline.h - the stages in their order; the only place that knows all of them. */
#ifndef KL_PIPELINE_H
#define KL_PIPELINE_H

#include "model/checkpoint.h"
#include "model/metric.h"
#include "model/model.h"

struct klift_stats {
    klift_map *lift;
    kl_learner *learner;
};

/* survey -> prepare -> kernel -> map; reader may be NULL when nothing is learnt and spec->dim is set. needs_goal: labels
 * that are neither clearly classes nor clearly numbers are an error. */
klift_status kl_pipeline_fit(const klift_spec *spec, kl_reader *reader, bool needs_goal, klift_run *run, klift_map **lift);
/* The same for training: what is counted and seen on the way goes to tally, and to seen unless it is NULL. start: the model from which
 * training goes on, whose map it is then; or NULL. */
klift_status kl_pipeline_survey(const klift_spec *spec, const klift_model *start, kl_reader *reader, klift_run *run, kl_tally *tally, kl_seen *seen, klift_map **lift);
/* reader -> batch -> prepare -> map -> learner, all rows of the reader from where it stands; checkpoint: in which the learner is kept, or
 * NULL */
klift_status kl_pipeline_feed(const klift_map *lift, kl_reader *reader, kl_learner *learner, kl_checkpoint *checkpoint, klift_run *run);
klift_status kl_pipeline_train(const klift_spec *spec, kl_reader *reader, klift_run *run, klift_model **model);
/* The reader's rows as the map was made for; classes (may be NULL) tell whether labels are words */
klift_status kl_pipeline_match(const klift_map *lift, const kl_names *classes, kl_reader *reader);
klift_status kl_pipeline_test(const klift_model *model, kl_reader *reader, klift_run *run, kl_text *json);

klift_status kl_pipeline_stats(const klift_map *lift, const klift_spec *spec, klift_run *run, klift_stats **stats);
/* Refused where the parts are of different specs, or their maps were fitted on different rows. */
klift_status kl_pipeline_merge(klift_stats *into, const klift_stats *from, int sign);
klift_status kl_pipeline_solve(const klift_stats *stats, klift_run *run, klift_model **model);
void kl_pipeline_stats_free(klift_stats *stats);

#endif
