/*
 * dual_keep.c - the state of dual.c as bytes: what a machine that was stopped goes on from. Between two blocks the copy of w that sweeps
 * use has nothing more than w, and is made again; slopes may be infinite, where none was seen.
 */
#include "learn/dual.h"
#include "learn/keep.h"

enum { LARGE = 4, SMALL = 5 };

/* Arrays, in the order in which they are kept. */
typedef struct array {
    double *value;
    int64_t count;
} array;

static void arrays_of(const kl_dual *d, array *large, array *small)
{
    int64_t outputs = d->outputs;
    const array l[LARGE] = {{d->alpha, outputs * d->rows}, {d->w, outputs * d->features}, {d->b, outputs}, {d->square, d->rows}};
    const array s[SMALL] = {{d->limit, 2 * outputs}, {d->seen, 2 * outputs}, {d->sum, outputs}, {d->primal, outputs}, {d->dual, outputs}};
    for (int i = 0; i < LARGE; i++)
        large[i] = l[i];
    for (int i = 0; i < SMALL; i++)
        small[i] = s[i];
}

void kl_dual_save(const kl_dual *d, kl_record_writer *to)
{
    array large[LARGE], small[SMALL];
    arrays_of(d, large, small);
    kl_record_put_i64(to, d->passes);
    kl_record_put_i64(to, d->steps);
    kl_record_put_f64(to, d->swept);
    kl_record_put_f64(to, d->c);
    kl_keep_put_flags(to, d->done, d->outputs);
    kl_keep_put_flags(to, d->rest, d->outputs * d->rows);
    for (int i = 0; i < SMALL; i++)
        kl_keep_put_any(to, small[i].value, small[i].count);
    for (int i = 0; i < LARGE; i++)
        kl_keep_put_numbers(to, large[i].value, large[i].count);
}

klift_status kl_dual_load(kl_dual *d, kl_record_reader *from)
{
    array large[LARGE], small[SMALL];
    arrays_of(d, large, small);
    KL_TRY(kl_record_get_i64(from, 0, INT32_MAX, &d->passes));
    KL_TRY(kl_record_get_i64(from, 0, INT32_MAX, &d->steps));
    KL_TRY(kl_record_get_f64(from, &d->swept));
    KL_TRY(kl_record_get_f64(from, &d->c));
    if (!(d->c > 0))
        return kl_record_damaged("a machine has no cost");
    KL_TRY(kl_keep_get_flags(from, d->done, d->outputs));
    KL_TRY(kl_keep_get_flags(from, d->rest, d->outputs * d->rows));
    for (int i = 0; i < SMALL; i++)
        KL_TRY(kl_keep_get_any(from, small[i].value, small[i].count));
    for (int i = 0; i < LARGE; i++)
        KL_TRY(kl_keep_get_numbers(from, large[i].value, large[i].count));
    return KLIFT_OK;
}
