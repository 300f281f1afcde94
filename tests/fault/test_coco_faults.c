/* Reading COCO files while allocations fail, each once or all from some call on: told as such, nothing kept, nothing leaked
 * (the sanitizer watches), and the next reading is as good as any. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "../scratch_folder.h"
#include "faults.h"
#include "stream/readers/readers.h"

#define IMAGES 2500
static const char *const paths[] = {"a.json", "b.json"};

/* Enough of everything for every list to grow more than once. */
static void write_coco(const char *path, int first)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"images\":[", file);
    for (int i = 0; i < IMAGES; i++)
        fprintf(file, "%s{\"id\":%d,\"file_name\":\"%d.jpg\"}", i > 0 ? "," : "", first + i, first + i);
    fputs("],\"annotations\":[", file);
    for (int i = 0; i < IMAGES; i++)
        fprintf(file, "%s{\"image_id\":%d,\"category_id\":%d}", i > 0 ? "," : "", first + i, i % 300);
    fputs("],\"categories\":[", file);
    for (int i = 0; i < 300; i++)
        fprintf(file, "%s{\"id\":%d,\"name\":\"category %d\"}", i > 0 ? "," : "", i, i);
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
}

TEST(coco_fails_cleanly_at_every_allocation)
{
    write_coco(paths[0], 0);
    write_coco(paths[1], IMAGES);
    for (int for_good = 0; for_good < 2; for_good++)
        for (unsigned long n = 1;; n++) {
            ocdm__labelled_set set = {.count = 0};
            ocdm__reading reading = {.skip_bad = false};
            ocdm_error error = {.status = OCDM_OK};
            fault_at(FAULT_ALLOCATE, n, ENOMEM, for_good);
            ocdm_status status = ocdm__coco_read(&set, paths, NULL, 2, &reading, &error);
            fault_off();
            if (status == OCDM_OK) {
                assert_true(n > 40 && set.count == 2 * IMAGES && set.classes.count == 300);
                ocdm__labelled_set_clear(&set);
                break;
            }
            assert_true(status == OCDM_NO_MEMORY && error.status == OCDM_NO_MEMORY);
            assert_non_null(strstr(error.message, "memory"));
            assert_true(set.count == 0 && set.labels == NULL && set.classes.count == 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coco_fails_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
