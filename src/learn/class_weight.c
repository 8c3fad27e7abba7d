/* class_weight.c - see class_weight.h. A label that is a number means every way of writing it: +1 and 1.0 are the class 1. */
#include "learn/class_weight.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

#define FORM "write LABEL=WEIGHT, joined by commas, or balanced, or none"

static bool names(const char *label, const char *class_name)
{
    double value;
    char text[KL_NUMBER_ROOM];
    if (strcmp(label, class_name) == 0)
        return true;
    if (!kl_number_parse(label[0] == '+' ? label + 1 : label, &value))
        return false;
    kl_names_of_number(value, text);
    return strcmp(text, class_name) == 0;
}

static int64_t find(const kl_class_weight *c, const char *class_name)
{
    int64_t exact = kl_names_find(&c->label, class_name);
    for (int64_t i = 0; exact < 0 && i < c->label.count; i++)
        if (names(c->label.name[i], class_name))
            return i;
    return exact;
}

/* The same label, whichever of the two is written in full. */
static int64_t find_label(const kl_class_weight *c, const char *label)
{
    for (int64_t i = 0; i < c->label.count; i++)
        if (names(label, c->label.name[i]) || names(c->label.name[i], label))
            return i;
    return -1;
}

static klift_status add(kl_class_weight *c, const char *label, double weight)
{
    int64_t index;
    KL_TRY(kl_grow(&c->weight, &c->room, c->label.count, c->label.count + 1, sizeof *c->weight, "class weights"));
    KL_TRY(kl_names_add(&c->label, label, &index));
    c->weight[index] = weight;
    return KLIFT_OK;
}

/* One LABEL=W; the last equals sign parts them, so that a label may have others. */
static klift_status read_item(kl_class_weight *c, char *item)
{
    char *equals = strrchr(item, '=');
    double weight;
    if (equals == NULL || equals == item)
        return kl_fail(KLIFT_USAGE, "class-weight: '%.60s' is not of the form LABEL=WEIGHT; " FORM, item);
    *equals = '\0';
    if (!kl_number_parse(equals + 1, &weight) || !isfinite(weight) || weight < 0)
        return kl_fail(KLIFT_USAGE, "class-weight: the weight of label '%.60s' is '%.60s'; it must be a number of at least 0", item, equals + 1);
    if (find_label(c, item) >= 0)
        return kl_fail(KLIFT_USAGE, "class-weight: label '%.60s' has two weights; give one", item);
    return add(c, item, weight);
}

klift_status kl_class_weight_read(const char *text, kl_class_weight *c)
{
    char *copy = NULL;
    klift_status status = KLIFT_OK;
    *c = (kl_class_weight){.balanced = strcmp(text, "balanced") == 0};
    if (c->balanced || strcmp(text, "none") == 0)
        return KLIFT_OK;
    c->given = true;
    KL_TRY(kl_copy_text(&copy, text));
    for (char *item = copy, *end; item != NULL && status == KLIFT_OK; item = end) {
        end = strchr(item, ',');
        if (end != NULL)
            *end++ = '\0';
        status = read_item(c, item);
    }
    kl_free(copy);
    return status;
}

klift_status kl_class_weight_check_text(const char *text)
{
    kl_class_weight c;
    klift_status status = kl_class_weight_read(text, &c);
    kl_class_weight_clear(&c);
    return status;
}

klift_status kl_class_weight_balance(kl_class_weight *c, const kl_names *classes, const double *sum)
{
    double n = 0, k = 0;
    for (int64_t i = 0; i < classes->count; i++) {
        n += sum[i];
        k += sum[i] > 0;
    }
    c->balanced = false;
    for (int64_t i = 0; i < classes->count; i++)
        KL_TRY(add(c, classes->name[i], sum[i] > 0 ? n / (k * sum[i]) : 1));
    return KLIFT_OK;
}

double kl_class_weight_of(const kl_class_weight *c, const char *class_name)
{
    int64_t index = find(c, class_name);
    return index < 0 ? 1 : c->weight[index];
}

klift_status kl_class_weight_check(const kl_class_weight *c, const kl_names *classes)
{
    enum { SHOWN = 10 };
    kl_text known = {0};
    klift_status status = KLIFT_OK;
    for (int64_t i = 0; c->given && i < c->label.count; i++) {
        int64_t k = 0;
        while (k < classes->count && !names(c->label.name[i], classes->name[k]))
            k++;
        if (k < classes->count)
            continue;
        for (k = 0; k < classes->count && k < SHOWN; k++)
            kl_text_add(&known, "%s%s", k > 0 ? ", " : "", classes->name[k]);
        status = kl_text_status(&known);
        if (status == KLIFT_OK)
            status = kl_fail(KLIFT_DATA, "class-weight: no row has the label '%.60s'; labels are %.400s%s", c->label.name[i], known.text != NULL ? known.text : "none",
                             classes->count > SHOWN ? " ..." : "");
        break;
    }
    kl_text_clear(&known);
    return status;
}

bool kl_class_weight_same(const kl_class_weight *a, const kl_class_weight *b)
{
    if (a->balanced != b->balanced || a->label.count != b->label.count)
        return false;
    for (int64_t i = 0; i < a->label.count; i++) {
        int64_t other = find_label(b, a->label.name[i]);
        if (other < 0 || a->weight[i] != b->weight[other])
            return false;
    }
    return true;
}

void kl_class_weight_print(const kl_class_weight *c, kl_text *text)
{
    if (c->label.count == 0)
        kl_text_add(text, "%s", c->balanced ? "balanced" : "none");
    for (int64_t i = 0; i < c->label.count; i++) {
        kl_text_add(text, "%s%s=", i > 0 ? "," : "", c->label.name[i]);
        kl_text_add_number(text, c->weight[i]);
    }
}

void kl_class_weight_clear(kl_class_weight *c)
{
    kl_names_clear(&c->label);
    kl_free(c->weight);
    *c = (kl_class_weight){0};
}
