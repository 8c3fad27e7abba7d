/*
 * lock.c - see lock.h. The lock is on a file beside the one that is meant, since that one is renamed over. Its name is removed before
 * the lock is let go; whoever took the lock of a file that has lost its name meanwhile tries again.
 */
#define _DEFAULT_SOURCE /* flock */
#include "data/lock.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct kl_lock {
    int fd;
    char *name;
};

static bool has_name(const kl_lock *lock)
{
    struct stat open, named;
    return fstat(lock->fd, &open) == 0 && stat(lock->name, &named) == 0 && open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

static klift_status refuse(const kl_lock *lock, const char *path)
{
    char who[24] = "";
    ssize_t length = pread(lock->fd, who, sizeof who - 1, 0);
    who[length > 0 ? (size_t)length : 0] = '\0';
    who[strspn(who, "0123456789")] = '\0';
    return kl_fail(KLIFT_IO, "%s: another run%s%s uses this file; wait for its end or stop it, or give this run a file of its own", path, who[0] != '\0' ? ", process " : "", who);
}

/* *held: this process has it, and the file its name. */
static klift_status attempt(kl_lock *lock, const char *path, bool *held)
{
    char who[24];
    lock->fd = open(lock->name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock->fd < 0)
        return kl_fail(KLIFT_IO, "%s: cannot create a lock beside it: %s", path, strerror(errno));
    if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) /* a file system without locks has none to respect */
        return refuse(lock, path);
    *held = has_name(lock);
    int length = snprintf(who, sizeof who, "%ld\n", (long)getpid());
    if (*held && ftruncate(lock->fd, 0) == 0)
        (void)!pwrite(lock->fd, who, (size_t)length, 0); /* for messages only */
    return KLIFT_OK;
}

klift_status kl_lock_take(const char *path, kl_lock **out)
{
    kl_lock *lock;
    klift_status status;
    bool held = false;
    int64_t room = (int64_t)strlen(path) + 6;
    *out = NULL;
    KL_TRY(kl_new(&lock, 1, sizeof *lock, "a lock"));
    lock->fd = -1;
    KL_GO(kl_new(&lock->name, room, 1, "a file name"));
    snprintf(lock->name, (size_t)room, "%s.lock", path);
    do {
        if (lock->fd >= 0)
            close(lock->fd);
        KL_GO(attempt(lock, path, &held));
    } while (!held);
    *out = lock;
    return KLIFT_OK;
done:
    if (lock->fd >= 0)
        close(lock->fd);
    kl_free(lock->name);
    kl_free(lock);
    return status;
}

void kl_lock_free(kl_lock *lock)
{
    if (lock == NULL)
        return;
    unlink(lock->name);
    close(lock->fd);
    kl_free(lock->name);
    kl_free(lock);
}
