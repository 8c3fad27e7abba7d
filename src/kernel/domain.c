/*
 * domain.c - the rows a kernel is for. A preparation that does not shift columns keeps every sign, so that the lowest values of the
 * survey speak for all rows it saw; one that does is judged by the prepared sample.
 */
#include "kernel/kernel.h"

#include "data/prepare.h"

unsigned kl_domain_of(const kl_kernel *kernel)
{
    return kernel->inner != NULL ? kl_domain_of(kernel->inner) : kernel->type->domain;
}

static klift_status refuse(const kl_kernel *kernel, int64_t column, double value)
{
    return kl_fail(KLIFT_DATA, "column %lld is as low as %g, and kernel %s is for rows without negative values, like histograms and counts; say prepare=minmax, which lets the "
                   "columns of dense rows begin at 0 (sparse rows keep their signs), or use another kernel", (long long)column, value, kernel->type->name);
}

klift_status kl_domain_check_rows(const kl_kernel *kernel, const kl_batch *rows, int64_t base)
{
    if (!(kl_domain_of(kernel) & KL_NON_NEGATIVE))
        return KLIFT_OK;
    for (int64_t i = 0; i < rows->rows; i++) {
        const int32_t *column;
        const float *value;
        int64_t count = kl_batch_row(rows, i, &column, &value);
        for (int64_t p = 0; p < count; p++)
            if (value[p] < 0)
                return refuse(kernel, base + (column != NULL ? column[p] : p), (double)value[p]);
    }
    return KLIFT_OK;
}

klift_status kl_domain_check(const kl_kernel *kernel, const kl_survey *survey)
{
    kl_batch sample = kl_rows_view(&survey->sample);
    int64_t base = survey->index_base == 0 ? 0 : 1, columns = survey->prepare != NULL ? survey->prepare->n_in : survey->columns;
    bool shifted = survey->prepare != NULL && survey->prepare->centred;
    for (int64_t j = 0; (kl_domain_of(kernel) & KL_NON_NEGATIVE) && survey->low != NULL && !shifted && j < columns; j++)
        if (survey->low[j] < 0)
            return refuse(kernel, base + j, survey->low[j]);
    return kl_domain_check_rows(kernel, &sample, base);
}
