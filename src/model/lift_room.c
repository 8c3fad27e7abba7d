/* lift_room.c - how many entries the features of rows may have, before they are made; and which rows are refused for that. */
#include "model/lift_room.h"

/* Of a row behind the preparation, at most. */
static int64_t row_entries(const klift_map *lift, const kl_batch *x, int64_t row)
{
    if (lift->prepare.centred)
        return lift->prepare.n_out;
    return (x->start != NULL ? x->start[row + 1] - x->start[row] : kl_batch_row_nonzeros(x, row)) + (lift->prepare.kind == KL_UNIT_KEEP_NORM);
}

klift_status kl_lift_check(const klift_map *lift, const kl_batch *x)
{
    const kl_map *map = lift->map;
    for (int64_t i = 0; map->type->check != NULL && i < x->rows; i++)
        KL_TRY(map->type->check(map, i, row_entries(lift, x, i)));
    return KLIFT_OK;
}

bool kl_lift_makes_sparse(const klift_map *lift, const kl_batch *x)
{
    const kl_map_type *type = lift->map->type;
    return type->nonzeros != NULL && (type->either || (x->start != NULL && !lift->prepare.centred));
}

int64_t kl_lift_norm_room(const klift_map *lift)
{
    const int64_t start[2] = {0, 1};
    const int32_t column = (int32_t)(lift->prepare.n_out - 1);
    const kl_batch one = {.size = sizeof one, .rows = 1, .columns = lift->prepare.n_out, .start = start, .column = &column};
    bool by_column = lift->map->type->nonzeros != NULL && !lift->map->type->either;
    return by_column && lift->prepare.kind == KL_UNIT_KEEP_NORM ? lift->map->type->nonzeros(lift->map, &one) : 0;
}

/* A map that makes either counts the row's entries, others each by its column. */
int64_t kl_lift_row_room(const klift_map *lift, const kl_batch *x, int64_t row)
{
    const kl_map_type *type = lift->map->type;
    if (!kl_lift_makes_sparse(lift, x))
        return lift->map->n_out;
    const int64_t start[2] = {0, row_entries(lift, x, row)};
    kl_batch one = {.size = sizeof one, .rows = 1, .columns = lift->prepare.n_out, .start = start};
    if (type->either)
        return type->nonzeros(lift->map, &one);
    one.start = x->start + row;
    one.column = x->column;
    return type->nonzeros(lift->map, &one) + kl_lift_norm_room(lift);
}

bool kl_lift_counts_starts(const klift_map *lift, const kl_batch *x)
{
    return lift->map->type->nonzeros != NULL && lift->map->type->either && x->start != NULL && !lift->prepare.centred && lift->prepare.kind != KL_UNIT_KEEP_NORM;
}

int64_t kl_lift_whole_room(const klift_map *lift, const kl_batch *x)
{
    int64_t sum = 0;
    if (kl_lift_counts_starts(lift, x))
        return lift->map->type->nonzeros(lift->map, &(kl_batch){.size = sizeof *x, .rows = x->rows, .columns = lift->prepare.n_out, .start = x->start});
    for (int64_t i = 0; i < x->rows; i++)
        if (__builtin_add_overflow(sum, kl_lift_row_room(lift, x, i), &sum))
            return INT64_MAX;
    return sum;
}

int64_t kl_lift_room(const klift_map *lift, const kl_batch *x)
{
    return kl_lift_makes_sparse(lift, x) ? kl_lift_whole_room(lift, x) : -1;
}

int64_t kl_lift_entries(const klift_map *lift, const kl_batch *sample)
{
    const kl_map_type *type = lift->map->type;
    int64_t room = type->nonzeros != NULL && sample->rows > 0 ? type->nonzeros(lift->map, sample) : -1;
    if (room < 0 || room / sample->rows >= lift->map->n_out / 4)
        return 0;
    return room >= sample->rows ? room / sample->rows : 1;
}
