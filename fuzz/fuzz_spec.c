/* fuzz_spec.c - any text as a spec and as items: what parses prints, and what was printed parses to the same. */
#include "fuzz.h"

#include "base/spec.h"

#include <stdlib.h>
#include <string.h>

typedef klift_status (*parse)(const char *text, const char *what, kl_spec **spec);

static void check_same(const kl_spec *a, const kl_spec *b)
{
    HOLDS(strcmp(a->name, b->name) == 0);
    HOLDS(a->items == b->items && a->arguments == b->arguments);
    for (int64_t i = 0; i < a->items; i++) {
        const kl_spec_item *x = &a->item[i], *y = &b->item[i];
        HOLDS((x->key == NULL) == (y->key == NULL));
        HOLDS(x->key == NULL || strcmp(x->key, y->key) == 0);
        HOLDS(strcmp(x->value, y->value) == 0 && x->quoted == y->quoted);
    }
    for (int64_t i = 0; i < a->arguments; i++)
        check_same(a->argument[i], b->argument[i]);
}

/* The first print may shorten numbers; from there on nothing moves. */
static void check_text(const char *text)
{
    kl_spec *first, *second, *third;
    kl_text once = {0}, twice = {0};
    if (kl_spec_parse(text, "spec", &first) != KLIFT_OK) {
        HOLDS(first == NULL && klift_error()[0] != '\0');
        return;
    }
    kl_spec_print(first, &once);
    HOLDS(kl_text_status(&once) == KLIFT_OK);
    HOLDS(kl_spec_parse(once.text, "spec", &second) == KLIFT_OK);
    kl_spec_print(second, &twice);
    HOLDS(strcmp(once.text, twice.text) == 0);
    HOLDS(kl_spec_parse(twice.text, "spec", &third) == KLIFT_OK);
    check_same(second, third);
    kl_spec_free(first);
    kl_spec_free(second);
    kl_spec_free(third);
    kl_text_clear(&once);
    kl_text_clear(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    kl_spec *items;
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_text(text);
    if (kl_spec_parse_items(text, "items", &items) == KLIFT_OK)
        kl_spec_free(items);
    free(text);
    return 0;
}
