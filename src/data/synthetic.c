/*
 * synthetic.c - data made on the spot: row i is a pure function of (seed, i), so that any batch size, any pass and any
 * process sees the same rows. Uniforms and normals of a row come from different parts of its stream.
 *
 * friedman is Friedman's first function (1991): 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise N(0, 1).
 * sparse: class by the size of s = sum of +-x_c over the first RELEVANT columns, which no linear rule can tell.
 */
#include "data/synthetic.h"

#include "base/memory.h"
#include "data/reader.h"
#include "math/random.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { ROWS, SEED, NOISE };
enum { PART_UNIFORM, PART_NORMAL, PART_RULE }; /* which numbers of a row; above its high bits in the stream */
enum { LEAST_ENTRIES = 10, MOST_ENTRIES = 30, RELEVANT = 16 };

static const kl_param params[] = {
    {"rows", KL_WHOLE, "1000", 1, 1e12, false, NULL, "number of rows"},
    {"seed", KL_WHOLE, "1", 0, 9007199254740991.0, false, NULL, "other seeds give other rows of the same kind"},
    {"noise", KL_REAL, "auto", 0, 1e6, false, "auto",
     "spread of the points (spirals, rings) or of the response (friedman), share of wrong labels (checkerboard, sparse)"},
    {0}};

struct shape;

typedef struct state {
    const struct shape *shape;
    int64_t rows, row, dim;
    uint64_t seed;
    double noise;
    double skew, threshold; /* sparse: u^skew picks columns, |s| > threshold is class 1 */
    double *draw;  /* (dim + MOST_ENTRIES) random numbers of one row */
    float *dense;
    int64_t *start;
    int32_t *column;
    float *value;
    double *target;
    int64_t dense_room, start_room, column_room, value_room, target_room, entries;
} state;

typedef struct shape {
    const char *name, *summary;
    int64_t least_dim, usual_dim;
    double usual_noise;
    /* Fills row x (dim) of a dense shape, or adds entries to a sparse one (x is NULL); returns the target. */
    double (*make)(state *s, int64_t row, float *x);
    bool sparse;
} shape;

/* count numbers of this row and part into s->draw */
static void draw(state *s, int64_t row, uint32_t part, int64_t count)
{
    kl_random from = {s->seed, (uint32_t)(row >> 32) | part << 16, KL_DRAW_SYNTHETIC};
    if (part == PART_NORMAL)
        kl_random_normals(&from, (uint32_t)row, count, s->draw);
    else
        kl_random_uniforms(&from, (uint32_t)row, count, s->draw);
}

/* Columns beyond the two that matter: small noise. */
static void fill_rest(state *s, int64_t row, float *x)
{
    draw(s, row, PART_NORMAL, s->dim);
    for (int64_t j = 2; j < s->dim; j++)
        x[j] = (float)(0.05 * s->draw[j]);
}

/* A point of the plane, moved by the noise. */
static void put_point(state *s, int64_t row, double radius, double angle, float *x)
{
    fill_rest(s, row, x);
    x[0] = (float)(radius * cos(angle) + s->noise * s->draw[0]);
    x[1] = (float)(radius * sin(angle) + s->noise * s->draw[1]);
}

static double make_spirals(state *s, int64_t row, float *x)
{
    draw(s, row, PART_UNIFORM, 2);
    int arm = s->draw[0] < 0.5;
    double along = 0.1 + 0.9 * s->draw[1];
    put_point(s, row, along, 2.5 * PI * along + arm * PI, x); /* this length: the arms' centres nearly meet, no linear model helps */
    return arm ? 1 : -1;
}

static double make_rings(state *s, int64_t row, float *x)
{
    draw(s, row, PART_UNIFORM, 2);
    double ring = 1 + floor(3 * s->draw[0]);
    put_point(s, row, ring, 2 * PI * s->draw[1], x);
    return ring;
}

static double make_checkerboard(state *s, int64_t row, float *x)
{
    fill_rest(s, row, x);
    draw(s, row, PART_UNIFORM, 3);
    int field = (int)(4 * s->draw[0]) + (int)(4 * s->draw[1]);
    x[0] = (float)(2 * s->draw[0] - 1);
    x[1] = (float)(2 * s->draw[1] - 1);
    return (field + (s->draw[2] < s->noise)) % 2;
}

static double make_friedman(state *s, int64_t row, float *x)
{
    draw(s, row, PART_NORMAL, 1);
    double noise = s->noise * s->draw[0];
    draw(s, row, PART_UNIFORM, s->dim);
    const double *u = s->draw;
    for (int64_t j = 0; j < s->dim; j++)
        x[j] = (float)u[j];
    return 10 * sin(PI * u[0] * u[1]) + 20 * (u[2] - 0.5) * (u[2] - 0.5) + 10 * u[3] + 5 * u[4] + noise;
}

/* Ascending distinct columns behind s->entries, low ones more often; returns their count. */
static int64_t pick_columns(state *s, int64_t row, bool *wrong)
{
    int32_t *columns = s->column + s->entries;
    int64_t count = 0;
    draw(s, row, PART_UNIFORM, MOST_ENTRIES + 2);
    *wrong = s->draw[0] < s->noise;
    int64_t tries = LEAST_ENTRIES + (int64_t)((MOST_ENTRIES - LEAST_ENTRIES + 1) * s->draw[1]);
    for (int64_t i = 0; i < tries; i++) {
        double u = s->draw[2 + i];
        int32_t column = (int32_t)fmin(pow(u, s->skew) * (double)s->dim, (double)(s->dim - 1));
        int64_t at = count;
        while (at > 0 && columns[at - 1] > column)
            at--;
        if (at > 0 && columns[at - 1] == column)
            continue;
        memmove(columns + at + 1, columns + at, (size_t)(count - at) * sizeof *columns);
        columns[at] = column;
        count++;
    }
    return count;
}

static double make_sparse(state *s, int64_t row, float *x)
{
    (void)x;
    bool wrong;
    int64_t count = pick_columns(s, row, &wrong);
    double sign[RELEVANT], sum = 0;
    draw(s, 0, PART_RULE, RELEVANT); /* one rule for all rows */
    memcpy(sign, s->draw, sizeof sign);
    draw(s, row, PART_NORMAL, count);
    for (int64_t i = 0; i < count; i++) {
        int32_t column = s->column[s->entries + i];
        bool relevant = column < RELEVANT;
        float value = (float)(relevant ? s->draw[i] : 0.2 * s->draw[i]);
        s->value[s->entries + i] = value != 0.0f ? value : 1.0f;
        if (relevant)
            sum += sign[column] < 0.5 ? (double)value : -(double)value;
    }
    s->entries += count;
    return (fabs(sum) > s->threshold) != wrong ? 1 : -1;
}

static const shape shapes[] = {
    {"spirals", "two interleaved spirals, classes -1 and 1", 2, 2, 0.02, make_spirals, false},
    {"checkerboard", "4 x 4 board, classes 0 and 1", 2, 2, 0, make_checkerboard, false},
    {"rings", "three concentric rings, classes 1, 2 and 3", 2, 2, 0.1, make_rings, false},
    {"friedman", "Friedman's first regression function", 5, 10, 1, make_friedman, false},
    {"sparse", "about 20 nonzeros per row, classes -1 and 1 by a non-linear rule", 1, 1000, 0, make_sparse, true},
    {0}};

const char *kl_synthetic_name_at(int64_t index, const void *context)
{
    (void)context;
    return shapes[index].name;
}

const char *kl_synthetic_summary(int64_t index)
{
    return shapes[index].summary;
}

/* An eighth of a row's entries, or more when dim is small, is relevant; about half of the rows is of either class. */
static void balance(state *s)
{
    double share = RELEVANT / (double)s->dim;
    s->skew = fmax(1, log(share) / log(0.125));
    s->threshold = 0.6 * sqrt(0.5 * (LEAST_ENTRIES + MOST_ENTRIES) * fmin(1, fmax(share, 0.125)));
}

static klift_status open_shape(kl_reader *reader)
{
    state *s = reader->state;
    for (const shape *known = shapes; known->name != NULL; known++)
        if (strcmp(known->name, reader->path) == 0)
            s->shape = known;
    if (s->shape == NULL)
        return kl_unknown("synthetic data", reader->path, kl_synthetic_name_at, NULL);
    if (reader->labels != NULL)
        return kl_fail(KLIFT_USAGE, "synthetic data have their labels; labels=FILE is for NPY and IDX");
    s->dim = reader->dim > 0 ? reader->dim : s->shape->usual_dim;
    if (s->dim < s->shape->least_dim)
        return kl_fail(KLIFT_USAGE, "%s needs at least dim=%lld", s->shape->name, (long long)s->shape->least_dim);
    s->rows = (int64_t)reader->option[ROWS].number;
    s->seed = (uint64_t)reader->option[SEED].number;
    s->noise = reader->option[NOISE].word >= 0 ? s->shape->usual_noise : reader->option[NOISE].number;
    balance(s);
    return kl_new(&s->draw, s->shape->sparse ? 2 * MOST_ENTRIES : s->dim + 2, sizeof *s->draw, "synthetic rows");
}

static klift_status reserve(state *s, int64_t rows)
{
    int64_t cells;
    if (kl_multiply(rows, s->shape->sparse ? MOST_ENTRIES + 1 : s->dim, &cells))
        return kl_fail(KLIFT_MEMORY, "%lld rows of %lld columns are too many at a time", (long long)rows, (long long)s->dim);
    KL_TRY(kl_grow(&s->target, &s->target_room, 0, rows, sizeof *s->target, "synthetic rows"));
    if (!s->shape->sparse)
        return kl_grow(&s->dense, &s->dense_room, 0, cells, sizeof *s->dense, "synthetic rows");
    KL_TRY(kl_grow(&s->start, &s->start_room, 0, rows + 1, sizeof *s->start, "synthetic rows"));
    KL_TRY(kl_grow(&s->column, &s->column_room, 0, cells, sizeof *s->column, "synthetic rows"));
    return kl_grow(&s->value, &s->value_room, 0, cells, sizeof *s->value, "synthetic rows");
}

static klift_status next(kl_reader *reader, int64_t at_most, kl_batch *batch)
{
    state *s = reader->state;
    int64_t left = s->rows - s->row, count = at_most < left ? at_most : left;
    bool sparse = s->shape->sparse;
    KL_TRY(reserve(s, count));
    s->entries = 0;
    for (int64_t i = 0; i < count; i++) {
        s->target[i] = s->shape->make(s, s->row + i, sparse ? NULL : s->dense + i * s->dim);
        if (sparse)
            s->start[i + 1] = s->entries;
    }
    s->row += count;
    *batch = (kl_batch){.size = sizeof *batch, .rows = count, .columns = s->dim, .dense = s->dense, .stride = sparse ? 0 : s->dim,
                        .start = s->start, .column = s->column, .value = s->value};
    if (!reader->no_label) {
        batch->target = s->target;
        batch->targets = 1;
    }
    return KLIFT_OK;
}

static klift_status rewind_shape(kl_reader *reader)
{
    ((state *)reader->state)->row = 0;
    return KLIFT_OK;
}

static void close_shape(kl_reader *reader)
{
    state *s = reader->state;
    kl_free(s->draw);
    kl_free(s->dense);
    kl_free(s->start);
    kl_free(s->column);
    kl_free(s->value);
    kl_free(s->target);
}

const kl_reader_type kl_reader_synthetic = {
    .name = "synthetic",
    .summary = "made on the spot; the path is a name such as spirals",
    .params = params,
    .listed = true,
    .state_size = sizeof(state),
    .open = open_shape,
    .next = next,
    .rewind = rewind_shape,
    .close = close_shape,
};
