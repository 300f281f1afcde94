/* The pool's structures stay consistent as samples join and leave, and cells are used again. */
#include "../test.h"
#include "../twins.h"

#include "memory/pool.h"

#define MOST 4000u

static struct pool pool;

/* The indices of the classes whose bits are set, class ids from `first`. */
static uint32_t classes_of(uint32_t first, uint64_t bits, uint32_t *class_index)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 64; i++)
        if (bits >> i & 1)
            class_index[count++] = ocdm__pool_class(&pool, first + i);
    for (uint32_t i = 1; i < count; i++)
        assert_true(class_index[i - 1] < class_index[i]);
    return count;
}

/* Room for samples of these classes. */
static void reserve(uint32_t first, const uint64_t *bits, uint32_t samples)
{
    uint32_t class_index[64 * 64], labels = 0;
    ocdm_error error;
    assert_true(samples <= 64);
    for (uint32_t i = 0; i < samples; i++)
        labels += classes_of(first, bits[i], class_index + labels);
    assert_int_equal(ocdm__pool_reserve(&pool, pool.size + samples, &error), OCDM_OK);
    assert_int_equal(ocdm__pool_reserve_labels(&pool, class_index, labels, &error), OCDM_OK);
}

/* A sample for which room is reserved. */
static void join(uint64_t id, uint32_t first, uint64_t bits)
{
    uint32_t class_index[64], count = classes_of(first, bits, class_index);
    uint32_t node = ocdm__pool_take_node(&pool, id);
    pool.nodes[node].priority = ocdm__mix(id);
    ocdm__pool_join(&pool, NULL, node, class_index, count);
    assert_true(pool.cell_used <= pool.cell_room);
}

static void leave(uint32_t position)
{
    uint32_t node = pool.node_at[position];
    ocdm__pool_leave(&pool, NULL, position);
    ocdm__pool_give_back_node(&pool, node);
}

/* ---- what must always hold -------------------------------------------------------------------------------------------- */

/* Each cell of a set is on its class's list, at the place that it says. */
static void check_set(uint32_t number, uint32_t *cells)
{
    const struct set *set = &pool.sets[number];
    for (uint32_t c = set->cells; c < set->cells + set->cardinality; c++) {
        const struct cell *cell = &pool.cells[c];
        const struct class *class = &pool.classes[cell->class_index];
        assert_int_equal(cell->set, number);
        assert_true(cell->entry < class->list.count);
        assert_int_equal(class->list.cells[cell->entry], c);
        ++*cells;
    }
}

/* Lists have an entry for each cell, and stay within their room. */
static void check_lists(uint32_t cells)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < pool.class_count; i++) {
        const struct class_list *list = &pool.classes[i].list;
        assert_true(list->count <= list->room);
        assert_int_equal(list->expected, 0);
        listed += list->count;
    }
    assert_int_equal(listed, cells);
    assert_int_equal(pool.cell_live, cells);
}

static void check_counts(void)
{
    static uint32_t kept[MOST];
    memset(kept, 0, sizeof kept);
    uint64_t labels = 0;
    for (uint32_t i = 0; i < pool.size; i++) {
        const struct set *set = &pool.sets[pool.nodes[pool.node_at[i]].set];
        labels += set->cardinality;
        for (uint32_t j = 0; j < set->cardinality; j++)
            kept[pool.cells[set->cells + j].class_index]++;
    }
    assert_int_equal(labels, pool.label_total);
    for (uint32_t i = 0; i < pool.class_count; i++)
        assert_int_equal(kept[i], pool.classes[i].kept);
}

static void check_pool(void)
{
    uint32_t members = 0, cells = 0;
    for (uint32_t i = 0; i < pool.size; i++) {
        uint32_t node = pool.node_at[i];
        assert_int_equal(pool.nodes[node].position, i);
        assert_int_equal(ocdm__pool_find(&pool, pool.nodes[node].id), node);
        const struct set *set = &pool.sets[pool.nodes[node].set];
        if (set->first != node)
            continue;
        members += set->size;
        check_set(pool.nodes[node].set, &cells);
    }
    assert_int_equal(members, pool.size);
    check_lists(cells);
    check_counts();
}

/* ---- cases ------------------------------------------------------------------------------------------------------------ */

static void start(uint32_t room, uint32_t classes)
{
    ocdm_error error;
    assert_int_equal(ocdm__pool_create(&pool, room, &error), OCDM_OK);
    for (uint32_t i = 0; i < classes; i++)
        assert_int_equal(ocdm__pool_add_class(&pool, i), i);
}

/* Batches of random sets over few or many classes, then departures down to a few, again and again. */
static void run_random(uint64_t seed)
{
    ocdm__random random = ocdm__random_stream(seed, 0);
    uint32_t classes = 2 + toy_below(&random, 63), sparse = toy_below(&random, 4);
    start(1 + toy_below(&random, 8), classes);
    uint64_t id = 0;
    for (int step = 0; step < 30; step++) {
        uint64_t bits[64];
        uint32_t count = 1 + toy_below(&random, 64);
        for (uint32_t i = 0; i < count; i++) {
            bits[i] = ocdm__random_next(&random) & (classes == 64 ? UINT64_MAX : ((uint64_t)1 << classes) - 1);
            for (uint32_t j = 0; j < sparse; j++)
                bits[i] &= ocdm__random_next(&random);
        }
        reserve(0, bits, count);
        for (uint32_t i = 0; i < count; i++)
            join(id++, 0, bits[i]);
        check_pool();
        uint32_t stay = toy_below(&random, 20);
        while (pool.size > stay)
            leave(toy_below(&random, pool.size));
        check_pool();
    }
    ocdm__pool_destroy(&pool);
}

TEST(pool_stays_consistent_when_samples_come_and_go)
{
    for (uint64_t seed = 0; seed < 60; seed++)
        run_random(seed);
}

/* Runs of cells that sets leave are used again, also those of many labels, whose runs are rounded up to powers of 2: five sets
 * of up to 60 labels at a time never need more than six runs of 64 and the room that doubling adds. */
TEST(cells_are_used_again_when_sets_are_large)
{
    start(4, 64);
    for (uint64_t id = 0; id < 500; id++) {
        uint64_t bits = UINT64_MAX >> (id % 5 + 4);
        reserve(0, &bits, 1);
        join(id, 0, bits);
        if (pool.size == 4)
            leave((uint32_t)(id % 4));
        assert_true(pool.cell_used <= 6 * 64);
        assert_true(pool.cell_room <= 2 * (6 * 64 + 2 * 60));
    }
    check_pool();
    ocdm__pool_destroy(&pool);
}

/* Runs of a power of 2 have no cell too many. */
TEST(cells_of_64_labels_are_64)
{
    start(4, 64);
    for (uint64_t id = 0; id < 3; id++) {
        uint64_t bits = UINT64_MAX >> id;
        reserve(0, &bits, 1);
        join(id, 0, bits);
        assert_int_equal(pool.cell_used, 64 * (id + 1));
    }
    check_pool();
    ocdm__pool_destroy(&pool);
}

/* Of each length there are never more runs than there were sets of that length at a time. */
TEST(cells_of_each_length_are_used_again)
{
    start(10, 64);
    uint32_t needed = 0;
    for (uint32_t length = 1; length <= 40; length++) {
        needed += 10 * (length <= 32 ? length : 64);
        for (uint64_t id = 0; id < 100; id++) {
            uint64_t bits = (((uint64_t)1 << length) - 1) << (id % 20);
            reserve(0, &bits, 1);
            join(id, 0, bits);
            if (pool.size == 10)
                leave((uint32_t)(id % 10));
        }
        while (pool.size > 0)
            leave(0);
        if (length <= 33)
            assert_true(pool.cell_used <= needed);
        check_pool();
    }
    assert_true(pool.cell_used <= 10 * (32 * 33 / 2 + 64));
    ocdm__pool_destroy(&pool);
}

TEST(classes_are_forgotten_when_dropped)
{
    start(4, 0);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(ocdm__pool_add_class(&pool, i * 7), i);
    ocdm__pool_drop_classes(&pool, 50);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(ocdm__pool_class(&pool, i * 7), i < 50 ? i : OCDM_NONE);
    assert_int_equal(ocdm__pool_add_class(&pool, 199 * 7), 50);
    assert_int_equal(ocdm__pool_add_class(&pool, 7), 1);
    ocdm__pool_drop_classes(&pool, 0);
    assert_int_equal(ocdm__pool_class(&pool, 7), OCDM_NONE);
    ocdm__pool_destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_used_again_when_sets_are_large),
        cmocka_unit_test(classes_are_forgotten_when_dropped),
        cmocka_unit_test(pool_stays_consistent_when_samples_come_and_go),
        cmocka_unit_test(cells_of_64_labels_are_64),
        cmocka_unit_test(cells_of_each_length_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
