/* cmd_list.c - klift list: what the library's registries hold, with parameters, ranges and defaults. */
#include "commands.h"

#include "describe.h"
#include "nearest.h"
#include "progress.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

static const char *const topics[] = {"kernels", "maps", "learners", "formats", "options", "data", NULL};

static klift_status list(const char *topic, bool json, const char *before, const char *heading)
{
    char *text = NULL;
    page p = page_text(stdout);
    printf("%s", before);
    if (!json) {
        printf("%s%s", heading, *heading != '\0' ? "\n" : "");
        return registry_print(&p, topic);
    }
    klift_status status = describe_list(topic, &text);
    if (status == KLIFT_OK)
        printf("%s", text);
    free(text);
    return status;
}

static klift_status list_all(bool json)
{
    klift_status status = KLIFT_OK;
    char before[64];
    for (int i = 0; topics[i] != NULL && status == KLIFT_OK; i++) {
        snprintf(before, sizeof before, json ? "%s\"%s\":" : "%s", json ? (i == 0 ? "{" : ",") : i == 0 ? "" : "\n", topics[i]);
        status = list(topics[i], json, before, topics[i]);
    }
    if (status == KLIFT_OK && json)
        putchar('}');
    return status;
}

static klift_status run(const options *given)
{
    bool json = options_has(given, "json");
    klift_status status;
    if (given->arguments == 0)
        status = list_all(json);
    else {
        const char *topic = given->argument[0], *near = nearest(topic, topics);
        int i = 0;
        while (topics[i] != NULL && strcmp(topics[i], topic) != 0)
            i++;
        if (topics[i] == NULL)
            return progress_fail(KLIFT_USAGE, "there is no list of '%s'%s%s%s; known: kernels, maps, learners, formats, options, data", topic,
                                 near != NULL ? ": did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
        status = list(topic, json, "", "");
    }
    if (status == KLIFT_OK && json)
        putchar('\n');
    return status;
}

const cli_command cmd_list = {
    .name = "list",
    .arguments = "[kernels | maps | learners | formats | options | data]",
    .summary = "what there is, with parameters and defaults",
    .detail = "Lists kernels, maps (and the kernels each fits), learners, file formats, settings, or the data that generate makes; without a name all of them.",
    .examples = "  klift list maps\n"
                "  klift list --json kernels\n",
    .least = 0,
    .most = 1,
    .run = run,
};
