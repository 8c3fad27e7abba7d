/*
 * checkpoint.h - a training that is kept in a file while it runs, so that it can be stopped or killed and goes on to the same model. The run
 * says where and how often (kl_run_upkeep). Call order: open, take (when there is something to go on from) or a lift fitted anew,
 * begin, then for a learner that streams go_on, { enter, a block, leave }, stop, and for one with passes check_rows and keep; close.
 * What is kept decides nothing.
 */
#ifndef KL_CHECKPOINT_H
#define KL_CHECKPOINT_H

#include "data/gather.h"
#include "data/lock.h"
#include "learn/keep.h"
#include "model/lift.h"
#include "model/settings.h"

typedef struct kl_checkpoint {
    kl_keep keep;         /* what a learner with passes sees */
    klift_run *run;
    kl_upkeep how;
    kl_lock *lock;
    const char *version;  /* of klift */
    kl_text spec;         /* canonical */
    kl_record_writer lift;/* a model that is only the lift, as bytes; and the rest of what the survey told: */
    kl_extent extent;
    int64_t sample, table_bytes;
    int goal;
    const kl_tally *tally;
    const kl_passes *passes; /* NULL: the learner streams */
    kl_seen seen;         /* rows so far */
    kl_seen all;          /* rows there are, as a whole survey saw them; 0 of them: not known. The caller's to set before begin */
    kl_record_writer to;
    int64_t written;      /* rows that had been seen, or taken by passes, when it was last written */
    double at, took;      /* seconds of the run then, and how many it took */
    bool inside;          /* a block: the learner is between two states */
    /* what was found */
    unsigned char *bytes;
    kl_record_reader state;
    kl_seen before;
    klift_map *found;     /* NULL: nothing was, or it has been taken */
    kl_tally found_tally;
} kl_checkpoint;

/* Takes the lock, and reads the file that a run with resume goes on from. A file of another spec or version: KLIFT_USAGE with what differs. */
klift_status kl_checkpoint_open(kl_checkpoint *c, const klift_spec *spec, const char *version, klift_run *run);
/* What was fitted then, where the run goes on; false: nothing is there. */
bool kl_checkpoint_take(kl_checkpoint *c, klift_map **lift, kl_tally *tally);
/* What every file will hold beside the rows and the state; the tally is borrowed. */
klift_status kl_checkpoint_begin(kl_checkpoint *c, const klift_map *lift, const kl_tally *tally);
int64_t kl_checkpoint_bytes(kl_checkpoint *c, const kl_learner *learner); /* a file needs in memory by now */

/* For a learner that streams; c may be NULL: nothing is kept. */
/* Goes over the rows that were learnt from, which must be the same, and loads what was learnt; *rows: how many. */
klift_status kl_checkpoint_go_on(kl_checkpoint *c, kl_gather *gather, kl_learner *learner, int64_t *rows);
/* A block of rows is read, and from here to leave nobody is stopped; leave writes the file when it is time. */
klift_status kl_checkpoint_enter(kl_checkpoint *c, kl_gather *gather, int64_t block);
klift_status kl_checkpoint_leave(kl_checkpoint *c, const kl_learner *learner);
/* After a failure: the file is written when it was a request to stop. Answers the failure, or that of writing. */
klift_status kl_checkpoint_stop(kl_checkpoint *c, const kl_learner *learner, klift_status failure);
/* The rows have ended; where the run went on they must be those it began with: KLIFT_DATA. */
klift_status kl_checkpoint_check_rows(kl_checkpoint *c);
/* For a learner with passes: what it is given. */
kl_keep *kl_checkpoint_keep(kl_checkpoint *c, const kl_passes *passes);
klift_status kl_checkpoint_name(const kl_checkpoint *c, klift_status failure); /* of learn: with the file where its state cannot be read */
void kl_checkpoint_close(kl_checkpoint *c); /* a zeroed one is fine */

/* checkpoint_file.c: all before the state, whose section is open then; and all of a file, up to the state */
void kl_checkpoint_put(const kl_checkpoint *c, kl_record_writer *to);
klift_status kl_checkpoint_get(kl_checkpoint *c, const void *bytes, int64_t count);

#endif
