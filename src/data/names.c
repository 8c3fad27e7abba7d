/* names.c - a hash table of texts by number. */
#include "data/names.h"

#include "base/memory.h"
#include "base/number.h"

#include <string.h>

static int64_t place(const kl_names *names, const char *text)
{
    int64_t at = (int64_t)(kl_record_hash(text, strlen(text), 0) & (uint64_t)(names->slots - 1));
    while (names->slot[at] >= 0 && strcmp(names->name[names->slot[at]], text) != 0)
        at = (at + 1) & (names->slots - 1);
    return at;
}

int64_t kl_names_find(const kl_names *names, const char *text)
{
    return names->slots == 0 ? -1 : names->slot[place(names, text)];
}

static klift_status widen(kl_names *names)
{
    int64_t slots = names->slots == 0 ? 64 : names->slots * 2;
    int32_t *slot;
    KL_TRY(kl_new(&slot, slots, sizeof *slot, "labels"));
    memset(slot, 0xff, (size_t)slots * sizeof *slot);
    kl_free(names->slot);
    names->slot = slot;
    names->slots = slots;
    for (int64_t i = 0; i < names->count; i++)
        slot[place(names, names->name[i])] = (int32_t)i;
    return KLIFT_OK;
}

klift_status kl_names_add(kl_names *names, const char *text, int64_t *index)
{
    *index = kl_names_find(names, text);
    if (*index >= 0)
        return KLIFT_OK;
    if (names->count >= INT32_MAX / 2)
        return kl_fail(KLIFT_DATA, "more than %lld different labels", (long long)names->count);
    if (2 * (names->count + 1) > names->slots)
        KL_TRY(widen(names));
    KL_TRY(kl_grow(&names->name, &names->room, names->count, names->count + 1, sizeof *names->name, "labels"));
    int64_t at = place(names, text);
    KL_TRY(kl_copy_text(&names->name[names->count], text));
    names->slot[at] = (int32_t)names->count;
    *index = names->count++;
    return KLIFT_OK;
}

void kl_names_save(const kl_names *names, kl_record_writer *to)
{
    kl_record_put_i64(to, names->count);
    for (int64_t i = 0; i < names->count; i++)
        kl_record_put_text(to, names->name[i]);
}

klift_status kl_names_load(kl_names *names, kl_record_reader *from)
{
    int64_t count;
    KL_TRY(kl_record_get_i64(from, 0, (from->end - from->at) / 8, &count));
    for (int64_t i = 0; i < count; i++) {
        char *name;
        int64_t index;
        KL_TRY(kl_record_get_text(from, &name));
        klift_status status = kl_names_add(names, name, &index);
        kl_free(name);
        KL_TRY(status);
        if (index != i)
            return kl_record_damaged("a class is named twice");
    }
    return KLIFT_OK;
}

void kl_names_clear(kl_names *names)
{
    for (int64_t i = 0; i < names->count; i++)
        kl_free(names->name[i]);
    kl_free(names->name);
    kl_free(names->slot);
    *names = (kl_names){0};
}

void kl_names_of_number(double value, char *out)
{
    out[kl_number_print(value, out)] = '\0';
}

int kl_names_compare(const char *a, const char *b)
{
    double x, y;
    bool number_a = kl_number_parse(a, &x), number_b = kl_number_parse(b, &y);
    if (number_a && number_b && x != y)
        return x < y ? -1 : 1;
    if (number_a != number_b)
        return number_a ? -1 : 1;
    return strcmp(a, b);
}
