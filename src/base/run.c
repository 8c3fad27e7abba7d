/*
 * run.c - threads, limits, progress, cancel and scratch of one job. Threads default to the CPUs this process may use
 * (affinity and cgroup quota), memory to half of the machine's or the cgroup's total: never to what is free.
 */
#define _GNU_SOURCE
#include "base/run.h"

#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct klift_run {
    int threads;
    int64_t batch, max_memory;
    char *checkpoint; /* NULL: none */
    kl_upkeep keeping;
    klift_event_fn event;
    void *user;
    bool hushed;
    klift_model_fn show;
    void *show_user;
    int64_t wanted;
    atomic_int cancelled, held;
    kl_pool *pool;
    double started;
    struct {
        void *memory;
        int64_t room;
    } scratch[KL_SCRATCH_SLOTS];
};

enum { DEFAULT_BATCH = 4096, MOST_THREADS = 1024 };

const kl_param kl_run_params[] = {
    {"threads", KL_WHOLE, "auto", 1, MOST_THREADS, false, "auto", "threads; auto: the CPUs this process may use"},
    {"batch", KL_WHOLE, "4096", 1, 1 << 24, false, NULL, "rows read at a time"},
    {"max-memory", KL_FREE, "auto", 0, 0, false, NULL, "memory limit in bytes, or with K, M, G, T; auto: half of the machine's"},
    {"checkpoint", KL_FREE, "none", 0, 0, false, NULL, "file in which klift_train keeps its state, so that a run that was stopped or killed can go on"},
    {"checkpoint-every", KL_FREE, "auto", 0, 0, false, NULL, "how often: a time such as 30s, 5m or 1h, or a number of rows; auto: every minute, or less often where writing takes long"},
    {"resume", KL_WORD, "false", 0, 0, false, "false|true", "go on from the checkpoint; from the first row when there is none"},
    {0}};
enum { THREADS, BATCH, MEMORY, CHECKPOINT, EVERY, RESUME };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One number from a small system file; -1 when it is absent or "max". */
static double read_system(const char *path, double *second)
{
    FILE *file = fopen(path, "r");
    double first = -1, next = -1;
    if (file != NULL) {
        if (fscanf(file, "%lf %lf", &first, &next) < 1)
            first = -1;
        fclose(file);
    }
    if (second != NULL)
        *second = next;
    return first;
}

int kl_run_cpus(void)
{
    cpu_set_t set;
    int threads = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        threads = CPU_COUNT(&set);
    double period, quota = read_system("/sys/fs/cgroup/cpu.max", &period);
    if (quota > 0 && period > 0 && quota / period < threads)
        threads = (int)ceil(quota / period);
    return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
}

static int64_t default_memory(void)
{
    double total = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (int i = 0; i < 2; i++) {
        double limit = read_system(limits[i], NULL);
        if (limit > 0 && limit < total)
            total = limit;
    }
    return (int64_t)(total / 2);
}

klift_status klift_run_new(klift_run **run)
{
    if (run == NULL)
        return kl_fail(KLIFT_USAGE, "klift_run_new: run is NULL");
    KL_TRY(kl_new(run, 1, sizeof **run, "a run"));
    (*run)->threads = kl_run_cpus();
    (*run)->batch = DEFAULT_BATCH;
    (*run)->max_memory = default_memory();
    (*run)->wanted = INT64_MAX;
    (*run)->started = now();
    return KLIFT_OK;
}

static klift_status read_size(const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *end;
    double value, scale = 1;
    kl_number_kind kind = kl_number_read(text, text + strlen(text), &value, &end);
    const char *unit = (*end & ~0x20) != '\0' ? strchr(units, *end & ~0x20) : NULL; /* a blank would find the end of units */
    if (unit != NULL) {
        scale = ldexp(1, 10 * (int)(unit - units + 1));
        end++;
        if (*end == 'i')
            end++;
        if (*end == 'B')
            end++;
    }
    if (kind != KL_NUMBER_OK || *end != '\0' || !(value > 0) || value * scale < 1 << 20 || value * scale > 0x1p60)
        return kl_fail(KLIFT_USAGE, "max-memory is '%.50s'; it must be a size of at least 1M such as 500M or 16G", text);
    *bytes = (int64_t)(value * scale);
    return KLIFT_OK;
}

static klift_status read_interval(const char *text, kl_upkeep *keeping)
{
    static const char units[] = "smh";
    static const double seconds[] = {1, 60, 3600};
    const char *end;
    double value;
    keeping->seconds = 0;
    keeping->rows = 0;
    if (strcmp(text, "auto") == 0)
        return KLIFT_OK;
    kl_number_kind kind = kl_number_read(text, text + strlen(text), &value, &end);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    bool rows = *end == '\0';
    if (kind != KL_NUMBER_OK || !(value > 0) || value > 0x1p53 || (unit == NULL && !rows) || (unit != NULL && end[1] != '\0') || (rows && value < 1))
        return kl_fail(KLIFT_USAGE, "checkpoint-every is '%.50s'; it must be a time such as 30s, 5m or 1h, or a number of rows such as 100000", text);
    keeping->seconds = rows ? (double)NAN : value * seconds[unit - units];
    keeping->rows = rows ? (int64_t)value : 0;
    return KLIFT_OK;
}

static klift_status set_checkpoint(klift_run *run, const char *path)
{
    char *copy = NULL;
    if (strcmp(path, "-") == 0 || *path == '\0')
        return kl_fail(KLIFT_USAGE, "checkpoint is '%s'; it must be the name of a file", path);
    if (strcmp(path, "none") != 0)
        KL_TRY(kl_copy_text(&copy, path));
    kl_free(run->checkpoint);
    run->checkpoint = copy;
    return KLIFT_OK;
}

klift_status klift_run_set(klift_run *run, const char *key, const char *value)
{
    if (run == NULL || key == NULL || value == NULL)
        return kl_fail(KLIFT_USAGE, "klift_run_set: an argument is NULL");
    int64_t index = kl_params_find(kl_run_params, key);
    if (index < 0)
        return kl_unknown("run setting", key, kl_param_name_at, kl_run_params);
    kl_value read;
    KL_TRY(kl_param_read(&kl_run_params[index], value, "run", &read));
    switch (index) {
    case THREADS:
        run->threads = read.word == 0 ? kl_run_cpus() : (int)read.number;
        kl_pool_free(run->pool);
        run->pool = NULL;
        break;
    case BATCH: run->batch = (int64_t)read.number; break;
    case CHECKPOINT: return set_checkpoint(run, value);
    case EVERY: return read_interval(value, &run->keeping);
    case RESUME: run->keeping.resume = read.word == 1; break;
    default:
        if (strcmp(value, "auto") != 0)
            return read_size(value, &run->max_memory);
        run->max_memory = default_memory();
    }
    return KLIFT_OK;
}

void klift_run_on_event(klift_run *run, klift_event_fn event, void *user)
{
    if (run != NULL) {
        run->event = event;
        run->user = user;
    }
}

void klift_run_on_model(klift_run *run, int64_t first, klift_model_fn show, void *user)
{
    if (run != NULL) {
        run->show = show;
        run->show_user = user;
        run->wanted = show != NULL ? first : INT64_MAX;
    }
}

void klift_run_cancel(klift_run *run)
{
    if (run != NULL)
        atomic_store(&run->cancelled, 1);
}

void klift_run_free(klift_run *run)
{
    if (run == NULL)
        return;
    kl_pool_free(run->pool);
    kl_free(run->checkpoint);
    for (int i = 0; i < KL_SCRATCH_SLOTS; i++)
        kl_free(run->scratch[i].memory);
    kl_free(run);
}

int kl_run_threads(const klift_run *run)
{
    return run == NULL ? 1 : run->threads;
}

int64_t kl_run_batch(const klift_run *run)
{
    return run == NULL ? DEFAULT_BATCH : run->batch;
}

int64_t kl_run_memory(const klift_run *run)
{
    return run == NULL ? default_memory() : run->max_memory;
}

double kl_run_seconds(const klift_run *run)
{
    return run == NULL ? 0 : now() - run->started;
}

kl_upkeep kl_run_upkeep(const klift_run *run)
{
    kl_upkeep keeping = {0};
    if (run != NULL)
        keeping = run->keeping;
    keeping.path = run != NULL ? run->checkpoint : NULL;
    return keeping;
}

bool kl_run_cancelled(const klift_run *run)
{
    return run != NULL && atomic_load(&run->cancelled) != 0;
}

void kl_run_hold(klift_run *run, bool held)
{
    if (run != NULL)
        atomic_store(&run->held, held);
}

static int cancelled(const void *run)
{
    return kl_run_cancelled(run) && atomic_load(&((const klift_run *)run)->held) == 0;
}

klift_status kl_run_check(const klift_run *run)
{
    return run != NULL && cancelled(run) ? kl_fail(KLIFT_CANCELLED, "stopped on request") : KLIFT_OK;
}

static klift_status run_tasks(klift_run *run, int64_t count, kl_task task, void *context, kl_stop stop)
{
    if (run == NULL) {
        klift_status status = KLIFT_OK;
        unsigned mode = kl_denormals_flush();
        for (int64_t i = 0; i < count && status == KLIFT_OK; i++)
            status = task(context, i, 0);
        kl_denormals_restore(mode);
        return status;
    }
    if (run->pool == NULL)
        KL_TRY(kl_pool_new(&run->pool, run->threads));
    return kl_pool_run(run->pool, count, task, context, stop, run);
}

klift_status kl_run_parallel(klift_run *run, int64_t count, kl_task task, void *context)
{
    return run_tasks(run, count, task, context, cancelled);
}

klift_status kl_run_whole(klift_run *run, int64_t count, kl_task task, void *context)
{
    KL_TRY(kl_run_check(run));
    return run_tasks(run, count, task, context, NULL);
}

klift_status kl_run_progress(klift_run *run, const char *stage, int64_t rows, int64_t rows_total, double loss)
{
    return kl_run_tell(run, (klift_event){.stage = stage, .rows = rows, .rows_total = rows_total, .loss = loss, .holdout = NAN});
}

klift_status kl_run_tell(klift_run *run, klift_event event)
{
    if (run == NULL)
        return KLIFT_OK;
    if (run->event != NULL && !run->hushed) {
        event.size = sizeof event;
        event.kind = KLIFT_EVENT_PROGRESS;
        event.seconds = now() - run->started;
        if (run->event(&event, run->user) != 0)
            klift_run_cancel(run);
    }
    return kl_run_check(run);
}

int64_t kl_run_wanted(const klift_run *run)
{
    return run == NULL ? INT64_MAX : run->wanted;
}

klift_status kl_run_show(klift_run *run, const klift_model *model, int64_t rows)
{
    if (run == NULL || run->show == NULL)
        return KLIFT_OK;
    int64_t next = run->show(model, rows, run->show_user);
    run->wanted = next > 0 ? next : INT64_MAX;
    if (next < 0)
        klift_run_cancel(run);
    return kl_run_check(run);
}

bool kl_run_hush(klift_run *run, bool hushed)
{
    bool before = run != NULL && run->hushed;
    if (run != NULL)
        run->hushed = hushed;
    return before;
}

void kl_run_say(klift_run *run, int kind, const char *stage, const char *format, ...)
{
    if (run == NULL || run->event == NULL || run->hushed)
        return;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    klift_event event = {.size = sizeof event, .kind = kind, .stage = stage, .message = message, .seconds = now() - run->started, .loss = NAN, .holdout = NAN};
    if (run->event(&event, run->user) != 0)
        klift_run_cancel(run);
}

void kl_run_scratch_drop(klift_run *run, int slot)
{
    if (run == NULL)
        return;
    kl_free(run->scratch[slot].memory);
    run->scratch[slot].memory = NULL;
    run->scratch[slot].room = 0;
}

klift_status kl_run_scratch(klift_run *run, int slot, int64_t bytes, void *memory)
{
    void **out = memory;
    *out = NULL;
    if (run == NULL)
        return kl_fail(KLIFT_FAILED, "scratch was asked of no run");
    if (run->scratch[slot].room < bytes) {
        kl_run_scratch_drop(run, slot);
        KL_TRY(kl_new_bare(&run->scratch[slot].memory, bytes, 1, "scratch"));
        run->scratch[slot].room = bytes;
    }
    *out = run->scratch[slot].memory;
    return KLIFT_OK;
}

klift_status kl_run_local(klift_run *run, klift_run **own, klift_run **use)
{
    *own = NULL;
    *use = run;
    if (run != NULL)
        return KLIFT_OK;
    KL_TRY(klift_run_new(own));
    (*own)->threads = 1;
    *use = *own;
    return KLIFT_OK;
}
