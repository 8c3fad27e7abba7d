/* common.c - files in memory, the reading of rows and the repair of model files for the fuzz targets. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include "../tests/model_bytes.h"
#include "base/record.h"
#include "data/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ROWS = 20000 };

void fuzz_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s (last message: %s)\n", file, line, condition, klift_error());
    abort();
}

const char *fuzz_path(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd >= 0)
        close(fd);
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

typedef struct seen {
    klift_status status;
    char message[1024];
    int64_t rows;
    uint64_t hash;
} seen;

static void mix(seen *s, const void *bytes, size_t count)
{
    s->hash = kl_record_hash(bytes, count, s->hash);
}

/* Row by row, so that the cut into batches leaves no trace. */
static void note_rows(seen *s, const klift_batch *batch)
{
    for (int64_t i = 0; i < batch->rows; i++) {
        if (batch->start != NULL) {
            int64_t first = batch->start[i], count = batch->start[i + 1] - first;
            mix(s, &count, sizeof count);
            if (count > 0) {
                mix(s, batch->column + first, (size_t)count * sizeof *batch->column);
                mix(s, batch->value + first, (size_t)count * sizeof *batch->value);
            }
        } else
            mix(s, batch->dense + i * batch->stride, (size_t)batch->columns * sizeof *batch->dense);
        if (batch->target != NULL)
            mix(s, batch->target + i * batch->targets, (size_t)batch->targets * sizeof *batch->target);
        if (batch->label != NULL)
            mix(s, batch->label[i], strlen(batch->label[i]));
        if (batch->weight != NULL)
            mix(s, batch->weight + i, sizeof *batch->weight);
    }
    s->rows += batch->rows;
}

static seen read_rows(klift_data *data, int64_t at_most)
{
    seen s = {0};
    klift_batch batch;
    do {
        s.status = klift_data_next(data, at_most, &batch);
        if (s.status != KLIFT_OK) {
            snprintf(s.message, sizeof s.message, "%s", klift_error());
            HOLDS(s.message[0] != '\0');
            break;
        }
        HOLDS(batch.rows <= at_most);
        HOLDS(kl_batch_check(&batch, "rows") == KLIFT_OK);
        note_rows(&s, &batch);
    } while (batch.rows > 0 && s.rows < MOST_ROWS);
    return s;
}

void fuzz_rows(const uint8_t *bytes, size_t size, const char *options)
{
    const char *path = fuzz_path(bytes, size);
    klift_data *data;
    char json[4096];
    int64_t needed;
    if (klift_data_open(path, options, &data) != KLIFT_OK) {
        HOLDS(data == NULL && klift_error()[0] != '\0');
        return;
    }
    seen one = read_rows(data, 1);
    if (klift_data_rewind(data) == KLIFT_OK) {
        seen many = read_rows(data, 1000);
        HOLDS(one.rows >= MOST_ROWS || one.status == many.status);
        HOLDS(one.rows >= MOST_ROWS || strcmp(one.message, many.message) == 0);
        HOLDS(one.status != KLIFT_OK || one.rows >= MOST_ROWS || (one.rows == many.rows && one.hash == many.hash));
    }
    klift_data_free(data);
    klift_run *run = fuzz_small_run();
    if (klift_data_open(path, options, &data) == KLIFT_OK && klift_data_describe(data, run, json, sizeof json, &needed) == KLIFT_OK)
        HOLDS(json[0] == '{' && needed > 0);
    klift_data_free(data);
    klift_run_free(run);
}

uint8_t *fuzz_repair(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    model_bytes_seal(copy, size, true);
    return copy;
}

klift_run *fuzz_small_run(void)
{
    klift_run *run;
    HOLDS(klift_run_new(&run) == KLIFT_OK);
    HOLDS(klift_run_set(run, "threads", "1") == KLIFT_OK && klift_run_set(run, "max-memory", "1M") == KLIFT_OK);
    return run;
}
