/*
 * config.c - a line of a configuration file is blank, a comment or
 *   key = value [ " #" comment ] ;   value = '"' any '"' ('""' is one quote) | anything without blanks at its ends
 * UTF-8 with or without byte order mark, lines ended by LF or CRLF, the last one by nothing if need be.
 */
#include "config.h"

#include "nearest.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, MOST_NAMES = 256 };

typedef struct reader {
    const char *path;
    FILE *file;
    int line;
    char text[LONGEST + 1]; /* of the line, without its end */
    bool more;              /* text holds a line */
} reader;

typedef struct entry {
    char *key, *value; /* in text; value NULL: the line is blank */
} entry;

/* An option of the command line replaces more in the file than its own name: what it would contradict there. */
static const char *const contradicts[][2] = {
    {"kernel", "t"}, {"kernel", "g"}, {"kernel", "d"}, {"kernel", "r"}, {"t", "g"}, {"t", "d"}, {"t", "r"},       {"lambda", "c"}, {"class-weight", "w"}, {"learner", "s"}, {"task", "s"},       {"v", "output"},      {"v", "search"},
    {"v", "folds"},  {"model", "kernel"}, {"model", "map"}, {"model", "features"}, {"model", "prepare"}, {"model", "seed"},
    {"probability", "b"}, {"probability", "scores"}, {"b", "scores"},
};

static klift_status take_byte(reader *r, size_t *length, int byte)
{
    if (byte == '\0')
        return progress_fail(KLIFT_USAGE, "%s:%d:%zu: a NUL byte: --config takes a text file (UTF-8), not UTF-16 or binary data", r->path, r->line,
                             *length + 1);
    if (*length == LONGEST)
        return progress_fail(KLIFT_USAGE, "%s:%d: the line is longer than %d bytes; --config takes lines of the form key = value", r->path, r->line, LONGEST);
    r->text[(*length)++] = (char)byte;
    return KLIFT_OK;
}

static klift_status next_line(reader *r)
{
    static const char mark[] = "\xEF\xBB\xBF";
    klift_status status = KLIFT_OK;
    size_t length = 0;
    int byte;
    r->line++;
    while ((byte = getc(r->file)) != EOF && byte != '\n' && status == KLIFT_OK)
        status = take_byte(r, &length, byte);
    if (status == KLIFT_OK && ferror(r->file))
        status = progress_fail(KLIFT_IO, "--config %s: cannot be read: %s", r->path, strerror(errno));
    if (length > 0 && r->text[length - 1] == '\r')
        length--;
    r->text[length] = '\0';
    if (r->line == 1 && strncmp(r->text, mark, 3) == 0)
        memmove(r->text, r->text + 3, length - 2);
    r->more = byte != EOF || length > 0;
    return status;
}

/* The value between quotes, in place; what follows it must be blank or a comment. */
static klift_status unquote(const reader *r, entry *e)
{
    char *from = e->value + 1, *to = e->value;
    while (*from != '\0' && (*from != '"' || from[1] == '"')) {
        from += *from == '"';
        *to++ = *from++;
    }
    if (*from == '\0')
        return progress_fail(KLIFT_USAGE, "%s:%d: the value of %s has no closing quote", r->path, r->line, e->key);
    size_t blanks = strspn(from + 1, " \t");
    if (from[1 + blanks] != '\0' && (blanks == 0 || from[1 + blanks] != '#'))
        return progress_fail(KLIFT_USAGE, "%s:%d: %s: there is text after the closing quote", r->path, r->line, e->key);
    *to = '\0';
    return KLIFT_OK;
}

/* Up to a comment, without the blanks before it. */
static void trim(entry *e)
{
    char *end = e->value;
    for (char *at = e->value; *at != '\0' && (*at != '#' || (at[-1] != ' ' && at[-1] != '\t')); at++)
        if (*at != ' ' && *at != '\t')
            end = at + 1;
    *end = '\0';
}

static klift_status split(reader *r, entry *e)
{
    e->key = r->text + strspn(r->text, " \t");
    e->value = NULL;
    if (*e->key == '\0' || *e->key == '#')
        return KLIFT_OK;
    char *end = e->key + strcspn(e->key, "= \t"), *equals = end + strspn(end, " \t");
    if (end == e->key || *equals != '=')
        return progress_fail(KLIFT_USAGE, "%s:%d: '%.60s' is not of the form key = value (klift help config)", r->path, r->line, e->key);
    *end = '\0';
    e->value = equals + 1 + strspn(equals + 1, " \t");
    if (*e->value == '"')
        return unquote(r, e);
    trim(e);
    if (*e->value == '\0')
        return progress_fail(KLIFT_USAGE, "%s:%d: %s has no value: write one after the =, or leave the line out", r->path, r->line, e->key);
    return KLIFT_OK;
}

static klift_status refuse(const reader *r, const char *key)
{
    const char *known[MOST_NAMES + 1];
    int count = 0;
    for (const cli_option *option = NULL; (option = options_next(NULL, option)) != NULL && count < MOST_NAMES;)
        known[count++] = option->name;
    known[count] = NULL;
    const char *near = nearest(key + strspn(key, "-"), known);
    if (*key == '-' && near != NULL && strcmp(key + strspn(key, "-"), near) == 0)
        return progress_fail(KLIFT_USAGE, "%s:%d: keys have no dashes: write %s = ...", r->path, r->line, near);
    if (near != NULL)
        return progress_fail(KLIFT_USAGE, "%s:%d: unknown key '%.60s': did you mean '%s'?", r->path, r->line, key, near);
    return progress_fail(KLIFT_USAGE, "%s:%d: unknown key '%.60s'; keys are the names of options without dashes (klift help config)", r->path, r->line, key);
}

static const cli_option *find(const cli_command *command, const char *name)
{
    for (const cli_option *option = NULL; (option = options_next(command, option)) != NULL;)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

static bool replaced(const options *line, const char *key)
{
    if (options_has(line, key))
        return true;
    for (size_t i = 0; i < sizeof contradicts / sizeof contradicts[0]; i++) {
        const char *a = contradicts[i][0], *b = contradicts[i][1];
        if ((strcmp(a, key) == 0 && options_has(line, b)) || (strcmp(b, key) == 0 && options_has(line, a)))
            return true;
    }
    return false;
}

/* Place and value in one piece of memory, which belongs to the setting. */
static klift_status append(options *from_file, const reader *r, const cli_option *option, const char *value)
{
    size_t room = strlen(r->path) + 16, size = strlen(value) + 1;
    setting *more = realloc(from_file->setting, ((size_t)from_file->settings + 1) * sizeof *more);
    char *place = malloc(room + size);
    from_file->setting = more != NULL ? more : from_file->setting;
    if (more == NULL || place == NULL) {
        free(place);
        return progress_fail(KLIFT_MEMORY, "no memory for the options of %s", r->path);
    }
    snprintf(place, room, "%s:%d", r->path, r->line);
    memcpy(place + room, value, size);
    from_file->setting[from_file->settings++] = (setting){option, place + room, place};
    return KLIFT_OK;
}

static klift_status take(const reader *r, const entry *e, const options *line, options *from_file)
{
    const cli_option *known = find(NULL, e->key), *option = find(line->command, e->key);
    if (known == NULL)
        return refuse(r, e->key);
    if (strcmp(e->key, "config") == 0 || strcmp(e->key, "help") == 0)
        return progress_fail(KLIFT_USAGE, "%s:%d: %s belongs on the command line, not into a file", r->path, r->line, e->key);
    if (strcmp(e->key, "w") == 0)
        return progress_fail(KLIFT_USAGE, "%s:%d: -w belongs on the command line: write class-weight = LABEL=WEIGHT", r->path, r->line);
    bool flag = (option != NULL ? option : known)->value == NULL, off = strcmp(e->value, "false") == 0;
    if (flag && !off && strcmp(e->value, "true") != 0)
        return progress_fail(KLIFT_USAGE, "%s:%d: %s is '%.60s'; it is a flag: true or false", r->path, r->line, e->key, e->value);
    if (option == NULL || (flag && off) || replaced(line, e->key)) {
        from_file->aside++;
        return KLIFT_OK;
    }
    return append(from_file, r, option, flag ? "" : e->value);
}

/* The settings of the file, then those of the command line, so that the last one counts. */
static klift_status join(options *given, options *from_file)
{
    size_t settings = (size_t)given->settings, before = (size_t)from_file->settings;
    setting *all = calloc(before + settings + 1, sizeof *all);
    if (all == NULL)
        return progress_fail(KLIFT_MEMORY, "no memory for the options");
    if (before > 0)
        memcpy(all, from_file->setting, before * sizeof *all);
    memcpy(all + before, given->setting, settings * sizeof *all);
    free(given->setting);
    given->setting = all;
    given->settings += from_file->settings;
    given->aside = from_file->aside;
    free(from_file->setting);
    *from_file = (options){0};
    return KLIFT_OK;
}

static klift_status check_path(const options *given, const char *path)
{
    int files = 0;
    for (int i = 0; i < given->settings; i++)
        files += strcmp(given->setting[i].option->name, "config") == 0;
    if (files > 1)
        return progress_fail(KLIFT_USAGE, "--config is given %d times: give one file", files);
    if (strcmp(path, "-") == 0)
        return progress_fail(KLIFT_USAGE, "--config takes a file, not standard input");
    return KLIFT_OK;
}

klift_status config_read(options *given)
{
    const char *path = options_get(given, "config");
    if (path == NULL)
        return KLIFT_OK;
    options from_file = {0};
    entry e;
    klift_status status = check_path(given, path);
    if (status != KLIFT_OK)
        return status;
    reader r = {.path = path, .file = fopen(path, "r")};
    if (r.file == NULL)
        return progress_fail(KLIFT_IO, "--config %s: %s", path, strerror(errno));
    while ((status = next_line(&r)) == KLIFT_OK && r.more) {
        status = split(&r, &e);
        if (status == KLIFT_OK && e.value != NULL)
            status = take(&r, &e, given, &from_file);
        if (status != KLIFT_OK)
            break;
    }
    if (status == KLIFT_OK)
        status = join(given, &from_file);
    options_clear(&from_file);
    fclose(r.file);
    return status;
}

void config_report(const options *given)
{
    const char *path = options_get(given, "config");
    char names[1024] = "";
    size_t used = 0;
    if (path == NULL)
        return;
    for (int i = 0; i < given->settings; i++)
        if (given->setting[i].place != NULL && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, " %s", given->setting[i].option->name);
    progress_say("klift: note: options from %s:%s; left aside: %d", path, used > 0 ? names : " none", given->aside);
}
