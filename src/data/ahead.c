/* ahead.c - a ring of blocks between the thread that fills them and the one that reads. Blocks are made when they are first needed: a fast reader has one or two. */
#include "data/ahead.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 18, BLOCKS = 32 }; /* what a block of statistics reads as text is some megabytes, which are unpacked meanwhile */

typedef struct block {
    unsigned char *bytes; /* (BLOCK) or NULL */
    int64_t count;
} block;

struct kl_ahead {
    const char *name;
    kl_pull pull;
    void *from;
    pid_t owner; /* a child has no thread */
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below but blocks that one side has to itself */
    pthread_cond_t filled, emptied;
    block ring[BLOCKS];
    int64_t made, taken; /* blocks; number i is ring[i % BLOCKS] */
    bool ended, closing; /* ended: none will be made */
    klift_status failed; /* behind the last one */
    char why[1024];
    int64_t at;          /* of block `taken`: the reader's */
    bool has_ended;
};

/* The next block of the ring, or false: it is over. */
static bool await_room(kl_ahead *a)
{
    pthread_mutex_lock(&a->mutex);
    while (a->made - a->taken == BLOCKS && !a->closing)
        pthread_cond_wait(&a->emptied, &a->mutex);
    bool goes_on = !a->closing;
    pthread_mutex_unlock(&a->mutex);
    return goes_on;
}

static klift_status fill(kl_ahead *a, block *b)
{
    b->count = 0;
    if (b->bytes == NULL)
        KL_TRY(kl_new_bare(&b->bytes, BLOCK, 1, "unpacked bytes"));
    return a->pull(a->from, b->bytes, BLOCK, &b->count);
}

static void *run(void *argument)
{
    kl_ahead *a = argument;
    bool ended = false;
    while (!ended && await_room(a)) {
        block *b = &a->ring[a->made % BLOCKS]; /* only this thread changes `made` */
        klift_status status = fill(a, b);
        ended = status != KLIFT_OK || b->count < BLOCK;
        pthread_mutex_lock(&a->mutex);
        a->failed = status;
        if (status != KLIFT_OK)
            snprintf(a->why, sizeof a->why, "%s", kl_error_text());
        a->ended = ended;
        a->made++;
        pthread_cond_signal(&a->filled);
        pthread_mutex_unlock(&a->mutex);
    }
    return NULL;
}

klift_status kl_ahead_new(const char *name, kl_pull pull, void *from, kl_ahead **out)
{
    kl_ahead *a;
    *out = NULL;
    KL_TRY(kl_new(&a, 1, sizeof *a, "a thread that unpacks"));
    a->name = name;
    a->pull = pull;
    a->from = from;
    a->owner = getpid();
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->filled, NULL);
    pthread_cond_init(&a->emptied, NULL);
    if (kl_thread_start(&a->thread, run, a))
        *out = a;
    else
        kl_free(a);
    return KLIFT_OK;
}

/* The block to read from, or NULL behind the last one. */
static const block *await_block(kl_ahead *a)
{
    pthread_mutex_lock(&a->mutex);
    while (a->made == a->taken && !a->ended)
        pthread_cond_wait(&a->filled, &a->mutex);
    const block *there = a->made > a->taken ? &a->ring[a->taken % BLOCKS] : NULL;
    pthread_mutex_unlock(&a->mutex);
    return there;
}

static void give_back(kl_ahead *a)
{
    pthread_mutex_lock(&a->mutex);
    a->taken++;
    pthread_cond_signal(&a->emptied);
    pthread_mutex_unlock(&a->mutex);
    a->at = 0;
}

klift_status kl_ahead_read(kl_ahead *a, void *bytes, int64_t room, int64_t *got)
{
    *got = 0;
    if (a->owner != getpid())
        return kl_fail(KLIFT_IO, "%s: was being read before this process was forked; open it here", a->name);
    while (*got < room) {
        const block *b = await_block(a);
        if (b == NULL) {
            a->has_ended = true;
            return a->failed != KLIFT_OK ? kl_fail(a->failed, "%s", a->why) : KLIFT_OK;
        }
        int64_t left = b->count - a->at, count = left < room - *got ? left : room - *got;
        if (count > 0)
            memcpy((unsigned char *)bytes + *got, b->bytes + a->at, (size_t)count);
        *got += count;
        a->at += count;
        if (a->at == b->count)
            give_back(a);
    }
    return KLIFT_OK;
}

bool kl_ahead_has_ended(const kl_ahead *a)
{
    return a->has_ended;
}

void kl_ahead_free(kl_ahead *a)
{
    if (a == NULL)
        return;
    if (a->owner == getpid()) {
        pthread_mutex_lock(&a->mutex);
        a->closing = true;
        pthread_cond_signal(&a->emptied);
        pthread_mutex_unlock(&a->mutex);
        pthread_join(a->thread, NULL);
        pthread_cond_destroy(&a->filled);
        pthread_cond_destroy(&a->emptied);
        pthread_mutex_destroy(&a->mutex);
    }
    for (int i = 0; i < BLOCKS; i++)
        kl_free(a->ring[i].bytes);
    kl_free(a);
}
