/*
 * cmd_transform.c - klift transform: z(x) of every row to a file. The rows pass through a klift_source, so the library
 * writes them as it writes any data; labels and targets go through untouched.
 */
#include "commands.h"

#include "job.h"
#include "output.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

typedef struct lift {
    klift_data *data;
    const klift_map *map;
    klift_run *run;
    int64_t columns, rows; /* of z; rows is the room */
    float *z;              /* (rows, columns) */
} lift;

static klift_status next(void *user, klift_batch *batch)
{
    lift *l = user;
    klift_batch x = {.size = sizeof x};
    klift_status status = klift_data_next(l->data, l->rows, &x);
    if (status == KLIFT_OK && x.rows > 0)
        status = klift_map_apply(l->map, &x, l->z, l->columns, l->run);
    if (status != KLIFT_OK)
        return status;
    x.columns = x.stride = l->columns;
    x.dense = l->z;
    x.start = NULL;
    x.column = NULL;
    x.value = NULL;
    *batch = x;
    return KLIFT_OK;
}

/* z of at most 64 MB at a time, and never less than a few rows. */
static klift_status make_room(lift *l)
{
    int64_t n_in;
    klift_status status = progress_check(klift_map_size(l->map, &n_in, &l->columns));
    if (status != KLIFT_OK)
        return status;
    l->rows = (1 << 24) / (l->columns > 0 ? l->columns : 1);
    l->rows = l->rows > 4096 ? 4096 : l->rows < 16 ? 16 : l->rows;
    l->z = malloc((size_t)(l->rows * l->columns + 1) * sizeof *l->z);
    return l->z != NULL ? KLIFT_OK : progress_fail(KLIFT_MEMORY, "no memory for %lld rows of %lld features", (long long)l->rows, (long long)l->columns);
}

static klift_status save(lift *l, const options *given, const char *path)
{
    const char *labels = options_get(given, "output-labels");
    klift_source source = {.size = sizeof source, .user = l, .next = next};
    klift_data *lifted = NULL;
    job_items items = {0};
    klift_status status;
    if (labels != NULL)
        CLI_GO(job_add(&items, "labels", labels));
    CLI_GO(make_room(l));
    CLI_GO(progress_check(klift_data_from(&source, &lifted)));
    CLI_GO(progress_check(klift_data_save(lifted, path, items.text, l->run)));
    progress_end();
    klift_data_report(l->data, l->run);
    progress_say("klift: %lld rows of %lld features in %.2f s", (long long)klift_data_count(lifted), (long long)l->columns, progress_seconds());
done:
    klift_data_free(lifted);
    return status;
}

/* --model and the options that make a map exclude each other: which of them would win? */
static klift_status check_options(const options *given)
{
    if (!options_has(given, "model"))
        return KLIFT_OK;
    for (int i = 0; i < given->settings; i++)
        if (given->setting[i].option->to == TO_SPEC)
            return progress_fail(KLIFT_USAGE, "--model brings its own map: leave --%s out", given->setting[i].option->name);
    return KLIFT_OK;
}

static klift_status fit(const options *given, lift *l, klift_map **map)
{
    klift_spec *spec = NULL;
    klift_status status = job_spec(given, &spec);
    if (status == KLIFT_OK)
        status = progress_check(klift_map_fit(spec, l->data, l->run, map));
    if (status == KLIFT_OK)
        status = progress_check(klift_data_rewind(l->data));
    l->map = *map;
    klift_spec_free(spec);
    return status;
}

static klift_status keep(const options *given, const klift_map *map)
{
    klift_model *model = NULL;
    const char *path = options_get(given, "save");
    if (path == NULL)
        return KLIFT_OK;
    klift_status status = progress_check(klift_model_from_map(map, &model));
    if (status == KLIFT_OK)
        status = progress_check(klift_model_save(model, path));
    klift_model_free(model);
    return status;
}

static klift_status run(const options *given)
{
    const char *data = given->argument[0], *path = given->argument[1], *model_path = options_get(given, "model");
    klift_model *model = NULL;
    klift_map *map = NULL;
    lift l = {0};
    klift_status status;
    progress_leave_screen(path);
    CLI_GO(check_options(given));
    CLI_GO(output_possible(path, data));
    if (options_has(given, "save"))
        CLI_GO(output_possible(options_get(given, "save"), data));
    if (model_path != NULL) {
        CLI_GO(job_model(model_path, &model));
        l.map = klift_model_map(model);
    }
    CLI_GO(job_run(given, &l.run));
    CLI_GO(job_data(given, data, NULL, model, &l.data));
    if (model_path == NULL)
        CLI_GO(fit(given, &l, &map));
    CLI_GO(keep(given, l.map));
    CLI_GO(save(&l, given, path));
done:
    free(l.z);
    klift_data_free(l.data);
    klift_map_free(map);
    job_end(l.run);
    klift_model_free(model);
    return status;
}

const cli_command cmd_transform = {
    .name = "transform",
    .arguments = "[--model MODEL | options] DATA OUT",
    .summary = "write the features z(x) of every row",
    .detail = "Writes z(x) of every row to OUT: .npy (float32) or LIBSVM text by the suffix; - is text on standard output. The map is that of --model, "
              "or fitted to DATA by the options; --save keeps the fitted one, so that other rows can be lifted by the same map.",
    .examples = "  klift transform train.svm z.npy --output-labels y.npy --save map.klift\n"
                "  klift transform --model map.klift test.svm ztest.npy\n",
    .least = 2,
    .most = 2,
    .run = run,
};
