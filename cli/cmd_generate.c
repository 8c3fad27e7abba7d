/* cmd_generate.c - klift generate: synthetic data from the library's generator to a file. */
#include "commands.h"

#include "job.h"
#include "output.h"
#include "progress.h"

#include <string.h>

static klift_status open_generator(const options *given, klift_data **data)
{
    job_items items = {0};
    klift_status status = job_add(&items, "format", "synthetic");
    const char *file = NULL; /* --config's, when some of the items are from it */
    for (int i = 0; i < given->settings && status == KLIFT_OK; i++) {
        if (given->setting[i].option->to != TO_DATA)
            continue;
        status = job_add(&items, given->setting[i].option->name, given->setting[i].value);
        file = given->setting[i].place != NULL ? options_get(given, "config") : file;
    }
    return status == KLIFT_OK ? progress_check_in(file, klift_data_open(given->argument[0], items.text, data)) : status;
}

static klift_status run(const options *given)
{
    const char *path = given->argument[1], *labels = options_get(given, "labels");
    klift_data *data = NULL;
    klift_run *run = NULL;
    job_items items = {0};
    klift_status status;
    progress_leave_screen(path);
    CLI_GO(output_possible(path, NULL));
    if (labels != NULL)
        CLI_GO(job_add(&items, "labels", labels));
    CLI_GO(open_generator(given, &data));
    CLI_GO(job_run(given, &run));
    CLI_GO(progress_check(klift_data_save(data, path, items.text, run)));
    progress_end();
    progress_say("klift: %lld rows of '%s' written to %s", (long long)klift_data_count(data), given->argument[0],
                 strcmp(path, "-") == 0 ? "standard output" : path);
done:
    klift_data_free(data);
    job_end(run);
    return status;
}

const cli_command cmd_generate = {
    .name = "generate",
    .arguments = "NAME OUT [options]",
    .summary = "make synthetic data",
    .detail = "Writes rows of a synthetic problem (klift list data) to OUT: .npy or LIBSVM text by the suffix; - is text on standard output. "
              "The same options make the same rows everywhere.",
    .examples = "  klift generate spirals train.svm --rows 100000\n"
                "  klift generate spirals x.npy --labels y.npy --rows 20000 --seed 2\n",
    .least = 2,
    .most = 2,
    .names = "data",
    .run = run,
};
