/* memory.h - the only allocator: checked sizes, 64-byte alignment, zeroed. */
#ifndef KL_MEMORY_H
#define KL_MEMORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* *pointer = count * size zeroed bytes (NULL when count is 0); KLIFT_MEMORY names what it was for. */
klift_status kl_new(void *pointer, int64_t count, size_t size, const char *what);
/* The same not zeroed, for what is written before it is read: large blocks get their pages from the threads that write them. */
klift_status kl_new_bare(void *pointer, int64_t count, size_t size, const char *what);
/* Grows *pointer to hold at least `count`, keeping the first `used` elements; *room is the present room. */
klift_status kl_grow(void *pointer, int64_t *room, int64_t used, int64_t count, size_t size, const char *what);
/* The same without keeping anything, nor zeroing: room that is filled anew. */
klift_status kl_make_room(void *pointer, int64_t *room, int64_t count, size_t size, const char *what);
void kl_free(void *memory);
/* Copy of a string. */
klift_status kl_copy_text(char **copy, const char *text);

#ifdef KLIFT_TEST_MEMORY
/* For test_out_of_memory.c, which has its own memory.o: the n-th allocation from here on fails, and all behind it when
 * onwards; 0: none. */
void kl_memory_fail_at(int64_t n, bool onwards);
int64_t kl_memory_count(void); /* allocations since then */
#endif

/* true on overflow */
static inline bool kl_multiply(int64_t a, int64_t b, int64_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

#endif
