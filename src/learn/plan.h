/* plan.h - what a job will hold in memory, part by part: printed and held against the limit before it starts. */
#ifndef KL_PLAN_H
#define KL_PLAN_H

#include "base/run.h"

enum { KL_PLAN_PARTS = 16 };

typedef struct kl_plan {
    int parts;
    struct kl_plan_part {
        char what[48];
        int64_t bytes;
    } part[KL_PLAN_PARTS];
} kl_plan;

void kl_plan_add(kl_plan *plan, int64_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
int64_t kl_plan_total(const kl_plan *plan);
/* KLIFT_MEMORY with all parts when the total is above the run's limit; otherwise a note, unless quiet. */
klift_status kl_plan_check(const kl_plan *plan, int64_t features, bool quiet, klift_run *run);

#endif
