/*
 * memory.c - the only malloc of the library. Every block is 64-byte aligned (whole cache lines for vector loads) and
 * zeroed, so a struct or array is valid to clear() from the moment it exists, unless asked for bare. Sizes are checked before multiplying.
 * Large blocks ask for huge pages: weights and tiles of many megabytes miss the table of pages less, and are zeroed sooner.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, HUGE_PAGE = 1 << 21, LARGE = 2 * HUGE_PAGE };

#ifdef KLIFT_TEST_MEMORY
#include <stdatomic.h>

static atomic_llong made, fail_at;
static atomic_bool fail_on;

void kl_memory_fail_at(int64_t n, bool onwards)
{
    atomic_store(&made, 0);
    atomic_store(&fail_at, n);
    atomic_store(&fail_on, onwards);
}

int64_t kl_memory_count(void)
{
    return atomic_load(&made);
}

static bool must_fail(void)
{
    long long number = atomic_fetch_add(&made, 1) + 1, from = atomic_load(&fail_at);
    return from > 0 && (number == from || (number > from && atomic_load(&fail_on)));
}
#else
static bool must_fail(void)
{
    return false;
}
#endif

static klift_status refuse(int64_t count, size_t size, const char *what)
{
    return kl_fail(KLIFT_MEMORY, "no memory for %s (%lld x %zu bytes)", what, (long long)count, size);
}

static void *take(size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    if (bytes >= LARGE) {
        void *memory = NULL;
        if (posix_memalign(&memory, HUGE_PAGE, bytes) != 0)
            return NULL;
        madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* a wish: without it all is slower, not wrong */
        return memory;
    }
#endif
    return aligned_alloc(ALIGNMENT, bytes);
}

klift_status kl_new(void *pointer, int64_t count, size_t size, const char *what)
{
    void **out = pointer;
    KL_TRY(kl_new_bare(pointer, count, size, what));
    if (*out != NULL)
        memset(*out, 0, (size_t)count * size);
    return KLIFT_OK;
}

klift_status kl_new_bare(void *pointer, int64_t count, size_t size, const char *what)
{
    void **out = pointer;
    *out = NULL;
    int64_t bytes;
    if (count < 0 || size > INT64_MAX / 2 || kl_multiply(count, (int64_t)size, &bytes) || bytes > INT64_MAX - ALIGNMENT)
        return refuse(count, size, what);
    if (bytes == 0)
        return KLIFT_OK;
    size_t padded = ((size_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *memory = must_fail() ? NULL : take(padded);
    if (memory == NULL)
        return refuse(count, size, what);
    *out = memory;
    return KLIFT_OK;
}

klift_status kl_grow(void *pointer, int64_t *room, int64_t used, int64_t count, size_t size, const char *what)
{
    void **out = pointer;
    if (count <= *room)
        return KLIFT_OK;
    int64_t wanted = *room > INT64_MAX / 4 ? count : *room * 2;
    if (wanted < count)
        wanted = count;
    void *larger;
    KL_TRY(kl_new(&larger, wanted, size, what));
    if (used > 0)
        memcpy(larger, *out, (size_t)used * size);
    free(*out);
    *out = larger;
    *room = wanted;
    return KLIFT_OK;
}

klift_status kl_make_room(void *pointer, int64_t *room, int64_t count, size_t size, const char *what)
{
    void **out = pointer;
    if (count <= *room)
        return KLIFT_OK;
    free(*out);
    *room = 0;
    KL_TRY(kl_new_bare(pointer, count, size, what));
    *room = count;
    return KLIFT_OK;
}

void kl_free(void *memory)
{
    free(memory);
}

klift_status kl_copy_text(char **copy, const char *text)
{
    size_t length = strlen(text) + 1;
    KL_TRY(kl_new(copy, (int64_t)length, 1, "a text"));
    memcpy(*copy, text, length);
    return KLIFT_OK;
}
