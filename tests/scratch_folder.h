/* A temporary folder that is the test's working directory and is removed at the end. It is in /dev/shm if possible, because
 * tests that save a thousand times would otherwise wait for the disk. */
#ifndef OCDM_TESTS_SCRATCH_FOLDER_H
#define OCDM_TESTS_SCRATCH_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_folder[64];

static inline int enter_folder(void **state)
{
    (void)state;
    static const char *const places[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(scratch_folder, sizeof scratch_folder, "%s/ocdm-test-XXXXXX", places[i]);
        if (mkdtemp(scratch_folder))
            return chdir(scratch_folder);
    }
    return -1;
}

/* How many files are in the folder, hidden ones too; removes them on request. */
static inline int count_files(int and_remove)
{
    DIR *listing = opendir(".");
    int count = 0;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        count++;
        if (and_remove)
            remove(entry->d_name);
    }
    if (listing)
        closedir(listing);
    return count;
}

static inline int leave_folder(void **state)
{
    (void)state;
    count_files(1);
    return chdir("/") == 0 && rmdir(scratch_folder) == 0 ? 0 : -1;
}

/* A file's bytes, to be freed; NULL and size 0 when there is no file. */
static inline unsigned char *read_whole(const char *path, size_t *size)
{
    *size = 0;
    struct stat there;
    FILE *file = stat(path, &there) == 0 ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    unsigned char *bytes = malloc((size_t)there.st_size + 1);
    *size = bytes ? fread(bytes, 1, (size_t)there.st_size, file) : 0;
    fclose(file);
    return bytes;
}

static inline int write_whole(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    size_t written = fwrite(bytes, 1, size, file);
    return fclose(file) == 0 && written == size ? 0 : -1;
}

#endif
