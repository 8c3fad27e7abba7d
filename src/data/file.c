/*
 * file.c - atomic files: written beside their target under a name of their own and renamed when they are whole and on the disk.
 * Whoever reads the target sees the old file or the new one. What is not a regular file (a pipe, /dev/null) is written in place.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "data/file.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, ATTEMPTS = 1000 };

struct kl_file {
    char *path;      /* as given, for messages */
    char *target;    /* with links resolved */
    char *temporary; /* NULL: written in place */
    int fd;
    bool standard;   /* stdout, which is not ours to close */
    int64_t used;
    unsigned char buffer[BUFFER];
};

static klift_status refuse(const kl_file *file, const char *verb)
{
    return kl_fail(KLIFT_IO, "%s: cannot %s: %s", file->path, verb, strerror(errno));
}

static int open_again(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* A new file beside the target, with the mode of the old one. */
static klift_status open_temporary(kl_file *file, const struct stat *old)
{
    size_t room = strlen(file->target) + 48;
    KL_TRY(kl_new(&file->temporary, (int64_t)room, 1, "a file name"));
    for (int attempt = 0; attempt < ATTEMPTS && file->fd < 0; attempt++) {
        snprintf(file->temporary, room, "%s.tmp%ld.%d", file->target, (long)getpid(), attempt);
        file->fd = open_again(file->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file->fd < 0 && errno != EEXIST)
            break;
    }
    klift_status status = file->fd < 0 ? refuse(file, "create a temporary file beside it") : KLIFT_OK;
    if (status != KLIFT_OK) {
        kl_free(file->temporary); /* never made: nothing to remove */
        file->temporary = NULL;
    } else if (old != NULL && fchmod(file->fd, old->st_mode & 07777) != 0)
        status = refuse(file, "keep its mode");
    return status;
}

static klift_status open_target(kl_file *file)
{
    struct stat old, link;
    char resolved[PATH_MAX];
    bool exists = stat(file->path, &old) == 0;
    if (!exists && errno != ENOENT)
        return refuse(file, "write");
    if (!exists && lstat(file->path, &link) == 0)
        return kl_fail(KLIFT_IO, "%s: is a symbolic link to a file that does not exist; remove the link", file->path);
    if (exists && S_ISDIR(old.st_mode))
        return kl_fail(KLIFT_IO, "%s: is a directory; name a file in it", file->path);
    if (exists && !S_ISREG(old.st_mode)) {
        file->fd = open_again(file->path, O_WRONLY | O_NOCTTY, 0);
        return file->fd < 0 ? refuse(file, "write") : KLIFT_OK;
    }
    if (exists && (access(file->path, W_OK) != 0 || realpath(file->path, resolved) == NULL))
        return refuse(file, "write");
    KL_TRY(kl_copy_text(&file->target, exists ? resolved : file->path));
    return open_temporary(file, exists ? &old : NULL);
}

klift_status kl_file_create(const char *path, kl_file **out)
{
    kl_file *file;
    klift_status status;
    *out = NULL;
    KL_TRY(kl_new(&file, 1, sizeof *file, "a file"));
    file->standard = strcmp(path, "-") == 0;
    file->fd = file->standard ? STDOUT_FILENO : -1;
    KL_GO(kl_copy_text(&file->path, file->standard ? "standard output" : path));
    if (!file->standard)
        status = open_target(file);
done:
    if (status == KLIFT_OK)
        *out = file;
    else
        kl_file_abandon(file);
    return status;
}

/* All bytes, at the place where the file is or, with an offset of at least 0, there. */
static klift_status put(const kl_file *file, const unsigned char *bytes, int64_t count, int64_t offset)
{
    while (count > 0) {
        ssize_t written = offset < 0 ? write(file->fd, bytes, (size_t)count) : pwrite(file->fd, bytes, (size_t)count, (off_t)offset);
        if (written > 0) {
            bytes += written;
            count -= written;
            offset += offset < 0 ? 0 : written;
        } else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            poll(&(struct pollfd){.fd = file->fd, .events = POLLOUT}, 1, -1);
        else if (written < 0 && errno != EINTR)
            return refuse(file, "write");
    }
    return KLIFT_OK;
}

static klift_status flush(kl_file *file)
{
    int64_t used = file->used;
    file->used = 0;
    return put(file, file->buffer, used, -1);
}

klift_status kl_file_write(kl_file *file, const void *bytes, int64_t count)
{
    if (count > BUFFER - file->used)
        KL_TRY(flush(file));
    if (count > BUFFER)
        return put(file, bytes, count, -1);
    if (count > 0)
        memcpy(file->buffer + file->used, bytes, (size_t)count);
    file->used += count;
    return KLIFT_OK;
}

klift_status kl_file_patch(kl_file *file, int64_t offset, const void *bytes, int64_t count)
{
    if (file->standard || (file->temporary == NULL && lseek(file->fd, 0, SEEK_CUR) < 0))
        return kl_fail(KLIFT_USAGE, "%s: cannot be written out of order, as NPY must be; name a file", file->path);
    KL_TRY(flush(file));
    return put(file, bytes, count, offset);
}

/* The folder of a path, "." without one; answers its last part. */
static const char *folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    strcpy(folder, ".");
    if (slash != NULL && length < PATH_MAX) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    return slash != NULL ? slash + 1 : path;
}

/* The rename itself must reach the disk. Some file systems cannot sync a folder: the file is whole all the same. */
static klift_status sync_folder(const kl_file *file)
{
    char folder[PATH_MAX];
    folder_of(file->target, folder);
    int fd = open_again(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return KLIFT_OK;
    klift_status status = fsync(fd) != 0 && errno == EIO ? refuse(file, "sync its folder") : KLIFT_OK;
    close(fd);
    return status;
}

static klift_status settle(kl_file *file)
{
    KL_TRY(flush(file));
    if (file->standard)
        return KLIFT_OK;
    if (file->temporary != NULL && fsync(file->fd) != 0)
        return refuse(file, "sync");
    int failed = close(file->fd);
    file->fd = -1;
    if (failed != 0 && errno != EINTR)
        return refuse(file, "close");
    if (file->temporary == NULL)
        return KLIFT_OK;
    if (rename(file->temporary, file->target) != 0)
        return refuse(file, "replace");
    kl_free(file->temporary);
    file->temporary = NULL;
    return sync_folder(file);
}

klift_status kl_file_finish(kl_file *file)
{
    klift_status status = settle(file);
    kl_file_abandon(file);
    return status;
}

void kl_file_abandon(kl_file *file)
{
    if (file == NULL)
        return;
    if (!file->standard && file->fd >= 0)
        close(file->fd);
    if (file->temporary != NULL)
        unlink(file->temporary);
    kl_free(file->temporary);
    kl_free(file->target);
    kl_free(file->path);
    kl_free(file);
}

klift_status kl_file_save(const char *path, const void *bytes, int64_t count)
{
    kl_file *file;
    KL_TRY(kl_file_create(path, &file));
    klift_status status = kl_file_write(file, bytes, count);
    if (status == KLIFT_OK)
        return kl_file_finish(file);
    kl_file_abandon(file);
    return status;
}

/* As open_temporary names them: base.tmpPROCESS.ATTEMPT */
static bool is_temporary(const char *name, const char *base)
{
    size_t length = strlen(base), digits;
    if (strncmp(name, base, length) != 0 || strncmp(name + length, ".tmp", 4) != 0)
        return false;
    name += length + 4;
    digits = strspn(name, "0123456789");
    if (digits == 0 || name[digits] != '.')
        return false;
    name += digits + 1;
    return *name != '\0' && name[strspn(name, "0123456789")] == '\0';
}

void kl_file_sweep(const char *path)
{
    char folder[PATH_MAX];
    const char *base = folder_of(path, folder);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        if (is_temporary(entry->d_name, base))
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries != NULL)
        closedir(entries);
}
