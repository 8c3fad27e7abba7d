/* passes.c - see passes.h. Blocks are filled in multiples of the chunk, so that chunks start at the same rows whatever the threads. */
#include "model/passes.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static klift_status keep_rows(kl_rows *raw, const kl_batch *x)
{
    kl_batch bare = *x;
    bare.label = NULL;
    bare.target = NULL;
    bare.weight = NULL;
    bare.targets = 0;
    return kl_rows_add(raw, &bare, 0, bare.rows);
}

klift_status kl_passes_fill(const klift_map *lift, kl_gather *gather, kl_learner *learner, int64_t block, kl_rows *raw, float *z, klift_run *run, int64_t *rows)
{
    int64_t features = lift->map->n_out, step = (int64_t)kl_run_threads(run) * KL_CHUNK;
    *rows = 0;
    while (*rows < block) {
        kl_batch x;
        KL_TRY(kl_gather_next(gather, block - *rows < step ? block - *rows : step, run, &x));
        if (x.rows == 0)
            return KLIFT_OK;
        KL_TRY(learner->type->observe(learner, &x));
        if (raw != NULL)
            KL_TRY(keep_rows(raw, &x));
        if (z != NULL)
            KL_TRY(kl_lift_rows(lift, &x, z + *rows * features, features, run));
        *rows += x.rows;
    }
    return KLIFT_OK;
}

static klift_status add_block(kl_feature_passes *p)
{
    KL_TRY(kl_grow(&p->z, &p->room, p->blocks, p->blocks + 1, sizeof *p->z, "features"));
    KL_TRY(kl_new(&p->z[p->blocks], p->block * p->lift->map->n_out, sizeof **p->z, "a block of features"));
    p->blocks++;
    return KLIFT_OK;
}

static int64_t block_bytes(const kl_feature_passes *p)
{
    return p->block * p->lift->map->n_out * (int64_t)sizeof(float);
}

static klift_status open_file(kl_feature_passes *p)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/klift-features-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    p->file = mkstemp(path);
    if (p->file < 0)
        return kl_fail(KLIFT_IO, "%s: cannot make a temporary file for the features: %s; set TMPDIR to a folder with room, or allow more memory", path, strerror(errno));
    unlink(path); /* it goes with the process, however that ends */
    return KLIFT_OK;
}

/* So many rows of features to or from their place in the file. */
static klift_status move_rows(const kl_feature_passes *p, int64_t first, int64_t count, float *z, bool out)
{
    char *bytes = (char *)z;
    int64_t line = p->passes.features * (int64_t)sizeof(float);
    for (int64_t done = 0, all = count * line; done < all;) {
        off_t at = (off_t)(first * line + done);
        ssize_t moved = out ? pwrite(p->file, bytes + done, (size_t)(all - done), at) : pread(p->file, bytes + done, (size_t)(all - done), at);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return kl_fail(KLIFT_IO, "the temporary file for the features: cannot %s it: %s; set TMPDIR to a folder with room, or allow more memory", out ? "write" : "read",
                           moved < 0 ? strerror(errno) : "it ends early");
        done += moved;
    }
    return KLIFT_OK;
}

/* From memory to the file, once they are too many. */
static klift_status spill(kl_feature_passes *p, klift_run *run)
{
    KL_TRY(open_file(p));
    kl_run_say(run, KLIFT_EVENT_NOTE, "features", "neither the features nor the rows fit their part of max-memory: the features go to a temporary file");
    for (int64_t b = 0; b < p->blocks; b++) {
        KL_TRY(move_rows(p, b * p->block, p->block, p->z[b], true));
        if (b > 0) {
            kl_free(p->z[b]);
            p->z[b] = NULL;
        }
    }
    if (p->blocks > 1)
        p->blocks = 1;
    p->keep = KL_KEEP_NOTHING;
    return KLIFT_OK;
}

static klift_status take(kl_passes *passes, const int32_t *index, int64_t count, klift_run *run, const float **z)
{
    kl_feature_passes *p = (kl_feature_passes *)passes;
    int64_t features = passes->features;
    KL_TRY(kl_run_check(run));
    for (int64_t i = 0; i < count; i++)
        z[i] = p->keep == KL_KEEP_FEATURES ? p->z[index[i] / p->block] + index[i] % p->block * features : p->z[0] + i * features;
    for (int64_t i = 0; p->keep == KL_KEEP_NOTHING && i < count; i++)
        KL_TRY(move_rows(p, index[i], 1, p->z[0] + i * features, false));
    if (p->keep != KL_KEEP_ROWS)
        return KLIFT_OK;
    kl_batch all = kl_rows_view(&p->raw);
    kl_rows_empty(&p->chosen);
    for (int64_t i = 0; i < count; i++)
        KL_TRY(kl_rows_add(&p->chosen, &all, index[i], 1));
    kl_batch x = kl_rows_view(&p->chosen);
    return kl_lift_rows(p->lift, &x, p->z[0], features, run);
}

/* One block more from the reader, and where it goes. */
static klift_status take_block(kl_feature_passes *p, kl_learner *learner, int64_t most, klift_run *run, int64_t *rows)
{
    if (p->keep == KL_KEEP_FEATURES && p->blocks > 0 && (p->blocks + 1) * block_bytes(p) > most)
        KL_TRY(spill(p, run));
    if (p->keep == KL_KEEP_FEATURES || p->blocks == 0)
        KL_TRY(add_block(p));
    float *z = p->keep == KL_KEEP_ROWS ? NULL : p->z[p->blocks - 1];
    KL_TRY(kl_passes_fill(p->lift, &p->gather, learner, p->block, p->keep == KL_KEEP_ROWS ? &p->raw : NULL, z, run, rows));
    return p->keep == KL_KEEP_NOTHING ? move_rows(p, p->passes.rows, *rows, z, true) : KLIFT_OK;
}

klift_status kl_passes_open(kl_feature_passes *p, const klift_map *lift, kl_reader *reader, kl_learner *learner, klift_run *run)
{
    int64_t rows, most = INT64_MAX, limit = kl_run_memory(run), features = lift->map->n_out;
    *p = (kl_feature_passes){.passes = {.features = features, .at_most = kl_learner_block(features), .take = take}, .lift = lift,
                             .gather = {.reader = reader, .width = lift->prepare.n_in}, .block = kl_learner_block(features), .file = -1};
    if (lift->rows == INT64_MAX)
        most = limit / 2;
    else
        p->keep = kl_learner_keep(lift->rows, features, lift->row_bytes, limit);
    if (p->keep == KL_KEEP_NOTHING)
        KL_TRY(spill(p, run));
    do {
        KL_TRY(take_block(p, learner, most, run, &rows));
        p->passes.rows += rows;
        KL_TRY(kl_run_progress(run, "features", p->passes.rows, reader->total, NAN));
    } while (rows == p->block);
    kl_reader_say(reader, run);
    return KLIFT_OK;
}

void kl_passes_close(kl_feature_passes *p)
{
    for (int64_t b = 0; b < p->blocks; b++)
        kl_free(p->z[b]);
    kl_free(p->z);
    kl_rows_clear(&p->raw);
    kl_rows_clear(&p->chosen);
    kl_gather_clear(&p->gather);
    if (p->file >= 0)
        close(p->file);
}
