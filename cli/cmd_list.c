/* cmd_list.c - klift list: what the library's registries hold, with parameters, ranges and defaults. */
#include "commands.h"

#include "describe.h"
#include "json.h"
#include "layout.h"
#include "nearest.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

static const char *const topics[] = {"kernels", "maps", "learners", "formats", "options", "data", NULL};

/* "gamma=auto  a number above 0, or one of auto; what it does" */
static void print_param(const char *param, int indent, int width)
{
    char name[64], fallback[128], range[256], help[512], left[256], right[1024];
    json_text(json_get(param, "name"), name, sizeof name);
    json_text(json_get(param, "help"), help, sizeof help);
    const char *value = json_get(param, "default"), *allowed = json_get(param, "range");
    bool has_default = value != NULL && json_kind(value) != 'n';
    bool has_range = json_kind(allowed) == '"' && *json_text(allowed, range, sizeof range) != '\0';
    snprintf(left, sizeof left, "%s%s%s", name, has_default ? "=" : "", has_default ? json_text(value, fallback, sizeof fallback) : "");
    snprintf(right, sizeof right, "%s%s%s%s", help, has_range ? " (" : "", has_range ? range : "", has_range ? ")" : "");
    int used = printf("%*s%-24s  ", indent, "", left);
    layout_wrap(right, used, used + 30 > width ? used + 30 : width, stdout);
}

static void print_fits(const char *entry, int width)
{
    char line[1024] = "kernels:", name[64];
    for (const char *cursor = NULL, *fit; (fit = json_next(json_get(entry, "fits"), &cursor, NULL, 0)) != NULL;) {
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, " %s", json_text(fit, name, sizeof name));
    }
    if (json_count(json_get(entry, "fits")) > 0) {
        printf("      ");
        layout_wrap(line, 6, width, stdout);
    }
}

static void print_topic(const char *json, int width)
{
    char name[64], summary[512];
    for (const char *cursor = NULL, *entry; (entry = json_next(json, &cursor, NULL, 0)) != NULL;) {
        int used = printf("  %-12s  ", json_text(json_get(entry, "name"), name, sizeof name));
        const char *about = json_get(entry, "summary");
        layout_wrap(about != NULL ? json_text(about, summary, sizeof summary) : "settings", used, width, stdout);
        for (const char *at = NULL, *param; (param = json_next(json_get(entry, "params"), &at, NULL, 0)) != NULL;)
            print_param(param, 6, width);
        print_fits(entry, width);
    }
}

static klift_status list(const char *topic, bool json, const char *before, const char *heading)
{
    char *text = NULL;
    klift_status status = describe_list(topic, &text);
    if (status == KLIFT_OK && json)
        printf("%s%s", before, text);
    else if (status == KLIFT_OK) {
        printf("%s%s%s", before, heading, *heading != '\0' ? "\n" : "");
        print_topic(text, layout_width(fileno(stdout)));
    }
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
