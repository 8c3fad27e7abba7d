/* watch.h - the model on the way, for whoever asked the run for it (klift_run_on_model): snapshots, learning curves. */
#ifndef KL_WATCHER_H
#define KL_WATCHER_H

#include "model/model.h"

typedef struct kl_watcher {
    kl_watch watch; /* what the learner sees */
    const klift_map *lift;
    const kl_learner *learner;
} kl_watcher;

/* Sets learner->watch where the run asks for models; KLIFT_USAGE when the learner has none on the way. All is borrowed. */
klift_status kl_watcher_begin(kl_watcher *w, const klift_map *lift, kl_learner *learner, klift_run *run);
/* After a block of rows that were learnt from as they came. */
klift_status kl_watcher_block(const klift_map *lift, const kl_learner *learner, int64_t rows, klift_run *run);
/* The model at the end. */
klift_status kl_watcher_end(const kl_watcher *w, const klift_model *model, klift_run *run);

#endif
