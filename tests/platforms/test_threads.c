/* Memories of their own in threads of their own: libocdm has no hidden state that they share, which ThreadSanitizer would see,
 * and each decides as if it were alone. */
#include "../test.h"

#include <pthread.h>

#include "base/random.h"
#include "ocdm/ocdm.h"

enum { THREADS = 4, BATCH = 10, BATCHES = 200, MOST_LABELS = 4, CLASSES = 40 };

struct work {
    ocdm_memory *memory;
    ocdm_status status;
};

static ocdm_status update(ocdm_memory *memory, ocdm__random *random, uint64_t first)
{
    ocdm_sample samples[BATCH];
    uint32_t labels[BATCH][MOST_LABELS];
    for (size_t i = 0; i < BATCH; i++) {
        size_t count = 1 + (size_t)ocdm__random_below(random, MOST_LABELS);
        for (size_t k = 0; k < count; k++)
            labels[i][k] = (uint32_t)(10 * k + ocdm__random_below(random, CLASSES / MOST_LABELS));
        samples[i] = (ocdm_sample){.id = first + i, .labels = labels[i], .label_count = count};
    }
    return ocdm_memory_update(memory, samples, BATCH, NULL, NULL);
}

static void *fill(void *argument)
{
    struct work *work = argument;
    ocdm__random random = ocdm__random_stream(ocdm__random_base(5, OCDM__FOR_SHUFFLES), 1);
    ocdm_options options = ocdm_options_default();
    options.capacity = 100;
    work->status = ocdm_memory_create(&options, &work->memory, NULL);
    for (uint64_t i = 0; work->status == OCDM_OK && i < BATCHES; i++)
        work->status = update(work->memory, &random, BATCH * i);
    return NULL;
}

TEST(memories_in_several_threads_decide_alike)
{
    struct work works[THREADS] = {0};
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fill, &works[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(works[i].status, OCDM_OK);
        assert_int_equal(ocdm_memory_size(works[i].memory), 100);
        for (uint32_t slot = 0; slot < 100; slot++)
            assert_int_equal(ocdm_memory_id(works[i].memory, slot), ocdm_memory_id(works[0].memory, slot));
    }
    for (size_t i = 0; i < THREADS; i++)
        ocdm_memory_destroy(works[i].memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memories_in_several_threads_decide_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
