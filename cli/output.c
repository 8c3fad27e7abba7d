/* output.c - stdout and files written beside their name: O_EXCL, fsync, rename. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "output.h"

#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool reader_left;

static klift_status refuse(const char *name)
{
    if (errno != EPIPE)
        return progress_fail(KLIFT_IO, "%s: cannot write: %s", name, strerror(errno));
    reader_left = true;
    return KLIFT_IO;
}

bool output_reader_left(klift_status status)
{
    if (status == KLIFT_IO && strstr(klift_error(), strerror(EPIPE)) != NULL)
        reader_left = true; /* the library was writing */
    return status == KLIFT_IO && reader_left;
}

/* A name beside path that no file has; the number tells two writers in one process apart. */
static char *name_beside(const char *path, int number)
{
    size_t room = strlen(path) + 48;
    char *name = malloc(room);
    if (name != NULL)
        snprintf(name, room, "%s.%ld-%d.tmp", path, (long)getpid(), number);
    return name;
}

static klift_status create_beside(output *out, mode_t mode)
{
    int fd = -1;
    for (int number = 0; fd < 0 && number < 100; number++) {
        free(out->temporary);
        out->temporary = name_beside(out->path, number);
        if (out->temporary == NULL)
            return progress_fail(KLIFT_MEMORY, "no memory for a file name");
        fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        klift_status status = refuse(out->name);
        free(out->temporary);
        out->temporary = NULL;
        return status;
    }
    if (mode != 0)
        fchmod(fd, mode & 07777);
    out->file = fdopen(fd, "w");
    if (out->file == NULL)
        close(fd);
    return out->file != NULL ? KLIFT_OK : refuse(out->name);
}

klift_status output_open(output *out, const char *path)
{
    struct stat is;
    *out = (output){.name = path};
    if (path == NULL || strcmp(path, "-") == 0) {
        out->file = stdout;
        out->name = "standard output";
        return KLIFT_OK;
    }
    bool exists = stat(path, &is) == 0;
    if (exists && !S_ISREG(is.st_mode)) { /* a device or pipe has no name to take */
        out->file = fopen(path, "w");
        return out->file != NULL ? KLIFT_OK : refuse(path);
    }
    out->path = exists ? realpath(path, NULL) : strdup(path);
    if (out->path == NULL)
        return refuse(path);
    return create_beside(out, exists ? is.st_mode : 0);
}

klift_status output_check(output *out)
{
    return fflush(out->file) == 0 && !ferror(out->file) ? KLIFT_OK : refuse(out->name);
}

klift_status output_close(output *out)
{
    klift_status status = output_check(out);
    if (status == KLIFT_OK && out->path != NULL && fsync(fileno(out->file)) != 0)
        status = refuse(out->name);
    if (out->file != stdout && fclose(out->file) != 0 && status == KLIFT_OK)
        status = refuse(out->name);
    out->file = NULL;
    if (status == KLIFT_OK && out->path != NULL && rename(out->temporary, out->path) != 0)
        status = refuse(out->name);
    if (status == KLIFT_OK) {
        free(out->temporary);
        out->temporary = NULL;
    }
    output_abandon(out);
    return status;
}

void output_abandon(output *out)
{
    if (out->file != NULL && out->file != stdout)
        fclose(out->file);
    if (out->temporary != NULL)
        unlink(out->temporary);
    free(out->temporary);
    free(out->path);
    *out = (output){0};
}

klift_status output_finish(void)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? KLIFT_OK : refuse("standard output");
}

bool output_same_file(const char *a, const char *b)
{
    struct stat is, other;
    return stat(a, &is) == 0 && stat(b, &other) == 0 && S_ISREG(is.st_mode) && is.st_dev == other.st_dev && is.st_ino == other.st_ino;
}

klift_status output_possible(const char *path, const char *input)
{
    struct stat is;
    bool exists = strcmp(path, "-") == 0 || stat(path, &is) == 0;
    if (strcmp(path, "-") == 0 || (exists && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode)))
        return KLIFT_OK;
    if (input != NULL && output_same_file(path, input))
        return progress_fail(KLIFT_USAGE, "%s would be written over its own input: choose another name", path);
    if (exists && S_ISDIR(is.st_mode))
        return progress_fail(KLIFT_IO, "%s: is a directory; name a file in it", path);
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    klift_status status = KLIFT_OK;
    if (folder == NULL)
        return progress_fail(KLIFT_MEMORY, "no memory for a file name");
    if (access(folder, W_OK | X_OK) != 0)
        status = progress_fail(KLIFT_IO, "%s: cannot write into the folder %s: %s; make it, or choose another", path, folder, strerror(errno));
    free(folder);
    return status;
}

const char *output_number(double value, char out[OUTPUT_NUMBER])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, OUTPUT_NUMBER, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return out;
}
