/* learner.c - the registry of learners, and the weights they give. */
#include "learn/learner.h"

#include "base/memory.h"
#include "base/number.h"
#include "learn/dual.h"

#include <math.h>
#include <string.h>

#define LEARNER(name) extern const kl_learner_type kl_learner_##name;
#include "learn/learner_list.h"
#undef LEARNER

enum { ENTRIES = 1 << 20 }; /* of sparse features that are on their way at a time */

static const kl_learner_type *const types[] = {
#define LEARNER(name) &kl_learner_##name,
#include "learn/learner_list.h"
#undef LEARNER
    NULL};

const kl_learner_type *kl_learner_type_at(int64_t index)
{
    return types[index];
}

const char *kl_learner_name_at(int64_t index, const void *context)
{
    (void)context;
    return types[index] != NULL ? types[index]->name : NULL;
}

const char *kl_search_name(kl_search search)
{
    static const char *const names[] = {"folds", "holdout", "gcv", "none"};
    return names[search];
}

int64_t kl_learner_block(int64_t features)
{
    return features <= 8192 ? 4096 : 1024;
}

kl_narrow kl_learner_narrow(const kl_learner *learner)
{
    return learner->type->narrow != NULL ? learner->type->narrow(learner) : KL_FLOAT32;
}

int64_t kl_learner_halves(int64_t features)
{
    enum { LINE = 32, SCALE = 2 };
    return (features + SCALE + LINE - 1) / LINE * LINE;
}

int64_t kl_learner_line(const kl_learner *learner, const kl_extent *extent)
{
    if (extent->entries > 0)
        return extent->entries * (int64_t)(sizeof(float) + sizeof(int32_t)) + (int64_t)sizeof(int64_t);
    return kl_learner_narrow(learner) == KL_FLOAT32 ? learner->features * (int64_t)sizeof(float) : kl_learner_halves(learner->features) * (int64_t)sizeof(uint16_t);
}

int64_t kl_learner_width(const kl_learner *learner, const kl_extent *extent)
{
    return learner->type->by_parts && extent->parts > 0 ? learner->features / extent->parts : learner->features;
}

int64_t kl_learner_taken(const kl_learner *learner, const kl_extent *extent)
{
    int64_t most = kl_learner_block(kl_learner_width(learner, extent));
    if (extent->entries > 0 && ENTRIES / extent->entries < most)
        most = (ENTRIES / extent->entries / KL_DUAL_CHUNK + 1) * KL_DUAL_CHUNK;
    return extent->rows < most ? extent->rows + 1 : most; /* + 1: that there are no more is seen at once */
}

kl_kept kl_learner_keep(const kl_learner *learner, const kl_extent *extent, int64_t limit)
{
    int64_t line = kl_learner_line(learner, extent);
    bool by_parts = learner->type->by_parts;
    if (!by_parts && extent->rows <= limit / 2 / line)
        return KL_KEEP_FEATURES;
    if (extent->rows <= limit / 4 / (extent->row_bytes + 1)) /* + 1: nothing is known of a row */
        return KL_KEEP_ROWS;
    return by_parts || (extent->row_bytes > 0 && extent->row_bytes < line / 2) ? KL_FILE_ROWS : KL_FILE_FEATURES; /* half: they are to be lifted again */
}

/* Features of a block are float32 on their way, or CSR, whatever is kept of them. */
void kl_learner_plan_passes(const kl_learner *learner, const kl_extent *extent, int64_t limit, kl_plan *plan)
{
    int64_t block = kl_learner_taken(learner, extent), line = kl_learner_line(learner, extent), rows = extent->rows, known = rows < INT64_MAX / 64 ? rows : 0;
    int64_t way = extent->entries > 0 ? line : kl_learner_width(learner, extent) * (int64_t)sizeof(float);
    kl_kept keep = kl_learner_keep(learner, extent, limit);
    bool kept = keep == KL_KEEP_FEATURES, filed = keep == KL_FILE_ROWS || keep == KL_FILE_FEATURES;
    kl_plan_add(plan, kept ? rows * line : 0, "features of %lld rows", (long long)rows);
    kl_plan_add(plan, kept && extent->entries == 0 && kl_learner_narrow(learner) == KL_FLOAT32 ? 0 : block * way, "features of %lld rows%s", (long long)block,
                kept ? " on their way" : keep == KL_FILE_FEATURES ? ", from a file" : ", made in every pass");
    kl_plan_add(plan, keep == KL_KEEP_ROWS ? (rows + block) * extent->row_bytes : keep == KL_FILE_ROWS ? 2 * block * extent->row_bytes : 0, "%lld rows%s",
                (long long)(filed ? block : rows), filed ? " from a file" : ""); /* and those of a block once more, in its order */
    kl_plan_add(plan, (filed ? 4 : 3) * known * (int64_t)sizeof(double), "labels, weights and order of the rows");
}

static klift_status read_type(kl_learner *learner, const kl_spec *spec)
{
    char where[80] = "learner ";
    for (int64_t i = 0; types[i] != NULL; i++)
        if (strcmp(types[i]->name, spec->name) == 0)
            learner->type = types[i];
    if (learner->type == NULL)
        return kl_unknown("learner", spec->name, kl_learner_name_at, NULL);
    strncat(where, spec->name, 60);
    return kl_params_read(learner->type->params, spec, where, learner->value);
}

static klift_status check_code(const kl_learner_type *type, const kl_learn_spec *spec)
{
    if (spec->code == KL_CODE_NONE && spec->bits > 0)
        return kl_fail(KLIFT_USAGE, "bits=%lld without a code; say code=random or another one, or leave bits out", (long long)spec->bits);
    if (spec->code == KL_CODE_NONE && spec->decode != KL_DECODE_SOFT)
        return kl_fail(KLIFT_USAGE, "decode=%s without a code; say code=random or another one, or leave decode out", kl_decode_name(spec->decode));
    if (spec->code != KL_CODE_NONE && !type->codes)
        return kl_fail(KLIFT_USAGE, "learner %s learns no codes of classes; leave code=%s out, or use learner=ridge", type->name, kl_code_name(spec->code));
    if (spec->code != KL_CODE_NONE && spec->goal == KL_REGRESS)
        return kl_fail(KLIFT_USAGE, "code=%s is for classes, the targets are numbers; leave code out, or say task=classify", kl_code_name(spec->code));
    return KLIFT_OK;
}

static klift_status check_probability(const kl_learner_type *type, const kl_learn_spec *spec)
{
    if (!spec->probability)
        return KLIFT_OK;
    if (spec->goal == KL_REGRESS)
        return kl_fail(KLIFT_USAGE, "probability=true is for classes, the targets are numbers; leave it out, or say task=classify");
    if (!type->probabilities)
        return kl_fail(KLIFT_USAGE, "learner %s fits no probabilities; leave probability=true out, or use learner=ridge, learner=svm or learner=logistic", type->name);
    if (spec->search_given && spec->search == KL_BY_GCV)
        return kl_fail(KLIFT_USAGE, "search=gcv holds no rows out, and probability=true needs some; use search=folds or search=holdout, or leave it out");
    return KLIFT_OK;
}

static klift_status check_start(const kl_learner_type *type, const kl_learn_spec *spec)
{
    if (spec->start == NULL || type->starts)
        return KLIFT_OK;
    return kl_fail(KLIFT_USAGE, "learner %s does not go on from a model: %s; leave warm-start out, or use learner=sgd", type->name,
                   type->merge != NULL ? "its statistics are not in it, add them by klift_stats instead" : "its solution is the same wherever it begins");
}

static klift_status check_holdout(const kl_learner_type *type, const kl_learn_spec *spec)
{
    if (spec->early_stop > 0 && spec->holdout == 0)
        return kl_fail(KLIFT_USAGE, "early-stop=%lld needs rows held out; leave holdout=0 out", (long long)spec->early_stop);
    if (spec->holdout == 0 || type->stops)
        return KLIFT_OK;
    return kl_fail(KLIFT_USAGE, "learner %s does not end early by rows held out; leave holdout and early-stop out, or use learner=sgd:passes=100%s", type->name,
                   type->codes || type->paths ? "; search=holdout chooses lambda by them" : "");
}

static klift_status read_text(kl_learner *learner, const char *text)
{
    kl_spec *parsed = NULL;
    KL_TRY(kl_spec_parse(text, "learner", &parsed));
    klift_status status = read_type(learner, parsed);
    kl_spec_free(parsed);
    return status;
}

klift_status kl_learner_check(const char *text)
{
    kl_learner learner = {0};
    return read_text(&learner, text);
}

klift_status kl_learner_by_parts(const char *text, bool *by_parts)
{
    kl_learner learner = {0};
    KL_TRY(read_text(&learner, text));
    *by_parts = learner.type->by_parts;
    return KLIFT_OK;
}

static klift_status read_class_weight(kl_learner *learner, const kl_learn_spec *spec)
{
    kl_class_weight *c = &learner->class_weight;
    if (spec->class_weight == NULL)
        return KLIFT_OK;
    KL_TRY(kl_class_weight_read(spec->class_weight, c));
    if ((c->given || c->balanced) && spec->goal == KL_REGRESS)
        return kl_fail(KLIFT_USAGE, "class-weight is for classes, and the task is regress: leave it out, or say task=classify");
    return c->balanced && spec->tally != NULL ? kl_class_weight_balance(c, &spec->tally->classes, spec->tally->weight) : KLIFT_OK;
}

static klift_status read_path(kl_learner *learner, const kl_learn_spec *spec)
{
    if (spec->path == NULL)
        return KLIFT_OK;
    KL_TRY(kl_cost_path_read(spec->path, &learner->path));
    if (learner->path.count > 0 && !learner->type->paths)
        return kl_fail(KLIFT_USAGE, "learner %s takes no path of C; leave path=%s out, or use learner=svm", learner->type->name, spec->path);
    return KLIFT_OK;
}

klift_status kl_learner_new(const char *text, const kl_learn_spec *spec, int64_t features, klift_run *run, kl_learner **out)
{
    kl_spec *parsed = NULL;
    kl_learner *learner = NULL;
    klift_status status;
    *out = NULL;
    KL_GO(kl_spec_parse(text, "learner", &parsed));
    KL_GO(kl_new(&learner, 1, sizeof *learner, "a learner"));
    KL_GO(read_type(learner, parsed));
    KL_GO(check_code(learner->type, spec));
    KL_GO(check_probability(learner->type, spec));
    KL_GO(check_start(learner->type, spec));
    KL_GO(check_holdout(learner->type, spec));
    learner->spec = *spec;
    learner->spec.path = learner->spec.class_weight = NULL;
    learner->spec.tally = NULL;
    KL_GO(read_path(learner, spec));
    KL_GO(read_class_weight(learner, spec));
    learner->features = features;
    learner->loss = NAN;
    KL_GO(kl_new(&learner->state, (int64_t)learner->type->state_size, 1, "a learner"));
    KL_GO(learner->type->begin(learner, run));
    *out = learner;
    learner = NULL;
done:
    kl_spec_free(parsed);
    kl_learner_free(learner);
    return status;
}

klift_status kl_learner_add(kl_text *text, const char *key, double value, const char *word)
{
    kl_spec *parsed = NULL;
    kl_learner learner = {0};
    KL_TRY(kl_spec_parse(text->text, "learner", &parsed));
    klift_status status = read_type(&learner, parsed);
    if (status == KLIFT_OK && kl_params_find(learner.type->params, key) < 0)
        status = kl_fail(KLIFT_USAGE, "learner %s has no %s: leave it out, or choose another learner, such as learner=svm", learner.type->name, key);
    for (int64_t i = 0; status == KLIFT_OK && i < parsed->items; i++)
        if (parsed->item[i].key != NULL && strcmp(parsed->item[i].key, key) == 0)
            status = kl_fail(KLIFT_USAGE, "the learner's text and the setting %s both say its %s: give one of them", key, key);
    if (status == KLIFT_OK) {
        kl_text_add(text, "%c%s=", parsed->items > 0 ? ',' : ':', key);
        if (word != NULL)
            kl_text_add(text, "%s", word);
        else
            kl_text_add_number(text, value);
        status = kl_text_status(text);
    }
    kl_spec_free(parsed);
    return status;
}

klift_status kl_learner_plan(const char *text, const kl_learn_spec *spec, int64_t features, const kl_extent *extent, klift_run *run, kl_plan *plan)
{
    kl_spec *parsed = NULL;
    kl_learner learner = {.spec = *spec, .features = features};
    KL_TRY(kl_spec_parse(text, "learner", &parsed));
    klift_status status = read_type(&learner, parsed);
    if (status == KLIFT_OK)
        status = check_code(learner.type, spec);
    if (status == KLIFT_OK)
        status = check_probability(learner.type, spec);
    if (status == KLIFT_OK)
        learner.type->plan(&learner, extent, kl_run_memory(run), plan);
    kl_spec_free(parsed);
    return status;
}

bool kl_learner_streams(const kl_learner *learner)
{
    return learner->type->learn == NULL || (learner->type->streams != NULL && learner->type->streams(learner->value));
}

bool kl_watch_due(kl_watch *watch, int64_t rows, const klift_run *run)
{
    if (watch == NULL)
        return false;
    watch->rows = rows;
    return rows >= kl_run_wanted(run);
}

void kl_learner_print(const kl_learner *learner, kl_text *text)
{
    kl_text_add(text, "%s", learner->type->name);
    kl_params_print(learner->type->params, learner->value, text);
}

static klift_status refuse_merge(const char *setting, const char *a, const char *b)
{
    return kl_fail(KLIFT_USAGE, "statistics with %s=%.200s and %s=%.200s cannot be merged; make all parts with the same spec", setting, a, setting, b);
}

static klift_status same_numbers(const char *setting, double a, double b, const char *otherwise)
{
    char first[KL_NUMBER_ROOM], second[KL_NUMBER_ROOM];
    if (a == b || (isnan(a) && isnan(b)))
        return KLIFT_OK;
    kl_number_print(a, first);
    kl_number_print(b, second);
    return refuse_merge(setting, isnan(a) ? otherwise : first, isnan(b) ? otherwise : second);
}

static klift_status same_words(const char *setting, const char *a, const char *b)
{
    return strcmp(a, b) == 0 ? KLIFT_OK : refuse_merge(setting, a, b);
}

/* Clears both. */
static klift_status same_texts(const char *setting, kl_text *a, kl_text *b)
{
    klift_status status = kl_text_status(a);
    if (status == KLIFT_OK)
        status = kl_text_status(b);
    if (status == KLIFT_OK)
        status = same_words(setting, a->text, b->text);
    kl_text_clear(a);
    kl_text_clear(b);
    return status;
}

static klift_status same_learners(const kl_learner *a, const kl_learner *b)
{
    kl_text first = {0}, second = {0};
    kl_learner_print(a, &first);
    kl_learner_print(b, &second);
    return same_texts("learner", &first, &second);
}

static klift_status same_weights(const kl_class_weight *a, const kl_class_weight *b)
{
    kl_text first = {0}, second = {0};
    if (kl_class_weight_same(a, b))
        return KLIFT_OK;
    kl_class_weight_print(a, &first);
    kl_class_weight_print(b, &second);
    return same_texts("class-weight", &first, &second);
}

/* What is not compared here decides nothing, or is compared by the statistics: the search that auto took. */
klift_status kl_learner_merge(kl_learner *into, const kl_learner *from, int sign)
{
    static const char *const goals[] = {"classify", "regress"}, *const truth[] = {"false", "true"};
    const kl_learn_spec *a = &into->spec, *b = &from->spec;
    KL_TRY(same_learners(into, from));
    KL_TRY(same_weights(&into->class_weight, &from->class_weight));
    KL_TRY(same_words("task", goals[a->goal], goals[b->goal]));
    KL_TRY(same_numbers("lambda", a->lambda, b->lambda, "auto"));
    KL_TRY(same_numbers("c", a->c, b->c, "none"));
    KL_TRY(same_numbers("folds", a->folds, b->folds, ""));
    KL_TRY(same_words("code", kl_code_name(a->code), kl_code_name(b->code)));
    KL_TRY(same_numbers("bits", a->bits > 0 ? (double)a->bits : NAN, b->bits > 0 ? (double)b->bits : NAN, "auto"));
    KL_TRY(same_words("decode", kl_decode_name(a->decode), kl_decode_name(b->decode)));
    KL_TRY(same_words("allow-one-class", truth[a->allow_one_class], truth[b->allow_one_class]));
    KL_TRY(same_words("probability", truth[a->probability], truth[b->probability]));
    KL_TRY(same_numbers("seed", (double)a->seed, (double)b->seed, ""));
    return into->type->merge(into, from, sign);
}

void kl_learner_free(kl_learner *learner)
{
    if (learner == NULL)
        return;
    if (learner->type != NULL && learner->state != NULL)
        learner->type->clear(learner);
    kl_class_weight_clear(&learner->class_weight);
    kl_free(learner->state);
    kl_free(learner);
}

void kl_weights_clear(kl_weights *weights)
{
    kl_free(weights->w);
    kl_free(weights->b);
    kl_names_clear(&weights->classes);
    kl_code_clear(&weights->code);
    *weights = (kl_weights){0};
}
