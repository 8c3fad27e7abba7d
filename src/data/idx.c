/*
 * idx.c - IDX files, the form of MNIST: 0 0 type dims, the sizes as big-endian 32-bit numbers, then the elements, big-
 * endian. The first size is the rows, the product of the others the columns; values are used as they are (0 .. 255 for
 * bytes). Labels come from labels=FILE, IDX or NPY.
 */
#include "data/matrix.h"

#include "base/memory.h"

#include <string.h>

static const struct {
    unsigned char code;
    char kind;
    int size;
} elements[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0b, 'i', 2}, {0x0c, 'i', 4}, {0x0d, 'f', 4}, {0x0e, 'f', 8}};
enum { ELEMENTS = sizeof elements / sizeof elements[0], MAGIC = 4 };

static int find_element(unsigned char code)
{
    int i = 0;
    while (i < ELEMENTS && elements[i].code != code)
        i++;
    return i;
}

/* Text never starts with two zeros, so four bytes are enough to know it, also when the rest is missing. */
bool kl_is_idx(const unsigned char *head, int64_t count)
{
    return count >= MAGIC && head[0] == 0 && head[1] == 0 && find_element(head[2]) < ELEMENTS && head[3] >= 1 && head[3] <= KL_ARRAY_DIMS;
}

klift_status kl_array_idx(kl_array *a)
{
    unsigned char head[MAGIC] = {0}, sizes[4 * KL_ARRAY_DIMS];
    const char *name = kl_stream_name(a->stream);
    KL_TRY(kl_array_fetch(a, head, MAGIC));
    if (!kl_is_idx(head, MAGIC))
        return kl_fail(KLIFT_DATA, "%s: is not an IDX file: it starts with %02x %02x %02x %02x instead of 00 00, type 08 09 0b 0c 0d or 0e, 1 to %d dimensions", name,
                       head[0], head[1], head[2], head[3], KL_ARRAY_DIMS);
    a->kind = elements[find_element(head[2])].kind;
    a->size = elements[find_element(head[2])].size;
    a->swap = kl_host_is_little();
    a->dims = head[3];
    KL_TRY(kl_array_fetch(a, sizes, 4 * a->dims));
    a->data_at = a->at;
    a->columns = 1;
    for (int i = 0; i < a->dims; i++) {
        const unsigned char *b = sizes + 4 * i;
        a->shape[i] = (int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
        if (i > 0 && kl_multiply(a->columns, a->shape[i], &a->columns))
            return kl_fail(KLIFT_DATA, "%s: the product of the sizes in the header is more than any file holds; the file is damaged or no IDX", name);
    }
    a->rows = a->shape[0];
    return kl_array_check(a);
}

static klift_status open_array(kl_reader *reader)
{
    kl_matrix *m = reader->state;
    KL_TRY(kl_array_open(&m->x, reader->stream, kl_array_idx));
    return kl_matrix_begin(reader, NULL);
}

const kl_reader_type kl_reader_idx = {
    .name = "idx",
    .summary = "IDX array as MNIST has it, labels in labels=FILE",
    .listed = true,
    .state_size = sizeof(kl_matrix),
    .detect = kl_is_idx,
    .open = open_array,
    .next = kl_matrix_next,
    .rewind = kl_matrix_rewind,
    .close = kl_matrix_close,
    .reads_stream = true,
};
