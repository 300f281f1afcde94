/* The numbers of a checkpoint are found by the names of their fields, so that files of other versions can be read. */
#include "experiment/folder/checkpoint.c"

#include "../test.h"

/* A file whose note lists other fields, as one of another version would. */
static ocdm__averages averages_by(const char *names, const double *values, size_t count)
{
    unsigned char bytes[8 * 16];
    struct layout layouts[RECORD_KINDS];
    ocdm__averages averages;
    struct ocdm__note note = {.key = "fields.averages", .value = names};
    note.key_length = strlen(note.key);
    note.value_length = strlen(names);
    const struct ocdm__safetensors file = {.notes = &note, .note_count = 1};
    for (size_t i = 0; i < count; i++)
        ocdm__put_double(bytes + 8 * i, values[i]);
    layouts[AVERAGES] = layout_of(&file, AVERAGES);
    assert_int_equal(layouts[AVERAGES].width, count);
    struct pass pass = {.from = bytes, .left = count, .layouts = layouts};
    pass_record(&pass, AVERAGES, &averages);
    assert_true(pass.from == bytes + 8 * count && !pass.lacks);
    return averages;
}

TEST(checkpoint_fields_are_found_by_name)
{
    const double values[] = {0.5, 77, 3, 0.25};
    ocdm__averages averages = averages_by("mAP,of_the_future,classes,CF1", values, 4);
    assert_int_equal(averages.classes, 3);
    assert_true(averages.value[OCDM_MAP] == 0.5 && averages.value[OCDM_CF1] == 0.25);
    assert_true(isnan(averages.value[OCDM_OF1]));
    averages = averages_by("CF1", values, 1);
    assert_int_equal(averages.classes, 0);
    assert_true(averages.value[OCDM_CF1] == 0.5);
}

/* A version that adds a field changes nothing for files that were written before it. */
TEST(checkpoint_fields_without_notes_are_those_of_the_first_version)
{
    static const size_t widths[RECORD_KINDS] = {8, 6, 5, 6, 9, 4, 5};
    const struct ocdm__safetensors file = {.note_count = 0};
    for (unsigned i = 0; i < RECORD_KINDS; i++)
        assert_int_equal(layout_of(&file, (enum record_kind)i).width, widths[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoint_fields_are_found_by_name),
        cmocka_unit_test(checkpoint_fields_without_notes_are_those_of_the_first_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
