/* newton_keep.c - where newton.c is with an output, between two steps: room for it, and as bytes. Gradient and H are made again. */
#include "learn/newton.h"

#include "base/memory.h"

klift_status kl_newton_begin(const kl_dual *d, kl_newton_place *at)
{
    if (at->w == NULL)
        KL_TRY(kl_new(&at->w, d->features, sizeof *at->w, "Newton's method"));
    return at->f == NULL ? kl_new(&at->f, d->rows, sizeof *at->f, "Newton's method") : KLIFT_OK;
}

void kl_newton_leave(kl_newton_place *at)
{
    kl_free(at->w);
    kl_free(at->f);
    at->w = at->f = NULL;
    at->begun = false;
}

void kl_newton_save(const kl_dual *d, const kl_newton_place *at, kl_record_writer *to)
{
    kl_record_put_i64(to, at->output);
    kl_record_put_i64(to, at->steps);
    kl_keep_put_flags(to, &at->begun, 1);
    if (!at->begun)
        return;
    kl_record_put_f64(to, at->b);
    kl_keep_put_numbers(to, at->w, d->features);
    kl_keep_put_numbers(to, at->f, d->rows);
}

klift_status kl_newton_load(const kl_dual *d, kl_newton_place *at, kl_record_reader *from)
{
    bool begun;
    KL_TRY(kl_record_get_i64(from, 0, d->outputs, &at->output));
    KL_TRY(kl_record_get_i64(from, 0, INT64_MAX, &at->steps));
    KL_TRY(kl_keep_get_flags(from, &begun, 1));
    if (!begun)
        return KLIFT_OK;
    KL_TRY(kl_newton_begin(d, at));
    KL_TRY(kl_record_get_f64(from, &at->b));
    KL_TRY(kl_keep_get_numbers(from, at->w, d->features));
    KL_TRY(kl_keep_get_numbers(from, at->f, d->rows));
    at->begun = true;
    return KLIFT_OK;
}
