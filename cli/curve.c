/* curve.c - see curve.h. */
#include "curve.h"

#include "describe.h"
#include "job.h"
#include "json.h"
#include "progress.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static klift_status read_every(const char *text, int64_t *every)
{
    char *end;
    errno = 0;
    *every = text != NULL ? strtoll(text, &end, 10) : 0;
    if (text != NULL && (errno != 0 || end == text || *end != '\0' || *every < 1))
        return progress_fail(KLIFT_USAGE, "--snapshot-every is '%s'; it must be a number of rows, at least 1", text);
    return KLIFT_OK;
}

/* The model's error on the test file. Progress of a test on the way is not told. */
static klift_status test_error(curve *c, const klift_model *model, double *error)
{
    const char *labels = options_get(c->given, "test-labels");
    klift_status status = c->test_rows == NULL ? job_data(c->given, c->test, labels != NULL ? labels : "", model, &c->test_rows) : progress_check(klift_data_rewind(c->test_rows));
    free(c->metrics);
    c->metrics = NULL;
    if (status != KLIFT_OK)
        return status;
    klift_run_on_event(c->run, NULL, NULL);
    status = describe_test(model, c->test_rows, c->run, &c->metrics);
    klift_run_on_event(c->run, progress_event, NULL);
    *error = json_number_or(json_get(c->metrics, c->numbers ? "rmse" : "error"), NAN);
    return status;
}

/* Of the rows that the learner held out. */
static klift_status held_out_error(const curve *c, const klift_model *model, double *error)
{
    char *about;
    klift_status status = describe_model(model, &about);
    if (status != KLIFT_OK)
        return status;
    *error = json_number_or(json_get(about, "cv_error"), NAN);
    if (c->numbers)
        *error = sqrt(*error);
    free(about);
    if (isnan(*error))
        return progress_fail(KLIFT_USAGE, "--curve: the learner holds no rows out; give --test FILE, or hold rows out: --search folds or holdout (ridge), --holdout 0.1 (sgd with several passes)");
    return KLIFT_OK;
}

static klift_status add_point(curve *c, const klift_model *model, int64_t rows)
{
    double error = NAN;
    c->numbers = klift_model_classes(model) == 0;
    klift_status status = c->test != NULL ? test_error(c, model, &error) : held_out_error(c, model, &error);
    if (status != KLIFT_OK)
        return status;
    if (c->points > 0 && c->point[c->points - 1].rows == rows)
        c->points--; /* what is given at the end counts */
    c->point[c->points++] = (curve_point){rows, error};
    c->next_point = 2 * rows;
    return KLIFT_OK;
}

/* A klift_model_fn. The last model of all comes when it is not due too. */
static int64_t look(const klift_model *model, int64_t rows, void *user)
{
    curve *c = user;
    if (c->every > 0 && rows >= c->next) {
        c->status = progress_check(klift_model_save(model, c->path));
        c->next = (rows / c->every + 1) * c->every;
    }
    if (c->wanted && c->status == KLIFT_OK)
        c->status = add_point(c, model, rows);
    if (c->status != KLIFT_OK)
        return -1;
    int64_t snapshot = c->every > 0 ? c->next : INT64_MAX, point = c->wanted ? c->next_point : INT64_MAX;
    return snapshot < point ? snapshot : point;
}

klift_status curve_begin(const options *given, const char *path, const char *test, klift_run *run, curve *c)
{
    *c = (curve){.given = given, .run = run, .path = path, .test = test, .wanted = options_has(given, "curve"), .next_point = 1};
    klift_status status = read_every(options_get(given, "snapshot-every"), &c->every);
    if (status != KLIFT_OK)
        return status;
    c->next = c->every;
    if (c->every > 0 && path == NULL)
        return progress_fail(KLIFT_USAGE, "--snapshot-every writes models, and -v writes none: leave one of them out");
    if (c->wanted && options_has(given, "v"))
        return progress_fail(KLIFT_USAGE, "--curve and -v: give one of them");
    if (c->wanted && test != NULL && strcmp(test, "-") == 0)
        return progress_fail(KLIFT_USAGE, "--curve reads --test again for every point: give a file, not standard input");
    if (c->wanted || c->every > 0)
        klift_run_on_model(run, c->wanted ? 1 : c->every, look, c);
    return KLIFT_OK;
}

void curve_print(const curve *c)
{
    if (!c->wanted)
        return;
    printf("\ncurve of %s\n%-15s%s\n", c->test != NULL ? c->test : "rows held out", "rows", c->numbers ? "rmse" : "error");
    for (int i = 0; i < c->points; i++)
        printf(c->numbers ? "%-15lld%.6g\n" : "%-15lld%.2f %%\n", (long long)c->point[i].rows, (c->numbers ? 1 : 100) * c->point[i].error);
}

void curve_json(const curve *c)
{
    if (!c->wanted)
        return;
    fputs(",\"curve\":[", stdout);
    for (int i = 0; i < c->points; i++)
        printf("%s{\"rows\":%lld,\"%s\":%.9g}", i == 0 ? "" : ",", (long long)c->point[i].rows, c->numbers ? "rmse" : "error", c->point[i].error);
    fputc(']', stdout);
}

void curve_clear(curve *c)
{
    klift_data_free(c->test_rows);
    free(c->metrics);
}
