/*
 * svm_problem.c - what the learner svm solves, whoever solves it: which loss, what a row costs and which output it belongs to, weights of
 * classes, and the memory that is planned for it.
 */
#include "learn/svm.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { LOSS_AUTO }; /* the others are kl_loss + 1 */

kl_loss kl_svm_loss(kl_goal goal, int word)
{
    return word != LOSS_AUTO ? (kl_loss)(word - 1) : goal == KL_CLASSIFY ? KL_SQUARED_HINGE : KL_SQUARED_EPSILON;
}

klift_status kl_svm_read_loss(kl_learner *learner, int word)
{
    kl_svm *st = learner->state;
    bool classes = learner->spec.goal == KL_CLASSIFY;
    st->targets.goal = learner->spec.goal;
    st->loss = kl_svm_loss(learner->spec.goal, word);
    if ((st->loss <= KL_SQUARED_HINGE) == classes)
        return KLIFT_OK;
    return kl_fail(KLIFT_USAGE, "learner %s: loss=%s is for %s; use %s", learner->type->name, classes ? "epsilon or squared-epsilon" : "hinge or squared-hinge",
                   classes ? "regression" : "classes", classes ? "hinge or squared-hinge" : "epsilon or squared-epsilon");
}

bool kl_svm_holds_out(const kl_learn_spec *spec)
{
    return spec->search_given || spec->probability;
}

void kl_svm_plan(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *to)
{
    const kl_learn_spec *spec = &learner->spec;
    int64_t known = extent->rows < INT64_MAX / 64 ? extent->rows : 0;
    bool path = spec->path != NULL && strcmp(spec->path, "none") != 0;
    kl_learner_plan_passes(learner, extent, limit, to);
    kl_plan_add(to, known * (2 * (int64_t)sizeof(double) + 1), "the dual variables");
    kl_plan_add(to, path ? spec->folds * known * (int64_t)sizeof(double) : 0, "the dual variables of %d folds", spec->folds);
    kl_plan_add(to, 2 * learner->features * (int64_t)sizeof(double), "weights of an output");
    kl_plan_add(to, kl_svm_holds_out(spec) ? known * (int64_t)sizeof(int32_t) : 0, "folds of the rows");
    kl_plan_add(to, spec->probability ? known * (int64_t)(sizeof(kl_held_row) + sizeof(double)) : 0, "scores of rows held out");
}

double kl_svm_own_weight(const kl_svm *svm, int64_t row)
{
    return svm->targets.weight[row] * (svm->factor != NULL ? svm->factor[(int64_t)svm->targets.target[row]] : 1);
}

double kl_svm_weight(const kl_svm *svm, int64_t row)
{
    return svm->held >= 0 && svm->fold[row] == svm->held ? 0 : kl_svm_own_weight(svm, row);
}

double kl_svm_weights(const kl_svm *svm)
{
    double sum = 0;
    for (int64_t i = 0; i < svm->targets.count; i++)
        sum += kl_svm_weight(svm, i);
    return sum;
}

kl_dual_row kl_svm_row(const void *user, int64_t row, int64_t output)
{
    const kl_svm *st = user;
    const kl_targets *t = &st->targets;
    double cost = st->c * kl_svm_weight(st, row);
    if (t->goal == KL_REGRESS)
        return (kl_dual_row){t->target[row * t->columns + st->column[output]], cost};
    return (kl_dual_row){t->target[row] == (double)st->column[output] ? 1 : -1, cost};
}

/* The factors of the classes, now that all rows are known. */
static klift_status weigh_classes(kl_learner *learner)
{
    kl_svm *st = learner->state;
    kl_class_weight *c = &learner->class_weight;
    KL_TRY(kl_targets_factors(&st->targets, c));
    if (c->label.count == 0)
        return KLIFT_OK;
    KL_TRY(kl_new(&st->factor, st->targets.classes.count, sizeof *st->factor, "class weights"));
    for (int64_t k = 0; k < st->targets.classes.count; k++)
        st->factor[k] = kl_class_weight_of(c, st->targets.classes.name[k]);
    return KLIFT_OK;
}

double kl_svm_cost(const kl_learn_spec *spec, double weights)
{
    return !isnan(spec->c) ? spec->c : !isnan(spec->lambda) ? 1 / (spec->lambda * weights) : 1;
}

klift_status kl_svm_start(kl_learner *learner, kl_weights *weights, int64_t **column)
{
    kl_svm *st = learner->state;
    const kl_learn_spec *spec = &learner->spec;
    int64_t rows = st->targets.count;
    KL_TRY(weigh_classes(learner));
    double n = kl_svm_weights(st);
    *weights = (kl_weights){.goal = spec->goal, .features = learner->features, .search = KL_BY_HAND, .folds = spec->folds, .cv_error = NAN, .rows = (double)rows, .weight = n};
    KL_TRY(kl_targets_check(&st->targets, n, spec->allow_one_class));
    KL_TRY(kl_targets_check_order(&st->targets, learner->type->name));
    KL_TRY(kl_targets_outputs(&st->targets, weights, column));
    st->column = *column;
    return KLIFT_OK;
}

void kl_svm_clear(kl_learner *learner)
{
    kl_svm *st = learner->state;
    kl_targets_clear(&st->targets);
    kl_free(st->factor);
    kl_free(st->fold);
}
