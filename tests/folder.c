/* folder.c - see folder.h. */
#include "folder.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

char folder_path[64];

const char *folder_at(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder_path, name);
    return path[turn];
}

int folder_count(bool and_remove)
{
    int count = 0;
    DIR *dir = opendir(folder_path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.') {
            count++;
            if (and_remove)
                unlink(folder_at(entry->d_name));
        }
    closedir(dir);
    return count;
}

int folder_make(void **unused)
{
    (void)unused;
    strcpy(folder_path, "/tmp/klift-folder-XXXXXX");
    return mkdtemp(folder_path) == NULL;
}

int folder_empty(void **unused)
{
    (void)unused;
    folder_count(true);
    return 0;
}

int folder_remove(void **unused)
{
    (void)unused;
    return rmdir(folder_path);
}

void folder_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

const char *folder_text(const char *path)
{
    static char text[100000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}
