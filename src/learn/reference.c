/* reference.c - see reference.h. Rows of weight 0 are left out: the libraries know costs per side of a problem, not per row. */
#include "learn/reference.h"

#if defined(KL_HAS_LIBLINEAR) || defined(KL_HAS_LIBSVM)
#include "base/memory.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

klift_status kl_reference_open(const kl_reference_library *library, const kl_reference_function *function)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL); /* never closed: threads of its BLAS may run */
    if (handle == NULL)
        return kl_fail(KLIFT_FAILED, "%s cannot be opened: %s; install Debian's package %s, or use learner=svm", library->file, dlerror(), library->package);
    const int *version = dlsym(handle, library->version_name);
    if (version == NULL || *version != library->version)
        return kl_fail(KLIFT_FAILED, "%s has version %d, klift was built for %d; build klift again, or use learner=svm", library->file, version != NULL ? *version : 0, library->version);
    for (; function->name != NULL; function++) {
        void *symbol = dlsym(handle, function->name);
        if (symbol == NULL)
            return kl_fail(KLIFT_FAILED, "%s has no function %s; install Debian's package %s, or use learner=svm", library->file, function->name, library->package);
        memcpy(function->pointer, &symbol, sizeof symbol); /* C has no cast from an object to a function */
    }
    return KLIFT_OK;
}

klift_status kl_reference_begin(kl_learner *learner, int loss)
{
    kl_svm *st = learner->state;
    st->held = -1;
    if (learner->spec.search_given)
        return kl_fail(KLIFT_USAGE, "learner %s is a reference and holds no rows out: leave search out, or use learner=svm", learner->type->name);
    return kl_svm_read_loss(learner, loss);
}

klift_status kl_reference_observe(kl_learner *learner, const kl_batch *x)
{
    kl_svm *st = learner->state;
    return kl_targets_observe(&st->targets, x);
}

void kl_reference_plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to)
{
    int64_t bytes = 0, values = extent->entries > 0 ? extent->entries : learner->features;
    kl_svm_plan(learner, extent, limit, to);
    if (extent->rows < INT64_MAX && kl_multiply(extent->rows, (values + 2) * (int64_t)sizeof(kl_reference_node), &bytes))
        bytes = INT64_MAX;
    kl_plan_add(to, bytes, "the rows as the library reads them");
}

/* ---- gather ---- */

static void fill_row(const kl_reference_problem *p, const kl_row *z, kl_reference_node *to)
{
    for (int64_t j = 0; j < z->count; j++)
        if (z->value[j] != 0)
            *to++ = (kl_reference_node){(z->column != NULL ? z->column[j] : (int)j) + 1, (double)z->value[j]};
    if (p->bias > 0)
        *to++ = (kl_reference_node){p->features + 1, p->bias};
    to->index = -1;
}

static int64_t count_row(const kl_reference_problem *p, const kl_row *z)
{
    int64_t count = p->bias > 0 ? 2 : 1;
    for (int64_t j = 0; j < z->count; j++)
        count += z->value[j] != 0;
    return count;
}

/* All rows once: counted, or filled in when there is room. */
static klift_status walk_rows(kl_reference_problem *p, kl_passes *passes, kl_row *z, klift_run *run, int64_t *count)
{
    *count = 0;
    for (int64_t first = 0; first < p->rows; first += passes->at_most) {
        int64_t rows = p->rows - first < passes->at_most ? p->rows - first : passes->at_most;
        KL_TRY(passes->take(passes, p->index + first, rows, run, z));
        for (int64_t i = 0; i < rows; i++) {
            if (p->node != NULL) {
                p->row[first + i] = p->node + *count;
                fill_row(p, &z[i], p->node + *count);
            }
            *count += count_row(p, &z[i]);
        }
    }
    return KLIFT_OK;
}

/* The features themselves may be in memory beside it, up to half of the limit. */
static klift_status check_room(const kl_learner *learner, int64_t rows, int64_t nodes, klift_run *run)
{
    double limit = (double)kl_run_memory(run), features = (double)rows * (double)learner->features * sizeof(float), bytes = (double)nodes * sizeof(kl_reference_node);
    features = features < limit / 2 ? features : limit / 2;
    if (learner->features < INT32_MAX - 2 && bytes + features <= limit)
        return KLIFT_OK;
    return kl_fail(KLIFT_MEMORY, "learner %s holds all rows at 16 bytes per value: %.0f MB and %.0f MB of features, the limit is %.0f MB; use learner=svm, fewer features or a larger max-memory=SIZE",
                   learner->type->name, bytes / 1e6, features / 1e6, limit / 1e6);
}

static klift_status gather(kl_reference_problem *p, const kl_learner *learner, kl_passes *passes, klift_run *run)
{
    const kl_svm *st = learner->state;
    kl_row *z = NULL;
    int64_t nodes;
    klift_status status;
    KL_GO(check_room(learner, st->targets.count, 0, run));
    p->features = (int)learner->features;
    KL_GO(kl_new(&p->index, st->targets.count, sizeof *p->index, "the order of rows"));
    for (int64_t i = 0; i < st->targets.count; i++)
        if (kl_svm_weight(st, i) > 0)
            p->index[p->rows++] = (int32_t)i;
    KL_GO(kl_new(&z, passes->at_most, sizeof *z, "the order of rows"));
    KL_GO(walk_rows(p, passes, z, run, &nodes));
    KL_GO(check_room(learner, p->rows, nodes, run));
    KL_GO(kl_new(&p->row, p->rows, sizeof *p->row, "the rows as the library reads them"));
    KL_GO(kl_new(&p->y, p->rows, sizeof *p->y, "the rows as the library reads them"));
    KL_GO(kl_new(&p->node, nodes, sizeof *p->node, "the rows as the library reads them"));
    status = walk_rows(p, passes, z, run, &nodes);
done:
    kl_free(z);
    return status;
}

static void clear_problem(kl_reference_problem *p)
{
    kl_free(p->index);
    kl_free(p->row);
    kl_free(p->y);
    kl_free(p->node);
}

/* ---- one output after the other ---- */

/* y and the costs of its two sides. */
static klift_status pose(kl_reference_problem *p, const kl_learner *learner, int64_t output)
{
    const kl_svm *st = learner->state;
    bool classes = learner->spec.goal == KL_CLASSIFY;
    p->cost[0] = p->cost[1] = 0;
    for (int i = 0; i < p->rows; i++) {
        kl_dual_row r = kl_svm_row(st, p->index[i], output);
        double *cost = &p->cost[classes && r.y > 0];
        if (*cost != 0 && *cost != r.cost)
            return kl_fail(KLIFT_DATA, "learner %s has one cost for all rows of %s; rows with other weights%s need learner=svm", learner->type->name,
                           classes ? "a class, and one for the rest" : "a regression", classes ? ", and weights of three or more classes," : "");
        *cost = r.cost;
        p->y[i] = r.y;
    }
    p->cost[1] = classes ? p->cost[1] : p->cost[0];
    return KLIFT_OK;
}

int kl_reference_sides(const kl_reference_problem *p, int *label, double *cost)
{
    int sides = 0;
    for (int s = 0; s < 2; s++)
        if (p->cost[s] > 0) {
            label[sides] = s == 0 ? -1 : 1;
            cost[sides++] = p->cost[s];
        }
    return sides;
}

static double objective(const kl_reference_problem *p, const kl_svm *st, double epsilon, const double *w, double b)
{
    double sum = p->bias > 0 ? b * b / (p->bias * p->bias) / 2 : 0;
    for (int j = 0; j < p->features; j++)
        sum += w[j] * w[j] / 2;
    for (int i = 0; i < p->rows; i++) {
        double f = b;
        for (const kl_reference_node *n = p->row[i]; n->index > 0 && n->index <= p->features; n++)
            f += w[n->index - 1] * n->value;
        sum += p->cost[p->y[i] > 0] * kl_loss_of(st->loss, epsilon, p->y[i], f);
    }
    return sum;
}

klift_status kl_reference_learn(kl_learner *learner, kl_passes *passes, double bias, double epsilon, kl_reference_solve solve, klift_run *run, kl_weights *weights)
{
    kl_svm *st = learner->state;
    kl_reference_problem p = {.bias = bias > 0 ? bias : 0};
    int64_t *column = NULL;
    double sum = 0;
    klift_status status;
    if (passes->keep != NULL)
        kl_run_say(run, KLIFT_EVENT_WARNING, "checkpoint", "learner %s cannot be stopped on its way: nothing of its training is kept, and a run that ends early begins again", learner->type->name);
    KL_GO(kl_svm_start(learner, weights, &column));
    st->c = kl_svm_cost(&learner->spec, weights->weight);
    weights->lambda = 1 / (st->c * weights->weight);
    KL_GO(gather(&p, learner, passes, run));
    KL_GO(kl_new(&weights->w, weights->outputs * weights->features, sizeof(double), "the weights"));
    KL_GO(kl_new(&weights->b, weights->outputs, sizeof(double), "the weights"));
    for (int64_t o = 0; o < weights->outputs; o++) {
        double *w = weights->w + o * weights->features;
        KL_GO(kl_run_check(run));
        KL_GO(pose(&p, learner, o));
        KL_GO(solve(learner, &p, run, w, &weights->b[o]));
        sum += objective(&p, st, epsilon, w, weights->b[o]);
    }
    kl_run_say(run, KLIFT_EVENT_NOTE, "passes", "objective %.7g", sum);
    status = isfinite(sum) ? KLIFT_OK : kl_fail(KLIFT_FAILED, "the solution is not finite; scale the data or use a larger lambda");
done:
    clear_problem(&p);
    kl_free(column);
    st->column = NULL;
    if (status != KLIFT_OK)
        kl_weights_clear(weights);
    return status;
}
#endif
