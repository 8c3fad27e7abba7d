/* describe.c - the room/needed calls of klift.h, one wrapper each over one loop. */
#include "describe.h"

#include "progress.h"

#include <stdlib.h>

typedef struct question {
    const char *list;
    const klift_model *model;
    klift_data *data;
    klift_run *run;
} question;

static klift_status ask(const question *q, char *json, int64_t room, int64_t *needed)
{
    if (q->list != NULL)
        return klift_list(q->list, json, room, needed);
    if (q->data == NULL && q->model == NULL)
        return klift_doctor(q->run, json, room, needed);
    if (q->data == NULL)
        return klift_model_describe(q->model, json, room, needed);
    if (q->model == NULL)
        return klift_data_describe(q->data, q->run, json, room, needed);
    return klift_model_test(q->model, q->data, q->run, json, room, needed);
}

static klift_status answer(const question *q, int64_t room, char **json)
{
    klift_status status = KLIFT_OK;
    int64_t needed = 0;
    *json = NULL;
    for (;;) {
        free(*json);
        *json = malloc((size_t)room);
        if (*json == NULL)
            return progress_fail(KLIFT_MEMORY, "no memory for a description of %lld bytes", (long long)room);
        status = progress_check(ask(q, *json, room, &needed));
        if (status != KLIFT_OK || needed < room)
            break;
        room = needed + 1;
        if (q->data != NULL && (status = progress_check(klift_data_rewind(q->data))) != KLIFT_OK)
            break;
    }
    if (status != KLIFT_OK) {
        free(*json);
        *json = NULL;
    }
    return status;
}

klift_status describe_list(const char *what, char **json)
{
    return answer(&(question){.list = what}, 1 << 16, json);
}

klift_status describe_doctor(klift_run *run, char **json)
{
    return answer(&(question){.run = run}, 1 << 12, json);
}

klift_status describe_model(const klift_model *model, char **json)
{
    return answer(&(question){.model = model}, 1 << 16, json);
}

klift_status describe_test(const klift_model *model, klift_data *data, klift_run *run, char **json)
{
    int64_t classes = klift_model_classes(model);
    int64_t room = (1 << 20) + (classes < 20000 ? classes * (classes * 12 + 512) : 0); /* the confusion matrix */
    return answer(&(question){.model = model, .data = data, .run = run}, room, json);
}

klift_status describe_data(klift_data *data, klift_run *run, char **json)
{
    return answer(&(question){.data = data, .run = run}, 1 << 24, json);
}
