/* job.c - spec, run, data and model of a command. */
#include "job.h"

#include "libsvm.h"
#include "progress.h"
#include "signal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

klift_status job_spec(const options *given, klift_spec **spec)
{
    klift_status status = progress_check(klift_spec_new(spec));
    for (int i = 0; i < given->settings && status == KLIFT_OK; i++)
        if (given->setting[i].option->to == TO_SPEC)
            status = progress_check_in(given->setting[i].place, klift_spec_set(*spec, given->setting[i].option->name,
                                                                               given->setting[i].option->value != NULL ? given->setting[i].value : "true"));
    return status == KLIFT_OK ? libsvm_apply(given, *spec) : status;
}

klift_status job_run(const options *given, klift_run **run)
{
    klift_status status = progress_check(klift_run_new(run));
    for (int i = 0; i < given->settings && status == KLIFT_OK; i++)
        if (given->setting[i].option->to == TO_RUN)
            status = progress_check_in(given->setting[i].place, klift_run_set(*run, given->setting[i].option->name,
                                                                              given->setting[i].option->value != NULL ? given->setting[i].value : "true"));
    if (status == KLIFT_OK) {
        klift_run_on_event(*run, progress_event, NULL);
        signal_watch(*run);
    }
    return status;
}

void job_end(klift_run *run)
{
    signal_watch(NULL);
    klift_run_free(run);
}

klift_status job_add(job_items *items, const char *key, const char *value)
{
    size_t room = sizeof items->text, quotes = 0;
    for (const char *p = value; *p != '\0'; p++)
        quotes += *p == '"';
    if (items->length + strlen(key) + strlen(value) + quotes + 5 > room)
        return progress_fail(KLIFT_USAGE, "--%s is too long; use shorter names, or data in another folder", key);
    items->length += (size_t)snprintf(items->text + items->length, room - items->length, "%s%s=\"", items->length > 0 ? "," : "", key);
    for (const char *p = value; *p != '\0'; p++) {
        if (*p == '"')
            items->text[items->length++] = '"';
        items->text[items->length++] = *p;
    }
    items->text[items->length++] = '"';
    items->text[items->length] = '\0';
    return KLIFT_OK;
}

/* The first bytes of a file that can be read twice; a pipe is not even opened: closing it would end its writer. */
static size_t look(const char *path, char *head, size_t room)
{
    struct stat is;
    bool standard = strcmp(path, "-") == 0;
    if ((standard ? fstat(STDIN_FILENO, &is) : stat(path, &is)) != 0 || !S_ISREG(is.st_mode))
        return 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd >= 0 ? pread(fd, head, room, 0) : 0;
    if (fd >= 0 && !standard)
        close(fd);
    return count > 0 ? (size_t)count : 0;
}

static bool starts_with(const char *path, const char *magic, size_t length)
{
    char head[8];
    return look(path, head, length) == length && memcmp(head, magic, length) == 0;
}

bool job_is_model(const char *path)
{
    return strcmp(path, "-") != 0 && starts_with(path, "\x89KLIFT\r\n", 8);
}

klift_status job_data(const options *given, const char *path, const char *labels, const klift_model *model, klift_data **data)
{
    job_items items = {0};
    klift_status status = KLIFT_OK;
    const char *file = NULL; /* --config's, when some of the items are from it */
    for (int i = 0; i < given->settings && status == KLIFT_OK; i++) {
        const cli_option *option = given->setting[i].option;
        bool replaced = labels != NULL && strcmp(option->name, "labels") == 0;
        if (option->to == TO_DATA && !replaced)
            status = job_add(&items, option->name, option->value != NULL ? given->setting[i].value : "true");
        if (option->to == TO_DATA && !replaced && given->setting[i].place != NULL)
            file = options_get(given, "config");
    }
    if (status == KLIFT_OK && labels != NULL && *labels != '\0')
        status = job_add(&items, "labels", labels);
    if (status == KLIFT_OK) /* some commands read without a run */
        status = job_add(&items, "threads", options_get(given, "threads") != NULL ? options_get(given, "threads") : "auto");
    if (status == KLIFT_OK) {
        status = klift_data_open(path, items.text, data);
        status = progress_check_in(status == KLIFT_USAGE ? file : NULL, status);
    }
    if (status == KLIFT_OK && model != NULL)
        status = progress_check(klift_data_match(*data, model));
    return status;
}

void job_order(const options *given, const char **model, const char **data)
{
    bool swapped = !job_is_model(given->argument[0]) && job_is_model(given->argument[1]);
    *model = given->argument[swapped];
    *data = given->argument[!swapped];
}

klift_status job_model(const char *path, klift_model **model)
{
    return progress_check(klift_model_load(path, model));
}
