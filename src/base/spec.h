/*
 * spec.h - the grammar of kernels, maps and options.
 *
 *   spec  = name [ "(" spec { "," spec } ")" ] [ ":" item { "," item } ] ;   item = key "=" value | number
 *   value = number | word | '"' any '"' ('""' is one quote) ;   blanks are ignored outside quotes
 * After a comma, NAME "=" or a number continues the items of the current spec; anything else starts the next argument.
 */
#ifndef KL_SPEC_H
#define KL_SPEC_H

#include "base/text.h"

typedef struct kl_spec_item {
    char *key;   /* NULL: positional number */
    char *value; /* without quotes */
    bool quoted; /* it stood in quotes: a text even if it looks like a number */
} kl_spec_item;

typedef struct kl_spec {
    char *name;
    struct kl_spec **argument;
    int64_t arguments, argument_room;
    kl_spec_item *item;
    int64_t items, item_room;
} kl_spec;

/* what names the text in messages: "kernel", "map", "data options". */
klift_status kl_spec_parse(const char *text, const char *what, kl_spec **spec);
/* Items alone, "format=npy,dim=3"; NULL or blank is no item. The spec's name is what. */
klift_status kl_spec_parse_items(const char *text, const char *what, kl_spec **spec);
void kl_spec_print(const kl_spec *spec, kl_text *text);
/* One value in the form in which it reads back: numbers shortest, words bare, the rest quoted. */
void kl_spec_print_value(const char *value, kl_text *text);
void kl_spec_free(kl_spec *spec);

#endif
