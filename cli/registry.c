/* registry.c - klift_list's JSON as a page. */
#include "registry.h"

#include "describe.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* "gamma=auto", "inverse squared width; ... (a number above 0)" */
static void print_param(page *p, const char *param)
{
    char name[64], fallback[128], range[256], help[512], left[256], right[1024];
    json_text(json_get(param, "name"), name, sizeof name);
    json_text(json_get(param, "help"), help, sizeof help);
    const char *value = json_get(param, "default"), *allowed = json_get(param, "range");
    bool has_default = value != NULL && json_kind(value) != 'n';
    bool has_range = json_kind(allowed) == '"' && *json_text(allowed, range, sizeof range) != '\0';
    snprintf(left, sizeof left, "%s%s%s", name, has_default ? "=" : "", has_default ? json_text(value, fallback, sizeof fallback) : "");
    snprintf(right, sizeof right, "%s%s%s%s", help, has_range ? " (" : "", has_range ? range : "", has_range ? ")" : "");
    page_item(p, page_parameter, left, NULL, right);
}

static void print_fits(page *p, const char *entry)
{
    char line[1024] = "kernels:", name[64];
    for (const char *cursor = NULL, *fit; (fit = json_next(json_get(entry, "fits"), &cursor, NULL, 0)) != NULL;) {
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, " %s", json_text(fit, name, sizeof name));
    }
    if (json_count(json_get(entry, "fits")) > 0)
        page_note(p, page_parameter.indent, line);
}

klift_status registry_print(page *p, const char *what)
{
    char name[64], summary[512], *json = NULL;
    klift_status status = describe_list(what, &json);
    for (const char *cursor = NULL, *entry; (entry = json_next(json, &cursor, NULL, 0)) != NULL;) {
        const char *about = json_get(entry, "summary");
        page_item(p, page_entry, json_text(json_get(entry, "name"), name, sizeof name), NULL,
                  about != NULL ? json_text(about, summary, sizeof summary) : "settings");
        for (const char *at = NULL, *param; (param = json_next(json_get(entry, "params"), &at, NULL, 0)) != NULL;)
            print_param(p, param);
        print_fits(p, entry);
    }
    page_end(p);
    free(json);
    return status;
}
