/*
 * liblinear.c - the learner `liblinear`: LIBLINEAR (Fan, Chang, Hsieh, Wang, Lin 2008) on the features, with the objective, C and B of
 * learner svm, as a reference for it. It stops by LIBLINEAR's own rule, after at most its 1000 passes.
 * LIBLINEAR orders rows by the C library's rand, which the whole process shares: a lock keeps two trainings apart, and while one
 * runs rand has a state of its own, seeded by the model's seed, so that the same bytes come out and a program's own numbers are
 * not disturbed. (With glibc, whose rand and random are one; and while no other thread of the program calls them.)
 */
#define _XOPEN_SOURCE 700 /* initstate */
#include "learn/reference.h"

#ifdef KL_HAS_LIBLINEAR
#include <linear.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LOSS, EPSILON, BIAS, TOLERANCE, SOLVER };
enum { SOLVER_AUTO, SOLVER_DUAL, SOLVER_PRIMAL };

static const kl_param params[] = {
    {"loss", KL_WORD, "auto", 0, 0, false, "auto|hinge|squared-hinge|epsilon|squared-epsilon", "of a row; auto: squared-hinge for classes, squared-epsilon for numbers"},
    {"epsilon", KL_REAL, "0.1", 0, 1e30, false, NULL, "regression: errors up to it cost nothing"},
    {"bias", KL_REAL, "1", -1, 1e30, false, NULL, "value of the constant feature behind the intercept, -1 or 0: none"},
    {"tolerance", KL_REAL, "auto", 0, 1, true, "auto", "LIBLINEAR's -e: the largest violation of optimality; auto: what its command takes, 0.1 for the dual"},
    {"solver", KL_WORD, "auto", 0, 0, false, "auto|dual|primal", "coordinate ascent on the dual, or a Newton method for the squared losses; auto: dual"},
    {0}};

_Static_assert(sizeof(struct feature_node) == sizeof(kl_reference_node) && offsetof(struct feature_node, value) == offsetof(kl_reference_node, value), "nodes are LIBLINEAR's");

typedef struct state {
    kl_svm svm; /* first: what svm.h takes for the state */
    struct model *(*train)(const struct problem *, const struct parameter *);
    void (*free_model)(struct model **);
    const char *(*check)(const struct problem *, const struct parameter *);
    void (*set_print)(void (*)(const char *));
} state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool ran_out; /* LIBLINEAR tells it in words only, to a function without a context */

static void hear(const char *words)
{
    ran_out = ran_out || strstr(words, "reaching max number of iterations") != NULL;
}

static klift_status begin(kl_learner *learner, klift_run *run)
{
    state *st = learner->state;
    kl_reference_library library = {"liblinear.so.4", "liblinear4", "liblinear_version", LIBLINEAR_VERSION};
    kl_reference_function functions[] = {
        {"train", &st->train}, {"free_and_destroy_model", &st->free_model}, {"check_parameter", &st->check}, {"set_print_string_function", &st->set_print}, {0}};
    (void)run;
    KL_TRY(kl_reference_begin(learner, learner->value[LOSS].word));
    if (learner->value[SOLVER].word == SOLVER_PRIMAL && (st->svm.loss == KL_HINGE || st->svm.loss == KL_EPSILON))
        return kl_fail(KLIFT_USAGE, "learner liblinear: solver=primal is for the squared losses; use solver=dual, or another loss");
    return kl_reference_open(&library, functions);
}

static int solver_of(const kl_learner *learner)
{
    static const int dual[] = {L2R_L1LOSS_SVC_DUAL, L2R_L2LOSS_SVC_DUAL, L2R_L1LOSS_SVR_DUAL, L2R_L2LOSS_SVR_DUAL};
    const state *st = learner->state;
    if (learner->value[SOLVER].word != SOLVER_PRIMAL)
        return dual[st->svm.loss];
    return st->svm.loss == KL_SQUARED_HINGE ? L2R_L2LOSS_SVC : L2R_L2LOSS_SVR;
}

static double tolerance_of(const kl_learner *learner)
{
    double given = learner->value[TOLERANCE].number;
    int solver = solver_of(learner);
    return !isnan(given) ? given : solver == L2R_L2LOSS_SVC ? 0.01 : solver == L2R_L2LOSS_SVR ? 0.0001 : 0.1;
}

/* Trains with a rand of its own; silent. */
static struct model *train_alone(const state *st, const struct problem *problem, const struct parameter *parameter, uint64_t seed)
{
    char numbers[128], *others;
    pthread_mutex_lock(&lock);
    st->set_print(hear);
    ran_out = false;
    others = initstate((unsigned)(seed ^ seed >> 32), numbers, sizeof numbers);
    struct model *model = st->train(problem, parameter);
    setstate(others);
    pthread_mutex_unlock(&lock);
    return model;
}

static klift_status solve(const kl_learner *learner, const kl_reference_problem *p, klift_run *run, double *w, double *b)
{
    const state *st = learner->state;
    bool classes = learner->spec.goal == KL_CLASSIFY;
    int side[2];
    double cost[2];
    struct problem problem = {.l = p->rows, .n = p->features + (p->bias > 0), .y = p->y, .x = (struct feature_node **)p->row, .bias = p->bias > 0 ? p->bias : -1};
    struct parameter parameter = {.solver_type = solver_of(learner), .eps = tolerance_of(learner), .C = classes ? 1 : p->cost[0], .p = learner->value[EPSILON].number};
    if (classes) {
        parameter.nr_weight = kl_reference_sides(p, side, cost);
        parameter.weight_label = side;
        parameter.weight = cost;
    }
    const char *wrong = st->check(&problem, &parameter);
    if (wrong != NULL)
        return kl_fail(KLIFT_USAGE, "learner liblinear: LIBLINEAR refuses its parameters: %s", wrong);
    struct model *model = train_alone(st, &problem, &parameter, learner->spec.seed);
    double sign = classes && model->label[0] < 0 ? -1 : 1; /* no row of +1 */
    for (int j = 0; j < p->features; j++)
        w[j] = sign * model->w[j];
    *b = p->bias > 0 ? sign * model->w[p->features] * p->bias : 0;
    st->free_model(&model);
    if (ran_out)
        kl_run_say(run, KLIFT_EVENT_WARNING, "passes", "LIBLINEAR stopped at its largest number of passes; use a smaller C, a larger tolerance or solver=primal");
    return KLIFT_OK;
}

static klift_status learn(kl_learner *learner, kl_passes *passes, klift_run *run, kl_weights *weights)
{
    return kl_reference_learn(learner, passes, learner->value[BIAS].number, learner->value[EPSILON].number, solve, run, weights);
}

const kl_learner_type kl_learner_liblinear = {
    .name = "liblinear",
    .summary = "reference for svm: LIBLINEAR on the features, one thread, all rows in memory",
    .params = params,
    .state_size = sizeof(state),
    .begin = begin,
    .observe = kl_reference_observe,
    .learn = learn,
    .plan = kl_reference_plan,
    .clear = kl_svm_clear,
};
#endif
