/*
 * Runs a fuzz target without a fuzzer, as a test: PROGRAM FOLDER... gives it nothing, every file of the folders, and CHANGES
 * inputs made of them by changes that are always the same. Each input has a block of its own size, so that a sanitizer sees
 * the first byte beyond it. `make fuzz` looks for what is new.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES 1000
#define LARGEST ((size_t)1 << 20)
#define ROOM_TO_GROW ((size_t)4096)

/* What a target may leave out is weak. */
int LLVMFuzzerInitialize(int *count, char ***arguments) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) __attribute__((weak));

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input *corpus;
static size_t corpus_size;
static uint64_t state = 1;

static void *get(size_t size)
{
    void *block = malloc(size > 0 ? size : 1);
    if (block == NULL)
        abort();
    return block;
}

/* SplitMix64. */
static size_t below(size_t limit)
{
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (size_t)((x ^ x >> 31) % limit);
}

/* ---- the corpus --------------------------------------------------------------------------------------------------------- */

static void read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct input input = {get(LARGEST), 0};
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    input.size = fread(input.bytes, 1, LARGEST, file);
    fclose(file);
    corpus = realloc(corpus, (corpus_size + 1) * sizeof *corpus);
    if (corpus == NULL)
        abort();
    corpus[corpus_size++] = input;
}

static void read_folder(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    if (count < 0) {
        perror(folder);
        exit(2);
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            read_file(path);
        free(names[i]);
    }
    free(names);
}

/* ---- changes ------------------------------------------------------------------------------------------------------------ */

/* Copies up to `room` bytes of another input over the end, from `at` on. */
static size_t splice(uint8_t *data, size_t room, size_t at)
{
    const struct input *other = &corpus[below(corpus_size)];
    size_t from = other->size > 0 ? below(other->size) : 0, count = other->size - from;
    count = count < room - at ? count : room - at;
    memcpy(data + at, other->bytes + from, count);
    return at + count;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
{
    static const uint8_t telling[] = {0, 1, 0x7F, 0x80, 0xFF, '0', '9', '-', '"', '\n'};
    size_t at = below(size + 1), count = 1 + below(8);
    count = count < size - at ? count : size - at;
    switch (below(5)) {
    case 0:
        if (at < size)
            data[at] ^= (uint8_t)(1u << below(8));
        return size;
    case 1:
        if (at < size)
            data[at] = telling[below(sizeof telling)];
        return size;
    case 2: /* some bytes go */
        memmove(data + at, data + at + count, size - at - count);
        return size - count;
    case 3: /* some come twice */
        if (size + count > room)
            return size;
        memmove(data + at + count, data + at, size - at);
        return size + count;
    default:
        return splice(data, room, at);
    }
}

static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *own = get(size);
    memcpy(own, bytes, size);
    LLVMFuzzerTestOneInput(own, size);
    free(own);
}

static void run_changed(void)
{
    const struct input *input = &corpus[below(corpus_size)];
    size_t room = input->size + ROOM_TO_GROW, size = input->size;
    uint8_t *bytes = get(room);
    memcpy(bytes, input->bytes, size);
    for (size_t left = 1 + below(4); left > 0; left--)
        size = LLVMFuzzerCustomMutator != NULL ? LLVMFuzzerCustomMutator(bytes, size, room, (unsigned)below(1u << 31))
                                               : LLVMFuzzerMutate(bytes, size, room);
    run(bytes, size);
    free(bytes);
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++)
        read_folder(arguments[i]);
    if (LLVMFuzzerInitialize != NULL && LLVMFuzzerInitialize(&count, &arguments) != 0)
        return 1;
    run((const uint8_t *)"", 0);
    for (size_t i = 0; i < corpus_size; i++)
        run(corpus[i].bytes, corpus[i].size);
    for (int i = 0; i < CHANGES && corpus_size > 0; i++)
        run_changed();
    for (size_t i = 0; i < corpus_size; i++)
        free(corpus[i].bytes);
    free(corpus);
    return 0;
}
