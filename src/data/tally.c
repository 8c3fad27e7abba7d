/* tally.c - see tally.h. */
#include "data/tally.h"

#include "base/memory.h"
#include "base/number.h"

klift_status kl_tally_add(kl_tally *tally, const kl_batch *x)
{
    for (int64_t i = 0; i < x->rows && (x->label != NULL || x->target != NULL); i++) {
        char text[KL_NUMBER_ROOM];
        int64_t index;
        KL_TRY(kl_grow(&tally->weight, &tally->room, tally->classes.count, tally->classes.count + 1, sizeof *tally->weight, "the labels"));
        int64_t before = tally->classes.count;
        KL_TRY(kl_names_add(&tally->classes, kl_batch_row_class(x, i, text), &index));
        if (index == before)
            tally->weight[index] = 0;
        tally->weight[index] += x->weight != NULL ? x->weight[i] : 1;
    }
    return KLIFT_OK;
}

void kl_tally_clear(kl_tally *tally)
{
    kl_names_clear(&tally->classes);
    kl_free(tally->weight);
    *tally = (kl_tally){0};
}
