/* replay.c - runs one target over the files named, without libFuzzer: what make check does with the corpora. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t size = 0, room = 0;
    if (file == NULL) {
        perror(path);
        return 1;
    }
    do {
        room += 1 << 16;
        uint8_t *larger = realloc(bytes, room);
        if (larger == NULL)
            abort();
        bytes = larger;
        size += fread(bytes + size, 1, room - size, file);
    } while (size == room);
    fclose(file);
    uint8_t *exact = malloc(size + (size == 0)); /* of its exact size: one byte too far is seen by the sanitizers */
    if (exact == NULL)
        abort();
    for (size_t i = 0; i < size; i++)
        exact[i] = bytes[i];
    free(bytes);
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

int main(int count, char **argument)
{
    int failed = 0;
    for (int i = 1; i < count; i++)
        failed |= replay(argument[i]);
    return failed;
}
