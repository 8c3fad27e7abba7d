/*
 * keep.h - how a learner with passes lets its work be kept, so that a run that was killed goes on where it was.
 * The learner never opens a file: whoever runs it hands in a kl_keep (in kl_passes; NULL: nobody keeps). Call order: found (once, at the
 * start of learn), then after every pass { due, begin, state written as bytes of one section, end }.
 * What is kept decides nothing: a training that goes on from it ends in the bytes of one that was never stopped.
 */
#ifndef KL_KEEP_H
#define KL_KEEP_H

#include "base/record.h"

typedef struct kl_keep kl_keep;
struct kl_keep {
    kl_record_reader *found; /* inside the section of the learner's state, when there is one to go on from; else NULL */
    /* The state is wanted now: enough time or rows have passed, or someone asked for the run to stop. Cheap. */
    bool (*due)(kl_keep *keep);
    klift_status (*begin)(kl_keep *keep, kl_record_writer **to); /* everything but the state is written, its section is open */
    klift_status (*end)(kl_keep *keep);                          /* the file is complete and in its place */
};

#endif
