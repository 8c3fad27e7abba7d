/* inputs.c - arguments to files by glob(3), and files to one chain. */
#include "inputs.h"

#include "job.h"
#include "progress.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static klift_status add(inputs *files, const char *path)
{
    char **more = realloc(files->path, ((size_t)files->count + 1) * sizeof *more), *copy = strdup(path);
    files->path = more != NULL ? more : files->path;
    if (more == NULL || copy == NULL) {
        free(copy);
        return progress_fail(KLIFT_MEMORY, "no memory for file names");
    }
    files->path[files->count++] = copy;
    return KLIFT_OK;
}

/* A file of that name goes first, whatever characters it has. */
static bool is_pattern(const char *argument)
{
    return strcmp(argument, "-") != 0 && strpbrk(argument, "*?[") != NULL && access(argument, F_OK) != 0;
}

static klift_status expand(const char *argument, inputs *files)
{
    glob_t found = {0};
    klift_status status = KLIFT_OK;
    if (!is_pattern(argument))
        return add(files, argument);
    int code = glob(argument, 0, NULL, &found); /* sorted by bytes: the command keeps the C locale */
    if (code == GLOB_NOMATCH)
        status = progress_fail(KLIFT_IO, "%s: no file matches the pattern; check the folder and the quotes", argument);
    else if (code != 0)
        status = progress_fail(code == GLOB_NOSPACE ? KLIFT_MEMORY : KLIFT_IO, "%s: the pattern cannot be expanded; name the files one by one", argument);
    for (size_t i = 0; code == 0 && i < found.gl_pathc && status == KLIFT_OK; i++)
        status = add(files, found.gl_pathv[i]);
    if (code == 0)
        globfree(&found);
    return status;
}

klift_status inputs_expand(const options *given, inputs *files)
{
    klift_status status = KLIFT_OK;
    for (int i = 0; i < given->arguments && status == KLIFT_OK; i++)
        status = expand(given->argument[i], files);
    return status;
}

static klift_status expand_labels(const options *given, inputs *labels)
{
    klift_status status = KLIFT_OK;
    for (int i = 0; i < given->settings && status == KLIFT_OK; i++)
        if (strcmp(given->setting[i].option->name, "labels") == 0)
            status = expand(given->setting[i].value, labels);
    return status;
}

static klift_status open_parts(const options *given, const inputs *files, const inputs *labels, klift_data **data)
{
    klift_data **part = calloc((size_t)files->count, sizeof *part);
    klift_status status = part != NULL ? KLIFT_OK : progress_fail(KLIFT_MEMORY, "no memory for %d files", files->count);
    int opened = 0;
    for (; opened < files->count && status == KLIFT_OK; opened++)
        status = job_data(given, files->path[opened], labels->count > 0 ? labels->path[opened] : "", NULL, &part[opened]);
    if (status == KLIFT_OK)
        status = progress_check(klift_data_chain(part, opened, data));
    else
        for (int i = 0; i < opened; i++)
            klift_data_free(part[i]);
    free(part);
    return status;
}

klift_status inputs_open(const options *given, const inputs *files, klift_data **data)
{
    inputs labels = {0};
    if (files->count == 1)
        return job_data(given, files->path[0], NULL, NULL, data);
    klift_status status = expand_labels(given, &labels);
    if (status == KLIFT_OK && labels.count > 0 && labels.count != files->count)
        status = progress_fail(KLIFT_USAGE, "there are %d files of data and %d of labels: give --labels once per file, in their order", files->count, labels.count);
    if (status == KLIFT_OK)
        status = open_parts(given, files, &labels, data);
    inputs_clear(&labels);
    return status;
}

void inputs_clear(inputs *files)
{
    for (int i = 0; i < files->count; i++)
        free(files->path[i]);
    free(files->path);
    *files = (inputs){0};
}
