/* scatter.c - the plan of a scatter, and its loops through the table of this CPU; the reference is in micro_portable.c. */
#include "math/scatter.h"

#include "base/memory.h"
#include "math/micro.h"

#include <string.h>

#define EIGHT(a, b, c, d, e, f, g, h) {a, b, c, d, e, f, g, h}, /* one row */
#define ROWS(p, n) \
    EIGHT(p, p, p, p, p, p, p, p) \
    EIGHT(p, n, p, n, p, n, p, n) \
    EIGHT(p, p, n, n, p, p, n, n) \
    EIGHT(p, n, n, p, p, n, n, p) \
    EIGHT(p, p, p, p, n, n, n, n) \
    EIGHT(p, n, p, n, n, p, n, p) \
    EIGHT(p, p, n, n, n, n, p, p) \
    EIGHT(p, n, n, p, n, p, p, n)

const float kl_scatter_row[16][KL_SCATTER_GROUP] = {ROWS(1, -1) ROWS(-1, 1)};

int64_t kl_scatter_memory(int64_t columns, int64_t groups)
{
    return (2 * columns + groups) * (int64_t)sizeof(int32_t);
}

/* How many groups have how many entries. */
static klift_status count_runs(const int32_t *entries, kl_scatter *plan)
{
    for (int64_t g = 0; g < plan->groups; g++)
        plan->most = entries[g] > plan->most ? entries[g] : plan->most;
    KL_TRY(kl_new(&plan->run, plan->most + 1, sizeof *plan->run, "buckets"));
    for (int64_t g = 0; g < plan->groups; g++)
        plan->run[entries[g]]++;
    return KLIFT_OK;
}

/* The groups in the order of work; entries[g] becomes the place of its next entry. */
static klift_status order_groups(int32_t *entries, kl_scatter *plan)
{
    int32_t *next = NULL, groups = 0, places = 0; /* (most + 1, 2): where the next group of so many entries stands, and its entries */
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&next, 2 * (plan->most + 1), sizeof *next, "buckets"));
    for (int64_t many = 0; many <= plan->most; many++) {
        next[2 * many] = groups;
        next[2 * many + 1] = places;
        groups += plan->run[many];
        places += plan->run[many] * (int32_t)many;
    }
    for (int64_t g = 0; g < plan->groups; g++) {
        int32_t many = entries[g];
        plan->group[next[2 * many]++] = (int32_t)g * KL_SCATTER_GROUP;
        entries[g] = next[2 * many + 1];
        next[2 * many + 1] += many;
    }
done:
    kl_free(next);
    return status;
}

klift_status kl_scatter_new(int64_t columns, int64_t groups, kl_scatter *plan)
{
    *plan = (kl_scatter){.columns = columns, .groups = groups};
    return kl_new(&plan->code, columns, sizeof *plan->code, "buckets");
}

klift_status kl_scatter_sort(kl_scatter *plan)
{
    int32_t *entries = NULL; /* (groups) how many each has, then where the next one goes */
    klift_status status = KLIFT_OK;
    if (plan->columns > KL_SCATTER_WIDEST)
        return KLIFT_OK;
    KL_GO(kl_new(&entries, plan->groups, sizeof *entries, "buckets"));
    KL_GO(kl_new(&plan->entry, plan->columns, sizeof *plan->entry, "buckets"));
    KL_GO(kl_new(&plan->group, plan->groups, sizeof *plan->group, "buckets"));
    for (int64_t j = 0; j < plan->columns; j++)
        entries[plan->code[j] >> 4]++;
    KL_GO(count_runs(entries, plan));
    KL_GO(order_groups(entries, plan));
    for (int64_t j = 0; j < plan->columns; j++)
        plan->entry[entries[plan->code[j] >> 4]++] = (uint32_t)j << 8 | (plan->code[j] & 15) * KL_SCATTER_GROUP;
done:
    kl_free(entries);
    return status;
}

void kl_scatter_clear(kl_scatter *plan)
{
    kl_free(plan->code);
    kl_free(plan->entry);
    kl_free(plan->group);
    kl_free(plan->run);
}

void kl_scatter_dense(const kl_scatter *plan, const float *row, float *x)
{
    kl_micro_get()->collect(plan, row, x);
}

void kl_scatter_sparse(const kl_scatter *plan, int64_t count, const int32_t *column, const float *value, float *x)
{
    memset(x, 0, (size_t)(plan->groups * KL_SCATTER_GROUP) * sizeof *x);
    kl_micro_get()->scatter(count, column, value, plan->code, x);
}
