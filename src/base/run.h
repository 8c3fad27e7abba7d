/*
 * run.h - how a job runs: threads, memory limit, progress, cancel, scratch. Never decides a result.
 * Every function accepts a NULL run: one thread, silent, default limit.
 */
#ifndef KL_RUN_H
#define KL_RUN_H

#include "base/parallel.h"
#include "base/param.h"

/* Scratch that survives between calls, so that predicting row after row does not allocate. */
enum { KL_SCRATCH_FEATURES, KL_SCRATCH_ROWS, KL_SCRATCH_MAP, KL_SCRATCH_BITS, KL_SCRATCH_BRIEF, KL_SCRATCH_FACTOR, KL_SCRATCH_SLOTS };

extern const kl_param kl_run_params[];

int kl_run_threads(const klift_run *run);
int kl_run_cpus(void); /* those this process may use */
int64_t kl_run_batch(const klift_run *run);      /* rows asked of a reader at a time */
int64_t kl_run_memory(const klift_run *run);     /* bytes: max-memory, or half of the machine's or cgroup's */
/* Where the state of a training is kept, and how often. */
typedef struct kl_upkeep {
    const char *path; /* NULL: nowhere */
    double seconds;   /* between two times, NaN: by rows; 0: by itself, a minute or more */
    int64_t rows;
    bool resume;      /* go on from what is there */
} kl_upkeep;
kl_upkeep kl_run_upkeep(const klift_run *run);
double kl_run_seconds(const klift_run *run);     /* since the run was made; 0 without one */

klift_status kl_run_parallel(klift_run *run, int64_t count, kl_task task, void *context);
/* All tasks or none: once they have begun, nobody's wish to stop is heard. For tasks that would leave things half changed. */
klift_status kl_run_whole(klift_run *run, int64_t count, kl_task task, void *context);
/* KLIFT_CANCELLED when someone asked for it. */
klift_status kl_run_check(const klift_run *run);
bool kl_run_cancelled(const klift_run *run); /* the same without a message, held back or not */
/* From true to false a request to stop is not heard: what is begun is finished. */
void kl_run_hold(klift_run *run, bool held);
/* Progress to the callback; KLIFT_CANCELLED when it says stop. */
klift_status kl_run_tell(klift_run *run, klift_event event); /* its size, kind and seconds are filled in */
klift_status kl_run_progress(klift_run *run, const char *stage, int64_t rows, int64_t rows_total, double loss);
/* Whoever looks at models on the way wants the next one at so many rows; INT64_MAX: nobody. */
int64_t kl_run_wanted(const klift_run *run);
/* KLIFT_CANCELLED when it says stop. */
klift_status kl_run_show(klift_run *run, const klift_model *model, int64_t rows);
bool kl_run_hush(klift_run *run, bool hushed); /* progress and notes are not told; returns what it was before */
void kl_run_say(klift_run *run, int kind, const char *stage, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Scratch memory of at least `bytes`, contents undefined, valid until the next call for the same slot. A NULL run has
 * none: KLIFT_FAILED is a programming error there, so callers keep a local run (kl_run_local). */
klift_status kl_run_scratch(klift_run *run, int slot, int64_t bytes, void *memory);
void kl_run_scratch_drop(klift_run *run, int slot); /* gives it back before the run ends */
/* The given run, or a new one-thread run in *own that the caller frees. */
klift_status kl_run_local(klift_run *run, klift_run **own, klift_run **use);

#endif
