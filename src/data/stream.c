/*
 * stream.c - read(2) with what it leaves to its callers: short reads, EINTR, EAGAIN, directories, and files that change
 * between two passes. A regular file can be read again, also as standard input; a pipe or a terminal cannot.
 */
#include "data/stream.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEEK = 4096, LONGEST_READ = 1 << 30 };

struct kl_stream {
    char *name;
    int fd;
    bool owned;       /* false: stdin, which is not ours to close */
    bool regular;
    off_t origin;     /* where the file was when it was opened: stdin may be half read */
    struct stat seen; /* at the time of opening */
    unsigned char head[PEEK];
    int64_t head_count, head_at;
};

static klift_status refuse(const kl_stream *stream, const char *verb)
{
    return kl_fail(KLIFT_IO, "%s: cannot %s: %s", stream->name, verb, strerror(errno));
}

static klift_status examine(kl_stream *stream)
{
    if (fstat(stream->fd, &stream->seen) != 0)
        return refuse(stream, "read");
    if (S_ISDIR(stream->seen.st_mode))
        return kl_fail(KLIFT_IO, "%s: is a directory; name a file in it", stream->name);
    if (S_ISREG(stream->seen.st_mode)) {
        stream->origin = lseek(stream->fd, 0, SEEK_CUR);
        stream->regular = stream->origin >= 0;
    }
    return KLIFT_OK;
}

klift_status kl_stream_open(const char *path, kl_stream **out)
{
    kl_stream *stream;
    klift_status status;
    bool standard = strcmp(path, "-") == 0;
    *out = NULL;
    KL_TRY(kl_new(&stream, 1, sizeof *stream, "a file"));
    stream->fd = -1;
    KL_GO(kl_copy_text(&stream->name, standard ? "standard input" : path));
    stream->owned = !standard;
    do
        stream->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    while (stream->fd < 0 && errno == EINTR);
    if (stream->fd < 0) {
        status = refuse(stream, "open");
        goto done;
    }
    status = examine(stream);
done:
    if (status == KLIFT_OK)
        *out = stream;
    else
        kl_stream_close(stream);
    return status;
}

/* Straight from the file; *got < room only at its end. */
static klift_status fill(kl_stream *stream, unsigned char *bytes, int64_t room, int64_t *got)
{
    *got = 0;
    while (*got < room) {
        int64_t want = room - *got < LONGEST_READ ? room - *got : LONGEST_READ;
        ssize_t count = read(stream->fd, bytes + *got, (size_t)want);
        if (count == 0)
            return KLIFT_OK;
        if (count > 0)
            *got += count;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){.fd = stream->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            return refuse(stream, "read");
    }
    return KLIFT_OK;
}

klift_status kl_stream_read(kl_stream *stream, void *bytes, int64_t room, int64_t *got)
{
    int64_t kept = stream->head_count - stream->head_at;
    *got = kept < room ? kept : room;
    if (*got > 0)
        memcpy(bytes, stream->head + stream->head_at, (size_t)*got);
    stream->head_at += *got;
    if (*got == room)
        return KLIFT_OK;
    int64_t more;
    klift_status status = fill(stream, (unsigned char *)bytes + *got, room - *got, &more);
    *got += more;
    return status;
}

klift_status kl_stream_peek(kl_stream *stream, const unsigned char **bytes, int64_t *count)
{
    if (stream->head_count == 0)
        KL_TRY(fill(stream, stream->head, PEEK, &stream->head_count));
    *bytes = stream->head;
    *count = stream->head_count;
    return KLIFT_OK;
}

bool kl_stream_can_rewind(const kl_stream *stream)
{
    return stream->regular;
}

klift_status kl_stream_rewind(kl_stream *stream)
{
    struct stat now;
    if (!stream->regular)
        return kl_fail(KLIFT_IO, "%s: is a pipe or a device and can be read once only; save it to a file first", stream->name);
    if (fstat(stream->fd, &now) != 0)
        return refuse(stream, "read");
    const struct stat *seen = &stream->seen;
    if (now.st_size != seen->st_size || now.st_mtim.tv_sec != seen->st_mtim.tv_sec || now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec)
        return kl_fail(KLIFT_DATA, "%s: the file changed while it was read; start again when nothing writes to it", stream->name);
    if (lseek(stream->fd, stream->origin, SEEK_SET) < 0)
        return refuse(stream, "rewind");
    stream->head_count = stream->head_at = 0;
    return KLIFT_OK;
}

const char *kl_stream_name(const kl_stream *stream)
{
    return stream->name;
}

int64_t kl_stream_size(const kl_stream *stream)
{
    if (!stream->regular)
        return -1;
    return stream->seen.st_size > stream->origin ? (int64_t)(stream->seen.st_size - stream->origin) : 0;
}

void kl_stream_close(kl_stream *stream)
{
    if (stream == NULL)
        return;
    if (stream->owned && stream->fd >= 0)
        close(stream->fd);
    kl_free(stream->name);
    kl_free(stream);
}
