/* The safetensors container: what is written is read back, and everything that a header states is checked. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"
#include "../twins.h"

#include "base/bytes.h"
#include "base/safetensors.h"

/* ---- writing and reading ---------------------------------------------------------------------------------------------- */

static const uint64_t wide[] = {1, 2, UINT64_MAX};
static const unsigned char narrow[] = {1, 2, 3, 4, 5};

static unsigned char *write_sample(size_t *size)
{
    struct ocdm__tensor tensors[] = {
        ocdm__tensor_of("wide", OCDM__U64, wide, 3),
        ocdm__tensor_of("grid", OCDM__F16, narrow, 2),
        ocdm__tensor_of("a \"name\"\n", OCDM__U8, narrow, 5),
        ocdm__tensor_of("empty", OCDM__F32, narrow, 0),
    };
    tensors[1].rank = 3;
    tensors[1].shape[0] = 2;
    tensors[1].shape[1] = tensors[1].shape[2] = 1;
    const struct ocdm__note notes[] = {{.key = "format", .value = "test"}, {.key = "empty", .value = ""}};
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "sample", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, notes, 2, tensors, 4, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    unsigned char *bytes = read_whole("sample", size);
    assert_non_null(bytes);
    return bytes;
}

TEST(file_gives_back_what_was_written)
{
    size_t size;
    unsigned char *bytes = write_sample(&size);
    struct ocdm__safetensors file;
    assert_int_equal(ocdm__safetensors_read(&file, "sample", bytes, size, NULL), OCDM_OK);
    assert_int_equal(file.tensor_count, 4);
    const struct ocdm__tensor *found = ocdm__safetensors_find(&file, "wide");
    assert_non_null(found);
    assert_int_equal(found->dtype, OCDM__U64);
    assert_int_equal(found->rank, 1);
    assert_int_equal(found->shape[0], 3);
    assert_int_equal((size_t)(found->data - bytes) % 8, 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ocdm__get_u64(found->data + 8 * i), wide[i]);
    found = ocdm__safetensors_find(&file, "grid");
    assert_int_equal(found->rank, 3);
    assert_int_equal(found->size, 4);
    assert_memory_equal(found->data, narrow, 4);
    assert_int_equal(ocdm__safetensors_find(&file, "empty")->size, 0);
    assert_null(ocdm__safetensors_find(&file, "wid"));
    assert_null(ocdm__safetensors_find(&file, "wide2"));
    assert_true(ocdm__note_is(ocdm__safetensors_note(&file, "format"), "test"));
    assert_false(ocdm__note_is(ocdm__safetensors_note(&file, "format"), "tes"));
    assert_false(ocdm__note_is(ocdm__safetensors_note(&file, "format"), "test2"));
    assert_true(ocdm__note_is(ocdm__safetensors_note(&file, "empty"), ""));
    assert_null(ocdm__safetensors_note(&file, "other"));
    assert_false(ocdm__note_is(NULL, ""));
    assert_int_equal(ocdm__safetensors_note(&file, "checksum")->value_length, 16);
    ocdm__safetensors_close(&file);
    ocdm__safetensors_close(&file);
    free(bytes);
}

/* Longer values than OCDM__NOTE_COMPARED are not compared, not even with themselves. */
TEST(notes_are_compared_up_to_a_length)
{
    char text[OCDM__NOTE_COMPARED + 2];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const struct ocdm__note longer = {.value = text, .value_length = OCDM__NOTE_COMPARED + 1};
    assert_false(ocdm__note_is(&longer, text));
    text[OCDM__NOTE_COMPARED] = '\0';
    const struct ocdm__note longest = {.value = text, .value_length = OCDM__NOTE_COMPARED};
    assert_true(ocdm__note_is(&longest, text));
    const struct ocdm__note escaped = {.value = "\\u0061\\n", .value_length = 8};
    assert_true(ocdm__note_is(&escaped, "a\n"));
}

/* Names of which every byte is escaped, shapes of the largest rank with the longest numbers: the header's room suffices. */
TEST(longest_entries_are_written_and_read)
{
    enum { TENSORS = 12, LENGTH = 300 };
    char names[TENSORS][LENGTH + 1], value[LENGTH + 1];
    struct ocdm__tensor tensors[TENSORS];
    struct ocdm__note notes[TENSORS];
    memset(value, 1, LENGTH);
    value[LENGTH] = '\0';
    for (size_t i = 0; i < TENSORS; i++) {
        memset(names[i], (int)i + 1, LENGTH);
        names[i][LENGTH] = '\0';
        tensors[i] = ocdm__tensor_of(names[i], OCDM__U8, narrow, 0);
        tensors[i].rank = OCDM__TENSOR_RANK;
        for (size_t k = 1; k < OCDM__TENSOR_RANK; k++)
            tensors[i].shape[k] = UINT64_MAX;
        notes[i] = (struct ocdm__note){.key = names[i], .value = value};
    }
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "long", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, notes, TENSORS, tensors, TENSORS, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    size_t size;
    unsigned char *bytes = read_whole("long", &size);
    struct ocdm__safetensors file;
    assert_int_equal(ocdm__safetensors_read(&file, "long", bytes, size, NULL), OCDM_OK);
    assert_int_equal(file.tensor_count, TENSORS);
    for (size_t i = 0; i < TENSORS; i++) {
        assert_int_equal(file.tensors[i].rank, OCDM__TENSOR_RANK);
        assert_int_equal(file.tensors[i].shape[OCDM__TENSOR_RANK - 1], UINT64_MAX);
        assert_true(ocdm__note_is(&file.notes[i + 1], value) == (6 * LENGTH <= OCDM__NOTE_COMPARED));
    }
    ocdm__safetensors_close(&file);
    free(bytes);
}

static ocdm_status reading(const unsigned char *bytes, size_t size)
{
    unsigned char *exact = malloc(size ? size : 1); /* so that reading beyond the end is caught */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    struct ocdm__safetensors file;
    ocdm_error error = {0};
    ocdm_status status = ocdm__safetensors_read(&file, "a file", exact, size, &error);
    if (status == OCDM_OK)
        ocdm__safetensors_close(&file);
    else
        assert_true(!strncmp(error.message, "a file: byte ", 13) && error.hint[0]);
    free(exact);
    return status;
}

TEST(damage_of_any_byte_is_found)
{
    size_t size;
    unsigned char *bytes = write_sample(&size);
    assert_int_equal(reading(bytes, size), OCDM_OK);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (unsigned char)(1 << bit);
            /* A key or a note that is not "checksum" any more leaves a legal file of somebody else's. */
            bool without_checksum = reading(bytes, size) == OCDM_OK;
            struct ocdm__safetensors file;
            if (without_checksum) {
                assert_int_equal(ocdm__safetensors_read(&file, "", bytes, size, NULL), OCDM_OK);
                const struct ocdm__note *note = ocdm__safetensors_note(&file, "checksum");
                assert_true(!note || note->value_length != 16);
                ocdm__safetensors_close(&file);
            }
            bytes[i] ^= (unsigned char)(1 << bit);
        }
    free(bytes);
}

TEST(truncation_at_any_length_is_found)
{
    size_t size;
    unsigned char *bytes = write_sample(&size);
    for (size_t length = 0; length < size; length++)
        assert_int_equal(reading(bytes, length), OCDM_BAD_FILE);
    free(bytes);
}

/* ---- headers ---------------------------------------------------------------------------------------------------------- */

static ocdm_status reading_header(const char *header, size_t data_size)
{
    size_t length = strlen(header), size = 8 + length + data_size;
    unsigned char *bytes = calloc(size, 1);
    assert_non_null(bytes);
    ocdm__put_u64(bytes, length);
    memcpy(bytes + 8, header, length);
    ocdm_status status = reading(bytes, size);
    free(bytes);
    return status;
}

#define ENTRY(members) "{\"t\":{" members "}}"
#define GOOD "\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]"
#define SHAPED(shape, end) ENTRY("\"dtype\":\"U64\",\"shape\":[" shape "],\"data_offsets\":[0," end "]")
#define TWO(first, second)                                                                                                     \
    "{\"t\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" first "},"                                                      \
    "\"u\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":" second "}}"

struct header_case {
    const char *header;
    size_t data_size;
};

TEST(headers_of_others_are_read)
{
    const struct header_case good[] = {
        {"{}", 0},
        {"{}   ", 0},
        {" \n{ } ", 0},
        {"{\"__metadata__\":{}}", 0},
        {"{\"__metadata__\":{\"checksum\":\"of another kind\"}}", 0},
        {ENTRY(GOOD), 4},
        {ENTRY("\"data_offsets\":[0,4],\"shape\":[4],\"dtype\":\"U8\""), 4},
        {SHAPED("", "8"), 8},
        {SHAPED("0", "0"), 0},
        {SHAPED("0,18446744073709551615", "0"), 0},
        {SHAPED("1,1,1,1,1,1,1,2", "16"), 16},
        {TWO("[0,2]", "[2,4]"), 4},
        {TWO("[2,4]", "[0,2]"), 4},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        HOLDS(good[i].header, reading_header(good[i].header, good[i].data_size) == OCDM_OK);
}

TEST(headers_that_claim_nonsense_are_refused)
{
    const struct header_case bad[] = {
        {"", 0},
        {"   ", 0},
        {"[]", 0},
        {"{", 0},
        {"{}}", 0},
        {"{} x", 0},
        {"{\"t\":1}", 0},
        {"{\"t\":" ENTRY(GOOD) "}", 4},
        {"{\"__metadata__\":[]}", 0},
        {"{\"__metadata__\":{\"a\":1}}", 0},
        {"{\"__metadata__\":{\"a\":{}}}", 0},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0},
        {"{\"__metadata__\":{\"checksum\":\"0123456789abcdef\"}}", 0},
        {ENTRY(""), 0},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[4]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"data_offsets\":[0,4]"), 4},
        {ENTRY("\"shape\":[4],\"data_offsets\":[0,4]"), 4},
        {ENTRY(GOOD ",\"shape\":[4]"), 4},
        {ENTRY(GOOD ",\"more\":1"), 4},
        {ENTRY("\"dtype\":\"U7\",\"shape\":[4],\"data_offsets\":[0,4]"), 4},
        {ENTRY("\"dtype\":8,\"shape\":[4],\"data_offsets\":[0,4]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":4,\"data_offsets\":[0,4]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[\"4\"],\"data_offsets\":[0,4]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[4.5],\"data_offsets\":[0,4]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[-4],\"data_offsets\":[0,4]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0]"), 0},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[]"), 0},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4,4]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,0]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,5]"), 4},
        {ENTRY("\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[0,4]"), 4},
        {SHAPED("1", "18446744073709551616"), 8},
        {SHAPED("2305843009213693952", "0"), 0},
        {SHAPED("4294967296,4294967296", "0"), 0},
        {SHAPED("1,1,1,1,1,1,1,1,1", "8"), 8},
        {ENTRY(GOOD), 3},
        {ENTRY(GOOD), 5},
        {TWO("[0,2]", "[1,3]"), 3},
        {TWO("[0,2]", "[0,2]"), 2},
        {TWO("[0,2]", "[3,5]"), 5},
        {TWO("[1,3]", "[3,5]"), 5},
        {"{\"t\":{" GOOD "},\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}", 4},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        HOLDS(bad[i].header, reading_header(bad[i].header, bad[i].data_size) == OCDM_BAD_FILE);
}

/* The header is refused, with the place of what is wrong, counted from the start of the file. */
static void names_byte(const char *header, size_t data_size, size_t at)
{
    unsigned char bytes[300] = {0};
    size_t length = strlen(header);
    ocdm__put_u64(bytes, length);
    memcpy(bytes + 8, header, length);
    struct ocdm__safetensors file;
    ocdm_error error = {0};
    char place[40];
    assert_int_equal(ocdm__safetensors_read(&file, "f", bytes, 8 + length + data_size, &error), OCDM_BAD_FILE);
    snprintf(place, sizeof place, "f: byte %zu: ", at);
    if (strncmp(error.message, place, strlen(place)) != 0)
        fail_msg("%s, not %s", error.message, place);
}

TEST(messages_name_the_byte_of_the_header)
{
    const struct {
        const char *header, *wrong;
        size_t data_size;
    } cases[] = {
        {"{\"t\":{\"dtype\":\"U7\"}}", "U7", 0},
        {"{\"t\":{\"more\":1}}", "more", 0},
        {"{\"t\":{\"shape\":[1,-4]}}", "-4", 0},
        {"{\"t\":{\"shape\":[1,2,x]}}", "x", 0},
        {"{\"t\":{\"shape\":[1,2,3,4,5,6,7,8,9]}}", "9", 0},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", "__metadata__\":{}}", 0},
        {"{\"a\":{" GOOD "},\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,9]}}", "t\":", 4},
        {"{\"t\":{" GOOD "},\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}",
         "t\":{\"dtype\":\"U8\",\"shape\":[0]", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        names_byte(cases[i].header, cases[i].data_size,
                   8 + (size_t)(strstr(cases[i].header, cases[i].wrong) - cases[i].header));
}

TEST(messages_name_the_byte_of_the_data)
{
    const char *gap = TWO("[0,2]", "[3,5]"), *more = TWO("[0,2]", "[2,4]");
    names_byte(gap, 5, 8 + strlen(gap) + 3);
    names_byte(more, 7, 8 + strlen(more) + 4);
}

TEST(header_longer_than_the_file_is_refused)
{
    unsigned char bytes[16] = {0};
    memcpy(bytes + 8, "{}      ", 8);
    const uint64_t lengths[] = {9, 100000001, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < 4; i++) {
        ocdm__put_u64(bytes, lengths[i]);
        assert_int_equal(reading(bytes, sizeof bytes), OCDM_BAD_FILE);
    }
    ocdm__put_u64(bytes, 8);
    assert_int_equal(reading(bytes, sizeof bytes), OCDM_OK);
}

TEST(many_tensors_and_notes_find_room)
{
    static char header[20000];
    size_t length = (size_t)snprintf(header, sizeof header, "{\"__metadata__\":{\"n\":\"0\"");
    for (int i = 1; i < 100; i++)
        length += (size_t)snprintf(header + length, sizeof header - length, ",\"n%d\":\"%d\"", i, i);
    length += (size_t)snprintf(header + length, sizeof header - length, "}");
    for (int i = 0; i < 100; i++)
        length += (size_t)snprintf(header + length, sizeof header - length,
                                   ",\"t%d\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[%d,%d]}", i, 99 - i, 100 - i);
    snprintf(header + length, sizeof header - length, "}");
    assert_int_equal(reading_header(header, 100), OCDM_OK);
    assert_int_equal(reading_header(header, 99), OCDM_BAD_FILE);
}

TEST(element_sizes_are_those_of_the_format)
{
    const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 2, 4, 8};
    for (int i = 0; i <= OCDM__F64; i++)
        assert_int_equal(ocdm__dtype_size((enum ocdm__dtype)i), sizes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_gives_back_what_was_written),        cmocka_unit_test(damage_of_any_byte_is_found),
        cmocka_unit_test(truncation_at_any_length_is_found),       cmocka_unit_test(headers_of_others_are_read),
        cmocka_unit_test(headers_that_claim_nonsense_are_refused), cmocka_unit_test(header_longer_than_the_file_is_refused),
        cmocka_unit_test(notes_are_compared_up_to_a_length),       cmocka_unit_test(longest_entries_are_written_and_read),
        cmocka_unit_test(messages_name_the_byte_of_the_header),    cmocka_unit_test(messages_name_the_byte_of_the_data),
        cmocka_unit_test(many_tensors_and_notes_find_room),        cmocka_unit_test(element_sizes_are_those_of_the_format),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
