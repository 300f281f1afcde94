/*
 * The cost of a decision must not grow with the number of classes ever seen: no policy looks at a class that is neither in
 * memory nor on the sample. The pages of all other classes are made unreadable while decisions are taken, so a loop over all
 * classes ends in a segmentation fault.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "../test.h"
#include "memory/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../toy_gradients.h"

#define OLD_CLASSES 4000u /* of the first part of the stream */
#define NEW_CLASSES 400u

static void offer_two_labels(ocdm_memory *memory, ocdm__random *random, bool single, uint32_t first, uint32_t classes)
{
    uint32_t labels[2] = {first + (uint32_t)ocdm__random_below(random, classes),
                          first + (uint32_t)ocdm__random_below(random, classes)};
    ocdm_sample sample = {ocdm_memory_arrived(memory), labels, single ? 1 : 2};
    assert_int_equal(ocdm_memory_update(memory, &sample, 1, NULL, NULL), OCDM_OK);
}

/* A full memory that knows thousands of classes, none of the first OLD_CLASSES in memory. */
static ocdm_memory *memory_after_many_classes(const char *policy, double rho, bool single)
{
    ocdm_options options = ocdm_options_default();
    options.policy = ocdm_policy_find(policy);
    options.capacity = 50;
    options.rho = rho;
    ocdm_memory *memory = NULL;
    assert_int_equal(ocdm_memory_create(&options, &memory, NULL), OCDM_OK);
    with_gradients(memory);
    for (uint32_t i = 0; i < OLD_CLASSES; i++)
        assert_int_not_equal(ocdm__pool_add_class(&memory->pool, i), OCDM_NONE);
    ocdm__random random = ocdm__random_stream(5, 5);
    for (int i = 0; i < 2000; i++)
        offer_two_labels(memory, &random, single, OLD_CLASSES, NEW_CLASSES);
    return memory;
}

static size_t bytes_of_old_classes(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return OLD_CLASSES * sizeof(struct class) / page * page;
}

static void decide_without_old_classes(const char *policy, double rho)
{
    bool single = strcmp(policy, "cbrs") == 0;
    ocdm_memory *memory = memory_after_many_classes(policy, rho, single);
    struct pool *pool = &memory->pool;
    struct class *classes = pool->classes;
    size_t size = pool->class_room * sizeof *classes;
    void *guarded = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(guarded, MAP_FAILED);
    memcpy(guarded, classes, pool->class_count * sizeof *classes);
    pool->classes = guarded;
    assert_int_equal(mprotect(guarded, bytes_of_old_classes(), PROT_NONE), 0);
    ocdm__random random = ocdm__random_stream(6, 6);
    for (int i = 0; i < 200; i++)
        offer_two_labels(memory, &random, single, OLD_CLASSES, NEW_CLASSES);
    assert_int_equal(mprotect(guarded, size, PROT_READ | PROT_WRITE), 0);
    memcpy(classes, guarded, pool->class_count * sizeof *classes);
    pool->classes = classes;
    munmap(guarded, size);
    ocdm_memory_destroy(memory);
}

TEST(no_policy_looks_at_classes_that_are_not_in_memory)
{
    for (size_t i = 0; ocdm_policy_at(i) != NULL; i++)
        decide_without_old_classes(ocdm_policy_at(i)->name, 0);
}

TEST(prs_looks_at_classes_in_memory_only_when_shares_differ)
{
    decide_without_old_classes("prs", 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_policy_looks_at_classes_that_are_not_in_memory),
        cmocka_unit_test(prs_looks_at_classes_in_memory_only_when_shares_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
