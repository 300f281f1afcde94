/* Files in folders of folders, for tests of functions that read a whole tree. Include after tests/scratch_folder.h. */
#ifndef OCDM_TESTS_NESTED_FILES_H
#define OCDM_TESTS_NESTED_FILES_H

#include "scratch_folder.h"

/* Writes a file below the working directory and makes the folders that are missing. */
static inline int put_bytes(const char *path, const void *bytes, size_t size)
{
    char folder[256];
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0777);
    }
    return write_whole(path, bytes, size);
}

static inline int put_text(const char *path, const char *text)
{
    return put_bytes(path, text, strlen(text));
}

/* Writes pieces of `data`, split at bytes 0x1E, to as many files as there are pieces or names. */
static inline int put_pieces(const char *const *names, size_t count, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *end = size > 0 ? memchr(data, 0x1E, size) : NULL;
        size_t length = end != NULL ? (size_t)(end - data) : size;
        if (put_bytes(names[i], data, length) != 0)
            return -1;
        if (end == NULL)
            break;
        data += length + 1;
        size -= length + 1;
    }
    return 0;
}

/* Removes a folder and everything below it. */
static inline void remove_tree(const char *folder)
{
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        char path[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path && remove(path) != 0)
            remove_tree(path);
    }
    if (listing != NULL)
        closedir(listing);
    remove(folder);
}

/* A test's teardown: the scratch folder is empty again. */
static inline int clear_tree(void **state)
{
    (void)state;
    remove_tree(scratch_folder);
    return mkdir(scratch_folder, 0777) == 0 ? chdir(scratch_folder) : -1;
}

#endif
