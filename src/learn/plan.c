/* plan.c - sums, prints and checks the parts of a memory plan. */
#include "learn/plan.h"

#include <stdarg.h>
#include <stdio.h>

void kl_plan_add(kl_plan *plan, int64_t bytes, const char *format, ...)
{
    if (bytes == 0 || plan->parts == KL_PLAN_PARTS)
        return;
    struct kl_plan_part *part = &plan->part[plan->parts++];
    part->bytes = bytes;
    va_list args;
    va_start(args, format);
    vsnprintf(part->what, sizeof part->what, format, args);
    va_end(args);
}

int64_t kl_plan_total(const kl_plan *plan)
{
    int64_t total = 0;
    for (int i = 0; i < plan->parts; i++)
        if (__builtin_add_overflow(total, plan->part[i].bytes, &total))
            return INT64_MAX;
    return total;
}

klift_status kl_plan_check(const kl_plan *plan, int64_t features, bool quiet, klift_run *run)
{
    kl_text text = {0};
    double limit = (double)kl_run_memory(run) / 1e6, total = (double)kl_plan_total(plan) / 1e6;
    klift_status status = KLIFT_OK;
    for (int i = 0; i < plan->parts; i++)
        kl_text_add(&text, "%s%s %.1f MB", i == 0 ? "" : ", ", plan->part[i].what, (double)plan->part[i].bytes / 1e6);
    if (text.failed)
        status = kl_text_status(&text);
    else if (kl_plan_total(plan) > kl_run_memory(run))
        status = kl_fail(KLIFT_MEMORY,
                         "%lld features need %.0f MB, the limit is %.0f MB (%s); use fewer features, a fixed lambda=NUMBER or a larger max-memory=SIZE",
                         (long long)features, total, limit, text.text);
    else if (!quiet)
        kl_run_say(run, KLIFT_EVENT_NOTE, "plan", "memory for %lld features: %s; %.1f MB of %.0f MB in all", (long long)features, text.text, total, limit);
    kl_text_clear(&text);
    return status;
}
