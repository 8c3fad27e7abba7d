/* fuzz_model_round.c - a model file that loads, once written again, loads and is written as the same bytes. */
#include "fuzz.h"

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    klift_run *run = fuzz_small_run();
    uint8_t *repaired = fuzz_repair(data, size);
    klift_model *first, *second = NULL;
    kl_record_writer once = {0}, twice = {0};
    if (kl_model_read(repaired, (int64_t)size, run, &first) == KLIFT_OK) {
        HOLDS(kl_model_write(first, &once) == KLIFT_OK);
        HOLDS(kl_model_read(once.bytes, once.length, run, &second) == KLIFT_OK);
        HOLDS(kl_model_write(second, &twice) == KLIFT_OK);
        HOLDS(once.length == twice.length && memcmp(once.bytes, twice.bytes, (size_t)once.length) == 0);
    }
    kl_record_clear(&once);
    kl_record_clear(&twice);
    klift_model_free(first);
    klift_model_free(second);
    klift_run_free(run);
    free(repaired);
    return 0;
}
