/*
 * cmd_transform.c - klift transform: z(x) of every row to a file. The rows pass through a klift_source, so the library
 * writes them as it writes any data; labels and targets go through untouched. Text has no zeros, so that its rows are lifted
 * as CSR: a map with sparse features never makes a dense row.
 */
#include "commands.h"

#include "job.h"
#include "output.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 4096, MOST_VALUES = 1 << 24, MOST_ENTRIES = 1 << 22 }; /* of z at a time: 64 MB dense, 32 MB sparse, but for a single row */

typedef struct lift {
    klift_data *data;
    const klift_map *map;
    klift_run *run;
    int64_t columns, rows; /* of z; rows is the room */
    float *z;              /* (rows, columns), or NULL: sparse */
    klift_batch left;      /* rows that were read and not lifted yet */
    int64_t *start, room;  /* CSR: (MOST_ROWS + 1), entries */
    int32_t *column;
    float *value;
} lift;

static klift_status next_dense(void *user, klift_batch *batch)
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

/* Moves on by so many rows. */
static void skip_rows(klift_batch *x, int64_t rows)
{
    x->rows -= rows;
    if (x->dense != NULL)
        x->dense += rows * x->stride;
    if (x->start != NULL)
        x->start += rows;
    if (x->target != NULL)
        x->target += rows * x->targets;
    if (x->label != NULL)
        x->label += rows;
    if (x->weight != NULL)
        x->weight += rows;
}

static klift_status make_entries(lift *l, int64_t room)
{
    if (room <= l->room)
        return KLIFT_OK;
    free(l->column);
    free(l->value);
    l->room = 0;
    l->column = malloc((size_t)room * sizeof *l->column);
    l->value = malloc((size_t)room * sizeof *l->value);
    if (l->column == NULL || l->value == NULL)
        return progress_fail(KLIFT_MEMORY, "no memory for %lld features of a row; use a lower degree, or let them be hashed into fewer", (long long)room);
    l->room = room;
    return KLIFT_OK;
}

/* Half of the rows, and half of these, until their entries fit: asking how many costs little. */
static klift_status next_sparse(void *user, klift_batch *batch)
{
    lift *l = user;
    klift_status status = KLIFT_OK;
    int64_t needed = 0;
    if (l->left.rows == 0)
        status = klift_data_next(l->data, MOST_ROWS, &l->left);
    klift_batch x = l->left;
    while (status == KLIFT_OK && x.rows > 0) {
        status = klift_map_apply_sparse(l->map, &x, l->start, NULL, NULL, 0, &needed, l->run);
        if (status == KLIFT_USAGE && needed > 0)
            status = KLIFT_OK;
        if (status != KLIFT_OK || x.rows == 1 || needed <= MOST_ENTRIES)
            break;
        x.rows = (x.rows + 1) / 2;
    }
    if (status == KLIFT_OK)
        status = make_entries(l, needed);
    if (status == KLIFT_OK && x.rows > 0)
        status = klift_map_apply_sparse(l->map, &x, l->start, l->column, l->value, l->room, &needed, l->run);
    if (status != KLIFT_OK)
        return status;
    skip_rows(&l->left, x.rows);
    x.columns = l->columns;
    x.dense = NULL;
    x.start = l->start;
    x.column = l->column;
    x.value = l->value;
    *batch = x;
    return KLIFT_OK;
}

static klift_status make_room(lift *l, bool sparse)
{
    int64_t n_in;
    klift_status status = progress_check(klift_map_size(l->map, &n_in, &l->columns));
    if (status != KLIFT_OK)
        return status;
    if (sparse) {
        l->left = (klift_batch){.size = sizeof l->left};
        l->start = malloc((MOST_ROWS + 1) * sizeof *l->start);
        return l->start != NULL ? KLIFT_OK : progress_fail(KLIFT_MEMORY, "no memory for %d rows", MOST_ROWS);
    }
    l->rows = MOST_VALUES / (l->columns > 0 ? l->columns : 1);
    l->rows = l->rows > MOST_ROWS ? MOST_ROWS : l->rows < 1 ? 1 : l->rows;
    l->z = malloc((size_t)(l->rows * l->columns + 1) * sizeof *l->z);
    return l->z != NULL ? KLIFT_OK : progress_fail(KLIFT_MEMORY, "no memory for %lld rows of %lld features", (long long)l->rows, (long long)l->columns);
}

static bool is_array(const char *path)
{
    size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

static klift_status save(lift *l, const options *given, const char *path)
{
    const char *labels = options_get(given, "output-labels");
    klift_source source = {.size = sizeof source, .user = l, .next = is_array(path) ? next_dense : next_sparse};
    klift_data *lifted = NULL;
    job_items items = {0};
    klift_status status;
    if (labels != NULL)
        CLI_GO(job_add(&items, "labels", labels));
    CLI_GO(make_room(l, !is_array(path)));
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
    free(l.start);
    free(l.column);
    free(l.value);
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
