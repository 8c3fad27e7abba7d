/* shares.c - the least variance has shares that follow x_i y_i; the means of the columns stand for that. */
#include "map/shares.h"

#include "base/memory.h"

#include <math.h>

static void add_rows(const kl_batch *rows, double *mean)
{
    for (int64_t i = 0; i < rows->rows; i++) {
        const int32_t *column;
        const float *value;
        int64_t count = kl_batch_row(rows, i, &column, &value);
        for (int64_t p = 0; p < count; p++)
            mean[column != NULL ? column[p] : p] += (double)value[p];
    }
}

klift_status kl_shares_fit(const kl_survey *survey, int64_t n_in, bool uniform, float **share)
{
    double *mean = NULL, sum = 0;
    klift_status status;
    *share = NULL;
    KL_GO(kl_new(share, n_in, sizeof **share, "shares of columns"));
    KL_GO(kl_new(&mean, n_in, sizeof *mean, "means of columns"));
    if (survey != NULL && !uniform) {
        kl_batch sample = kl_rows_view(&survey->sample);
        add_rows(&sample, mean);
    }
    for (int64_t i = 0; i < n_in; i++)
        sum += mean[i];
    for (int64_t i = 0; i < n_in; i++)
        (*share)[i] = (float)(sum > 0 ? 0.5 * mean[i] / sum + 0.5 / (double)n_in : 1 / (double)n_in);
done:
    kl_free(mean);
    return status;
}

void kl_shares_save(const float *share, int64_t n_in, kl_record_writer *to)
{
    kl_record_put_floats(to, share, n_in);
}

klift_status kl_shares_load(kl_record_reader *from, int64_t n_in, float **share)
{
    double sum = 0;
    bool wrong = false;
    KL_TRY(kl_record_get_floats(from, share, n_in));
    for (int64_t i = 0; i < n_in; i++) {
        wrong = wrong || !((*share)[i] > 0);
        sum += (double)(*share)[i];
    }
    return wrong || !(fabs(sum - 1) < 1e-3) ? kl_record_damaged("the shares of the map's columns do not add up") : KLIFT_OK;
}

void kl_shares_edges(const float *share, int64_t n_in, double *edge)
{
    double sum = 0, all = 0;
    for (int64_t i = 0; i < n_in; i++)
        all += (double)share[i];
    for (int64_t i = 0; i < n_in; i++) {
        edge[i] = sum / all;
        sum += (double)share[i];
    }
    edge[n_in] = 1;
}

int64_t kl_shares_find(const double *edge, int64_t n_in, double u)
{
    int64_t low = 0, high = n_in; /* edge[low] <= u < edge[high] */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (edge[middle] <= u)
            low = middle;
        else
            high = middle;
    }
    return low;
}
