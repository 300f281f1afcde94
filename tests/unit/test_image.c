/* Image files: pixels as Pillow reads them, limits, and damage of every kind, which must give an error and print nothing. */
#define _XOPEN_SOURCE 700

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "../golden/image_files.h"
#include "../golden/image_hex.h"
#include "../scratch_folder.h"
#include "stream/images/image.h"

#define GOLDEN_COUNT (sizeof golden_files / sizeof *golden_files)

static ocdm_status decode(const unsigned char *bytes, size_t size, const ocdm__image_limits *limits, unsigned resize,
                          ocdm__image *image, ocdm_error *error)
{
    /* A copy without a byte to spare: the sanitizer sees every read beyond it. */
    unsigned char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ocdm__image_file file = {.name = "some/image", .bytes = exact, .size = size};
    ocdm_status status = ocdm__image_decode(&file, limits, resize, image, error);
    if (status != OCDM_OK && error) {
        assert_int_equal(error->status, status);
        assert_true(status == OCDM_NO_MEMORY || strstr(error->message, "some/image: ") == error->message);
    }
    free(exact);
    return status;
}

static size_t golden_number(const char *name)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++)
        if (strcmp(golden_files[i].name, name) == 0)
            return i;
    fail_msg("no golden file %s", name);
    return 0;
}

static unsigned char *golden_bytes(const char *name, size_t *size)
{
    return from_hex(golden_files[golden_number(name)].file, size);
}

/* One level of difference is allowed: another version of libjpeg may round otherwise. */
static bool are_near(const unsigned char *a, const unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (abs(a[i] - b[i]) > 1)
            return false;
    return true;
}

TEST(image_decodes_as_pillow_does)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        size_t size, pixel_size;
        unsigned char *bytes = from_hex(golden_files[i].file, &size);
        unsigned char *pixels = from_hex(golden_files[i].pixels, &pixel_size);
        ocdm_error error = {.status = OCDM_OK};
        ocdm_status status = decode(bytes, size, &limits, golden_files[i].resize, &image, &error);
        HOLDS(golden_files[i].name, status == OCDM_OK);
        HOLDS(golden_files[i].name, image.width == golden_files[i].width && image.height == golden_files[i].height);
        HOLDS(golden_files[i].name, pixel_size == (size_t)image.width * image.height * 3);
        HOLDS(golden_files[i].name, are_near(image.rgb.bytes, pixels, pixel_size));
        free(bytes);
        free(pixels);
    }
    ocdm__image_buffer_clear(&image.rgb);
}

/* 24 x 16 to a shorter side of 8 is a half; to 9 it is nothing that libjpeg has, so everything comes. */
TEST(image_comes_at_full_size_when_no_scale_of_libjpeg_fits)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    size_t size;
    unsigned char *bytes = golden_bytes("jpeg-rgb", &size);
    static const struct {
        unsigned resize, width;
    } cases[] = {{0, 24}, {16, 24}, {17, 24}, {9, 24}, {8, 12}, {7, 24}, {4, 6}, {2, 3}, {1, 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(decode(bytes, size, &limits, cases[i].resize, &image, NULL), OCDM_OK);
        assert_int_equal(image.width, cases[i].width);
    }
    free(bytes);
    ocdm__image_buffer_clear(&image.rgb);
}

TEST(image_refuses_a_file_that_ends_early_wherever_it_ends)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        size_t size;
        unsigned char *bytes = from_hex(golden_files[i].file, &size);
        for (size_t kept = 0; kept < size; kept++) {
            ocdm_error error;
            ocdm_status status = decode(bytes, kept, &limits, golden_files[i].resize, &image, &error);
            HOLDS(golden_files[i].name, status == OCDM_BAD_FILE);
        }
        free(bytes);
    }
    ocdm__image_buffer_clear(&image.rgb);
}

TEST(image_survives_a_change_of_any_byte)
{
    ocdm__image_limits limits = {.pixels = 1 << 16, .scans = 20, .memory = 1 << 22};
    ocdm__image image = {0};
    size_t refused = 0, tried = 0;
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        size_t size;
        unsigned char *bytes = from_hex(golden_files[i].file, &size);
        static const unsigned char changes[] = {0x01, 0x80, 0xFF};
        for (size_t at = 0; at < 3 * size; at++) {
            bytes[at / 3] ^= changes[at % 3];
            ocdm_error error;
            ocdm_status status = decode(bytes, size, &limits, 8, &image, &error);
            HOLDS(golden_files[i].name, status == OCDM_OK || status == OCDM_BAD_FILE || status == OCDM_LIMIT);
            refused += status != OCDM_OK;
            tried++;
            bytes[at / 3] ^= changes[at % 3];
        }
        free(bytes);
    }
    assert_true(refused > tried / 4 && refused < tried);
    ocdm__image_buffer_clear(&image.rgb);
}

/* libjpeg and libpng write to stderr unless told otherwise. */
TEST(image_prints_nothing_when_files_are_damaged)
{
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && freopen("stderr.txt", "wb", stderr));
    image_refuses_a_file_that_ends_early_wherever_it_ends(NULL);
    image_survives_a_change_of_any_byte(NULL);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    struct stat written;
    assert_int_equal(stat("stderr.txt", &written), 0);
    assert_int_equal(written.st_size, 0);
}

TEST(image_accepts_bytes_after_the_end)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        size_t size;
        unsigned char *bytes = from_hex(golden_files[i].file, &size);
        unsigned char *longer = malloc(size + 100);
        assert_non_null(longer);
        memcpy(longer, bytes, size);
        memset(longer + size, 'x', 100);
        HOLDS(golden_files[i].name, decode(longer, size + 100, &limits, 0, &image, NULL) == OCDM_OK);
        free(bytes);
        free(longer);
    }
    ocdm__image_buffer_clear(&image.rgb);
}

TEST(image_ends_at_the_limit_of_pixels)
{
    static const char *const names[] = {"jpeg-rgb", "jpeg-progressive", "png-rgb", "png-rgb-interlaced"};
    ocdm__image image = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size, number = golden_number(names[i]);
        unsigned char *bytes = golden_bytes(names[i], &size);
        ocdm__image_limits limits = ocdm__image_limits_default();
        limits.pixels = golden_files[number].width * golden_files[number].height;
        HOLDS(names[i], decode(bytes, size, &limits, 8, &image, NULL) == OCDM_OK);
        limits.pixels--;
        ocdm_error error;
        HOLDS(names[i], decode(bytes, size, &limits, 8, &image, &error) == OCDM_LIMIT); /* also when it would be shrunk */
        HOLDS(names[i], strstr(error.message, "pixels"));
        free(bytes);
    }
    ocdm__image_buffer_clear(&image.rgb);
}

/* A picture that says it has 2^31 - 1 pixels in each direction: nothing may be allocated for it. */
TEST(image_refuses_a_png_of_enormous_size)
{
    size_t size;
    unsigned char *bytes = from_hex("89504e470d0a1a0a0000000d494844527fffffff7fffffff1002000000cb3b40720000000b49444154789c6360"
                                    "80000000080001b75873950000000049454e44ae426082",
                                    &size);
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    ocdm_error error;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, &error), OCDM_LIMIT);
    limits.pixels = UINT64_MAX;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, &error), OCDM_LIMIT);
    free(bytes);
    assert_null(image.rgb.bytes);
}

TEST(image_ends_at_the_limit_of_memory)
{
    ocdm__image image = {0};
    size_t size;
    unsigned char *bytes = golden_bytes("jpeg-rgb", &size);
    ocdm__image_limits limits = ocdm__image_limits_default();
    limits.memory = size + 24 * 16 * 3;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, NULL), OCDM_OK);
    limits.memory--;
    ocdm_error error;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, &error), OCDM_LIMIT);
    free(bytes);
    bytes = golden_bytes("png-rgb", &size);
    limits.memory = size + 9 * 7 * 3 + 9 * 8 * 4;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, NULL), OCDM_OK);
    limits.memory--;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, &error), OCDM_LIMIT);
    free(bytes);
    ocdm__image_buffer_clear(&image.rgb);
}

/* A progressive file is collected before the first row comes out: two bytes for each of its coefficients. */
TEST(image_counts_what_a_progressive_file_keeps)
{
    ocdm__image image = {0};
    size_t size;
    unsigned char *bytes = golden_bytes("jpeg-grey-progressive", &size);
    ocdm__image_limits limits = ocdm__image_limits_default();
    limits.memory = size + 24 * 16 * 3 + 24 * 16 * 2;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, NULL), OCDM_OK);
    limits.memory--;
    ocdm_error error;
    assert_int_equal(decode(bytes, size, &limits, 0, &image, &error), OCDM_LIMIT);
    assert_non_null(strstr(error.message, "limit of"));
    free(bytes);
    ocdm__image_buffer_clear(&image.rgb);
}

/* Where the marker `code` is, from `at` on; markers inside of scans are no markers (a zero follows the FF). */
static size_t find_marker(const unsigned char *bytes, size_t size, size_t at, int code)
{
    for (; at + 1 < size; at++)
        if (bytes[at] == 0xFF && (code ? bytes[at + 1] == code : bytes[at + 1] != 0))
            return at;
    fail_msg("no marker");
    return 0;
}

/* The first scan of a progressive grey file, said to be exact, so that it may be repeated any number of times. */
static unsigned char *make_scan_bomb(size_t scans, size_t *size)
{
    size_t source_size;
    unsigned char *source = golden_bytes("jpeg-grey-progressive", &source_size);
    size_t begin = find_marker(source, source_size, 0, 0xDA);
    size_t end = find_marker(source, source_size, begin + 2, 0);
    source[begin + 9] = 0; /* the position of the last bit: two of them in a byte */
    unsigned char *bomb = malloc(begin + scans * (end - begin) + 2);
    assert_non_null(bomb);
    memcpy(bomb, source, begin);
    for (size_t i = 0; i < scans; i++)
        memcpy(bomb + begin + i * (end - begin), source + begin, end - begin);
    *size = begin + scans * (end - begin) + 2;
    memcpy(bomb + *size - 2, "\xFF\xD9", 2);
    free(source);
    return bomb;
}

TEST(image_ends_at_the_limit_of_scans)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    for (size_t scans = 99; scans <= 102; scans++) {
        size_t size;
        unsigned char *bomb = make_scan_bomb(scans, &size);
        ocdm_error error = {.status = OCDM_OK};
        assert_int_equal(decode(bomb, size, &limits, 0, &image, &error), scans <= 100 ? OCDM_OK : OCDM_LIMIT);
        assert_true(scans <= 100 || strstr(error.message, "scans"));
        free(bomb);
    }
    ocdm__image_buffer_clear(&image.rgb);
}

TEST(image_is_read_by_content_whatever_its_name)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    ocdm__image_buffer file = {0};
    size_t size;
    unsigned char *bytes = golden_bytes("jpeg-rgb", &size);
    assert_int_equal(write_whole("picture.png", bytes, size), 0);
    assert_int_equal(ocdm__image_read("picture.png", &limits, 0, &file, &size, &image, NULL), OCDM_OK);
    assert_int_equal(image.width, 24);
    free(bytes);
    bytes = golden_bytes("png-rgb", &size);
    assert_int_equal(write_whole("picture.png", bytes, size), 0);
    assert_int_equal(ocdm__image_read("picture.png", &limits, 0, &file, &size, &image, NULL), OCDM_OK);
    assert_int_equal(image.width, 9);
    limits.memory = size - 1;
    assert_int_equal(ocdm__image_read("picture.png", &limits, 0, &file, &size, &image, NULL), OCDM_LIMIT);
    free(bytes);
    ocdm__image_buffer_clear(&file);
    ocdm__image_buffer_clear(&image.rgb);
}

TEST(image_tells_what_is_wrong_with_a_path)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    ocdm__image_buffer file = {0};
    size_t size;
    ocdm_error error;
    assert_int_equal(ocdm__image_read("nowhere.jpg", &limits, 0, &file, &size, &image, &error), OCDM_IO);
    assert_string_equal(error.message, "cannot open nowhere.jpg: No such file or directory");
    assert_int_equal(ocdm__image_read(".", &limits, 0, &file, &size, &image, &error), OCDM_IO);
    assert_int_equal(mkfifo("pipe.jpg", 0600), 0);
    assert_int_equal(ocdm__image_read("pipe.jpg", &limits, 0, &file, &size, &image, &error), OCDM_IO);
    assert_string_equal(error.message, "cannot read pipe.jpg: not a regular file");
    assert_int_equal(write_whole("empty.jpg", (const unsigned char *)"", 0), 0);
    assert_int_equal(ocdm__image_read("empty.jpg", &limits, 0, &file, &size, &image, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "empty.jpg: the file is empty");
    assert_int_equal(write_whole("text.jpg", (const unsigned char *)"not an image", 12), 0);
    assert_int_equal(ocdm__image_read("text.jpg", &limits, 0, &file, &size, &image, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "text.jpg: neither a JPEG nor a PNG image");
    ocdm__image_buffer_clear(&file);
}

TEST(image_says_why_a_jpeg_is_damaged)
{
    ocdm__image_limits limits = ocdm__image_limits_default();
    ocdm__image image = {0};
    ocdm_error error;
    size_t size;
    unsigned char *bytes = golden_bytes("jpeg-rgb", &size);
    assert_int_equal(decode(bytes, size - 40, &limits, 0, &image, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "some/image: damaged JPEG: Premature end of JPEG file");
    free(bytes);
    bytes = golden_bytes("png-rgb", &size);
    assert_int_equal(decode(bytes, size - 20, &limits, 0, &image, &error), OCDM_BAD_FILE);
    assert_string_equal(error.message, "some/image: damaged PNG: the file ends too early");
    free(bytes);
    ocdm__image_buffer_clear(&image.rgb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_decodes_as_pillow_does),
        cmocka_unit_test(image_comes_at_full_size_when_no_scale_of_libjpeg_fits),
        cmocka_unit_test(image_refuses_a_file_that_ends_early_wherever_it_ends),
        cmocka_unit_test(image_survives_a_change_of_any_byte),
        cmocka_unit_test(image_prints_nothing_when_files_are_damaged),
        cmocka_unit_test(image_accepts_bytes_after_the_end),
        cmocka_unit_test(image_ends_at_the_limit_of_pixels),
        cmocka_unit_test(image_refuses_a_png_of_enormous_size),
        cmocka_unit_test(image_ends_at_the_limit_of_memory),
        cmocka_unit_test(image_counts_what_a_progressive_file_keeps),
        cmocka_unit_test(image_ends_at_the_limit_of_scans),
        cmocka_unit_test(image_is_read_by_content_whatever_its_name),
        cmocka_unit_test(image_tells_what_is_wrong_with_a_path),
        cmocka_unit_test(image_says_why_a_jpeg_is_damaged),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
