/*
 * registry.h - what the library's registries hold (klift_list): printed for people, and as words for completion.
 * Failures are reported; callers forward the status.
 */
#ifndef CLI_REGISTRY_H
#define CLI_REGISTRY_H

#include "options.h"
#include "page.h"

/* Names, summaries, parameters with defaults and ranges, and the kernels a map fits. */
klift_status registry_print(page *p, const char *what);

/* Words, each once, in the order found; NULL-terminated. Zeroed to begin with; clear frees. */
typedef struct registry_words {
    char **word;
    int count;
} registry_words;
klift_status registry_add(registry_words *words, const char *word, size_t length);
klift_status registry_names(registry_words *words, const char *what);
/* What the value of an option may be: words of its range, names of kernels, maps, learners or formats; none when it is free. */
klift_status registry_values(registry_words *words, const cli_option *option);
void registry_clear(registry_words *words);

#endif
