/* online_keep.c - the state of online.c as bytes: what a descent that was stopped goes on from. */
#include "learn/keep.h"
#include "learn/online.h"

enum { SCALARS = 9 };

/* Those of an output, in the order in which they are kept. */
static void scalars_of(kl_online_output *out, double *scalar[SCALARS])
{
    double *all[SCALARS] = {&out->scale, &out->share, &out->mix, &out->v, &out->u, &out->norm, &out->first, &out->shift, &out->sum};
    for (int i = 0; i < SCALARS; i++)
        scalar[i] = all[i];
}

void kl_online_save(const kl_online *s, kl_record_writer *to)
{
    int64_t count = s->outputs * s->features;
    kl_record_put_i64(to, s->outputs);
    kl_record_put_i64(to, s->features);
    kl_record_put_u32(to, s->average);
    kl_record_put_i64(to, s->rows);
    kl_record_put_f64(to, s->weight);
    for (int64_t o = 0; o < s->outputs; o++) {
        kl_online_output out = s->output[o];
        double *scalar[SCALARS];
        scalars_of(&out, scalar);
        for (int i = 0; i < SCALARS; i++)
            kl_keep_put_any(to, scalar[i], 1); /* any: norm means something only where it is projected */
    }
    kl_keep_put_numbers(to, s->v, count);
    if (s->average)
        kl_keep_put_numbers(to, s->u, count);
}

klift_status kl_online_load(kl_online *s, kl_record_reader *from)
{
    int64_t outputs, features, most = (from->end - from->at) / (s->features * (int64_t)sizeof(double));
    uint32_t average;
    KL_TRY(kl_record_get_i64(from, s->outputs, most > s->outputs ? most : s->outputs, &outputs));
    KL_TRY(kl_record_get_i64(from, s->features, s->features, &features));
    KL_TRY(kl_record_get_u32(from, &average));
    if (average != s->average)
        return kl_record_damaged("it has a mean of the weights where none is wanted, or none where it is");
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX, &s->rows));
    KL_TRY(kl_record_get_f64(from, &s->weight));
    KL_TRY(kl_online_grow(s, outputs));
    for (int64_t o = 0; o < outputs; o++) {
        double *scalar[SCALARS];
        scalars_of(&s->output[o], scalar);
        for (int i = 0; i < SCALARS; i++)
            KL_TRY(kl_keep_get_any(from, scalar[i], 1));
    }
    KL_TRY(kl_keep_get_numbers(from, s->v, outputs * features));
    return s->average ? kl_keep_get_numbers(from, s->u, outputs * features) : KLIFT_OK;
}
