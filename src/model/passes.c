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

klift_status kl_passes_fill(const klift_map *lift, kl_gather *gather, kl_learner *learner, int64_t block, float *z, klift_run *run, int64_t *rows)
{
    int64_t features = lift->map->n_out, step = (int64_t)kl_run_threads(run) * KL_CHUNK;
    *rows = 0;
    while (*rows < block) {
        kl_batch x;
        KL_TRY(kl_gather_next(gather, block - *rows < step ? block - *rows : step, run, &x));
        if (x.rows == 0)
            return KLIFT_OK;
        if (learner != NULL)
            KL_TRY(learner->type->observe(learner, &x));
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
        return kl_fail(KLIFT_IO, "%s: cannot make a temporary file for the features: %s; set TMPDIR to a folder with room, or give a file instead of a pipe", path, strerror(errno));
    unlink(path); /* it goes with the process, however that ends */
    return KLIFT_OK;
}

/* All of a block to or from its place in the file; the last one has rows that nobody reads. */
static klift_status move_block(const kl_feature_passes *p, int64_t index, float *z, bool out)
{
    char *bytes = (char *)z;
    for (int64_t done = 0, all = block_bytes(p); done < all;) {
        off_t at = (off_t)(index * all + done);
        ssize_t count = out ? pwrite(p->file, bytes + done, (size_t)(all - done), at) : pread(p->file, bytes + done, (size_t)(all - done), at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return kl_fail(KLIFT_IO, "the temporary file for the features: cannot %s it: %s; set TMPDIR to a folder with room, or give a file instead of a pipe", out ? "write" : "read",
                           count < 0 ? strerror(errno) : "it ends early");
        done += count;
    }
    return KLIFT_OK;
}

/* From memory to the file, once they are too many. */
static klift_status spill(kl_feature_passes *p, klift_run *run)
{
    KL_TRY(open_file(p));
    kl_run_say(run, KLIFT_EVENT_NOTE, "features", "the input can be read once only, and its features take more than half of max-memory: they go to a temporary file");
    for (int64_t b = 0; b < p->blocks; b++) {
        KL_TRY(move_block(p, b, p->z[b], true));
        if (b > 0) {
            kl_free(p->z[b]);
            p->z[b] = NULL;
        }
    }
    p->blocks = 1;
    p->kept = false;
    return KLIFT_OK;
}

static klift_status next(kl_passes *passes, klift_run *run, kl_batch *z)
{
    kl_feature_passes *p = (kl_feature_passes *)passes;
    int64_t features = p->lift->map->n_out, rows = p->rows - p->at < p->block ? p->rows - p->at : p->block;
    const float *from = p->z[p->kept && rows > 0 ? p->at / p->block : 0];
    KL_TRY(kl_run_check(run));
    if (p->file >= 0 && rows > 0)
        KL_TRY(move_block(p, p->at / p->block, p->z[0], false));
    else if (!p->kept && p->at == 0) {
        kl_gather_clear(&p->gather);
        KL_TRY(kl_reader_rewind(p->gather.reader));
    }
    if (!p->kept && p->file < 0 && rows > 0) {
        int64_t got;
        KL_TRY(kl_passes_fill(p->lift, &p->gather, NULL, p->block, p->z[0], run, &got));
        if (got != rows)
            return kl_fail(KLIFT_DATA, "%s: it had %lld rows and has other ones now; do not change a file while it is learnt from", kl_reader_name(p->gather.reader), (long long)p->rows);
    }
    *z = (kl_batch){.size = sizeof *z, .rows = rows, .columns = features, .dense = from, .stride = features};
    p->at = rows == 0 ? 0 : p->at + rows;
    return KLIFT_OK;
}

/* One block more from the reader: observed, and lifted when it is to be kept in memory or in the file. */
static klift_status take_block(kl_feature_passes *p, kl_learner *learner, int64_t most, klift_run *run, int64_t *rows)
{
    if (p->kept && p->blocks > 0 && (p->blocks + 1) * block_bytes(p) > most)
        KL_TRY(spill(p, run));
    if (p->kept || p->blocks == 0)
        KL_TRY(add_block(p));
    float *z = p->kept ? p->z[p->blocks - 1] : p->file >= 0 ? p->z[0] : NULL;
    KL_TRY(kl_passes_fill(p->lift, &p->gather, learner, p->block, z, run, rows));
    return p->file >= 0 && *rows > 0 ? move_block(p, p->rows / p->block, z, true) : KLIFT_OK;
}

klift_status kl_passes_open(kl_feature_passes *p, const klift_map *lift, kl_reader *reader, kl_learner *learner, klift_run *run)
{
    int64_t rows, most = INT64_MAX;
    bool keep = kl_learner_keeps(lift->rows, lift->map->n_out, kl_run_memory(run));
    *p = (kl_feature_passes){.passes = {next}, .lift = lift, .gather = {.reader = reader, .width = lift->prepare.n_in}, .block = kl_learner_block(lift->map->n_out), .kept = keep, .file = -1};
    if (!kl_reader_can_rewind(reader)) {
        p->kept = true;
        most = kl_run_memory(run) / 2;
    }
    do {
        KL_TRY(take_block(p, learner, most, run, &rows));
        p->rows += rows;
        KL_TRY(kl_run_progress(run, "features", p->rows, reader->total, NAN));
    } while (rows == p->block);
    kl_reader_say(reader, run);
    return KLIFT_OK;
}

void kl_passes_close(kl_feature_passes *p)
{
    for (int64_t b = 0; b < p->blocks; b++)
        kl_free(p->z[b]);
    kl_free(p->z);
    kl_gather_clear(&p->gather);
    if (p->file >= 0)
        close(p->file);
}
