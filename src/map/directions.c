/*
 * directions.c - draws and applies frequencies w_j = length_j times a direction.
 *   hadamard     w.x = length y,  y = H(s3 o H(s2 o H(s1 o x))) P^(-3/2): O(count log P) a row
 *   dense        rows of a Haar rotation of n_in coordinates
 *   independent  normal vectors divided by their length
 */
#include "map/directions.h"

#include "base/memory.h"
#include "map/waves.h"
#include "math/hadamard.h"
#include "math/orthonormal.h"
#include "math/scaled.h"

#include <math.h>
#include <string.h>

enum { WIDEST_DENSE = 1024 }; /* a rotation costs d^3, and hadamard is as good long before */

int64_t kl_directions_freedom(kl_directions_kind kind, int64_t n_in)
{
    return kind == KL_DIRECTIONS_HADAMARD ? kl_hadamard_size(n_in < KL_DIRECTIONS_SMALLEST ? KL_DIRECTIONS_SMALLEST : n_in) : n_in;
}

/* ---- draw ---- */

static klift_status draw_dense(kl_directions *d, const kl_map *map, const double *length, klift_run *run)
{
    int64_t n = map->n_in;
    kl_random from = {map->seed, map->stream, KL_DRAW_MATRIX};
    double *q = NULL;
    klift_status status = KLIFT_OK;
    if (n > WIDEST_DENSE)
        return kl_fail(KLIFT_USAGE, "map %s: directions=dense is for at most %d columns, there are %lld; use hadamard", map->type->name, WIDEST_DENSE, (long long)n);
    KL_GO(kl_new(&q, n * n, sizeof *q, "a rotation"));
    for (int64_t j = 0; j < d->count; j++) {
        KL_GO(j % n == 0 ? kl_run_check(run) : KLIFT_OK);
        if (j % n == 0)
            KL_GO(kl_orthonormal_draw(&from, (uint32_t)(j / n), n, q));
        double *row = q + j % n * n;
        for (int64_t i = 0; i < n; i++)
            row[i] *= length[j];
        kl_panels_set(&d->frequency, j, row);
    }
done:
    kl_free(q);
    return status;
}

static klift_status draw_independent(kl_directions *d, const kl_map *map, const double *length, klift_run *run)
{
    kl_random from = {map->seed, map->stream, KL_DRAW_FREQUENCY};
    double *row = NULL;
    klift_status status = KLIFT_OK;
    KL_GO(kl_new(&row, map->n_in, sizeof *row, "frequencies"));
    for (int64_t j = 0; j < d->count; j++) {
        double square = 0;
        KL_GO(j % 256 == 0 ? kl_run_check(run) : KLIFT_OK);
        kl_random_normals(&from, (uint32_t)j, map->n_in, row);
        for (int64_t i = 0; i < map->n_in; i++)
            square += row[i] * row[i];
        for (int64_t i = 0; i < map->n_in; i++)
            row[i] *= length[j] / sqrt(square);
        kl_panels_set(&d->frequency, j, row);
    }
done:
    kl_free(row);
    return status;
}

static int64_t blocks_of(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static klift_status draw_hadamard(kl_directions *d, const kl_map *map, const double *length)
{
    int64_t size = d->block, blocks = blocks_of(d->count, size);
    kl_random from = {map->seed, map->stream, KL_DRAW_SIGN};
    KL_TRY(kl_new(&d->sign, blocks * 3 * size, sizeof *d->sign, "signs"));
    KL_TRY(kl_new(&d->length, d->count, sizeof *d->length, "lengths"));
    for (int64_t r = 0; r < 3 * blocks; r++)
        kl_random_signs(&from, (uint32_t)r, size, d->sign + r * size);
    for (int64_t j = 0; j < d->count; j++)
        d->length[j] = (float)(length[j] * pow((double)size, -1.5));
    return KLIFT_OK;
}

klift_status kl_directions_draw(kl_directions *d, const kl_map *map, kl_directions_kind kind, int64_t count, const double *length, klift_run *run)
{
    d->count = count;
    d->block = kind == KL_DIRECTIONS_INDEPENDENT ? 1 : kl_directions_freedom(kind, map->n_in);
    if (kind == KL_DIRECTIONS_HADAMARD)
        return draw_hadamard(d, map, length);
    KL_TRY(kl_panels_new(&d->frequency, count, map->n_in));
    return kind == KL_DIRECTIONS_DENSE ? draw_dense(d, map, length, run) : draw_independent(d, map, length, run);
}

int64_t kl_directions_memory(kl_directions_kind kind, int64_t n_in, int64_t count)
{
    int64_t size = kl_directions_freedom(kind, n_in), square = 0;
    if (kind == KL_DIRECTIONS_HADAMARD)
        return (blocks_of(count, size) * 3 * size + count) * (int64_t)sizeof(float);
    if (kind == KL_DIRECTIONS_DENSE && (kl_multiply(n_in * (int64_t)sizeof(double), n_in, &square) || square > INT64_MAX / 4))
        return INT64_MAX / 2; /* more than any limit */
    return kl_panels_bytes(count, n_in) + square;
}

/* ---- apply ---- */

/* Turns that are not handed on yet. */
typedef struct block {
    int64_t row, first, count;
    float *turns;
} block;

static void drop(block *b, int64_t count)
{
    b->first += count;
    b->turns += count;
    b->count -= count;
}

static void hand_on(const kl_product_out *to, block *b, int64_t count)
{
    if (count > 0)
        to->take(to->context, b->row, b->first, count, b->turns);
    drop(b, count);
}

/* Turns wait beside the transforms to come, from a line's beginning on, where their waves go past the caches. */
static kl_waiting wait_beside(const kl_product_out *to, block *b)
{
    const kl_pairs *pairs = &to->pairs;
    if (pairs->cosine == NULL || pairs->count % KL_PAIRS_LINE != 0 || b->count == 0)
        return (kl_waiting){.turns = b->turns};
    float *cosine = pairs->cosine + b->row * pairs->stride + b->first;
    int64_t before = kl_pairs_cut(cosine);
    if (before < 0)
        return (kl_waiting){.turns = b->turns};
    hand_on(to, b, before < b->count ? before : b->count);
    return (kl_waiting){.turns = b->turns, .cosine = cosine + before, .apart = pairs->count, .count = b->count, .scale = pairs->scale};
}

/* Those that still wait, but for what begins a line that the next block ends: that goes in front of it. */
static void wait_no_longer(const kl_product_out *to, block *b, const kl_waiting *waiting, block *next)
{
    drop(b, waiting->turns - b->turns);
    int64_t rest = waiting->count > 0 && b->row == next->row ? b->count % KL_PAIRS_LINE : 0;
    hand_on(to, b, b->count - rest);
    memcpy(next->turns - rest, b->turns, (size_t)rest * sizeof *b->turns);
    drop(next, -rest);
}

/* The turns of one row, block by block, of which the one before is handed on meanwhile. work: the row with the zeros behind it and two blocks of turns, a line before each. */
static void apply_row(const kl_directions *d, const kl_batch *x, int64_t row, const kl_product_out *to, float *work, block *before)
{
    int64_t size = d->block;
    float *one = work + size + KL_PAIRS_LINE, *other = one + size + KL_PAIRS_LINE;
    kl_waves_row(x, row, size, work);
    for (int64_t first = 0; first < d->count; first += size) {
        const float *sign = d->sign + first * 3;
        int64_t used = d->count - first < size ? d->count - first : size;
        float *turns = before->turns < other - KL_PAIRS_LINE ? other : one;
        block now = {row, first, used, turns};
        kl_waiting waiting = wait_beside(to, before);
        kl_hadamard_beside(size, sign, work, turns, &waiting);
        kl_hadamard_beside(size, sign + size, turns, turns, &waiting);
        kl_hadamard_beside(size, sign + 2 * size, turns, turns, &waiting);
        kl_times(used, d->length + first, turns);
        wait_no_longer(to, before, &waiting, &now);
        *before = now;
    }
}

int64_t kl_directions_scratch(const kl_directions *d, int64_t n_in)
{
    return d->length != NULL ? (3 * d->block + 2 * KL_PAIRS_LINE) * (int64_t)sizeof(float) : kl_product_scratch(n_in);
}

void kl_directions_apply(const kl_directions *d, const kl_batch *x, const kl_product_out *to, void *scratch)
{
    if (d->length != NULL) {
        block last = {.turns = scratch};
        for (int64_t i = 0; i < x->rows; i++)
            apply_row(d, x, i, to, scratch, &last);
        hand_on(to, &last, last.count);
    } else if (x->dense != NULL)
        kl_product_dense(&d->frequency, x->rows, x->dense, x->stride, to, scratch);
    else
        kl_product_sparse(&d->frequency, x->rows, x->start, x->column, x->value, to);
}

double kl_directions_together(const kl_directions *d)
{
    double count = (double)d->count, together = 0;
    for (int64_t first = 0; first < d->count; first += d->block) {
        double used = fmin((double)d->block, count - (double)first);
        together += used * (used - 1);
    }
    return together;
}

double kl_directions_cost(const kl_directions *d, int64_t entries)
{
    double size = (double)d->block, count = (double)d->count;
    return d->length != NULL ? 3 * ceil(count / size) * size * log2(size) : count * 2 * (double)entries;
}

float *kl_directions_weights(const kl_directions *d, int64_t *count)
{
    *count = d->length != NULL ? d->count : kl_panels_floats(&d->frequency);
    return d->length != NULL ? d->length : d->frequency.packed;
}

void kl_directions_clear(kl_directions *d)
{
    kl_panels_clear(&d->frequency);
    kl_free(d->sign);
    kl_free(d->length);
    *d = (kl_directions){0};
}
