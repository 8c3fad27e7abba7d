/* names.h - texts numbered in the order in which they are first seen: class labels, interned strings. */
#ifndef KL_NAMES_H
#define KL_NAMES_H

#include "base/record.h"

typedef struct kl_names {
    char **name; /* (count), each stays where it is until cleared */
    int64_t count, room;
    int32_t *slot; /* open addressing, -1 empty */
    int64_t slots;
} kl_names;

int64_t kl_names_find(const kl_names *names, const char *text); /* -1 when absent */
klift_status kl_names_add(kl_names *names, const char *text, int64_t *index); /* the old number when known */
void kl_names_save(const kl_names *names, kl_record_writer *to);
klift_status kl_names_load(kl_names *names, kl_record_reader *from); /* into empty ones; a text that comes twice is damage */
void kl_names_clear(kl_names *names);
/* The class name of a numeric label: its shortest decimal form. out has KL_NUMBER_ROOM. */
void kl_names_of_number(double value, char *out);
/* Order of classes: by value when both are numbers, numbers before words, words by bytes. */
int kl_names_compare(const char *a, const char *b);

#endif
