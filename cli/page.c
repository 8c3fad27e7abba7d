/* page.c - text by layout.c; roff by the man(7) macros, every character that roff would change escaped. */
#include "page.h"

#include "layout.h"

#include <ctype.h>
#include <string.h>

enum { ROFF_WIDTH = 66, LEAST_TEXT = 30 };

const page_shape page_entry = {2, 16}, page_parameter = {6, 32}, page_option = {2, 28};

page page_text(FILE *to)
{
    return (page){.to = to, .width = layout_width(fileno(to))};
}

page page_roff(FILE *to)
{
    return (page){.to = to, .width = ROFF_WIDTH, .roff = true};
}

/* Minus signs, so that options can be copied from the page; the other escapes keep ASCII as it was typed. */
void page_escape(const char *text, size_t length, FILE *to)
{
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '-': fputs("\\-", to); break;
        case '\\': fputs("\\e", to); break;
        case '\'': fputs("\\(aq", to); break;
        case '`': fputs("\\(ga", to); break;
        case '^': fputs("\\(ha", to); break;
        case '~': fputs("\\(ti", to); break;
        case '"': fputs("\\(dq", to); break;
        default: fputc(text[i], to);
        }
    }
}

/* Words in lines of a fair length. A point at the start of a line would make it a macro, at the end it would end a sentence. */
static void put_words(page *p, const char *text)
{
    int at = 0;
    while (*(text += strspn(text, " ")) != '\0') {
        int span = (int)strcspn(text, " ");
        bool fits = at + 1 + span <= p->width;
        if (at > 0)
            fputs(fits ? " " : text[-2] == '.' ? "\\&\n" : "\n", p->to);
        at = at > 0 && fits ? at + 1 + span : span;
        if (*text == '.')
            fputs("\\&", p->to);
        page_escape(text, (size_t)span, p->to);
        text += span;
    }
    fputc('\n', p->to);
}

static void nest(page *p, bool nested)
{
    if (p->roff && nested != p->nested)
        fputs(nested ? ".RS\n" : ".RE\n", p->to);
    p->nested = nested;
}

static void leave_line(page *p)
{
    nest(p, false);
    if (!p->roff && p->begun)
        fputc('\n', p->to);
}

void page_heading(page *p, const char *text)
{
    leave_line(p);
    if (p->roff) {
        fputs(".SH ", p->to);
        for (; *text != '\0'; text++) {
            char upper = (char)toupper((unsigned char)*text);
            page_escape(&upper, 1, p->to);
        }
        fputc('\n', p->to);
    } else
        fprintf(p->to, "%s:\n", text);
    p->begun = !p->roff; /* .SH needs no .PP after it */
}

void page_subheading(page *p, const char *text)
{
    if (!p->roff) {
        page_heading(p, text);
        return;
    }
    nest(p, false);
    fputs(".SS ", p->to);
    page_escape(text, strlen(text), p->to);
    fputc('\n', p->to);
    p->begun = false;
}

void page_paragraph(page *p, const char *text)
{
    leave_line(p);
    if (p->roff) {
        fputs(p->begun ? ".PP\n" : "", p->to);
        put_words(p, text);
    } else
        layout_wrap(text, 0, p->width, p->to);
    p->begun = true;
}

static void put_name(page *p, const char *name, const char *value)
{
    fputs(".TP\n\\fB", p->to);
    page_escape(name, strlen(name), p->to);
    fputs("\\fR", p->to);
    if (value != NULL) {
        fputs(" \\fI", p->to);
        page_escape(value, strlen(value), p->to);
        fputs("\\fR", p->to);
    }
    fputc('\n', p->to);
}

void page_item(page *p, page_shape shape, const char *name, const char *value, const char *meaning)
{
    p->begun = true;
    nest(p, shape.indent > page_entry.indent);
    if (p->roff) {
        put_name(p, name + strspn(name, " "), value);
        put_words(p, meaning);
        return;
    }
    int used = fprintf(p->to, "%*s%s%s%s", shape.indent, "", name, value != NULL ? " " : "", value != NULL ? value : "");
    if (used > shape.column - 2) {
        fputc('\n', p->to);
        used = 0;
    }
    fprintf(p->to, "%*s", shape.column - used, "");
    layout_wrap(meaning, shape.column, shape.column + LEAST_TEXT > p->width ? shape.column + LEAST_TEXT : p->width, p->to);
}

void page_note(page *p, int indent, const char *text)
{
    nest(p, true);
    if (p->roff) {
        fputs(".PP\n", p->to);
        put_words(p, text);
        return;
    }
    fprintf(p->to, "%*s", indent, "");
    layout_wrap(text, indent, p->width, p->to);
}

void page_example(page *p, const char *lines)
{
    nest(p, false);
    if (!p->roff)
        fputs(lines, p->to);
    else {
        fputs(p->begun ? ".PP\n.EX\n" : ".EX\n", p->to);
        for (size_t span; *lines != '\0'; lines += span) {
            span = strcspn(lines, "\n") + 1;
            fputs(lines[2] == '.' ? "\\&" : "", p->to);
            page_escape(lines + 2, span - 2, p->to);
        }
        fputs(".EE\n", p->to);
    }
    p->begun = true;
}

static void write_item(page *p, const char *item, const char *tab)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(tab - item), item);
    page_item(p, page_entry, name, NULL, tab + 1);
}

void page_write(page *p, const char *const *blocks)
{
    for (; *blocks != NULL; blocks++) {
        const char *tab = strchr(*blocks, '\t');
        if (**blocks == ' ') {
            leave_line(p);
            page_example(p, *blocks);
        } else if (tab != NULL)
            write_item(p, *blocks, tab);
        else
            page_paragraph(p, *blocks);
    }
}

void page_end(page *p)
{
    nest(p, false);
}
