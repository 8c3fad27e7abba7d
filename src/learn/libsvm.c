/*
 * libsvm.c - the learner `libsvm`: LIBSVM (Chang, Lin 2011) with its linear kernel on the features, as a reference: C-SVC with the hinge
 * loss, one class against the rest, and epsilon-SVR. Its intercept has no penalty, so its objective is svm's for a large bias.
 * w = sum coefficient row over the support vectors, b = -rho. Sequential minimal optimisation: time grows with the rows' square.
 */
#include "learn/reference.h"

#ifdef KL_HAS_LIBSVM
#include <libsvm/svm.h>
#include <pthread.h>
#include <stddef.h>

enum { EPSILON_LOSS, TOLERANCE };
enum { CACHE = 100 }; /* MB of kernel values; any number of them leads to the same model */

static const kl_param params[] = {
    {"epsilon", KL_REAL, "0.1", 0, 1e30, false, NULL, "regression: errors up to it cost nothing"},
    {"tolerance", KL_REAL, "0.001", 0, 1, true, NULL, "LIBSVM's -e: the largest violation of optimality"},
    {0}};

_Static_assert(sizeof(struct svm_node) == sizeof(kl_reference_node) && offsetof(struct svm_node, value) == offsetof(kl_reference_node, value), "nodes are LIBSVM's");

typedef struct state {
    kl_svm svm; /* first: what svm.h takes for the state */
    struct svm_model *(*train)(const struct svm_problem *, const struct svm_parameter *);
    void (*free_model)(struct svm_model **);
    const char *(*check)(const struct svm_problem *, const struct svm_parameter *);
    void (*set_print)(void (*)(const char *));
} state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool silent;

static void swallow(const char *words)
{
    (void)words;
}

/* Once: the function is a variable of LIBSVM that a training in another thread may just read. */
static void silence(const state *st)
{
    pthread_mutex_lock(&lock);
    if (!silent)
        st->set_print(swallow);
    silent = true;
    pthread_mutex_unlock(&lock);
}

static klift_status begin(kl_learner *learner, klift_run *run)
{
    state *st = learner->state;
    kl_reference_library library = {"libsvm.so.3", "libsvm3", "libsvm_version", LIBSVM_VERSION};
    kl_reference_function functions[] = {
        {"svm_train", &st->train}, {"svm_free_and_destroy_model", &st->free_model}, {"svm_check_parameter", &st->check}, {"svm_set_print_string_function", &st->set_print}, {0}};
    (void)run;
    KL_TRY(kl_reference_begin(learner, 1 + (learner->spec.goal == KL_CLASSIFY ? KL_HINGE : KL_EPSILON)));
    return kl_reference_open(&library, functions);
}

static void plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to)
{
    kl_reference_plan(learner, extent, limit, to);
    kl_plan_add(to, (int64_t)CACHE << 20, "LIBSVM's cache");
}

static void take_over(const struct svm_model *model, double *w, double *b)
{
    if (model->nr_class == 1) { /* all rows on one side: nothing to tell apart */
        *b = model->label[0];
        return;
    }
    for (int i = 0; i < model->l; i++)
        for (const struct svm_node *n = model->SV[i]; n->index > 0; n++)
            w[n->index - 1] += model->sv_coef[0][i] * n->value;
    *b = -model->rho[0];
}

static klift_status solve(const kl_learner *learner, const kl_reference_problem *p, klift_run *run, double *w, double *b)
{
    const state *st = learner->state;
    bool classes = learner->spec.goal == KL_CLASSIFY;
    int side[2];
    double cost[2];
    struct svm_problem problem = {.l = p->rows, .y = p->y, .x = (struct svm_node **)p->row};
    struct svm_parameter parameter = {.svm_type = classes ? C_SVC : EPSILON_SVR, .kernel_type = LINEAR, .cache_size = CACHE, .eps = learner->value[TOLERANCE].number,
                                      .C = classes ? 1 : p->cost[0], .p = learner->value[EPSILON_LOSS].number, .shrinking = 1};
    (void)run;
    if (classes) {
        parameter.nr_weight = kl_reference_sides(p, side, cost);
        parameter.weight_label = side;
        parameter.weight = cost;
    }
    const char *wrong = st->check(&problem, &parameter);
    if (wrong != NULL)
        return kl_fail(KLIFT_USAGE, "learner libsvm: LIBSVM refuses its parameters: %s", wrong);
    silence(st);
    struct svm_model *model = st->train(&problem, &parameter);
    take_over(model, w, b);
    st->free_model(&model);
    return KLIFT_OK;
}

static klift_status learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights)
{
    return kl_reference_learn(learner, passes, 0, learner->value[EPSILON_LOSS].number, solve, run, weights);
}

const kl_learner_type kl_learner_libsvm = {
    .name = "libsvm",
    .summary = "reference for svm: LIBSVM's linear kernel on the features, intercept without penalty, one thread, all rows in memory",
    .params = params,
    .state_size = sizeof(state),
    .begin = begin,
    .observe = kl_reference_observe,
    .learn = learn,
    .plan = plan,
    .clear = kl_svm_clear,
};
#endif
