/* cmd_predict.c - klift predict: rows in, one label or number per line out, in the order of the rows. */
#include "commands.h"

#include "job.h"
#include "libsvm.h"
#include "output.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };

typedef struct prediction {
    const char *path; /* of the data */
    klift_model *model;
    klift_data *data;
    klift_run *run;
    output out;
    int64_t classes, outputs;
    bool scores, probability; /* are printed */
    int64_t columns;          /* outputs, or classes for their probabilities */
    double *score, *class;    /* (BATCH, columns) and (BATCH) */
    double *class_value;   /* (classes): their names as numbers */
    int64_t labelled, right;
    double squares;
} prediction;

/* Labels of numbers against the name of a class: by value, so that "+1" and "1.0" are "1". */
static void compare(prediction *p, const klift_batch *x)
{
    for (int64_t i = 0; i < x->rows && (x->label != NULL || x->target != NULL); i++) {
        if (p->classes > 0) {
            int64_t predicted = (int64_t)p->class[i];
            bool same =
                x->label != NULL ? strcmp(x->label[i], klift_model_class(p->model, predicted)) == 0 : x->target[i * x->targets] == p->class_value[predicted];
            p->right += same;
        } else if (x->target != NULL && x->targets == p->outputs) {
            double miss = p->score[i * p->outputs] - x->target[i * x->targets];
            p->squares += miss * miss;
        } else
            return;
        p->labelled++;
    }
}

static void print_header(const prediction *p)
{
    FILE *to = p->out.file;
    if (p->classes > 0)
        fputs("label", to);
    for (int64_t k = 0; k < p->columns; k++) {
        if (p->classes == 2 && p->columns == 1)
            fprintf(to, "\t%s", klift_model_class(p->model, 1)); /* the one output is positive for class 1 */
        else if (p->classes > 0)
            fprintf(to, "\t%s", klift_model_class(p->model, k));
        else
            fprintf(to, p->columns == 1 ? "target" : "%starget%lld", k > 0 ? "\t" : "", (long long)k + 1);
    }
    fputc('\n', to);
}

/* Numbers behind, or in the place of, the label. */
static bool has_columns(const prediction *p)
{
    return p->classes == 0 || p->scores || p->probability;
}

static void print_rows(const prediction *p, int64_t rows)
{
    char number[OUTPUT_NUMBER];
    FILE *to = p->out.file;
    for (int64_t i = 0; i < rows; i++) {
        if (p->classes > 0)
            fputs(klift_model_class(p->model, (int64_t)p->class[i]), to);
        for (int64_t k = 0; has_columns(p) && k < p->columns; k++)
            fprintf(to, "%s%s", p->classes > 0 || k > 0 ? "\t" : "", output_number(p->score[i * p->columns + k], number));
        fputc('\n', to);
    }
}

static klift_status predict_all(prediction *p)
{
    klift_status status = KLIFT_OK;
    if (p->scores || p->probability)
        print_header(p);
    for (;;) {
        klift_batch x = {.size = sizeof x};
        CLI_GO(progress_check(klift_data_next(p->data, BATCH, &x)));
        if (x.rows == 0)
            break;
        if (has_columns(p))
            CLI_GO(progress_check_in(p->path, klift_model_predict(p->model, &x, p->probability ? KLIFT_PROBABILITY : KLIFT_SCORES, p->score, p->run)));
        if (p->classes > 0)
            CLI_GO(progress_check_in(p->path, klift_model_predict(p->model, &x, KLIFT_CLASS, p->class, p->run)));
        compare(p, &x);
        print_rows(p, x.rows);
        CLI_GO(output_check(&p->out));
        progress_rows("predict", klift_data_count(p->data));
    }
    progress_end();
    klift_data_report(p->data, p->run);
    if (klift_data_count(p->data) == 0)
        status = progress_fail(KLIFT_DATA, "%s: no rows; give a file that has some", p->path);
done:
    return status;
}

static klift_status prepare(prediction *p)
{
    p->classes = klift_model_classes(p->model);
    p->outputs = klift_model_outputs(p->model);
    if (p->outputs == 0)
        return progress_fail(KLIFT_USAGE, "the model has no weights, only a map: train one, or use klift transform --model");
    p->columns = p->probability && p->classes > 0 ? p->classes : p->outputs;
    p->score = malloc((size_t)(BATCH * p->columns) * sizeof *p->score);
    p->class = malloc(BATCH * sizeof *p->class);
    p->class_value = malloc((size_t)(p->classes + 1) * sizeof *p->class_value);
    if (p->score == NULL || p->class == NULL || p->class_value == NULL)
        return progress_fail(KLIFT_MEMORY, "no memory for %lld outputs of %d rows", (long long)p->columns, BATCH);
    for (int64_t k = 0; k < p->classes; k++)
        p->class_value[k] = strtod(klift_model_class(p->model, k), NULL);
    klift_batch none = {.size = sizeof none}; /* asks whether the model has probabilities before anything is read or written */
    return p->probability ? progress_check(klift_model_predict(p->model, &none, KLIFT_PROBABILITY, p->score, NULL)) : KLIFT_OK;
}

/* LIBSVM's line, on stderr: standard output holds predictions only. */
static void print_accuracy(const prediction *p)
{
    if (p->labelled == 0)
        return;
    if (p->classes > 0)
        progress_say("Accuracy = %g%% (%lld/%lld)", 100.0 * (double)p->right / (double)p->labelled, (long long)p->right, (long long)p->labelled);
    else if (p->outputs == 1)
        progress_say("Mean squared error = %g (regression)", p->squares / (double)p->labelled);
}

static klift_status run(const options *given)
{
    prediction p = {.scores = options_has(given, "scores")};
    const char *model, *data, *path = given->arguments > 2 ? given->argument[2] : "-";
    klift_status status;
    CLI_GO(libsvm_probability(given, &p.probability));
    if (p.scores && p.probability) {
        status = progress_fail(KLIFT_USAGE, "--scores and --probability print different columns: give one of them");
        goto done;
    }
    job_order(given, &model, &data);
    p.path = strcmp(data, "-") == 0 ? "standard input" : data;
    progress_leave_screen(path);
    CLI_GO(output_possible(path, data));
    CLI_GO(output_possible(path, model));
    CLI_GO(job_model(model, &p.model));
    CLI_GO(prepare(&p));
    CLI_GO(job_run(given, &p.run));
    CLI_GO(job_data(given, data, NULL, p.model, &p.data));
    CLI_GO(output_open(&p.out, path));
    CLI_GO(predict_all(&p));
    CLI_GO(output_close(&p.out));
    print_accuracy(&p);
done:
    output_abandon(&p.out);
    free(p.class_value);
    free(p.class);
    free(p.score);
    klift_data_free(p.data);
    job_end(p.run);
    klift_model_free(p.model);
    return status;
}

const cli_command cmd_predict = {
    .name = "predict",
    .arguments = "[options] MODEL DATA [OUT]",
    .summary = "predict a label or number per row",
    .detail = "Prints one label (or number; several targets tab-separated) per row of DATA, in their order, to OUT or standard output. "
              "MODEL and DATA may be swapped; DATA may be -. Labels in DATA are not needed; when there are some, the accuracy goes to standard error.",
    .examples = "  klift predict m.klift new.svm > labels.txt\n"
                "  klift predict m.klift x.npy out.txt\n"
                "  klift train train.svm --probability -o p.klift\n"
                "  klift predict --probability p.klift new.svm\n"
                "  xzcat new.svm.xz | klift predict --scores m.klift - | head\n",
    .least = 2,
    .most = 3,
    .run = run,
};
