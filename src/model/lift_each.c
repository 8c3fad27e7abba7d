/*
 * lift_each.c - raw rows to features that nobody keeps as they are: some rows at a time are mapped into the scratch of a thread, which hands
 * them on while they are in its caches. Every row is by itself: cuts change no bit.
 */
#include "model/lift.h"

enum { GROUPS = 84 }; /* rows of a task that hands them on: whole groups of 14, 6 or 4 of the product, so few that their features stay in the second cache */

typedef struct handing {
    const klift_map *lift;
    const kl_batch *x;
    kl_lift_take take;
    void *context;
    int64_t scratch_bytes; /* of a worker, its features first */
    unsigned char *scratch;
} handing;

static int64_t handed_bytes(const klift_map *lift)
{
    return kl_whole_lines(GROUPS * lift->map->n_out * (int64_t)sizeof(float));
}

static kl_batch handed_part(const kl_batch *x, int64_t task)
{
    int64_t first = task * GROUPS, left = x->rows - first;
    return kl_batch_part(x, first, left < GROUPS ? left : GROUPS);
}

static klift_status hand_task(void *context, int64_t task, int worker)
{
    const handing *h = context;
    unsigned char *scratch = h->scratch + worker * h->scratch_bytes;
    kl_batch part = handed_part(h->x, task);
    float *z = (float *)(void *)scratch;
    KL_TRY(kl_lift_chunk(h->lift, &part, z, h->lift->map->n_out, false, scratch + handed_bytes(h->lift)));
    h->take(h->context, task * GROUPS, part.rows, z);
    return KLIFT_OK;
}

klift_status kl_lift_each(const klift_map *lift, const kl_batch *x, kl_lift_take take, void *context, klift_run *run)
{
    handing h = {.lift = lift, .x = x, .take = take, .context = context};
    int64_t tasks = (x->rows + GROUPS - 1) / GROUPS;
    KL_TRY(kl_lift_check(lift, x));
    for (int64_t t = 0; t < tasks; t++) {
        kl_batch part = handed_part(x, t);
        int64_t bytes = handed_bytes(lift) + kl_lift_scratch(lift, &part);
        h.scratch_bytes = bytes > h.scratch_bytes ? bytes : h.scratch_bytes;
    }
    KL_TRY(kl_run_scratch(run, KL_SCRATCH_MAP, kl_run_threads(run) * h.scratch_bytes, &h.scratch));
    return kl_run_parallel(run, tasks, hand_task, &h);
}
