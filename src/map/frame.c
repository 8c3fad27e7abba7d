/* frame.c - finds the mean, the longest row and the moments of pairs of the survey's sample. */
#include "map/frame.h"

#include "base/memory.h"

#include <math.h>

enum { MOST_ROWS = 256, MOST_MEAN_ROWS = 1024, MOST_NUMBERS = 1 << 23, LEAST_ROWS = 16 };

double kl_frame_prefactor(const kl_frame *frame, double square)
{
    return frame->kernel->type->log_prefactor != NULL ? frame->kernel->type->log_prefactor(frame->kernel, square) : 0;
}

double kl_frame_measure(const kl_frame *frame, const double *x, const double *y, kl_moments *m)
{
    double xx = 0, yy = 0, by = 1 / frame->length, square = frame->length * frame->length;
    *m = (kl_moments){0};
    for (int64_t j = 0; j < frame->n_in; j++) {
        double mean = frame->mean != NULL ? frame->mean[j] : 0, u = by * (x[j] - mean), v = by * (y[j] - mean);
        m->s += u * v;
        m->a += u * v * u * v;
        xx += u * u;
        yy += v * v;
    }
    m->n = xx * yy;
    return kl_frame_prefactor(frame, xx * square) + kl_frame_prefactor(frame, yy * square);
}

static klift_status find_mean(kl_frame *frame, const kl_batch *sample)
{
    int64_t count = sample->rows < MOST_MEAN_ROWS ? sample->rows : MOST_MEAN_ROWS;
    double *row = NULL;
    klift_status status;
    KL_GO(kl_new(&frame->mean, frame->n_in, sizeof *frame->mean, "the mean"));
    KL_GO(kl_new(&row, frame->n_in, sizeof *row, "the mean"));
    for (int64_t i = 0; i < count; i++) {
        kl_batch_row_doubles(sample, i, frame->n_in, row);
        for (int64_t j = 0; j < frame->n_in; j++)
            frame->mean[j] += row[j] / (double)count;
    }
done:
    kl_free(row);
    return status;
}

static double longest(const kl_frame *frame, int64_t count, const double *rows)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        double square = 0;
        for (int64_t j = 0; j < frame->n_in; j++) {
            double v = rows[i * frame->n_in + j] - (frame->mean != NULL ? frame->mean[j] : 0);
            square += v * v;
        }
        most = fmax(most, sqrt(square));
    }
    return most;
}

/* Every pair of different rows stands for two entries of the kernel's matrix. */
static klift_status take_pairs(const kl_frame *frame, int64_t count, const double *rows, kl_frame_pairs *pairs)
{
    KL_TRY(kl_new(&pairs->pair, count * (count + 1) / 2, sizeof *pairs->pair, "pairs"));
    KL_TRY(kl_new(&pairs->weight, count * (count + 1) / 2, sizeof *pairs->weight, "pairs"));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) {
            double log_both = kl_frame_measure(frame, rows + i * frame->n_in, rows + j * frame->n_in, &pairs->pair[pairs->count]);
            pairs->weight[pairs->count++] = (i == j ? 1 : 2) * exp(2 * log_both);
        }
    return KLIFT_OK;
}

klift_status kl_frame_fit(kl_frame *frame, const kl_survey *survey, kl_frame_pairs *pairs)
{
    kl_batch sample = survey != NULL ? kl_rows_view(&survey->sample) : (kl_batch){0};
    int64_t most = MOST_NUMBERS / frame->n_in, count;
    double *rows = NULL;
    klift_status status = KLIFT_OK;
    most = most < LEAST_ROWS ? LEAST_ROWS : most > MOST_ROWS ? MOST_ROWS : most;
    count = sample.rows < most ? sample.rows : most;
    KL_GO(kl_new(&rows, count * frame->n_in, sizeof *rows, "a sample"));
    for (int64_t i = 0; i < count; i++)
        kl_batch_row_doubles(&sample, i, frame->n_in, rows + i * frame->n_in);
    if (count > 0 && frame->kernel->type->offers & KL_SPECTRUM)
        KL_GO(find_mean(frame, &sample));
    frame->length = frame->mean != NULL ? longest(frame, count, rows) : survey != NULL ? survey->norm_max : 1;
    if (!(frame->length > 0)) /* rows of zeros, or all equal */
        frame->length = 1;
    KL_GO(take_pairs(frame, count, rows, pairs));
done:
    kl_free(rows);
    return status;
}

void kl_frame_pairs_clear(kl_frame_pairs *pairs)
{
    kl_free(pairs->pair);
    kl_free(pairs->weight);
    *pairs = (kl_frame_pairs){0};
}

void kl_frame_clear(kl_frame *frame)
{
    kl_free(frame->mean);
    *frame = (kl_frame){0};
}
