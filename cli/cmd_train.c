/* cmd_train.c - klift train: spec and data -> model file, a summary, and metrics on a test file. */
#include "commands.h"

#include "checkpoint.h"
#include "curve.h"
#include "describe.h"
#include "inputs.h"
#include "job.h"
#include "json.h"
#include "layout.h"
#include "metrics.h"
#include "output.h"
#include "progress.h"
#include "signal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct training {
    inputs files;
    const char *data, *test; /* data: the first of files */
    char *path; /* of the model; NULL: none is written */
    klift_spec *spec;
    klift_run *run;
    klift_data *rows, *test_rows;
    curve curve;
    klift_model *model;
    char *about, *metrics; /* JSON */
    double seconds, test_seconds;
    bool given; /* lambda was, so that no search chose it */
} training;

/* DATA's file name + ".klift" in the current directory, or what -o says. */
static klift_status name_model(const options *given, training *t)
{
    const char *named = options_get(given, "output"), *slash = strrchr(t->data, '/');
    const char *base = slash != NULL ? slash + 1 : t->data;
    if (options_has(given, "v"))
        return KLIFT_OK;
    if (named == NULL && strcmp(t->data, "-") == 0)
        return progress_fail(KLIFT_USAGE, "data from standard input have no name: give the model one with -o MODEL");
    if (named != NULL && strcmp(named, "-") == 0)
        return progress_fail(KLIFT_USAGE, "a model is not written to standard output: give a file name");
    size_t room = strlen(named != NULL ? named : base) + 8;
    t->path = malloc(room);
    if (t->path == NULL)
        return progress_fail(KLIFT_MEMORY, "no memory for a file name");
    snprintf(t->path, room, "%s%s", named != NULL ? named : base, named != NULL ? "" : ".klift");
    klift_status status = KLIFT_OK;
    for (int i = 0; i < t->files.count && status == KLIFT_OK; i++)
        status = output_possible(t->path, t->files.path[i]);
    return status;
}

/* What would otherwise be found out after hours of training. */
static klift_status check_test(const training *t)
{
    if (t->test != NULL && strcmp(t->test, "-") == 0 && strcmp(t->data, "-") == 0)
        return progress_fail(KLIFT_USAGE, "DATA and --test cannot both be standard input");
    if (t->test == NULL || strcmp(t->test, "-") == 0 || access(t->test, R_OK) == 0)
        return KLIFT_OK;
    return progress_fail(KLIFT_IO, "--test %s: there is no such file, or it cannot be read", t->test);
}

static klift_status train(const options *given, training *t)
{
    klift_status status;
    CLI_GO(inputs_expand(given, &t->files));
    t->data = t->files.path[0];
    CLI_GO(name_model(given, t));
    CLI_GO(checkpoint_check(given, t->path));
    CLI_GO(check_test(t));
    CLI_GO(job_spec(given, &t->spec));
    CLI_GO(job_run(given, &t->run));
    CLI_GO(curve_begin(given, t->path, t->test, t->run, &t->curve));
    CLI_GO(inputs_open(given, &t->files, &t->rows));
    status = klift_train(t->spec, t->rows, t->run, &t->model);
    CLI_GO(t->curve.status != KLIFT_OK ? t->curve.status : progress_check(status));
    CLI_GO(signal_caught() != 0 ? KLIFT_CANCELLED : KLIFT_OK);
    CLI_GO(describe_model(t->model, &t->about));
    if (t->path != NULL)
        CLI_GO(progress_check(klift_model_save(t->model, t->path)));
    checkpoint_remove(given, t->path);
    t->seconds = progress_seconds();
    if (t->curve.metrics != NULL) { /* the curve ends with them */
        t->metrics = t->curve.metrics;
        t->curve.metrics = NULL;
        t->test_seconds = json_number_or(json_get(t->metrics, "seconds"), 0);
    } else if (t->test != NULL) {
        const char *labels = options_get(given, "test-labels");
        CLI_GO(job_data(given, t->test, labels != NULL ? labels : "", t->model, &t->test_rows));
        CLI_GO(describe_test(t->model, t->test_rows, t->run, &t->metrics));
        t->test_seconds = progress_seconds() - t->seconds;
    }
done:
    progress_end();
    if (t->model == NULL)
        checkpoint_stopped(given, status);
    return status;
}

static void print_line(const char *name, const char *json, const char *path)
{
    char text[512];
    const char *value = json_get(json, path);
    if (value != NULL && json_kind(value) != 'n')
        printf("%-15s%s\n", name, json_text(value, text, sizeof text));
}

static void print_classes(const klift_model *model, const char *about)
{
    int64_t classes = klift_model_classes(model), shown = classes < 10 ? classes : 10;
    if (classes == 0) {
        print_line("targets", about, "outputs");
        return;
    }
    printf("%-15s%lld:", "classes", (long long)classes);
    for (int64_t i = 0; i < shown; i++)
        printf(" %s", klift_model_class(model, i));
    puts(shown < classes ? " ..." : "");
}

static void print_code(const char *about)
{
    char code[32], decode[32];
    if (json_get(about, "code") == NULL)
        return;
    json_text(json_get(about, "code"), code, sizeof code);
    json_text(json_get(about, "decode"), decode, sizeof decode);
    printf("%-15s%s, %.0f bits, %s decoding\n", "code", code, json_number_or(json_get(about, "bits"), 0), decode);
}

static void print_probability(const char *about)
{
    char method[32];
    const char *given = json_get(about, "probability");
    if (given == NULL)
        return;
    json_text(json_get(given, "method"), method, sizeof method);
    if (json_number_or(json_get(given, "rows"), 0) == 0)
        printf("%-15sof the scores, which are logarithms of odds\n", "probability");
    else
        printf("%-15s%s, log loss %.4f of %.0f rows held out\n", "probability", method, json_number_or(json_get(given, "log_loss"), 0), json_number_or(json_get(given, "rows"), 0));
}

static void how_chosen(const training *t, char *how, size_t room)
{
    char search[32];
    const char *cursor = NULL, *path = json_get(t->about, "path");
    bool chosen = json_next(path, &cursor, NULL, 0) != NULL && json_next(path, &cursor, NULL, 0) != NULL; /* from more than one */
    json_text(json_get(t->about, "search"), search, sizeof search);
    if (t->given || !chosen || strcmp(search, "none") == 0)
        snprintf(how, room, "given");
    else if (strcmp(search, "folds") == 0)
        snprintf(how, room, "by cross-validation, %.0f folds", json_number_or(json_get(t->about, "folds"), 0));
    else
        snprintf(how, room, "by %s", strcmp(search, "gcv") == 0 ? "generalised cross-validation" : "held-out rows");
}

static void print_lambda(const training *t)
{
    char how[128];
    double error;
    how_chosen(t, how, sizeof how);
    printf("%-15s%.6g (%s)\n", "lambda", json_number_or(json_get(t->about, "lambda"), 0), how);
    if (!json_number(json_get(t->about, "cv_error"), &error))
        return;
    double held = json_number_or(json_get(t->about, "cv_rows"), 0);
    if (klift_model_classes(t->model) == 0)
        printf("%-15s%.6g (mean squared)\n", "cv error", error);
    else if (held > 0)
        printf("%-15s%.2f %% of %.0f held-out rows\n", "cv error", 100 * error, held);
    else
        printf("%-15s%.6g (generalised squared error)\n", "cv error", error);
}

static void print_path(const char *about)
{
    bool first = true;
    for (const char *cursor = NULL, *one; (one = json_next(json_get(about, "path"), &cursor, NULL, 0)) != NULL; first = false) {
        if (first)
            puts("\nlambda         cv error");
        printf("%-15.6g%.6g\n", json_number_or(json_get(one, "lambda"), 0), json_number_or(json_get(one, "error"), 0));
    }
}

static void print_summary(const training *t, bool verbose)
{
    static const char *const plain[] = {"kernel", "map", "features", "prepare", "learner", "rows"};
    struct stat is;
    char size[32];
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        print_line(plain[i], t->about, plain[i]);
    print_classes(t->model, t->about);
    print_code(t->about);
    print_lambda(t);
    print_probability(t->about);
    printf("%-15s%.2f\n", "seconds", t->seconds);
    if (t->path != NULL && stat(t->path, &is) == 0) {
        layout_bytes((double)is.st_size, size, sizeof size);
        printf("%-15s%s (%s)\n", "model", t->path, size);
    }
    if (verbose)
        print_path(t->about);
    if (t->metrics != NULL) {
        printf("\ntest %s\n", t->test);
        metrics_print(t->metrics, stdout);
    }
    curve_print(&t->curve);
}

static void print_json(const training *t, bool verbose)
{
    static const char *const key[] = {"map", "kernel", "features", "lambda", "cv_error", "rows", "search"};
    const progress_stage *stage;
    int stages = progress_stages(&stage);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        printf("%s\"%s\":", i == 0 ? "{" : ",", key[i]);
        json_copy(json_get(t->about, key[i]), stdout);
    }
    fputs(",\"seconds\":{", stdout);
    for (int i = 0; i < stages; i++) {
        json_quote(stage[i].name, stdout);
        printf(":%.3f,", stage[i].seconds);
    }
    printf("\"total\":%.3f},\"peak_memory\":%lld,\"model\":", t->seconds, 1024LL * used.ru_maxrss);
    if (t->path != NULL)
        json_quote(t->path, stdout);
    else
        fputs("null", stdout);
    if (verbose) {
        fputs(",\"path\":", stdout);
        json_copy(json_get(t->about, "path"), stdout);
    }
    if (t->metrics != NULL) {
        fputs(",\"test\":", stdout);
        metrics_json(t->metrics, t->test_seconds, stdout);
    }
    curve_json(&t->curve);
    puts("}");
}

/* LIBSVM's line. */
static klift_status print_validation(const training *t)
{
    double error;
    if (!json_number(json_get(t->about, "cv_error"), &error))
        return progress_fail(KLIFT_FAILED, "the cross-validation gave no error");
    if (klift_model_classes(t->model) > 0)
        printf("Cross Validation Accuracy = %g%%\n", 100 * (1 - error));
    else
        printf("Cross Validation Mean squared error = %g\n", error);
    return KLIFT_OK;
}

static klift_status run(const options *given)
{
    training t = {.test = options_get(given, "test")};
    const char *lambda = options_get(given, "lambda");
    t.given = options_has(given, "c") || (lambda != NULL && strcmp(lambda, "auto") != 0);
    klift_status status = train(given, &t);
    bool verbose = options_has(given, "verbose");
    if (status == KLIFT_OK && options_has(given, "json"))
        print_json(&t, verbose);
    else if (status == KLIFT_OK && options_has(given, "v"))
        status = print_validation(&t);
    else if (status == KLIFT_OK)
        print_summary(&t, verbose);
    free(t.metrics);
    free(t.about);
    free(t.path);
    klift_model_free(t.model);
    klift_data_free(t.test_rows);
    curve_clear(&t.curve);
    klift_data_free(t.rows);
    inputs_clear(&t.files);
    job_end(t.run);
    klift_spec_free(t.spec);
    return status;
}

const cli_command cmd_train = {
    .name = "train",
    .arguments = "[options] DATA... [-o MODEL]",
    .summary = "train a model",
    .detail = "Trains a kernel machine by an explicit feature map and writes it to MODEL. DATA is LIBSVM text, CSV, NPY, NPZ or IDX, plain or compressed "
              "(gzip, xz, zstd, bzip2); - is standard input. Several files, or a pattern in quotes, are one set of rows. "
              "Without options: gaussian kernel with its width from the data, 2048 features, ridge, lambda by cross-validation.",
    .examples = "  klift train data.svm                     writes data.svm.klift\n"
                "  klift train x.npy --labels y.npy -o m.klift --features 4096\n"
                "  klift train houses.csv --label price --ignore id --missing mean\n"
                "  klift train train.svm --kernel gaussian:gamma=0.5 --test test.svm --json\n"
                "  klift train images.idx.gz --labels labels.idx.gz --prepare unit\n"
                "  klift train 'part-*.svm.gz' -o m.klift   all that match, by name\n"
                "  klift train -g 0.5 -c 10 -v 5 data.svm   LIBSVM's line of accuracy\n"
                "  klift train data.svm --config my.conf    options from a file\n"
                "  klift train data.svm --checkpoint keep --resume   goes on after a kill\n",
    .least = 1,
    .most = INT_MAX,
    .run = run,
};
