/* settings.c - the options of klift_spec: parsed, checked, printed by one table. */
#include "model/settings.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { KERNEL, MAP, FEATURES, LEARNER, TOLERANCE, EPSILON, BIAS, CACHE, LAMBDA, C, PATH, SEARCH, FOLDS, CODE, BITS, DECODE, PREPARE, TASK, ONE_CLASS, PROBABILITY, CLASS_WEIGHT, HOLDOUT, EARLY_STOP, WARM_START, SEED, DIM };

static const double HELD_OUT = 0.1; /* with early-stop, where the share is not said */

const kl_param kl_settings_params[] = {
    {"kernel", KL_FREE, "gaussian", 0, 0, false, NULL, "kernel with parameters, e.g. gaussian:gamma=0.5 (klift list kernels)"},
    {"map", KL_FREE, "auto", 0, 0, false, NULL, "feature map with parameters (klift list maps); auto: by the kernel"},
    {"features", KL_WHOLE, "2048", 1, 1 << 24, false, NULL, "output columns of the map"},
    {"learner", KL_FREE, "ridge", 0, 0, false, NULL, "learner (klift list learners)"},
    {"tolerance", KL_REAL, "auto", 0, 1, true, "auto", "tolerance of the learner, such as svm's: the duality gap at which it stops"},
    {"epsilon", KL_REAL, "auto", 0, 1e30, false, "auto", "epsilon of the learner, such as svm's: errors of a regression that cost nothing"},
    {"bias", KL_REAL, "auto", -1, 1e30, false, "auto", "bias of the learner, such as svm's: the constant feature behind the intercept, -1 or 0: none"},
    {"cache", KL_WORD, "auto", 0, 0, false, "auto|float32|bf16|int16", "cache of the learner, such as svm's: what features are rounded to for training; int16 and bf16 take half the memory"},
    {"lambda", KL_REAL, "auto", 0, 1e30, true, "auto", "ridge, relative to the number of rows; auto: by search"},
    {"c", KL_REAL, "none", 0, 1e30, true, "none", "LIBSVM's C: lambda = 1 / (C n)"},
    {"path", KL_FREE, "none", 0, 0, false, NULL, "values of C to choose from by the search (svm), each begun where the last one ended: none, auto or C,C,..."},
    {"search", KL_WORD, "auto", 0, 0, false, KL_SEARCH_WORDS, "how lambda is chosen; auto: holdout for more than 2048 features and 16384 rows; otherwise folds while they fit half of max-memory, else holdout, else gcv"},
    {"folds", KL_WHOLE, "5", 2, 100, false, NULL, "folds of the cross-validation"},
    {"code", KL_WORD, "none", 0, 0, false, KL_CODE_WORDS, "error-correcting output code of the classes (ridge); none: one class against the rest"},
    {"bits", KL_WHOLE, "auto", 1, KL_CODE_MOST_BITS, false, "auto", "bits of a random or balanced code; auto: 50 for every doubling of the classes"},
    {"decode", KL_WORD, "soft", 0, 0, false, KL_DECODE_WORDS, "how bits become a class: by their values, or by their signs only"},
    {"prepare", KL_WORD, "none", 0, 0, false, KL_PREPARE_WORDS, "what is done to rows before the map"},
    {"task", KL_WORD, "auto", 0, 0, false, KL_TASK_WORDS, "classify or regress; auto: by the labels"},
    {"allow-one-class", KL_WORD, "false", 0, 0, false, "false|true", "train a classifier on rows of one class: it always answers that class"},
    {"probability", KL_WORD, "false", 0, 0, false, "false|true", "fit probabilities of the classes on scores of rows held out"},
    {"class-weight", KL_FREE, "none", 0, 0, false, NULL, "factor of the rows of a class: none, balanced (all classes weigh the same) or LABEL=W,LABEL=W"},
    {"holdout", KL_REAL, "auto", 0, 0.9, false, "auto", "share of the rows that sgd with several passes holds out, to give the weights of the pass with the least error on them; auto: 0.1 with early-stop, otherwise 0"},
    {"early-stop", KL_WHOLE, "0", 0, 1000000000, false, NULL, "end sgd when so many passes in a row were no better on the rows held out; 0: never"},
    {"warm-start", KL_FREE, "none", 0, 0, false, NULL, "a model to go on from (sgd), or to begin at (logistic): preparation, map, seed and lambda are its own"},
    {"seed", KL_WHOLE, "1", 0, 0x1p53, false, NULL, "seed of everything random"},
    {"dim", KL_WHOLE, "0", 0, INT32_MAX, false, NULL, "columns of the data, for a map made without data; 0: from the data"},
    {0}};

klift_status kl_settings_new(klift_spec **spec)
{
    klift_status status;
    KL_TRY(kl_new(spec, 1, sizeof **spec, "a spec"));
    (*spec)->lambda = (*spec)->c = NAN;
    for (int i = MAP; kl_settings_params[i].name != NULL; i++)
        KL_GO(kl_settings_set(*spec, kl_settings_params[i].name, kl_settings_params[i].fallback));
    (*spec)->given = 0;
    return KLIFT_OK;
done:
    kl_settings_free(*spec);
    *spec = NULL;
    return status;
}

static klift_status check_kernel(const char *text)
{
    kl_kernel *kernel;
    KL_TRY(kl_kernel_new(text, &kernel));
    kl_kernel_free(kernel);
    return KLIFT_OK;
}

static klift_status check_file(const char *text)
{
    return *text != '\0' ? KLIFT_OK : kl_fail(KLIFT_USAGE, "warm-start is empty; give the file of a model, or none");
}

static klift_status set_text(char **field, const char *value, klift_status (*check)(const char *))
{
    char *copy;
    KL_TRY(check(value));
    KL_TRY(kl_copy_text(&copy, value));
    kl_free(*field);
    *field = copy;
    return KLIFT_OK;
}

static bool has_path(const klift_spec *spec)
{
    return spec->path != NULL && strcmp(spec->path, "none") != 0;
}

klift_status kl_settings_set(klift_spec *spec, const char *key, const char *value)
{
    kl_value v;
    int64_t index = kl_params_find(kl_settings_params, key);
    if (index < 0)
        return kl_unknown("setting", key, kl_param_name_at, kl_settings_params);
    KL_TRY(kl_param_read(&kl_settings_params[index], value, "settings", &v));
    spec->given |= UINT64_C(1) << index;
    switch (index) {
    case KERNEL: return set_text(&spec->kernel, value, check_kernel);
    case MAP: return set_text(&spec->map, value, kl_map_check);
    case LEARNER: return set_text(&spec->learner, value, kl_learner_check);
    case FEATURES: spec->features = (int64_t)v.number; break;
    case TOLERANCE: spec->tolerance = v.number; break;
    case EPSILON: spec->epsilon = v.number; break;
    case BIAS: spec->bias = v.number; break;
    case CACHE: spec->cache = v.word; break;
    case LAMBDA: spec->lambda = v.number; break;
    case C: spec->c = v.number; break;
    case PATH: KL_TRY(set_text(&spec->path, value, kl_cost_path_check)); break;
    case SEARCH: spec->search = v.word; break;
    case FOLDS: spec->folds = (int)v.number; break;
    case CODE: spec->code = (kl_code_kind)v.word; break;
    case BITS: spec->bits = isnan(v.number) ? 0 : (int64_t)v.number; break;
    case DECODE: spec->decode = (kl_decode)v.word; break;
    case PREPARE: spec->prepare = (kl_prepare_kind)v.word; break;
    case TASK: spec->task = v.word; break;
    case ONE_CLASS: spec->allow_one_class = v.word == 1; break;
    case PROBABILITY: spec->probability = v.word == 1; break;
    case CLASS_WEIGHT: return set_text(&spec->class_weight, value, kl_class_weight_check_text);
    case HOLDOUT: spec->holdout = v.number; break;
    case EARLY_STOP: spec->early_stop = (int64_t)v.number; break;
    case WARM_START: return set_text(&spec->warm_start, value, check_file);
    case SEED: spec->seed = (uint64_t)v.number; break;
    default: spec->dim = (int64_t)v.number; break;
    }
    if (!isnan(spec->lambda) && !isnan(spec->c))
        return kl_fail(KLIFT_USAGE, "lambda and c are two names of one thing: give one of them");
    if (has_path(spec) && !(isnan(spec->lambda) && isnan(spec->c)))
        return kl_fail(KLIFT_USAGE, "path chooses C: leave lambda and c out, or the path");
    return KLIFT_OK;
}

bool kl_settings_given(const klift_spec *spec, const char *key)
{
    return spec->given >> kl_params_find(kl_settings_params, key) & 1;
}

const char *kl_settings_kernel(const klift_spec *spec)
{
    if (spec->kernel != NULL)
        return spec->kernel;
    return strcmp(spec->map, "identity") == 0 ? "linear" : "gaussian";
}

static void print_number(kl_text *text, const char *key, double value, const char *otherwise)
{
    kl_text_add(text, ",%s=", key);
    if (isnan(value))
        kl_text_add(text, "%s", otherwise);
    else
        kl_text_add_number(text, value);
}

static void print_word(kl_text *text, int param, int word)
{
    kl_text_add(text, ",%s=", kl_settings_params[param].name);
    kl_value_print(&kl_settings_params[param], (kl_value){NAN, word}, text);
}

void kl_settings_print(const klift_spec *spec, kl_text *text)
{
    kl_text_add(text, "kernel=");
    kl_spec_print_value(kl_settings_kernel(spec), text);
    kl_text_add(text, ",map=");
    kl_spec_print_value(spec->map, text);
    print_number(text, "features", (double)spec->features, "");
    kl_text_add(text, ",learner=");
    kl_spec_print_value(spec->learner, text);
    print_number(text, "tolerance", spec->tolerance, "auto");
    print_number(text, "epsilon", spec->epsilon, "auto");
    print_number(text, "bias", spec->bias, "auto");
    print_word(text, CACHE, spec->cache);
    print_number(text, "lambda", spec->lambda, "auto");
    print_number(text, "c", spec->c, "none");
    kl_text_add(text, ",path=");
    kl_spec_print_value(spec->path, text);
    print_word(text, SEARCH, spec->search);
    print_number(text, "folds", spec->folds, "");
    print_word(text, CODE, (int)spec->code);
    print_number(text, "bits", spec->bits > 0 ? (double)spec->bits : NAN, "auto");
    print_word(text, DECODE, (int)spec->decode);
    print_word(text, PREPARE, (int)spec->prepare);
    print_word(text, TASK, spec->task);
    print_word(text, ONE_CLASS, spec->allow_one_class);
    print_word(text, PROBABILITY, spec->probability);
    kl_text_add(text, ",class-weight=");
    kl_spec_print_value(spec->class_weight, text);
    print_number(text, "holdout", spec->holdout, "auto");
    print_number(text, "early-stop", (double)spec->early_stop, "");
    kl_text_add(text, ",warm-start=");
    kl_spec_print_value(spec->warm_start, text);
    print_number(text, "seed", (double)spec->seed, "");
    print_number(text, "dim", (double)spec->dim, "");
}

void kl_settings_free(klift_spec *spec)
{
    if (spec == NULL)
        return;
    kl_free(spec->kernel);
    kl_free(spec->map);
    kl_free(spec->learner);
    kl_free(spec->path);
    kl_free(spec->class_weight);
    kl_free(spec->warm_start);
    kl_free(spec);
}

klift_status kl_settings_learner(const klift_spec *spec, kl_text *text)
{
    static const char *const words[] = {NULL, "float32", "bf16", "int16"}; /* of cache */
    const struct {
        const char *key;
        double value;
        const char *word;
    } more[] = {{"tolerance", spec->tolerance, NULL}, {"epsilon", spec->epsilon, NULL}, {"bias", spec->bias, NULL}, {"cache", NAN, words[spec->cache]}};
    kl_text_add(text, "%s", spec->learner);
    KL_TRY(kl_text_status(text));
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (!isnan(more[i].value) || more[i].word != NULL)
            KL_TRY(kl_learner_add(text, more[i].key, more[i].value, more[i].word));
    return KLIFT_OK;
}

klift_status kl_settings_goal(const klift_spec *spec, const kl_survey *survey, kl_goal *goal)
{
    *goal = spec->task == 2 ? KL_REGRESS : KL_CLASSIFY;
    if (!survey->text_labels && survey->targets == 0)
        return kl_fail(KLIFT_DATA, "the rows have no labels, which training needs; for NPY and IDX say labels=FILE");
    if (spec->task == 1 && survey->targets > 1)
        return kl_fail(KLIFT_DATA, "task=classify needs one label per row, the rows have %lld targets; say task=regress, or give one",
                       (long long)survey->targets);
    if (spec->task == 1 && survey->fractions)
        return kl_fail(KLIFT_DATA, "task=classify, but labels have fractions (such as 1.5); say task=regress");
    if (spec->task == 2 && survey->text_labels)
        return kl_fail(KLIFT_DATA, "task=regress, but labels are words, not numbers; say task=classify");
    if (spec->task != 0)
        return KLIFT_OK;
    bool many = survey->distinct >= KL_SURVEY_DISTINCT;
    if (survey->text_labels || (survey->targets == 1 && !survey->fractions && !many))
        *goal = KL_CLASSIFY;
    else if (survey->targets > 1 || (survey->fractions && many))
        *goal = KL_REGRESS;
    else
        return kl_fail(KLIFT_USAGE, "labels are %s with %s different values: classes or numbers? Say task=classify or task=regress",
                       survey->fractions ? "numbers with fractions" : "whole numbers", many ? "more than 50" : "at most 50");
    return KLIFT_OK;
}

kl_learn_spec kl_settings_learn(const klift_spec *spec, kl_goal goal, int64_t rows)
{
    return (kl_learn_spec){.goal = goal,
                           .lambda = spec->lambda,
                           .c = spec->c,
                           .search_given = spec->search != 0 || has_path(spec),
                           .search = spec->search == 0 ? (has_path(spec) ? KL_BY_FOLDS : KL_BY_HAND) : (kl_search)(spec->search - 1),
                           .path = spec->path,
                           .folds = spec->folds,
                           .rows = rows,
                           .allow_one_class = spec->allow_one_class,
                           .probability = spec->probability,
                           .code = spec->code,
                           .bits = spec->bits,
                           .decode = spec->decode,
                           .class_weight = spec->class_weight,
                           .holdout = !isnan(spec->holdout) ? spec->holdout : spec->early_stop > 0 ? HELD_OUT : 0,
                           .early_stop = spec->early_stop,
                           .seed = spec->seed};
}
