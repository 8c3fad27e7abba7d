/* model_bytes.c - walks the sections of a model file, as record.h describes them. */
#include "model_bytes.h"

#include "base/record.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 32, LENGTH_AT = 24, SECTION = 24, TRAILER = 8 };

static void put(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

void model_bytes_seal(uint8_t *bytes, size_t size, bool tame)
{
    static const uint8_t head[LENGTH_AT] = {0x89, 'K', 'L', 'I', 'F', 'T', '\r', '\n', KL_RECORD_VERSION, 0, 0, 0, KL_RECORD_VERSION, 0, 0, 0, 4, 3, 2, 1, KL_RECORD_MODEL};
    if (size < HEADER + TRAILER)
        return;
    if (tame) {
        memcpy(bytes, head, sizeof head);
        put(bytes + LENGTH_AT, size);
    }
    size_t end = size - TRAILER, at = HEADER;
    while (end - at >= SECTION) {
        uint64_t left = end - at - SECTION, length = get(bytes + at + 8);
        if (length > left && !tame)
            break;
        length = length > left ? left : length;
        put(bytes + at + 8, length);
        put(bytes + at + 16, kl_record_hash(bytes + at + SECTION, length, 0));
        at += SECTION + length;
    }
    put(bytes + end, kl_record_hash(bytes, end, 0));
}

bool model_bytes_of(const klift_model *model, const char *tag, model_file *file)
{
    *file = (model_file){.section = -1};
    if (klift_model_bytes(model, NULL, 0, &file->size) != KLIFT_OK || (file->bytes = malloc((size_t)file->size)) == NULL)
        return false;
    if (klift_model_bytes(model, file->bytes, file->size, &file->size) != KLIFT_OK)
        return false;
    for (int64_t at = HEADER; at + SECTION <= file->size - TRAILER && file->section < 0; at += SECTION + (int64_t)get(file->bytes + at + 8))
        if (memcmp(file->bytes + at, tag, 4) == 0)
            file->section = at + SECTION;
    return true;
}
