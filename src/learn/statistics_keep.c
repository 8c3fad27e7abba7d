/* statistics_keep.c - the sums of all sets and the kept rows as bytes, and back; every array must have the size that the statistics have. */
#include "learn/statistics.h"

#include "base/memory.h"

static int64_t values_of(const kl_tiles *tiles)
{
    return kl_tiles_bytes(tiles->n) / (int64_t)sizeof *tiles->value;
}

static void save_fold(const kl_statistics *s, const kl_fold *fold, kl_record_writer *to)
{
    kl_record_put_f64(to, fold->weight);
    kl_record_put_f64(to, fold->rows);
    kl_record_put_doubles(to, fold->sum, s->features);
    kl_record_put_doubles(to, fold->target_sum, s->columns);
    kl_record_put_doubles(to, fold->target_square, s->columns);
    for (int64_t t = 0; t < s->columns; t++)
        kl_record_put_doubles(to, fold->cross[t], s->features);
    kl_record_put_doubles(to, fold->gram.value, values_of(&fold->gram));
}

void kl_statistics_save(const kl_statistics *s, kl_record_writer *to)
{
    kl_record_put_i64(to, s->folds);
    kl_record_put_i64(to, s->sets);
    kl_targets_save(&s->targets, to);
    kl_record_put_i64(to, s->shifted);
    kl_record_put_floats(to, s->shift, s->features);
    kl_record_put_doubles(to, s->target_shift, s->columns);
    for (int f = 0; f < s->sets; f++)
        save_fold(s, &s->fold[f], to);
    kl_sample_save(&s->kept, to);
}

static klift_status load_fold(const kl_statistics *s, kl_fold *fold, kl_record_reader *from)
{
    KL_TRY(kl_record_get_f64(from, &fold->weight));
    KL_TRY(kl_record_get_f64(from, &fold->rows));
    KL_TRY(kl_keep_get_numbers(from, fold->sum, s->features));
    KL_TRY(kl_keep_get_numbers(from, fold->target_sum, s->columns));
    KL_TRY(kl_keep_get_numbers(from, fold->target_square, s->columns));
    for (int64_t t = 0; t < s->columns; t++)
        KL_TRY(kl_keep_get_numbers(from, fold->cross[t], s->features));
    KL_TRY(kl_keep_get_numbers(from, fold->gram.value, values_of(&fold->gram)));
    return fold->weight >= 0 && fold->rows >= 0 ? KLIFT_OK : kl_record_damaged("its rows weigh less than nothing");
}

klift_status kl_statistics_load(kl_statistics *s, int64_t width, kl_record_reader *from)
{
    int64_t folds, sets, shifted;
    KL_TRY(kl_record_get_i64(from, 1, INT32_MAX, &folds));
    KL_TRY(kl_record_get_i64(from, 1, INT32_MAX, &sets));
    if (folds != s->folds || sets != s->sets)
        return kl_fail(KLIFT_USAGE, "the statistics that were kept are of %lld sets of rows, those to be made of %d: lambda is searched for otherwise, as another max-memory "
                       "makes it; give the max-memory of the run before", (long long)sets, s->sets);
    KL_TRY(kl_targets_load(&s->targets, from));
    if (s->targets.columns > (from->end - from->at) / (int64_t)sizeof(double) / s->features) /* before room is made for them */
        return kl_record_damaged("it has more columns than numbers");
    KL_TRY(kl_statistics_widen(s));
    KL_TRY(kl_record_get_i64(from, 0, 1, &shifted));
    kl_free(s->shift);
    KL_TRY(kl_record_get_floats(from, &s->shift, s->features));
    KL_TRY(kl_keep_get_numbers(from, s->target_shift, s->columns));
    for (int f = 0; f < s->sets; f++)
        KL_TRY(load_fold(s, &s->fold[f], from));
    KL_TRY(kl_sample_load(&s->kept, width, from));
    s->shifted = shifted == 1;
    if (s->kept.rows.rows > 2 * s->kept.limit)
        return kl_record_damaged("it has too many kept rows");
    return KLIFT_OK;
}
