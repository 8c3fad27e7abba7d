/* metrics.c - the metrics as aligned lines: totals, a line per class, the confusion matrix while it fits a screen. */
#include "metrics.h"

#include "json.h"

#include <string.h>

enum { MOST_CLASSES = 20, NAME = 64 };

static int name_width(const char *classes)
{
    char name[NAME];
    int wide = 5;
    for (const char *cursor = NULL, *one; (one = json_next(classes, &cursor, NULL, 0)) != NULL;) {
        int length = (int)strlen(json_text(json_get(one, "name"), name, sizeof name));
        if (length > wide)
            wide = length;
    }
    return wide;
}

/* A share in per cent, "-" when it is 0/0 (a class that no row has, or that is never predicted). */
static void print_share(const char *value, FILE *to)
{
    double share;
    if (json_number(value, &share))
        fprintf(to, "  %9.2f %%", 100 * share);
    else
        fprintf(to, "  %11s", "-");
}

static void print_classes(const char *classes, int wide, FILE *to)
{
    char name[NAME];
    fprintf(to, "\n%-*s  %10s  %11s  %11s\n", wide, "class", "rows", "precision", "recall");
    for (const char *cursor = NULL, *one; (one = json_next(classes, &cursor, NULL, 0)) != NULL;) {
        fprintf(to, "%-*s  %10.0f", wide, json_text(json_get(one, "name"), name, sizeof name), json_number_or(json_get(one, "rows"), 0));
        print_share(json_get(one, "precision"), to);
        print_share(json_get(one, "recall"), to);
        fputc('\n', to);
    }
}

static void print_confusion(const char *classes, const char *confusion, int wide, FILE *to)
{
    char name[NAME];
    int cell = wide > 7 ? wide : 7;
    fprintf(to, "\n%-*s  predicted\n%-*s", wide, "true", wide, "");
    for (const char *cursor = NULL, *one; (one = json_next(classes, &cursor, NULL, 0)) != NULL;)
        fprintf(to, "  %*s", cell, json_text(json_get(one, "name"), name, sizeof name));
    fputc('\n', to);
    const char *at = NULL, *row, *class_at = NULL;
    while ((row = json_next(confusion, &at, NULL, 0)) != NULL) {
        const char *one = json_next(classes, &class_at, NULL, 0);
        fprintf(to, "%-*s", wide, json_text(json_get(one, "name"), name, sizeof name));
        for (const char *cursor = NULL, *count; (count = json_next(row, &cursor, NULL, 0)) != NULL;)
            fprintf(to, "  %*.0f", cell, json_number_or(count, 0));
        fputc('\n', to);
    }
}

static void print_regression(const char *test, FILE *to)
{
    static const char *const line[][2] = {{"rmse", "rmse"}, {"relative rmse", "relative_rmse"}, {"r2", "r2"}};
    for (int i = 0; i < 3; i++) {
        double value;
        fprintf(to, "%-15s", line[i][0]);
        if (json_number(json_get(test, line[i][1]), &value))
            fprintf(to, "%.6g\n", value);
        else
            fputs("-\n", to);
    }
}

void metrics_print(const char *test, FILE *to)
{
    const char *classes = json_get(test, "classes"), *confusion = json_get(test, "confusion");
    double error;
    fprintf(to, "%-15s%.0f\n", "rows", json_number_or(json_get(test, "rows"), 0));
    if (!json_number(json_get(test, "error"), &error)) {
        print_regression(test, to);
        return;
    }
    fprintf(to, "%-15s%.2f %%\n%-15s%.2f %%\n", "error", 100 * error, "accuracy", 100 * json_number_or(json_get(test, "accuracy"), 1 - error));
    double loss;
    if (json_number(json_get(test, "log_loss"), &loss))
        fprintf(to, "%-15s%.4f\n", "log loss", loss);
    double unknown = json_number_or(json_get(test, "unknown_labels"), 0);
    if (unknown > 0)
        fprintf(to, "%-15s%.0f rows have a class the model does not know\n", "unknown", unknown);
    int wide = name_width(classes);
    if (json_count(classes) > 0)
        print_classes(classes, wide, to);
    if (json_count(classes) > 0 && json_count(classes) <= MOST_CLASSES)
        print_confusion(classes, confusion, wide, to);
}

void metrics_json(const char *test, double seconds, FILE *to)
{
    static const char *const key[] = {"rows", "error", "accuracy", "log_loss", "rmse", "relative_rmse", "r2"};
    fputc('{', to);
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        const char *value = json_get(test, key[i]);
        if (value == NULL)
            continue;
        fprintf(to, "\"%s\":", key[i]);
        json_copy(value, to);
        fputc(',', to);
    }
    fprintf(to, "\"seconds\":%.3f}", seconds);
}
