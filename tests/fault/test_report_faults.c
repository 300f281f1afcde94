/* Every allocation of a report fails once: it tells that memory is out, leaks nothing, and leaves the page of before as it is.
 */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../test.h"
#include "../unit/made_summary.h"

#include <errno.h>

#include "faults.h"
#include "report/figures/balance.h"
#include "report/figures/figure.h"
#include "report/page/page.h"
#include "report/paper/paper.h"

static bool no_picture(void *state, const ocdm__study *study, const char *id, uint8_t *rgb)
{
    (void)state;
    (void)study;
    (void)id;
    memset(rgb, 7, (size_t)OCDM__PICTURE_SIDE * OCDM__PICTURE_SIDE * 3);
    return true;
}

static ocdm_status write_figures(const ocdm__study_list *studies, ocdm_error *error)
{
    for (size_t i = 0; i < studies->count; i++) {
        ocdm_status status = ocdm__figures_write(&studies->studies[i], "f", "", error);
        if (status != OCDM_OK)
            return status;
    }
    return OCDM_OK;
}

/* The page about the folder r, and its figures. */
static ocdm_status report(const char *name, ocdm_error *error)
{
    ocdm__run_list runs = {.runs = NULL};
    ocdm__study_list studies = {.studies = NULL};
    char folder[] = "r";
    char *path = folder;
    ocdm__page page = {.runs = &runs, .studies = &studies, .pictures = {.picture = no_picture}};
    ocdm_status status = ocdm__runs_read(&runs, &path, 1, error);
    if (status == OCDM_OK)
        status = ocdm__studies_make(&studies, &runs, error);
    if (status == OCDM_OK)
        status = ocdm__page_write(&page, name, error);
    if (status == OCDM_OK)
        status = write_figures(&studies, error);
    ocdm__studies_clear(&studies);
    ocdm__runs_clear(&runs);
    return status;
}

static void put_runs(void)
{
    for (unsigned i = 0; i < 6; i++) {
        struct made_run run = MADE_RUN;
        char folder[64];
        run.method = i % 2 == 0 ? "ocdm" : "rs";
        run.seed = i / 2 % 2;
        run.memory = i < 4 ? "6" : "50";
        snprintf(folder, sizeof folder, "r/%s-%s-s%u", run.method, run.memory, run.seed);
        assert_int_equal(put_run(folder, &run), 0);
        snprintf(folder, sizeof folder, "r/%s-%s-s%u/memory.jsonl", run.method, run.memory, run.seed);
        assert_int_equal(put_text(folder, "{\"id\":\"1\",\"labels\":[\"a\",\"b\"],\"arrival\":3}\n"), 0);
    }
}

TEST(report_fails_cleanly_at_every_allocation)
{
    ocdm_error error;
    size_t size, again;
    put_runs();
    assert_int_equal(report("before.html", &error), OCDM_OK);
    unsigned char *before = read_whole("before.html", &size);
    assert_non_null(before);
    unsigned long n = 0;
    bool failed = true;
    while (failed) {
        fault_at(FAULT_ALLOCATE, ++n, ENOMEM, false);
        ocdm_status status = report("before.html", &error);
        failed = fault_calls(FAULT_ALLOCATE) >= n;
        fault_off();
        assert_int_equal(status, failed ? OCDM_NO_MEMORY : OCDM_OK);
        unsigned char *after = read_whole("before.html", &again);
        assert_true(after != NULL && again == size && memcmp(before, after, size) == 0);
        free(after);
    }
    assert_true(n > 200);
    free(before);
}

TEST(picture_of_counts_fails_cleanly_at_every_allocation)
{
    static const ocdm__picture_class classes[] = {{"a", "majority", 0}, {"b", "minority", 1}};
    static const uint32_t kept[] = {5, 0};
    const ocdm__picture_panel panel = {"rs", 0.5, 0.5, kept, NULL};
    const ocdm__balance_picture picture = {classes, 2, &panel, 1, 0, ""};
    ocdm_error error;
    unsigned long n = 0;
    bool failed = true;
    while (failed) {
        fault_at(FAULT_ALLOCATE, ++n, ENOMEM, false);
        ocdm_status status = ocdm__balance_picture_write(&picture, "p.svg", &error);
        failed = fault_calls(FAULT_ALLOCATE) >= n;
        fault_off();
        assert_int_equal(status, failed ? OCDM_NO_MEMORY : OCDM_OK);
    }
    assert_true(n > 10);
}

TEST(table_of_the_paper_fails_cleanly_at_every_allocation)
{
    static const char *const methods[] = {"ocdm", "rs"};
    ocdm__compare_point point = {.memory = 1000};
    ocdm__paper_part part = {
        .item = ocdm__paper_item_find("mscoco"),
        .label = "made up",
        .stands_for = "mscoco",
        .plan = {.points = &point, .point_count = 1, .methods = methods, .method_count = 2, .seed_count = 1}};
    const ocdm__paper_part *parts[] = {&part};
    ocdm_error error;
    assert_int_equal(ocdm__compare_results_create(&part.results, &part.plan, &error), OCDM_OK);
    unsigned long n = 0;
    bool failed = true;
    while (failed) {
        ocdm__table table = {.row_count = 0};
        fault_at(FAULT_ALLOCATE, ++n, ENOMEM, false);
        ocdm_status status = ocdm__table_of_paper(&table, parts, 1, &error);
        failed = fault_calls(FAULT_ALLOCATE) >= n;
        fault_off();
        assert_int_equal(status, failed ? OCDM_NO_MEMORY : OCDM_OK);
        ocdm__table_clear(&table);
    }
    assert_true(n > 5);
    ocdm__compare_results_clear(&part.results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(report_fails_cleanly_at_every_allocation, clear_tree),
        cmocka_unit_test_teardown(picture_of_counts_fails_cleanly_at_every_allocation, clear_tree),
        cmocka_unit_test(table_of_the_paper_fails_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
