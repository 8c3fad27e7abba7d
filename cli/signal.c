/* signal.c - handlers that only set a flag, cancel the run and close a descriptor: all of it async-signal-safe. */
#include "signal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic(klift_run *) watched;
static volatile sig_atomic_t caught;

static void stop(int number)
{
    if (caught != 0)
        _exit(128 + number);
    caught = number;
    klift_run_cancel(atomic_load(&watched));
    close(STDIN_FILENO);
}

/* A descriptor that is closed at the start would be given to the next file opened, and output would land in it. */
static void keep_standard_files(void)
{
    static const int useless[] = {O_WRONLY, O_RDONLY, O_RDONLY}; /* so that using one fails */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", useless[fd]);
}

void signal_init(void)
{
    static const int stopping[] = {SIGINT, SIGTERM};
    struct sigaction old, ignore = {.sa_handler = SIG_IGN}, handle = {.sa_handler = stop};
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* a write beyond the limit fails with EFBIG instead */
    for (int i = 0; i < 2; i++)
        if (sigaction(stopping[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup and background jobs */
            sigaction(stopping[i], &handle, NULL);
    keep_standard_files();
}

void signal_watch(klift_run *run)
{
    atomic_store(&watched, run);
    if (run != NULL && caught != 0)
        klift_run_cancel(run);
}

int signal_caught(void)
{
    return caught;
}
