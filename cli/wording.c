/* wording.c - settings in the library's messages as options. */
#include "wording.h"

#include "options.h"

#include <stdio.h>
#include <string.h>

/* Where the message proper begins: before the first ": " stand names of files, which may look like settings. */
static const char *after_place(const char *text)
{
    const char *colon = strstr(text, ": ");
    return colon != NULL ? colon + 2 : text;
}

/* What users wrote is quoted ('dim=5') and stays; the apostrophe of a word (kernel's) opens no quote. */
static bool opens_quote(const char *text, const char *p)
{
    return *p == '\'' && (p == text || p[-1] == ' ' || p[-1] == '(') && strchr(p + 1, '\'') != NULL;
}

/* An option that goes to the library under its own name, of whatever command. */
static const cli_option *option_named(const char *name, size_t length)
{
    for (const cli_option *o = options_next(NULL, NULL); o != NULL; o = options_next(NULL, o))
        if (o->to != TO_COMMAND && o->to != TO_LIBSVM && strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

/* The option that a setting at p is, and how many bytes its name and '=' have; NULL when there is none. */
static const cli_option *setting_at(const char *text, const char *p, size_t *length)
{
    if (p > text && p[-1] != ' ' && p[-1] != '(')
        return NULL;
    *length = strspn(p, "abcdefghijklmnopqrstuvwxyz-");
    return *length > 0 && p[*length] == '=' ? option_named(p, (*length)++) : NULL;
}

const char *wording(const char *text, char *out, size_t room)
{
    size_t at = 0, length;
    const char *from = after_place(text), *p = text;
    while (*p != '\0' && at + 1 < room) {
        const cli_option *option = p >= from ? setting_at(text, p, &length) : NULL;
        if (option != NULL) {
            at += (size_t)snprintf(out + at, room - at, "--%s%s", option->name, option->value != NULL ? " " : "");
            p += length;
            if (option->value == NULL && strncmp(p, "true", 4) == 0)
                p += 4;
        } else if (opens_quote(text, p)) {
            do
                out[at++] = *p++;
            while (*p != '\'' && at + 1 < room);
            if (at + 1 < room)
                out[at++] = *p++;
        } else
            out[at++] = *p++;
        at = at < room ? at : room - 1;
    }
    out[at] = '\0';
    return out;
}
