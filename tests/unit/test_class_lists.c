/* The pool's structures stay consistent as samples join and leave, and lists and cells never outgrow their storage. */
#include "../test.h"
#include "../twins.h"

#include "memory/pool.h"

#define MOST 4000u

static struct pool pool;

static void reserve(size_t samples, size_t labels)
{
    ocdm_error error;
    assert_int_equal(ocdm__pool_reserve(&pool, pool.size + (uint32_t)samples, &error), OCDM_OK);
    assert_int_equal(ocdm__pool_reserve_cells(&pool, labels, &error), OCDM_OK);
}

/* A sample of the classes whose bits are set, class ids from `first`; room is reserved, also for its classes. */
static void join(uint64_t id, uint32_t first, uint64_t bits)
{
    uint32_t class_index[64], count = 0;
    for (uint32_t i = 0; i < 64; i++)
        if (bits >> i & 1)
            class_index[count++] = ocdm__pool_class(&pool, first + i);
    for (uint32_t i = 1; i < count; i++)
        assert_true(class_index[i - 1] < class_index[i]);
    uint32_t node = ocdm__pool_take_node(&pool, id);
    pool.nodes[node].priority = ocdm__mix(id);
    ocdm__pool_join(&pool, NULL, node, class_index, count);
    ocdm__pool_know(&pool, node);
    assert_true(pool.list_used <= pool.list_room);
    assert_true(pool.cell_used <= pool.cell_room);
}

static void leave(uint32_t position)
{
    uint32_t node = pool.node_at[position];
    ocdm__pool_leave(&pool, NULL, position);
    ocdm__pool_forget(&pool, node);
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
        assert_true(cell->place < class->list.count);
        assert_int_equal(pool.lists[class->list.first + cell->place].cell, c);
        ++*cells;
    }
}

/* Lists are inside the storage and do not overlap. */
static void check_lists(uint32_t cells)
{
    static bool taken[1u << 20];
    memset(taken, 0, sizeof taken);
    uint32_t listed = 0;
    for (uint32_t i = 0; i < pool.class_count; i++) {
        const struct class *class = &pool.classes[i];
        assert_true(class->list.count <= class->list.room);
        assert_true(class->list.first + class->list.room <= pool.list_used || !class->list.room);
        listed += class->list.count;
        for (size_t place = class->list.first; place < class->list.first + class->list.room; place++) {
            assert_true(place < sizeof taken && !taken[place]);
            taken[place] = true;
        }
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

static uint32_t ones(uint64_t bits)
{
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
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
        uint32_t count = 1 + toy_below(&random, 64), labels = 0;
        for (uint32_t i = 0; i < count; i++) {
            bits[i] = ocdm__random_next(&random) & (classes == 64 ? UINT64_MAX : ((uint64_t)1 << classes) - 1);
            for (uint32_t j = 0; j < sparse; j++)
                bits[i] &= ocdm__random_next(&random);
            labels += ones(bits[i]);
        }
        reserve(count, labels);
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

/* Six classes that grow side by side double their lists four times each, and no list given back fits anyone: the most storage
 * that this many labels can take. Before them comes a sample of `labels` labels, and `waste` entries of the lists' storage are
 * lost, as those of classes that were dropped are: one amount of them makes it tightest. */
static void run_side_by_side(uint32_t labels, size_t waste)
{
    start(20, 0);
    for (uint32_t i = 0; i < labels; i++)
        ocdm__pool_add_class(&pool, i);
    reserve(1, labels);
    join(0, 0, ((uint64_t)1 << labels) - 1);
    for (uint32_t i = 0; i < 6; i++)
        ocdm__pool_add_class(&pool, 100 + i);
    if (waste <= pool.list_room - pool.list_used)
        pool.list_used += waste;
    reserve(64, 102);
    uint64_t id = 1;
    for (uint32_t size = 1; size <= 6; size++)
        for (uint64_t bits = 1; bits < 64; bits++)
            if (ones(bits) == size && (size <= 3 || size == 6))
                join(id++, 100, bits);
    if (!waste)
        check_pool();
    ocdm__pool_destroy(&pool);
}

TEST(lists_fit_their_storage_when_all_grow_side_by_side)
{
    for (uint32_t labels = 1; labels < 40; labels += 8)
        for (size_t waste = 0; waste < 1500; waste++)
            run_side_by_side(labels, waste);
}

/* Sets of more labels than free runs are kept for come and go without the cells ever growing beyond twice what is live. */
TEST(cells_are_used_again_when_sets_are_large)
{
    start(4, 64);
    for (uint64_t id = 0; id < 500; id++) {
        reserve(1, 60);
        join(id, 0, UINT64_MAX >> (id % 5 + 4));
        if (pool.size == 4)
            leave((uint32_t)(id % 4));
        assert_true(pool.cell_room <= 2 * 5 * 64);
    }
    check_pool();
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
        cmocka_unit_test(lists_fit_their_storage_when_all_grow_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
