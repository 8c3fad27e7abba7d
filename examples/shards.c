/*
 * shards.c - statistics by shards, merged and solved: the rows are read in parts, and no part sees another.
 *
 * What ridge regression needs of the rows is a sum over them. So parts can be added apart (each by its own thread,
 * as rows arrive, one part per day), merged in any order, and taken out again, without reading the others anew.
 */
#include <klift.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 3, TEST = SHARDS, ROWS = 300, COLUMNS = 2 };

static float x[SHARDS + 1][ROWS * COLUMNS]; /* the last is to test on */
static const char *label[SHARDS + 1][ROWS];

/* Squares of a board, black and white. */
static void draw(void)
{
    int s, i;
    for (s = 0; s <= TEST; s++)
        for (i = 0; i < ROWS; i++) {
            float a = 3 * (float)rand() / (float)RAND_MAX, b = 3 * (float)rand() / (float)RAND_MAX;
            x[s][i * COLUMNS] = a;
            x[s][i * COLUMNS + 1] = b;
            label[s][i] = ((int)a + (int)b) % 2 == 0 ? "black" : "white";
        }
}

static klift_status open_shard(int shard, klift_data **data)
{
    klift_batch rows;
    memset(&rows, 0, sizeof rows);
    rows.size = (int64_t)sizeof rows;
    rows.rows = ROWS;
    rows.columns = rows.stride = COLUMNS;
    rows.dense = x[shard];
    rows.label = label[shard];
    return klift_data_view(&rows, data); /* with files: klift_data_open */
}

/* One map for all: with the kernel's width and the number of columns given, nothing is learnt from rows. */
static klift_status make_map(klift_spec **spec, klift_map **map)
{
    static const char *const setting[][2] = {{"kernel", "gaussian:gamma=4"}, {"features", "256"}, {"dim", "2"}, {"task", "classify"}};
    size_t i;
    klift_status status = klift_spec_new(spec);
    for (i = 0; status == KLIFT_OK && i < sizeof setting / sizeof setting[0]; i++)
        status = klift_spec_set(*spec, setting[i][0], setting[i][1]);
    return status == KLIFT_OK ? klift_map_fit(*spec, NULL, NULL, map) : status;
}

static klift_status add_shard(const klift_map *map, const klift_spec *spec, int shard, klift_stats **stats)
{
    klift_data *data = NULL;
    klift_status status = klift_stats_new(map, spec, NULL, stats);
    if (status == KLIFT_OK)
        status = open_shard(shard, &data);
    if (status == KLIFT_OK)
        status = klift_stats_add(*stats, data, NULL);
    klift_data_free(data);
    return status;
}

/* Solves what is in the statistics and tests it on rows that are in none; the metrics are JSON. */
static klift_status solve_and_test(const klift_stats *stats, const char *name)
{
    klift_model *model = NULL;
    klift_data *data = NULL;
    char json[4096];
    int64_t needed;
    klift_status status = klift_stats_solve(stats, NULL, &model);
    if (status == KLIFT_OK)
        status = open_shard(TEST, &data);
    if (status == KLIFT_OK)
        status = klift_model_test(model, data, NULL, json, (int64_t)sizeof json, &needed);
    if (status == KLIFT_OK) {
        const char *error = strstr(json, "\"error\": "); /* a program that wants more takes a JSON library */
        printf("%-18s error %.1f %%\n", name, error == NULL ? -1 : 100 * strtod(error + 9, NULL));
    }
    klift_data_free(data);
    klift_model_free(model);
    return status;
}

int main(void)
{
    klift_spec *spec = NULL;
    klift_map *map = NULL;
    klift_stats *part[SHARDS] = {NULL, NULL, NULL};
    klift_status status;
    int s;
    draw();
    status = make_map(&spec, &map);
    for (s = 0; status == KLIFT_OK && s < SHARDS; s++)
        status = add_shard(map, spec, s, &part[s]);
    if (status == KLIFT_OK)
        status = solve_and_test(part[0], "one shard");
    for (s = 1; status == KLIFT_OK && s < SHARDS; s++)
        status = klift_stats_merge(part[0], part[s], 1);
    if (status == KLIFT_OK)
        status = solve_and_test(part[0], "all shards");
    if (status == KLIFT_OK)
        status = klift_stats_merge(part[0], part[SHARDS - 1], -1); /* as if the last had never been there */
    if (status == KLIFT_OK)
        status = solve_and_test(part[0], "without the last");
    if (status != KLIFT_OK)
        fprintf(stderr, "shards: %s\n", klift_error());
    for (s = 0; s < SHARDS; s++)
        klift_stats_free(part[s]);
    klift_map_free(map);
    klift_spec_free(spec);
    return (int)status;
}
