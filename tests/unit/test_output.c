/* The output: files appear whole or not at all, leave nothing beside them, and every failed write is reported. */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../test.h"
#include "base/output.h"

static char folder[] = "/tmp/ocdm-test-output-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

/* How many names are in the folder. */
static int count_files(void)
{
    DIR *listing = opendir(".");
    assert_non_null(listing);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static int clear_folder(void **state)
{
    (void)state;
    DIR *listing = opendir(".");
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.' || entry->d_name[1] == 'o')
            unlink(entry->d_name);
    closedir(listing);
    return 0;
}

static int leave_folder(void **state)
{
    clear_folder(state);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void file_is(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST(output_appears_only_when_committed)
{
    put_file("result", "old");
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "result", NULL), OCDM_OK);
    ocdm__output_text(&output, "new");
    file_is("result", "old");
    assert_int_equal(count_files(), 2);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    file_is("result", "new");
    assert_int_equal(count_files(), 1);
}

TEST(output_leaves_no_trace_when_abandoned)
{
    put_file("result", "old");
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "result", NULL), OCDM_OK);
    ocdm__output_text(&output, "new");
    ocdm__output_abandon(&output);
    ocdm__output_abandon(&output);
    file_is("result", "old");
    assert_int_equal(count_files(), 1);
}

TEST(output_keeps_permissions_and_links)
{
    put_file("real", "old");
    assert_int_equal(chmod("real", 0640), 0);
    assert_int_equal(symlink("real", "link"), 0);
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "link", NULL), OCDM_OK);
    ocdm__output_text(&output, "new");
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    struct stat found;
    assert_int_equal(lstat("link", &found), 0);
    assert_true(S_ISLNK(found.st_mode));
    assert_int_equal(stat("real", &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
    file_is("real", "new");
}

TEST(output_has_the_usual_permissions_when_new)
{
    mode_t old = umask(027);
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "fresh", NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    umask(old);
    struct stat found;
    assert_int_equal(stat("fresh", &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
}

/* Larger than the buffer, in pieces of every size around it. */
TEST(output_writes_every_byte_in_order_whatever_the_pieces)
{
    size_t size = 1000003, at = 0;
    char *bytes = malloc(size), *back = malloc(size + 1);
    assert_non_null(bytes);
    assert_non_null(back);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * i % 251);
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "large", NULL), OCDM_OK);
    static const size_t pieces[] = {1, 65536, 3, 65535, 70000, 65537, 0, 131072, 7};
    for (size_t i = 0; at < size; i++) {
        size_t piece = pieces[i % (sizeof pieces / sizeof *pieces)];
        piece = piece < size - at ? piece : size - at;
        ocdm__output_write(&output, bytes + at, piece);
        at += piece;
    }
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    FILE *file = fopen("large", "rb");
    assert_non_null(file);
    assert_int_equal(fread(back, 1, size + 1, file), size);
    fclose(file);
    assert_memory_equal(bytes, back, size);
    free(bytes);
    free(back);
}

TEST(output_tells_a_full_disk_and_keeps_the_old_file)
{
    put_file("result", "old");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    ocdm__output output;
    ocdm_error error;
    assert_int_equal(ocdm__output_open(&output, "result", NULL), OCDM_OK);
    for (int i = 0; i < 40000; i++)
        ocdm__output_text(&output, "line\n");
    assert_int_equal(ocdm__output_check(&output, NULL), OCDM_IO);
    ocdm_status status = ocdm__output_commit(&output, &error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, OCDM_IO);
    assert_non_null(strstr(error.message, "/result: File too large"));
    file_is("result", "old");
    assert_int_equal(count_files(), 1);
}

TEST(output_tells_when_a_device_takes_nothing)
{
    ocdm__output output;
    ocdm_error error;
    assert_int_equal(ocdm__output_open(&output, "/dev/full", NULL), OCDM_OK);
    ocdm__output_text(&output, "x");
    assert_int_equal(ocdm__output_check(&output, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, &error), OCDM_IO);
    assert_string_equal(error.message, "cannot write /dev/full: No space left on device");
    assert_true(error.hint[0] != '\0');
}

TEST(output_tells_when_the_folder_is_missing)
{
    ocdm__output output;
    ocdm_error error;
    assert_int_equal(ocdm__output_open(&output, "no/such/place", &error), OCDM_IO);
    assert_string_equal(error.message, "cannot write no/such/place: No such file or directory");
    assert_int_equal(ocdm__output_open(&output, "/", &error), OCDM_IO);
}

TEST(output_tells_a_closed_pipe)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    ocdm__output output;
    ocdm_error error;
    assert_int_equal(ocdm__output_open_fd(&output, ends[1], "<stdout>", NULL), OCDM_OK);
    ocdm__output_text(&output, "x");
    assert_int_equal(ocdm__output_commit(&output, &error), OCDM_IO);
    assert_string_equal(error.message, "cannot write <stdout>: Broken pipe");
    assert_int_equal(close(ends[1]), 0);
}

/* `--summary /dev/fd/N > file`: replacing the file would lose what others write through the same descriptor. */
TEST(output_writes_through_a_descriptor_named_by_its_path)
{
    int fd = open("shared", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "before ", 7), 7);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, path, NULL), OCDM_OK);
    ocdm__output_text(&output, "middle ");
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    assert_int_equal(write(fd, "after", 5), 5);
    close(fd);
    file_is("shared", "before middle after");
}

TEST(output_writes_numbers_and_json)
{
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "text", NULL), OCDM_OK);
    ocdm__output_uint64(&output, 0);
    ocdm__output_text(&output, " ");
    ocdm__output_uint64(&output, UINT64_MAX);
    ocdm__output_text(&output, " ");
    ocdm__output_double(&output, 0.25);
    ocdm__output_text(&output, " ");
    ocdm__output_json_string(&output, "a\"b\n", 4);
    ocdm__output_json_string(&output, "", 0);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    file_is("text", "0 18446744073709551615 0.25 \"a\\\"b\\n\"\"\"");
}

/* A character on every possible cut between the pieces of a long string stays whole. */
TEST(output_does_not_break_characters_of_long_strings)
{
    for (size_t lead = 250; lead < 258; lead++) {
        char text[300], quoted[400], found[400];
        memset(text, 'x', sizeof text);
        memcpy(text + lead, "\xF0\x9F\x98\x80", 4);
        int length = snprintf(quoted, sizeof quoted, "\"%.*s\"", (int)sizeof text, text);
        ocdm__output output;
        assert_int_equal(ocdm__output_open(&output, "long", NULL), OCDM_OK);
        ocdm__output_json_string(&output, text, sizeof text);
        assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
        FILE *file = fopen("long", "rb");
        assert_non_null(file);
        assert_int_equal(fread(found, 1, sizeof found, file), length);
        fclose(file);
        assert_memory_equal(found, quoted, (size_t)length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(output_appears_only_when_committed, clear_folder),
        cmocka_unit_test_teardown(output_leaves_no_trace_when_abandoned, clear_folder),
        cmocka_unit_test_teardown(output_keeps_permissions_and_links, clear_folder),
        cmocka_unit_test_teardown(output_has_the_usual_permissions_when_new, clear_folder),
        cmocka_unit_test_teardown(output_writes_every_byte_in_order_whatever_the_pieces, clear_folder),
        cmocka_unit_test_teardown(output_tells_a_full_disk_and_keeps_the_old_file, clear_folder),
        cmocka_unit_test_teardown(output_tells_when_a_device_takes_nothing, clear_folder),
        cmocka_unit_test_teardown(output_tells_when_the_folder_is_missing, clear_folder),
        cmocka_unit_test_teardown(output_tells_a_closed_pipe, clear_folder),
        cmocka_unit_test_teardown(output_writes_through_a_descriptor_named_by_its_path, clear_folder),
        cmocka_unit_test_teardown(output_writes_numbers_and_json, clear_folder),
        cmocka_unit_test_teardown(output_does_not_break_characters_of_long_strings, clear_folder),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
