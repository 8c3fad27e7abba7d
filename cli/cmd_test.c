/* cmd_test.c - klift test: the metrics of a model on labelled rows. */
#include "commands.h"

#include "describe.h"
#include "job.h"
#include "metrics.h"
#include "progress.h"

#include <stdlib.h>

static klift_status run(const options *given)
{
    const char *model_path, *data_path;
    klift_model *model = NULL;
    klift_data *data = NULL;
    klift_run *run = NULL;
    char *metrics = NULL;
    klift_status status;
    job_order(given, &model_path, &data_path);
    CLI_GO(job_model(model_path, &model));
    CLI_GO(job_run(given, &run));
    CLI_GO(job_data(given, data_path, NULL, model, &data));
    CLI_GO(describe_test(model, data, run, &metrics));
    progress_end();
    if (options_has(given, "json")) {
        metrics_json(metrics, progress_seconds(), stdout);
        putchar('\n');
    } else
        metrics_print(metrics, stdout);
done:
    free(metrics);
    klift_data_free(data);
    job_end(run);
    klift_model_free(model);
    return status;
}

const cli_command cmd_test = {
    .name = "test",
    .arguments = "[options] MODEL DATA",
    .summary = "test a model on labelled rows",
    .detail = "Prints the error, accuracy, precision and recall per class and the confusion matrix, for a model with probabilities also the log loss; "
              "for regression the root of the mean squared error, the same relative to the spread of the targets, and R2. MODEL and DATA may be swapped; DATA may be -.",
    .examples = "  klift test m.klift test.svm\n"
                "  klift test --json m.klift x.npy --labels y.npy\n",
    .least = 2,
    .most = 2,
    .run = run,
};
