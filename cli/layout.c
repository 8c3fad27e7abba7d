/* layout.c - wrapping and the general printer behind `klift inspect`. */
#include "layout.h"

#include "json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { NARROWEST = 60, WIDEST = 200, MOST_ROWS = 40, MOST_ITEMS = 20, MOST_KEYS = 12, CELL = 64, LONG = 512 };

int layout_columns(int descriptor)
{
    struct winsize size;
    const char *set = getenv("COLUMNS");
    int wide = set != NULL ? atoi(set) : 0;
    if (wide <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0)
        wide = size.ws_col;
    return wide;
}

int layout_width(int descriptor)
{
    int wide = layout_columns(descriptor);
    return wide <= 0 ? 80 : wide < NARROWEST ? NARROWEST : wide > WIDEST ? WIDEST : wide;
}

void layout_wrap(const char *text, int indent, int width, FILE *to)
{
    int at = indent;
    while (*(text += strspn(text, " ")) != '\0') {
        int span = (int)strcspn(text, " ");
        if (at > indent && at + 1 + span > width) {
            fprintf(to, "\n%*s", indent, "");
            at = indent;
        }
        at += fprintf(to, "%s%.*s", at > indent ? " " : "", span, text);
        text += span;
    }
    fputc('\n', to);
}

void layout_bytes(double bytes, char *out, size_t room)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    for (; bytes >= 1024 && i < 4; i++)
        bytes /= 1024;
    snprintf(out, room, i == 0 ? "%.0f %s" : "%.1f %s", bytes, unit[i]);
}

/* "a b c ... (1000 in all)" */
static void print_items(const char *array, FILE *to)
{
    char text[LONG];
    size_t shown = 0, all = json_count(array);
    const char *cursor = NULL, *item;
    while (shown < MOST_ITEMS && (item = json_next(array, &cursor, NULL, 0)) != NULL)
        fprintf(to, "%s%s", shown++ > 0 ? " " : "", json_text(item, text, sizeof text));
    if (shown < all)
        fprintf(to, " ... (%zu in all; --json prints them)", all);
    fputs(all == 0 ? "none\n" : "\n", to);
}

static void print_rows(const char *array, char key[][CELL], const int *wide, int columns, int indent, FILE *to)
{
    char text[CELL];
    size_t shown = 0, all = json_count(array);
    const char *cursor = NULL, *row;
    while (shown < MOST_ROWS && (row = json_next(array, &cursor, NULL, 0)) != NULL) {
        fprintf(to, "%*s", indent, "");
        for (int k = 0; k < columns; k++) {
            const char *cell = json_get(row, key[k]);
            if (json_kind(cell) == '{' || json_kind(cell) == '[')
                snprintf(text, sizeof text, "(%zu)", json_count(cell));
            else
                json_text(cell, text, sizeof text);
            fprintf(to, "%-*s%s", k + 1 < columns ? wide[k] : 0, text, k + 1 < columns ? "  " : "\n");
        }
        shown++;
    }
    if (shown < all)
        fprintf(to, "%*s... %zu in all; --json prints them\n", indent, "", all);
}

/* Columns are the keys of the first row. */
static void print_table(const char *array, int indent, FILE *to)
{
    char key[MOST_KEYS][CELL], text[CELL];
    int wide[MOST_KEYS], columns = 0;
    const char *first = json_get(array, "0"), *cursor = NULL, *row;
    while (columns < MOST_KEYS && json_next(first, &cursor, key[columns], CELL) != NULL)
        columns++;
    fprintf(to, "%*s", indent, "");
    for (int k = 0; k < columns; k++) {
        wide[k] = (int)strlen(key[k]);
        size_t seen = 0;
        for (const char *at = NULL; seen++ < MOST_ROWS && (row = json_next(array, &at, NULL, 0)) != NULL;) {
            int length = (int)strlen(json_text(json_get(row, key[k]), text, sizeof text));
            if (length > wide[k])
                wide[k] = length;
        }
        fprintf(to, "%-*s%s", k + 1 < columns ? wide[k] : 0, key[k], k + 1 < columns ? "  " : "\n");
    }
    print_rows(array, key, wide, columns, indent, to);
}

static void print_value(const char *value, int indent, int column, FILE *to)
{
    char text[LONG];
    char kind = json_kind(value), inner = json_kind(json_get(value, "0"));
    if (kind == '{') {
        fputc('\n', to);
        layout_json(value, indent + 2, to);
    } else if (kind == '[' && inner == '{') {
        fputc('\n', to);
        print_table(value, indent + 2, to);
    } else if (kind == '[' && inner == '[') {
        const char *cursor = NULL, *row;
        for (int i = 0; i < MOST_ROWS && (row = json_next(value, &cursor, NULL, 0)) != NULL; i++) {
            fprintf(to, "%*s", i > 0 ? column : 0, "");
            print_items(row, to);
        }
    } else if (kind == '[')
        print_items(value, to);
    else
        fprintf(to, "%s\n", kind == 'n' ? "none" : json_text(value, text, sizeof text));
}

void layout_json(const char *value, int indent, FILE *to)
{
    char key[CELL];
    int wide = 0;
    if (json_kind(value) == '[' && json_kind(json_get(value, "0")) == '{')
        print_table(value, indent, to);
    else if (json_kind(value) != '{')
        print_value(value, indent, indent, to);
    else {
        for (const char *cursor = NULL; json_next(value, &cursor, key, sizeof key) != NULL;)
            if ((int)strlen(key) > wide)
                wide = (int)strlen(key);
        for (const char *cursor = NULL, *member; (member = json_next(value, &cursor, key, sizeof key)) != NULL;) {
            for (char *p = key; (p = strchr(p, '_')) != NULL;)
                *p = ' ';
            bool block = json_kind(member) == '{' || (json_kind(member) == '[' && json_kind(json_get(member, "0")) == '{');
            fprintf(to, "%*s%-*s%s", indent, "", block ? 0 : wide, key, block ? "" : "  ");
            print_value(member, indent, indent + wide + 2, to);
        }
    }
}
