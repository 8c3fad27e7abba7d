/* checkpoint.c - see checkpoint.h. */
#include "checkpoint.h"

#include "output.h"
#include "progress.h"
#include "signal.h"

#include <string.h>
#include <unistd.h>

klift_status checkpoint_check(const options *given, const char *model)
{
    static const char *const others[] = {"checkpoint-every", "resume"};
    const char *path = options_get(given, "checkpoint");
    for (int i = 0; i < 2 && path == NULL; i++)
        if (options_has(given, others[i]))
            return progress_fail(KLIFT_USAGE, "--%s belongs to --checkpoint FILE: say which file", others[i]);
    if (path == NULL)
        return KLIFT_OK;
    if (model != NULL && (strcmp(path, model) == 0 || output_same_file(path, model)))
        return progress_fail(KLIFT_USAGE, "--checkpoint %s is the model too: give it another name", path);
    return output_possible(path, NULL);
}

void checkpoint_remove(const options *given, const char *model)
{
    const char *path = options_get(given, "checkpoint");
    if (path != NULL && (model == NULL || !output_same_file(path, model)))
        unlink(path);
}

/* As a shell reads it back. */
static void add_word(const char *word, char *out, size_t room, size_t *at)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
    bool quote = *word == '\0' || strspn(word, plain) != strlen(word);
    *at += (size_t)snprintf(out + *at, room - *at, quote ? " '" : " ");
    for (; *word != '\0' && *at + 8 < room; word++)
        *at += (size_t)snprintf(out + *at, room - *at, *word == '\'' ? "'\\''" : "%c", *word);
    if (quote && *at + 2 < room)
        *at += (size_t)snprintf(out + *at, room - *at, "'");
}

void checkpoint_stopped(const options *given, klift_status status)
{
    const char *path = options_get(given, "checkpoint"), *why = klift_error();
    char line[4096] = "";
    size_t at = 0;
    if (path == NULL || signal_caught() == 0)
        return;
    if (status == KLIFT_IO && strncmp(why, path, strlen(path)) == 0)
        progress_fail(status, "%s", why); /* a signal else silences what a run fails with */
    if (access(path, R_OK) != 0) {
        progress_fail(status, "stopped before the first checkpoint: the same command starts again");
        return;
    }
    for (int i = 0; i < given->words && at + 16 < sizeof line; i++)
        if (strcmp(given->word[i], "--resume") != 0)
            add_word(given->word[i], line, sizeof line - 8, &at);
    bool piped = given->arguments > 0 && strcmp(given->argument[0], "-") == 0;
    progress_fail(status, "stopped; the checkpoint is %s. To go on%s: klift %s --resume%s", path, piped ? ", with the same rows on standard input" : "", given->command->name, line);
}
