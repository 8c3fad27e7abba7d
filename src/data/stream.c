/*
 * stream.c - read(2) with what it leaves to its callers: short reads, EINTR, EAGAIN, directories, and files that change
 * between two passes. A regular file can be read again, also as standard input; a pipe or a terminal cannot. A decoder
 * stands between the file and the reader when the first bytes are those of a compressed file, in a thread of its own where that was asked for.
 */
#include "data/stream.h"

#include "base/memory.h"
#include "data/ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEEK = 4096, LONGEST_READ = 1 << 30, WORTH_A_THREAD = 1 << 16 /* compressed bytes */ };
enum { MOST_PIECES = 16, LEAST_PIECE = 1 << 16 }; /* of a block that several threads read: bytes that are worth waking one */

struct kl_stream {
    char *name;
    int fd;
    bool owned;       /* false: stdin or another stream's, which is not ours to close */
    bool regular;
    bool is_part;     /* read by pread, at most part_count bytes */
    off_t origin;     /* where the file was when it was opened: stdin may be half read */
    int64_t part_at, part_count;
    int64_t size;     /* of a part, decoded */
    struct stat seen; /* at the time of opening */
    kl_decoder *decoder;
    bool runs_ahead; /* the decoder has a thread from the next read to the end of the pass: */
    kl_ahead *ahead;
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

/* Straight from the file, at byte `at` of it or, when that is negative, where it stands; *got < room only at its end. */
static klift_status fill_from(const kl_stream *stream, int64_t at, unsigned char *bytes, int64_t room, int64_t *got)
{
    *got = 0;
    while (*got < room) {
        size_t want = (size_t)(room - *got < LONGEST_READ ? room - *got : LONGEST_READ);
        ssize_t count = at < 0 ? read(stream->fd, bytes + *got, want) : pread(stream->fd, bytes + *got, want, stream->origin + (off_t)(at + *got));
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

static klift_status fill_raw(kl_stream *stream, unsigned char *bytes, int64_t room, int64_t *got)
{
    if (!stream->is_part)
        return fill_from(stream, -1, bytes, room, got);
    int64_t left = stream->part_count - stream->part_at;
    klift_status status = fill_from(stream, stream->part_at, bytes, room < left ? room : left, got);
    stream->part_at += *got;
    return status;
}

static klift_status pull(void *stream, void *bytes, int64_t room, int64_t *got)
{
    return fill_raw(stream, bytes, room, got);
}

static klift_status unpack(void *stream, void *bytes, int64_t room, int64_t *got)
{
    return kl_decoder_read(((kl_stream *)stream)->decoder, bytes, room, got);
}

/* A pass has one thread at most: behind the end, or a failure, the decoder says the same again. */
static klift_status fill_ahead(kl_stream *stream, unsigned char *bytes, int64_t room, int64_t *got)
{
    klift_status status = kl_ahead_read(stream->ahead, bytes, room, got);
    if (kl_ahead_has_ended(stream->ahead)) {
        kl_ahead_free(stream->ahead); /* a hundred files read one after the other do not keep a hundred rings */
        stream->ahead = NULL;
        stream->runs_ahead = false;
    }
    return status;
}

static klift_status fill(kl_stream *stream, unsigned char *bytes, int64_t room, int64_t *got)
{
    *got = 0;
    if (stream->decoder == NULL)
        return fill_raw(stream, bytes, room, got);
    if (stream->runs_ahead && stream->ahead == NULL)
        KL_TRY(kl_ahead_new(stream->name, unpack, stream, &stream->ahead));
    return stream->ahead != NULL ? fill_ahead(stream, bytes, room, got) : unpack(stream, bytes, room, got);
}

static bool is_worth_a_thread(const kl_stream *stream)
{
    int64_t packed = stream->is_part ? stream->part_count : (int64_t)(stream->seen.st_size - stream->origin);
    return stream->decoder != NULL && stream->regular && packed >= WORTH_A_THREAD && (!stream->is_part || packed < stream->size);
}

void kl_stream_run_ahead(kl_stream *stream)
{
    stream->runs_ahead = is_worth_a_thread(stream);
}

klift_status kl_stream_open_raw(const char *path, kl_stream **out)
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

/* Puts a decoder between when the first bytes ask for one; what comes out of it must be plain. */
static klift_status insert_decoder(kl_stream *stream)
{
    const unsigned char *head;
    int64_t count;
    KL_TRY(kl_stream_peek(stream, &head, &count));
    const kl_codec *codec = kl_codec_of(head, count), *inner;
    if (codec == NULL)
        return KLIFT_OK;
    KL_TRY(kl_decoder_new(codec, NULL, stream->name, pull, stream, &stream->decoder));
    kl_decoder_feed(stream->decoder, head, count);
    stream->head_count = 0;
    KL_TRY(kl_stream_peek(stream, &head, &count));
    inner = kl_codec_of(head, count);
    if (inner == NULL)
        return KLIFT_OK;
    return kl_fail(KLIFT_DATA, "%s: is compressed twice (%s inside %s); unpack it once: %s", stream->name, inner->name, codec->name, codec->unpack);
}

klift_status kl_stream_open(const char *path, kl_stream **out)
{
    KL_TRY(kl_stream_open_raw(path, out));
    klift_status status = insert_decoder(*out);
    if (status != KLIFT_OK) {
        kl_stream_close(*out);
        *out = NULL;
    }
    return status;
}

klift_status kl_stream_open_part(const kl_stream *whole, const kl_part *part, kl_stream **out)
{
    kl_stream *stream;
    klift_status status;
    *out = NULL;
    KL_TRY(kl_new(&stream, 1, sizeof *stream, "a part of a file"));
    stream->fd = whole->fd;
    stream->seen = whole->seen;
    stream->regular = stream->is_part = true;
    stream->origin = whole->origin + (off_t)part->offset;
    stream->part_count = part->count;
    stream->size = part->size;
    KL_GO(kl_copy_text(&stream->name, part->name));
    status = kl_decoder_new(part->codec, part->setup, stream->name, pull, stream, &stream->decoder);
done:
    if (status == KLIFT_OK)
        *out = stream;
    else
        kl_stream_close(stream);
    return status;
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

/* A block of a file, a piece for each thread. */
typedef struct block {
    const kl_stream *stream;
    int64_t at, room, piece; /* at: byte of the file */
    unsigned char *bytes;
    int64_t got[MOST_PIECES];
} block;

static klift_status read_piece(void *context, int64_t index, int worker)
{
    block *b = context;
    int64_t from = index * b->piece, left = b->room - from;
    (void)worker;
    return fill_from(b->stream, b->at + from, b->bytes + from, left < b->piece ? left : b->piece, &b->got[index]);
}

klift_status kl_stream_read_by(kl_stream *stream, kl_pool *pool, void *bytes, int64_t room, int64_t *got)
{
    int64_t pieces = pool == NULL ? 1 : kl_pool_threads(pool) < MOST_PIECES ? kl_pool_threads(pool) : MOST_PIECES;
    if (pieces == 1 || room < pieces * LEAST_PIECE || !kl_stream_can_seek(stream) || stream->head_at < stream->head_count)
        return kl_stream_read(stream, bytes, room, got);
    off_t now = lseek(stream->fd, 0, SEEK_CUR);
    block b = {.stream = stream, .at = (int64_t)(now - stream->origin), .room = room, .piece = (room + pieces - 1) / pieces, .bytes = bytes};
    *got = 0;
    if (now < 0)
        return refuse(stream, "read");
    KL_TRY(kl_pool_run(pool, pieces, read_piece, &b, NULL, NULL));
    for (int64_t i = 0; i < pieces; i++) {
        *got += b.got[i];
        if (b.got[i] < b.piece)
            break; /* the file ends here, whatever was appended to it in the meantime */
    }
    return lseek(stream->fd, now + (off_t)*got, SEEK_SET) < 0 ? refuse(stream, "read") : KLIFT_OK;
}

klift_status kl_stream_peek(kl_stream *stream, const unsigned char **bytes, int64_t *count)
{
    if (stream->head_count == 0)
        KL_TRY(fill(stream, stream->head, PEEK, &stream->head_count));
    *bytes = stream->head;
    *count = stream->head_count;
    return KLIFT_OK;
}

klift_status kl_stream_read_all(kl_stream *stream, unsigned char **bytes, int64_t *count)
{
    int64_t room = 0, size = kl_stream_size(stream), got;
    *bytes = NULL;
    *count = 0;
    do {
        int64_t step = size >= 0 && *count == 0 ? size + 1 : 1 << 16;
        KL_TRY(kl_grow(bytes, &room, *count, *count + step, 1, "a file"));
        KL_TRY(kl_stream_read(stream, *bytes + *count, room - *count, &got));
        *count += got;
    } while (*count == room);
    return KLIFT_OK;
}

klift_status kl_stream_read_at(const kl_stream *stream, int64_t offset, void *bytes, int64_t room, int64_t *got)
{
    return fill_from(stream, offset, bytes, room, got);
}

klift_status kl_stream_finish(kl_stream *stream, bool *more)
{
    unsigned char rest[PEEK];
    int64_t got;
    *more = false;
    do {
        KL_TRY(kl_stream_read(stream, rest, PEEK, &got));
        *more = *more || got > 0;
    } while (got > 0 && stream->decoder != NULL);
    return KLIFT_OK;
}

bool kl_stream_can_rewind(const kl_stream *stream)
{
    return stream->regular;
}

bool kl_stream_can_seek(const kl_stream *stream)
{
    return stream->regular && stream->decoder == NULL;
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
    kl_ahead_free(stream->ahead);
    stream->ahead = NULL;
    if (!stream->is_part && lseek(stream->fd, stream->origin, SEEK_SET) < 0)
        return refuse(stream, "rewind");
    stream->head_count = stream->head_at = stream->part_at = 0;
    if (stream->decoder != NULL)
        kl_decoder_restart(stream->decoder);
    return KLIFT_OK;
}

const char *kl_stream_name(const kl_stream *stream)
{
    return stream->name;
}

const char *kl_stream_note(const kl_stream *stream)
{
    return stream->decoder != NULL && stream->ahead == NULL ? kl_decoder_note(stream->decoder) : NULL;
}

int64_t kl_stream_size(const kl_stream *stream)
{
    if (stream->is_part)
        return stream->size;
    if (!stream->regular || stream->decoder != NULL)
        return -1;
    return stream->seen.st_size > stream->origin ? (int64_t)(stream->seen.st_size - stream->origin) : 0;
}

void kl_stream_close(kl_stream *stream)
{
    if (stream == NULL)
        return;
    kl_ahead_free(stream->ahead);
    if (stream->owned && stream->fd >= 0)
        close(stream->fd);
    kl_decoder_free(stream->decoder);
    kl_free(stream->name);
    kl_free(stream);
}
