/* progress.c - the bar, the lines, and "klift: ..." messages. */
#include "progress.h"

#include "layout.h"
#include "output.h"
#include "signal.h"
#include "wording.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NARROWEST = 60, WIDEST = 200, STAGES = 16, MESSAGE = 2048 };

/* Seconds: between two bars; a run that is over sooner shows none, as it would only flash; from when on steps are worth a line. */
static const double EVERY = 0.1, SHORT = 0.3, SLOW = 1;

static struct {
    bool quiet, verbose, hidden, terminal, colour, drawn;
    double started, drawn_at, event_at, stage_at;
    int64_t line_at; /* rows at which the next line is due */
    double line_loss, line_weight; /* of the last line: the sum of the losses, and their weight */
    int stages, stage, steps; /* steps: events of this stage that had a loss and no rows */
    progress_stage kept[STAGES];
} screen;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_init(bool quiet, bool verbose)
{
    const char *kind = getenv("TERM"), *plain = getenv("NO_COLOR");
    int wide = layout_columns(STDERR_FILENO);
    bool able = isatty(STDERR_FILENO) && kind != NULL && strcmp(kind, "dumb") != 0;
    memset(&screen, 0, sizeof screen);
    screen.quiet = quiet;
    screen.verbose = verbose;
    screen.terminal = able && (wide <= 0 || wide >= NARROWEST); /* a bar that wraps could not be erased */
    screen.colour = able && (plain == NULL || *plain == '\0');
    screen.started = screen.event_at = now();
    screen.stage = -1;
}

void progress_leave_screen(const char *path)
{
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        screen.hidden = true;
}

void progress_rows(const char *stage, int64_t rows)
{
    klift_event event = {.size = sizeof event, .kind = KLIFT_EVENT_PROGRESS, .stage = stage, .rows = rows, .loss = NAN, .holdout = NAN};
    progress_event(&event, NULL);
}

void progress_end(void)
{
    if (screen.drawn)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    screen.drawn = false;
}

static void enter_stage(const char *name)
{
    char cut[sizeof screen.kept[0].name];
    snprintf(cut, sizeof cut, "%s", name);
    int i = 0;
    while (i < screen.stages && strcmp(screen.kept[i].name, cut) != 0)
        i++;
    if (i == STAGES)
        i--; /* more stages than klift has: the last one takes the time */
    if (i == screen.stages)
        strcpy(screen.kept[screen.stages++].name, cut);
    if (i != screen.stage) {
        screen.stage = i;
        screen.stage_at = screen.event_at;
        screen.line_at = 1;
        screen.line_loss = screen.line_weight = 0;
        screen.steps = 0;
    }
}

/* "12.3k" */
static const char *short_count(double value, char *out, size_t room)
{
    static const char *const unit[] = {"", "k", "M", "G"};
    int i = 0;
    for (; value >= 10000 && i < 3; i++)
        value /= 1000;
    snprintf(out, room, value < 100 && i > 0 ? "%.1f%s" : "%.0f%s", value, unit[i]);
    return out;
}

/* What stands behind the bar. Numbers keep their places, so that the bar keeps its length while they grow. */
static void write_tail(const klift_event *event, double rate, double seconds, char *tail, size_t room)
{
    char rows[32], speed[32], loss[32] = "";
    if (isfinite(event->loss))
        snprintf(loss, sizeof loss, "  loss %.4g", event->loss);
    if (event->rows > 0)
        snprintf(tail, room, "%5s rows %6s/s %6.1f s%s", short_count((double)event->rows, rows, sizeof rows), short_count(rate, speed, sizeof speed), seconds,
                 loss);
    else if (screen.steps > 0)
        snprintf(tail, room, "%d tried %6.1f s%s", screen.steps, seconds, loss);
    else
        snprintf(tail, room, "..."); /* a stage has begun and tells nothing yet */
}

/* "statistics [=====>    ]  52%  53.2k rows  41.2k/s    1.3 s", cut to the width */
static void draw_bar(const klift_event *event, double rate, double seconds)
{
    char bar[WIDEST + 1] = "", line[2 * WIDEST], tail[128];
    int wide = layout_width(STDERR_FILENO) - 3; /* room for the ^C of a terminal: a line that wraps could not be erased */
    write_tail(event, rate, seconds, tail, sizeof tail);
    int room = wide - 11 - 2 - 7 - (int)strlen(tail);
    if (event->rows_total > 0 && room >= 5) {
        double part = fmin(1, (double)event->rows / (double)event->rows_total);
        int done = (int)(part * room);
        for (int i = 0; i < room; i++)
            bar[i] = i < done ? '=' : i == done ? '>' : ' ';
        snprintf(line, sizeof line, "%-11s[%s] %3d%%  %s", event->stage, bar, (int)(100 * part), tail);
    } else
        snprintf(line, sizeof line, "%-11s%s", event->stage, tail);
    fprintf(stderr, "\r%.*s\033[K", wide, line);
    fflush(stderr);
    screen.drawn = true;
}

static void print_line(const klift_event *event, double rate, double seconds)
{
    fprintf(stderr, "klift: %s: ", event->stage);
    if (event->rows > 0 && event->rows_total > 0)
        fprintf(stderr, "%lld of %lld rows, %.0f rows/s, ", (long long)event->rows, (long long)event->rows_total, rate);
    else if (event->rows > 0)
        fprintf(stderr, "%lld rows, %.0f rows/s, ", (long long)event->rows, rate);
    else
        fprintf(stderr, "%d tried, ", screen.steps);
    fprintf(stderr, "%.1f s", seconds);
    if (isfinite(event->loss))
        fprintf(stderr, ", loss %.4g", event->loss);
    if (isfinite(event->loss) && event->weight > screen.line_weight) { /* as Vowpal Wabbit's progress has it */
        if (screen.line_weight > 0)
            fprintf(stderr, ", since last %.4g", (event->loss * event->weight - screen.line_loss) / (event->weight - screen.line_weight));
        screen.line_loss = event->loss * event->weight;
        screen.line_weight = event->weight;
    }
    if (isfinite(event->holdout))
        fprintf(stderr, ", holdout %.4g", event->holdout);
    fputc('\n', stderr);
}

/* Lines at doubling counts and at the end of what has lines. Steps without rows (one lambda each) are told once they take time. */
static bool line_is_due(const klift_event *event, double seconds)
{
    int64_t count = event->rows > 0 ? event->rows : seconds >= SLOW ? screen.steps : 0;
    bool first = screen.line_at == 1, end = event->rows > 0 && event->rows == event->rows_total;
    if (count < screen.line_at && !(end && !first))
        return false;
    screen.line_at = 2 * count;
    return !(end && first && event->rows > 0); /* a stage that is over with its first event needs no line */
}

static void show(const klift_event *event, double at)
{
    double seconds = at - screen.stage_at, rate = seconds > 0 ? (double)event->rows / seconds : 0;
    if (screen.terminal) {
        int wide = layout_columns(STDERR_FILENO); /* it may have been made narrow since the start */
        bool flash = at - screen.started < SHORT, due = at - screen.drawn_at >= EVERY || event->rows == event->rows_total;
        if (due && !flash && (wide <= 0 || wide >= NARROWEST)) {
            draw_bar(event, rate, seconds);
            screen.drawn_at = at;
        }
    } else if (line_is_due(event, seconds))
        print_line(event, rate, seconds);
}

static void print_message(const char *kind, const char *colour, const char *format, va_list args)
{
    progress_end();
    fputs("klift: ", stderr);
    if (kind != NULL)
        fprintf(stderr, "%s%s:%s ", screen.colour ? colour : "", kind, screen.colour ? "\033[0m" : "");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

static void print_kind(const char *kind, const char *colour, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void print_kind(const char *kind, const char *colour, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(kind, colour, format, args);
    va_end(args);
}

int progress_event(const klift_event *event, void *unused)
{
    char text[MESSAGE];
    (void)unused;
    if (event->kind == KLIFT_EVENT_WARNING)
        print_kind("warning", "\033[33m", "%s", wording(event->message, text, sizeof text));
    else if (event->kind == KLIFT_EVENT_NOTE && !screen.quiet && (screen.verbose || strcmp(event->stage, "plan") != 0))
        print_kind("note", "\033[36m", "%s", wording(event->message, text, sizeof text));
    if (event->kind != KLIFT_EVENT_PROGRESS)
        return 0;
    double at = now();
    enter_stage(event->stage != NULL ? event->stage : "work");
    screen.kept[screen.stage].seconds += at - screen.event_at;
    screen.event_at = at;
    screen.steps += event->rows == 0 && isfinite(event->loss);
    if (!screen.quiet && !screen.hidden)
        show(event, at);
    return 0;
}

int progress_stages(const progress_stage **stages)
{
    *stages = screen.kept;
    return screen.stages;
}

double progress_seconds(void)
{
    return now() - screen.started;
}

klift_status progress_fail(klift_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(NULL, "", format, args);
    va_end(args);
    return status;
}

klift_status progress_check(klift_status status)
{
    return progress_check_in(NULL, status);
}

klift_status progress_check_in(const char *file, klift_status status)
{
    bool expected = status == KLIFT_CANCELLED || signal_caught() != 0 || output_reader_left(status);
    if (status == KLIFT_OK || expected) {
        progress_end();
        return status;
    }
    char text[MESSAGE];
    return progress_fail(status, "%s%s%s", file != NULL ? file : "", file != NULL ? ": " : "", wording(klift_error(), text, sizeof text));
}

void progress_say(const char *format, ...)
{
    if (screen.quiet)
        return;
    va_list args;
    va_start(args, format);
    progress_end();
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
