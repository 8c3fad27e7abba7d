/* cmd_inspect.c - klift inspect: what is in a file, model or data. */
#include "commands.h"

#include "describe.h"
#include "job.h"
#include "json.h"
#include "layout.h"
#include "progress.h"

#include <stdlib.h>

static klift_status run(const options *given)
{
    const char *path = given->argument[0];
    klift_model *model = NULL;
    klift_data *data = NULL;
    klift_run *run = NULL;
    char *about = NULL;
    klift_status status;
    if (job_is_model(path)) {
        CLI_GO(job_model(path, &model));
        CLI_GO(describe_model(model, &about));
    } else {
        CLI_GO(job_run(given, &run));
        CLI_GO(job_data(given, path, NULL, NULL, &data));
        CLI_GO(describe_data(data, run, &about));
    }
    progress_end();
    if (options_has(given, "json"))
        puts(about);
    else
        layout_json(about, 0, stdout);
done:
    free(about);
    klift_data_free(data);
    job_end(run);
    klift_model_free(model);
    return status;
}

const cli_command cmd_inspect = {
    .name = "inspect",
    .arguments = "[options] FILE",
    .summary = "what is in a model or data file",
    .detail =
        "Describes a model (kernel, map, classes, how lambda was chosen), or reads data through, checks them and prints a summary. FILE may be - for data.",
    .examples = "  klift inspect m.klift\n"
                "  klift inspect --json data.svm\n",
    .least = 1,
    .most = 1,
    .run = run,
};
