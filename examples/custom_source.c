/*
 * custom_source.c - rows from a callback: a data base, a socket, a simulation; here y = sin(3 x) + a little noise.
 *
 * klift asks for rows until there are none, and rewinds between its passes. A source that cannot be read again
 * leaves `rewind` NULL; klift then keeps the head of the stream for its first look.
 */
#include <klift.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 5000, BATCH = 256 };

typedef struct sensor {
    int64_t next;    /* row */
    float x[BATCH];  /* (rows, 1) */
    double y[BATCH]; /* (rows, 1) */
} sensor;

/* A number in [0, 1) that depends on its place only: every pass must give the same rows. */
static double noise(int64_t row, int stream)
{
    uint32_t h = (uint32_t)row * 2654435769u + (uint32_t)stream * 40503u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h = (h ^ (h >> 13)) * 3266489917u;
    return (double)(h >> 8) / 16777216.0;
}

static klift_status sensor_next(void *user, klift_batch *batch)
{
    sensor *s = (sensor *)user;
    int64_t i, rows = ROWS - s->next;
    if (rows > BATCH)
        rows = BATCH;
    for (i = 0; i < rows; i++, s->next++) {
        double x = 4 * noise(s->next, 1) - 2;
        s->x[i] = (float)x;
        s->y[i] = sin(3 * x) + 0.1 * (noise(s->next, 2) - 0.5);
    }
    batch->rows = rows; /* 0 at the end; the arrays stay as they are until the next call */
    batch->columns = 1;
    batch->dense = s->x;
    batch->stride = 1;
    batch->target = s->y;
    batch->targets = 1;
    return KLIFT_OK;
}

static klift_status sensor_rewind(void *user)
{
    ((sensor *)user)->next = 0;
    return KLIFT_OK;
}

/* klift calls back on the thread that called it; a value other than 0 would stop the run. */
static int on_event(const klift_event *event, void *user)
{
    (void)user;
    if (event->kind == KLIFT_EVENT_WARNING)
        fprintf(stderr, "%s: %s\n", event->stage, event->message);
    return 0;
}

static klift_status train(klift_data *data, klift_run *run, klift_model **model)
{
    klift_spec *spec = NULL;
    klift_status status = klift_spec_new(&spec);
    if (status == KLIFT_OK)
        status = klift_spec_set(spec, "task", "regress");
    if (status == KLIFT_OK)
        status = klift_spec_set(spec, "features", "128");
    if (status == KLIFT_OK)
        status = klift_train(spec, data, run, model);
    klift_spec_free(spec);
    return status;
}

int main(void)
{
    static sensor s;
    klift_source source;
    klift_data *data = NULL;
    klift_run *run = NULL;
    klift_model *model = NULL;
    klift_batch one;
    float x = 0.5f;
    double y = 0;
    klift_status status;
    memset(&source, 0, sizeof source);
    source.size = (int64_t)sizeof source;
    source.user = &s;
    source.next = sensor_next;
    source.rewind = sensor_rewind;
    status = klift_run_new(&run);
    if (status == KLIFT_OK)
        klift_run_on_event(run, on_event, NULL);
    if (status == KLIFT_OK)
        status = klift_data_from(&source, &data);
    if (status == KLIFT_OK)
        status = train(data, run, &model);
    if (status == KLIFT_OK) {
        memset(&one, 0, sizeof one);
        one.size = (int64_t)sizeof one;
        one.rows = one.columns = one.stride = 1;
        one.dense = &x;
        status = klift_model_predict(model, &one, KLIFT_SCORES, &y, run);
    }
    if (status == KLIFT_OK)
        printf("%lld rows read in all passes\nat 0.5: %.2f, the curve has %.2f\n", (long long)klift_data_count(data), y, sin(1.5));
    else
        fprintf(stderr, "custom_source: %s\n", klift_error());
    klift_model_free(model);
    klift_data_free(data);
    klift_run_free(run);
    return status == KLIFT_OK && fabs(y - sin(1.5)) > 0.05 ? 1 : (int)status;
}
