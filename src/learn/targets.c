/* targets.c - labels become numbers of classes: by their text, or by the decimal form of their number. */
#include "learn/targets.h"

#include "base/memory.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

static klift_status check_batch(kl_targets *l, const kl_batch *x)
{
    if (x->label == NULL && x->target == NULL)
        return kl_fail(KLIFT_DATA, "the rows have no labels, which training needs; for NPY and IDX say labels=FILE");
    if (l->goal == KL_CLASSIFY)
        return x->label == NULL && x->targets != 1
                   ? kl_fail(KLIFT_DATA, "classification needs one label per row, the rows have %lld targets; say task=regress, or give one", (long long)x->targets)
                   : KLIFT_OK;
    if (x->target == NULL)
        return kl_fail(KLIFT_DATA, "regression needs numbers as targets, the rows have text labels; say task=classify, or give numbers");
    if (l->columns == 0)
        l->columns = x->targets;
    if (x->targets != l->columns)
        return kl_fail(KLIFT_DATA, "rows have %lld targets, the rows before them %lld; all must have as many", (long long)x->targets, (long long)l->columns);
    return KLIFT_OK;
}

static klift_status reserve(kl_targets *l, int64_t count)
{
    int64_t wide = l->goal == KL_REGRESS ? l->columns : 1, r1 = l->room, r2 = l->room * wide;
    KL_TRY(kl_grow(&l->weight, &r1, l->count, count, sizeof *l->weight, "the labels"));
    KL_TRY(kl_grow(&l->target, &r2, l->count * wide, count * wide, sizeof *l->target, "the labels"));
    l->room = r1 < r2 / wide ? r1 : r2 / wide;
    return KLIFT_OK;
}

static klift_status add_class(kl_targets *l, const kl_batch *x, int64_t row, double *number)
{
    char text[KL_NUMBER_ROOM];
    int64_t index;
    KL_TRY(kl_names_add(&l->classes, kl_batch_row_class(x, row, text), &index));
    l->columns = l->classes.count;
    *number = (double)index;
    return KLIFT_OK;
}

/* A factor for every class there is by now: those of merged statistics came without a row. */
static klift_status add_factors(kl_targets *l)
{
    KL_TRY(kl_grow(&l->factor, &l->factor_room, l->factors, l->classes.count, sizeof *l->factor, "the labels"));
    for (; l->factors < l->classes.count; l->factors++)
        l->factor[l->factors] = kl_class_weight_of(l->by_class, l->classes.name[l->factors]);
    return KLIFT_OK;
}

klift_status kl_targets_observe(kl_targets *l, const kl_batch *x)
{
    if (x->rows == 0)
        return KLIFT_OK;
    KL_TRY(check_batch(l, x));
    KL_TRY(reserve(l, l->count + x->rows));
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t at = l->count + i;
        if (l->goal == KL_CLASSIFY)
            KL_TRY(add_class(l, x, i, &l->target[at]));
        else
            memcpy(l->target + at * l->columns, x->target + i * l->columns, (size_t)l->columns * sizeof(double));
        l->weight[at] = x->weight != NULL ? x->weight[i] : 1;
        if (l->goal == KL_CLASSIFY && l->by_class != NULL) {
            KL_TRY(add_factors(l));
            l->weight[at] *= l->factor[(int64_t)l->target[at]];
        }
        l->weighted = l->weighted || l->weight[at] != 1;
    }
    l->count += x->rows;
    return KLIFT_OK;
}

const char *kl_targets_class(const kl_targets *l, int64_t row)
{
    return l->goal == KL_CLASSIFY ? l->classes.name[(int64_t)l->target[row]] : NULL;
}

typedef struct named {
    const char *name;
    int64_t column;
} named;

static int by_name(const void *a, const void *b)
{
    return kl_names_compare(((const named *)a)->name, ((const named *)b)->name);
}

klift_status kl_targets_outputs(const kl_targets *l, kl_weights *weights, int64_t **column)
{
    named *order = NULL;
    klift_status status = KLIFT_OK;
    *column = NULL;
    KL_GO(kl_new(column, l->columns + 1, sizeof **column, "outputs"));
    for (int64_t t = 0; t < l->columns; t++)
        (*column)[t] = t;
    weights->outputs = l->columns;
    if (l->goal == KL_REGRESS)
        goto done;
    KL_GO(kl_new(&order, l->columns, sizeof *order, "classes"));
    for (int64_t t = 0; t < l->columns; t++)
        order[t] = (named){l->classes.name[t], t};
    qsort(order, (size_t)l->columns, sizeof *order, by_name);
    for (int64_t t = 0; t < l->columns; t++) {
        int64_t index;
        KL_GO(kl_names_add(&weights->classes, order[t].name, &index));
        (*column)[t] = order[t].column;
    }
    if (l->columns == 2) {
        weights->outputs = 1;
        (*column)[0] = order[1].column;
    }
done:
    kl_free(order);
    return status;
}

klift_status kl_targets_check(const kl_targets *l, double weight, bool allow_one_class)
{
    if (!(weight > 0))
        return kl_fail(KLIFT_DATA, "no rows to learn from, or all weights are zero; give at least one row of a weight above 0");
    if (l->goal == KL_CLASSIFY && l->columns < 2 && !allow_one_class)
        return kl_fail(KLIFT_DATA, "one class only ('%s'): a classifier needs at least two; to train all the same say allow-one-class=true", l->columns == 1 ? l->classes.name[0] : "");
    return KLIFT_OK;
}

klift_status kl_targets_check_order(const kl_targets *l, const char *learner)
{
    if (l->count > INT32_MAX)
        return kl_fail(KLIFT_DATA, "%lld rows are more than learner %s can order (2147483647); use learner ridge, or fewer rows", (long long)l->count, learner);
    return KLIFT_OK;
}

double kl_targets_error(const kl_targets *l, const int64_t *column, int64_t row, int64_t outputs, const double *f)
{
    int64_t best = 0;
    double sum = 0;
    for (int64_t o = 0; l->goal == KL_REGRESS && o < outputs; o++) {
        double miss = f[o] - l->target[row * l->columns + column[o]];
        sum += miss * miss / (double)outputs;
    }
    if (l->goal == KL_REGRESS)
        return sum;
    if (outputs == 1 && l->columns == 2)
        return (f[0] > 0) != (l->target[row] == (double)column[0]);
    for (int64_t o = 1; o < outputs; o++)
        best = f[o] > f[best] ? o : best;
    return l->target[row] != (double)column[best];
}

double kl_targets_weight(const kl_targets *l)
{
    double sum = 0;
    for (int64_t i = 0; i < l->count; i++)
        sum += l->weight[i];
    return sum;
}

klift_status kl_targets_factors(const kl_targets *l, kl_class_weight *c)
{
    double *sum = NULL;
    if (!c->balanced)
        return KLIFT_OK;
    KL_TRY(kl_new(&sum, l->classes.count, sizeof *sum, "class weights"));
    for (int64_t i = 0; i < l->count; i++)
        sum[(int64_t)l->target[i]] += l->weight[i];
    klift_status status = kl_class_weight_balance(c, &l->classes, sum);
    kl_free(sum);
    return status;
}

klift_status kl_targets_balance(kl_targets *l, kl_class_weight *c)
{
    double *factor;
    if (!c->balanced) /* the weights have their factors */
        return KLIFT_OK;
    KL_TRY(kl_targets_factors(l, c));
    KL_TRY(kl_new(&factor, l->classes.count, sizeof *factor, "class weights"));
    for (int64_t k = 0; k < l->classes.count; k++)
        factor[k] = kl_class_weight_of(c, l->classes.name[k]);
    for (int64_t i = 0; i < l->count; i++)
        l->weight[i] *= factor[(int64_t)l->target[i]];
    kl_free(factor);
    return KLIFT_OK;
}

void kl_targets_save(const kl_targets *l, kl_record_writer *to)
{
    kl_record_put_i64(to, l->columns);
    kl_record_put_i64(to, l->weighted);
    kl_names_save(&l->classes, to);
}

klift_status kl_targets_load(kl_targets *l, kl_record_reader *from)
{
    int64_t weighted;
    KL_TRY(kl_record_get_i64(from, 0, (from->end - from->at) / 8, &l->columns)); /* every one of them has numbers behind these */
    KL_TRY(kl_record_get_i64(from, 0, 1, &weighted));
    KL_TRY(kl_names_load(&l->classes, from));
    l->weighted = weighted == 1;
    return l->classes.count == (l->goal == KL_CLASSIFY ? l->columns : 0) ? KLIFT_OK : kl_record_damaged("its classes and its targets do not agree");
}

void kl_targets_clear(kl_targets *l)
{
    kl_free(l->target);
    kl_free(l->weight);
    kl_free(l->factor);
    kl_names_clear(&l->classes);
    *l = (kl_targets){0};
}
