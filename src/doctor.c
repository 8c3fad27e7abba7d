/*
 * doctor.c - the CPU, the inner loops in use, and short measurements of them: block products in float32 and float64,
 * cosines, the Walsh-Hadamard transform, copying memory. Each is the best of several rounds of about ten milliseconds,
 * on one thread and on all of them. For people: nothing that klift computes depends on these numbers.
 */
#define _GNU_SOURCE
#include "doctor.h"

#include "base/memory.h"
#include "math/micro.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 256, ROUNDS = 7, WAVES = 4096, COPY = 1 << 25 };

typedef struct bench {
    const kl_micro *micro;
    unsigned char *memory; /* per worker */
    int64_t bytes;
    double work; /* operations or bytes of one call */
    int repeats;
    void (*once)(const kl_micro *micro, unsigned char *memory);
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void product32(const kl_micro *micro, unsigned char *memory)
{
    float *a = (float *)(void *)memory;
    micro->product32(LENGTH, a, a + 4096, false, a + 12288, micro->width32);
}

static void product64(const kl_micro *micro, unsigned char *memory)
{
    double *a = (double *)(void *)memory;
    micro->add64(LENGTH, a, a + 4096, 1e-300, a + 8192, micro->width64);
}

static void cosines(const kl_micro *micro, unsigned char *memory)
{
    float *a = (float *)(void *)memory;
    micro->pairs(WAVES, a, 1.0f, false, a + WAVES, a + 2 * WAVES);
}

static void transform(const kl_micro *micro, unsigned char *memory)
{
    float *a = (float *)(void *)memory;
    memset(a, 0, 1024 * sizeof *a); /* it grows by 32 each time */
    micro->hadamard(1024, NULL, a, a);
}

static void copy(const kl_micro *micro, unsigned char *memory)
{
    (void)micro;
    memcpy(memory, memory + COPY, COPY);
}

static klift_status repeat(void *context, int64_t task, int worker)
{
    const bench *b = context;
    (void)task;
    for (int i = 0; i < b->repeats; i++)
        b->once(b->micro, b->memory + worker * b->bytes);
    return KLIFT_OK;
}

/* Work per second in units of 10^9: one thread, or one task on each of them. */
static klift_status measure(bench *b, klift_run *run, int threads, double *rate)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        KL_TRY(threads == 1 ? repeat(b, 0, 0) : kl_run_parallel(run, threads, repeat, b));
        double speed = b->work * b->repeats * threads / (now() - start) / 1e9;
        best = speed > best ? speed : best;
    }
    *rate = best;
    return KLIFT_OK;
}

static void cpu_name(char *out, size_t room)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, room, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        snprintf(out, room, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static klift_status measure_all(klift_run *run, unsigned char *memory, int64_t bytes, kl_text *json)
{
    const kl_micro *micro = kl_micro_get();
    const struct {
        const char *name;
        void (*once)(const kl_micro *micro, unsigned char *memory);
        double work;
        int repeats;
    } all[] = {{"float32_gflops", product32, 2.0 * LENGTH * micro->left32 * micro->width32, 5000},
               {"float64_gflops", product64, 2.0 * LENGTH * micro->left64 * micro->width64, 5000},
               {"cosine_pairs_per_ns", cosines, WAVES, 500},
               {"hadamard_gadds", transform, 1024.0 * 10, 5000},
               {"copy_gb_per_second", copy, 2.0 * COPY, 1}};
    int threads = kl_run_threads(run);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bench b = {micro, memory, bytes, all[i].work, all[i].repeats, all[i].once};
        double one, many;
        KL_TRY(measure(&b, run, 1, &one));
        KL_TRY(measure(&b, run, threads, &many));
        kl_json_open(json, all[i].name, '{');
        kl_json_number(json, "one_thread", (double)(int64_t)(one * 100 + 0.5) / 100);
        kl_json_number(json, "all_threads", (double)(int64_t)(many * 100 + 0.5) / 100);
        kl_json_close(json, '}');
    }
    return KLIFT_OK;
}

klift_status kl_doctor(klift_run *run, kl_text *json)
{
    int64_t bytes = 2 * COPY;
    unsigned char *memory = NULL;
    char name[128];
    klift_status status;
    KL_TRY(kl_micro_check());
    cpu_name(name, sizeof name);
    KL_TRY(kl_new(&memory, kl_run_threads(run) * bytes, 1, "the measurements"));
    kl_json_open(json, NULL, '{');
    kl_json_text(json, "version", klift_version());
    kl_json_text(json, "cpu", name);
    kl_json_text(json, "simd", kl_micro_get()->name);
    kl_json_open(json, "simd_possible", '[');
    for (int64_t i = 0; kl_micro_at(i) != NULL; i++)
        kl_json_text(json, NULL, kl_micro_at(i)->name);
    kl_json_close(json, ']');
    kl_json_count(json, "threads", kl_run_threads(run));
    kl_json_count(json, "max_memory", kl_run_memory(run));
    status = measure_all(run, memory, bytes, json);
    kl_json_close(json, '}');
    kl_free(memory);
    return status;
}
