/* Every call to the system and every allocation fails once, or from then on, while weights are written: the failure is
 * reported, and the old file or the new one is there, whole, and nothing beside it. */
#define _XOPEN_SOURCE 700

#include "../test.h"
#include "../scratch_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/agent_learner.h"
#include "faults.h"

static ocdm__agent *agent_of(const char *model)
{
    ocdm__agent_settings settings = {.network = ocdm__network_settings_default()};
    ocdm__agent *agent = NULL;
    settings.size.name = model;
    settings.size.class_count = 3;
    settings.size.features = settings.size.height = settings.size.width = 8;
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, NULL), OCDM_OK);
    return agent;
}

/* One save over an old file, or where there is none, with call number n of a kind failing: the old one or the new one is there,
 * whole, and nothing beside it. */
struct saving {
    const char *model;
    ocdm__agent *agent;
    unsigned char *whole; /* the new file */
    size_t whole_size;
    enum fault_kind kind;
    bool for_good, old;
};

static void check_folder(const struct saving *saving, ocdm_status status, const unsigned char *old, size_t old_size)
{
    const char *where = saving->model;
    size_t size;
    unsigned char *found = read_whole("weights", &size);
    bool is_old = saving->old ? size == old_size && !memcmp(found, old, size) : found == NULL;
    bool is_new = size == saving->whole_size && !memcmp(found, saving->whole, size);
    HOLDS(where, count_files(0) == (found != NULL));
    HOLDS(where, is_new || is_old);
    HOLDS(where, is_new || status != OCDM_OK);
    HOLDS(where, is_old || status == OCDM_OK || saving->kind == FAULT_FSYNC); /* of the folder, when all is done */
    free(found);
}

static const struct ocdm__note notes[] = {{.key = "format", .value = "pt"}};

/* Whether there were this many calls. */
static bool save_with_fault(const struct saving *saving, unsigned long n, ocdm_status *status)
{
    static const unsigned char old[] = "another file";
    bool memory = saving->kind == FAULT_ALLOCATE;
    ocdm_error error = {0};
    count_files(1);
    assert_int_equal(saving->old ? write_whole("weights", old, sizeof old) : 0, 0);
    fault_at(saving->kind, n, memory ? ENOMEM : ENOSPC, saving->for_good);
    const ocdm__learner learner = ocdm__agent_learner(saving->agent);
    *status = ocdm__learner_save(&learner, notes, 1, "weights", &error);
    unsigned long calls = fault_calls(saving->kind);
    fault_off();
    check_folder(saving, *status, old, sizeof old);
    HOLDS(error.message, *status == OCDM_OK || *status == (memory ? OCDM_NO_MEMORY : OCDM_IO));
    HOLDS(error.message, *status == OCDM_OK || strstr(error.message, memory ? "memory" : "weights: "));
    return calls >= n;
}

/* How many saves failed. */
static unsigned long fail_saves(const char *model, enum fault_kind kind, bool for_good, bool old)
{
    struct saving saving = {.model = model, .agent = agent_of(model), .kind = kind, .for_good = for_good, .old = old};
    const ocdm__learner learner = ocdm__agent_learner(saving.agent);
    ocdm_status status;
    count_files(1);
    assert_int_equal(ocdm__learner_save(&learner, notes, 1, "weights", NULL), OCDM_OK);
    saving.whole = read_whole("weights", &saving.whole_size);
    unsigned long failed = 0;
    for (unsigned long n = 1; save_with_fault(&saving, n, &status); n++)
        failed += status != OCDM_OK;
    assert_int_equal(status, OCDM_OK);
    free(saving.whole);
    ocdm__agent_destroy(saving.agent);
    return failed;
}

TEST(weights_file_is_old_or_new_when_a_call_fails)
{
    static const struct {
        enum fault_kind kind;
        unsigned long least; /* saves that fail */
    } kinds[] = {{FAULT_ALLOCATE, 5}, {FAULT_OPEN, 1}, {FAULT_WRITE, 2}, {FAULT_CLOSE, 1}, {FAULT_FSYNC, 2}, {FAULT_RENAME, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (int mode = 0; mode < 4; mode++) {
            const char *model = kinds[i].kind == FAULT_WRITE ? "cnn" : "linear";
            unsigned long failed = fail_saves(model, kinds[i].kind, mode & 1, mode & 2);
            HOLDS(model, failed >= kinds[i].least);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_file_is_old_or_new_when_a_call_fails),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
