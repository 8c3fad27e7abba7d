/*
 * page.h - a page of help written once and shown twice: as text for the terminal, or as roff for man(1).
 * Help, lists and manual pages are made of headings, paragraphs, items (a name and what it means) and lines as they are.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct page {
    FILE *to;
    int width;
    bool roff;
    bool begun;  /* something is above: paragraphs and headings leave a blank line */
    bool nested; /* roff: between .RS and .RE */
} page;

typedef struct page_shape {
    int indent, column; /* where names and their meanings begin in text */
} page_shape;
extern const page_shape page_entry, page_parameter, page_option; /* of lists, below them, and of options */

page page_text(FILE *to); /* as wide as the terminal */
page page_roff(FILE *to);

void page_heading(page *p, const char *text);
void page_subheading(page *p, const char *text); /* the same in text */
void page_paragraph(page *p, const char *text);
/* value: what follows the name, as in --features N; NULL for none */
void page_item(page *p, page_shape shape, const char *name, const char *value, const char *meaning);
void page_note(page *p, int indent, const char *text); /* a line below an item; in text it is wrapped from indent on */
void page_example(page *p, const char *lines);         /* as they are; each begins with two blanks and ends with a newline */
/* Blocks up to NULL: one with a tab is an item (name TAB meaning), one that begins with blanks an example, others are paragraphs. */
void page_write(page *p, const char *const *blocks);
void page_end(page *p);

/* Pieces of roff: text with everything escaped that roff would change. */
void page_escape(const char *text, size_t length, FILE *to);

#endif
