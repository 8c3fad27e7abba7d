/*
 * landmarks.c - uniform and k-means++ landmarks, and what all ways of choosing share. A kernel's own distance is
 * |phi(x) - phi(y)|^2 = K(x,x) + K(y,y) - 2 K(x,y), so that k-means++ (Arthur and Vassilvitskii 2007) serves every kernel.
 */
#include "map/landmarks.h"

#include "base/memory.h"

#include <math.h>

enum { CHUNK = 256 };

void kl_landmarks_clear(kl_landmarks *chosen)
{
    kl_free(chosen->row);
    *chosen = (kl_landmarks){0};
}

klift_status kl_landmarks_uniform(int64_t rows, int64_t wanted, const kl_random *from, kl_landmarks *chosen)
{
    int32_t *order = NULL;
    klift_status status;
    KL_GO(kl_new(&order, rows, sizeof *order, "landmarks"));
    KL_GO(kl_new(&chosen->row, rows, sizeof *chosen->row, "landmarks"));
    kl_random_permutation(from, 0, rows, order);
    chosen->count = wanted < rows ? wanted : rows;
    for (int64_t i = 0; i < chosen->count; i++)
        chosen->row[i] = order[i];
done:
    kl_free(order);
    return status;
}

typedef struct spreading {
    const kl_kernel *kernel;
    kl_side sample;
    int64_t columns, row;  /* the landmark chosen last */
    const double *self;    /* (rows) K(x, x) */
    double *distance;      /* (rows) to the nearest landmark */
    unsigned char *scratch;
    int64_t scratch_bytes;
} spreading;

static klift_status update_chunk(void *context, int64_t index, int worker)
{
    const spreading *s = context;
    int64_t first = index * CHUNK, left = s->sample.rows.rows - first, count = left < CHUNK ? left : CHUNK;
    kl_side rows = {kl_batch_part(&s->sample.rows, first, count), s->sample.norm + first};
    kl_side last = {kl_batch_part(&s->sample.rows, s->row, 1), s->sample.norm + s->row};
    double k[CHUNK];
    kl_block_values(s->kernel, &rows, &last, s->columns, k, 1, s->scratch + worker * s->scratch_bytes);
    for (int64_t i = 0; i < count; i++) {
        double d = s->self[first + i] + s->self[s->row] - 2 * k[i];
        s->distance[first + i] = fmax(0, fmin(s->distance[first + i], d));
    }
    if (first <= s->row && s->row < first + count)
        s->distance[s->row] = 0;
    return KLIFT_OK;
}

/* The first row at which the running sum passes `share` of the total; -1 when nothing is left. */
static int64_t pick(int64_t rows, const double *weight, double share)
{
    double total = 0, sum = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < rows; i++)
        total += weight[i];
    for (int64_t i = 0; i < rows; i++) {
        sum += weight[i];
        last = weight[i] > 0 ? i : last;
        if (weight[i] > 0 && sum > share * total)
            return i;
    }
    return last;
}

klift_status kl_landmarks_spread(const kl_kernel *kernel, const kl_batch *sample, int64_t columns, int64_t wanted, const kl_random *from, klift_run *run, kl_landmarks *chosen)
{
    int64_t rows = sample->rows;
    double *norm = NULL, *self = NULL, u;
    spreading s = {.kernel = kernel, .columns = columns, .scratch_bytes = kl_block_scratch(kernel, CHUNK, 1, columns)};
    klift_status status;
    KL_GO(kl_new(&norm, rows, sizeof *norm, "landmarks"));
    KL_GO(kl_new(&self, rows, sizeof *self, "landmarks"));
    KL_GO(kl_new(&s.distance, rows, sizeof *s.distance, "landmarks"));
    KL_GO(kl_new(&s.scratch, s.scratch_bytes * kl_run_threads(run), 1, "landmarks"));
    KL_GO(kl_new(&chosen->row, wanted < rows ? wanted : rows, sizeof *chosen->row, "landmarks"));
    kl_block_norms(sample, norm);
    s.sample = (kl_side){*sample, norm};
    s.self = self;
    kl_block_diagonal(kernel, &s.sample, columns, self, s.scratch);
    for (int64_t i = 0; i < rows; i++)
        s.distance[i] = INFINITY;
    kl_random_uniforms(from, 0, 1, &u);
    s.row = (int64_t)(u * (double)rows);
    while (s.row >= 0 && chosen->count < wanted) {
        chosen->row[chosen->count++] = s.row;
        KL_GO(kl_run_parallel(run, (rows + CHUNK - 1) / CHUNK, update_chunk, &s));
        KL_GO(kl_run_progress(run, "landmarks", chosen->count, wanted, NAN));
        kl_random_uniforms(from, (uint32_t)chosen->count, 1, &u);
        s.row = pick(rows, s.distance, u);
    }
done:
    kl_free(norm);
    kl_free(self);
    kl_free(s.distance);
    kl_free(s.scratch);
    return status;
}
