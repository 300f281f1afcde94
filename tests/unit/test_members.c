/* The heap of a label set's samples against a plain array. */
#include "../test.h"
#include "../twins.h"

#include "memory/pool.h"

#define NODES 300u

static struct node nodes[NODES];
static bool in[NODES];

static uint32_t least_priority(void)
{
    uint32_t least = OCDM_NONE;
    for (uint32_t i = 0; i < NODES; i++)
        if (in[i] && (least == OCDM_NONE || nodes[i].priority < nodes[least].priority))
            least = i;
    return least;
}

/* The root has the least priority, no child a smaller one than its parent, and a walk meets each member once. */
static void check_heap(uint32_t root)
{
    static bool met[NODES];
    uint32_t members = 0, walked = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        met[i] = false;
        members += in[i];
    }
    assert_int_equal(root, least_priority());
    for (uint32_t node = root; node != OCDM_NONE; node = ocdm__members_after(nodes, node), walked++) {
        assert_true(node < NODES && in[node] && !met[node]);
        met[node] = true;
        for (uint32_t child = nodes[node].child; child != OCDM_NONE; child = nodes[child].next)
            assert_true(nodes[child].priority > nodes[node].priority);
    }
    assert_int_equal(walked, members);
}

static void start_empty(uint64_t seed)
{
    for (uint32_t i = 0; i < NODES; i++) {
        in[i] = false;
        nodes[i] = (struct node){.priority = ocdm__random_at(seed, i)};
    }
}

TEST(heap_is_right_when_members_come_and_go_at_random)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        start_empty(seed);
        ocdm__random random = ocdm__random_stream(seed, 0);
        uint32_t root = OCDM_NONE;
        for (int step = 0; step < 2000; step++) {
            uint32_t node = toy_below(&random, NODES);
            if (toy_below(&random, 4) == 0 && root != OCDM_NONE)
                node = root;
            root = in[node] ? ocdm__members_remove(nodes, root, node) : ocdm__members_add(nodes, root, node);
            in[node] = !in[node];
            check_heap(root);
        }
    }
}

/* Falling priorities make a chain as long as the heap, rising ones a single row of children. */
TEST(heap_is_right_when_it_is_a_chain_or_a_row)
{
    for (int falling = 0; falling < 2; falling++) {
        start_empty(0);
        uint32_t root = OCDM_NONE;
        for (uint32_t i = 0; i < NODES; i++) {
            nodes[i].priority = falling ? NODES - i : i;
            root = ocdm__members_add(nodes, root, i);
            in[i] = true;
        }
        check_heap(root);
        for (uint32_t i = 0; i < NODES; i += 2) {
            root = ocdm__members_remove(nodes, root, i);
            in[i] = false;
            check_heap(root);
        }
        while (root != OCDM_NONE) {
            in[root] = false;
            root = ocdm__members_remove(nodes, root, root);
            check_heap(root);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_is_right_when_members_come_and_go_at_random),
        cmocka_unit_test(heap_is_right_when_it_is_a_chain_or_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
