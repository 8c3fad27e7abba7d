/*
 * keep.h - how a learner with passes lets its work be kept, so that a run that was killed goes on where it was.
 * The learner never opens a file: whoever runs it hands in a kl_keep (in kl_passes; NULL: nobody keeps). Call order: found (once, at the
 * start of learn), then after every pass or block { due, begin, state written as bytes of one section, end }.
 * What is kept decides nothing: a training that goes on from it ends in the bytes of one that was never stopped.
 */
#ifndef KL_KEEP_H
#define KL_KEEP_H

#include "base/record.h"

typedef struct kl_keep kl_keep;
struct kl_keep {
    kl_record_reader *found; /* inside the section of the learner's state, when there is one to go on from; NULL: none, or it was read to its end */
    /* The state is wanted now: enough time or rows have passed, or someone asked for the run to stop. Cheap. */
    bool (*due)(kl_keep *keep);
    klift_status (*begin)(kl_keep *keep, kl_record_writer **to); /* everything but the state is written, its section is open */
    klift_status (*end)(kl_keep *keep);                          /* the file is complete and in its place */
};

/* What a learner keeps, and how it is written. Call order: one of these per learn; kl_keep_at where the state is whole. */
typedef struct kl_keeping {
    kl_keep *keep; /* NULL: nobody keeps */
    const void *state;
    void (*save)(const void *state, kl_record_writer *to);
    bool fresh;    /* nothing was done since the state was kept */
} kl_keeping;

/* The state is whole: after a part of the work, with status KLIFT_OK, or where KLIFT_CANCELLED stopped it before the next part. It is
 * kept if that is wanted. Returns the status, or why it could not be kept; any other status passes through. */
klift_status kl_keep_at(kl_keeping *keeping, klift_status status);

/* The state to go on from is read to its end. */
klift_status kl_keep_found(kl_keep *keep);
/* Pieces of a state. A tag, and sizes that must be what the learner has: a foreign state is refused. */
void kl_keep_put_head(kl_record_writer *to, uint32_t tag, int64_t rows, int64_t features, int64_t outputs);
klift_status kl_keep_get_head(kl_record_reader *from, uint32_t tag, int64_t rows, int64_t features, int64_t outputs);
void kl_keep_put_numbers(kl_record_writer *to, const double *value, int64_t count);
klift_status kl_keep_get_numbers(kl_record_reader *from, double *value, int64_t count); /* finite */
void kl_keep_put_any(kl_record_writer *to, const double *value, int64_t count);
klift_status kl_keep_get_any(kl_record_reader *from, double *value, int64_t count); /* infinite ones and NaN are among them */
void kl_keep_put_flags(kl_record_writer *to, const bool *flag, int64_t count);
klift_status kl_keep_get_flags(kl_record_reader *from, bool *flag, int64_t count);

#endif
