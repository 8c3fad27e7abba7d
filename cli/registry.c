/* registry.c - klift_list's JSON as a page, and as words. */
#include "registry.h"

#include "commands.h"
#include "describe.h"
#include "json.h"
#include "progress.h"

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

klift_status registry_add(registry_words *words, const char *word, size_t length)
{
    for (int i = 0; i < words->count; i++)
        if (strlen(words->word[i]) == length && memcmp(words->word[i], word, length) == 0)
            return KLIFT_OK;
    char **more = realloc(words->word, ((size_t)words->count + 2) * sizeof *more), *copy = strndup(word, length);
    words->word = more != NULL ? more : words->word;
    if (more == NULL || copy == NULL) {
        free(copy);
        return progress_fail(KLIFT_MEMORY, "no memory for the words of klift list");
    }
    words->word[words->count++] = copy;
    words->word[words->count] = NULL;
    return KLIFT_OK;
}

/* "auto|folds|gcv" */
static klift_status split(registry_words *words, const char *text)
{
    klift_status status = KLIFT_OK;
    for (size_t span; *text != '\0' && status == KLIFT_OK; text += span + (text[span] == '|')) {
        span = strcspn(text, "|");
        status = registry_add(words, text, span);
    }
    return status;
}

klift_status registry_names(registry_words *words, const char *what)
{
    char name[64], *json = NULL;
    klift_status status = describe_list(what, &json);
    for (const char *cursor = NULL, *entry; status == KLIFT_OK && (entry = json_next(json, &cursor, NULL, 0)) != NULL;) {
        json_text(json_get(entry, "name"), name, sizeof name);
        status = registry_add(words, name, strlen(name));
    }
    free(json);
    return status;
}

/* Of every parameter of that name below the entry: what stands behind "one of" in its range; auto, beside names, when it is the default. */
static klift_status add_ranges(registry_words *words, const char *entry, const char *name)
{
    klift_status status = KLIFT_OK;
    char text[256];
    for (const char *at = NULL, *param; status == KLIFT_OK && (param = json_next(json_get(entry, "params"), &at, NULL, 0)) != NULL;) {
        if (strcmp(json_text(json_get(param, "name"), text, sizeof text), name) != 0)
            continue;
        const char *range = json_kind(json_get(param, "range")) == '"' ? json_text(json_get(param, "range"), text, sizeof text) : "";
        const char *one_of = strstr(range, "one of ");
        if (one_of != NULL)
            status = split(words, one_of + strlen("one of "));
        else if (words->count > 0 && strcmp(json_text(json_get(param, "default"), text, sizeof text), "auto") == 0)
            status = registry_add(words, "auto", 4);
    }
    return status;
}

/* what: a klift_list; entry: of it, or NULL for all */
static klift_status add_words(registry_words *words, const char *what, const char *entry, const char *name)
{
    char own[64], *json = NULL;
    klift_status status = describe_list(what, &json);
    for (const char *cursor = NULL, *at; status == KLIFT_OK && (at = json_next(json, &cursor, NULL, 0)) != NULL;)
        if (entry == NULL || strcmp(json_text(json_get(at, "name"), own, sizeof own), entry) == 0)
            status = add_ranges(words, at, name);
    free(json);
    return status;
}

klift_status registry_values(registry_words *words, const cli_option *option)
{
    static const char *const list[][2] = {{"kernel", "kernels"}, {"map", "maps"}, {"learner", "learners"}, {"format", "formats"}};
    klift_status status;
    if (option->value == NULL)
        return KLIFT_OK;
    if (strchr(option->value, '|') != NULL) /* as in --header true|false */
        return split(words, option->value);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strcmp(option->name, list[i][0]) == 0)
            CLI_GO(registry_names(words, list[i][1]));
    if (option->to == TO_SPEC || option->to == TO_RUN)
        CLI_GO(add_words(words, "options", option->to == TO_SPEC ? "spec" : "run", option->name));
    if (option->to == TO_DATA) {
        CLI_GO(add_words(words, "options", "data", option->name));
        CLI_GO(add_words(words, "formats", NULL, option->name));
    }
done:
    return status;
}

void registry_clear(registry_words *words)
{
    for (int i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (registry_words){0};
}
