/* Sampling: ids are told apart by their bytes, taken while their record is in memory or batch, and free again afterwards. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "base/hash_bytes.h"
#include "base/random.h"
#include "sample/state.h"

static char folder[] = "/tmp/ocdm-test-sample-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    unlink("in.jsonl");
    unlink("trace");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static ocdm__sampling *open_sampling(uint32_t capacity, uint32_t batch, const char *policy)
{
    ocdm__sample_options options = {.path = "in.jsonl", .memory = ocdm_options_default(), .trace = "trace"};
    ocdm__sampling *sampling = NULL;
    ocdm_error error;
    options.records.skip_bad = true;
    options.memory.capacity = capacity;
    options.memory.batch = batch;
    options.memory.policy = ocdm_policy_find(policy);
    if (ocdm__sampling_open(&sampling, &options, &error) != OCDM_OK)
        fail_msg("%s", error.message);
    return sampling;
}

static void run_all(ocdm__sampling *sampling)
{
    bool more = true;
    ocdm_error error;
    while (more)
        if (ocdm__sampling_step(sampling, &more, &error) != OCDM_OK)
            fail_msg("%s", error.message);
}

static int compare_tags(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Numbers whose digits have hashes with the same tag, all that the table looks at: among 300,000 there should be about ten
 * pairs. */
static size_t find_pairs(uint32_t (*pairs)[2], size_t room)
{
    const uint32_t count = 300000;
    uint64_t *tags = calloc(count, sizeof *tags);
    size_t found = 0;
    assert_non_null(tags);
    for (uint32_t i = 0; i < count; i++) {
        char digits[16];
        int length = snprintf(digits, sizeof digits, "%u", i);
        tags[i] = (ocdm__hash_bytes(digits, (size_t)length) & 0xFFFFFFFF00000000u) | i;
    }
    qsort(tags, count, sizeof *tags, compare_tags);
    for (uint32_t i = 1; i < count && found < room; i++)
        if (tags[i] >> 32 == tags[i - 1] >> 32) {
            pairs[found][0] = (uint32_t)tags[i - 1];
            pairs[found++][1] = (uint32_t)tags[i];
        }
    free(tags);
    return found;
}

TEST(sample_tells_ids_apart_when_they_share_a_hash)
{
    uint32_t pairs[4][2];
    size_t count = find_pairs(pairs, 4);
    assert_true(count > 0);
    FILE *file = fopen("in.jsonl", "w");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        for (int round = 0; round < 2; round++)
            fprintf(file, "{\"id\":%u,\"labels\":[1]}\n{\"id\":%u,\"labels\":[1]}\n", pairs[i][0], pairs[i][1]);
    fclose(file);
    for (uint32_t batch = 1; batch < 12; batch += 5) {
        ocdm__sampling *sampling = open_sampling(100, batch, "ocdm");
        run_all(sampling);
        assert_int_equal(ocdm_memory_size(ocdm__sampling_memory(sampling)), 2 * count);
        assert_int_equal(ocdm__records_skipped(ocdm__sampling_records(sampling)), 2 * count);
        ocdm__sampling_close(sampling);
    }
}

#define ID_LIMIT 60

/* What the sampler should have taken: an id that neither memory nor batch hold; from the trace, batch by batch. */
struct model {
    const int *stream; /* ids, in order */
    size_t next, skipped;
    bool in_memory[ID_LIMIT];
};

static void follow_step(struct model *model, char *line)
{
    bool in_batch[ID_LIMIT] = {false};
    char *out = strstr(line, "\"out\":["), *save = NULL;
    assert_non_null(out);
    out[-1] = '\0';
    for (char *id = strtok_r(strstr(line, "[") + 1, ",]", &save); id; id = strtok_r(NULL, ",]", &save)) {
        int number = atoi(id);
        while (model->stream[model->next] != number) {
            int refused = model->stream[model->next++];
            assert_true(in_batch[refused] || model->in_memory[refused]);
            model->skipped++;
        }
        assert_false(in_batch[number] || model->in_memory[number]);
        in_batch[number] = true;
        model->next++;
    }
    for (int i = 0; i < ID_LIMIT; i++)
        model->in_memory[i] = model->in_memory[i] || in_batch[i];
    *strchr(out, ']') = '\0';
    for (char *id = strtok_r(strchr(out, '[') + 1, ",", &save); id; id = strtok_r(NULL, ",", &save)) {
        assert_true(model->in_memory[atoi(id)]);
        model->in_memory[atoi(id)] = false;
    }
}

static void follow_trace(const int *stream, size_t length, uint64_t skipped)
{
    static char line[65536];
    struct model model = {.stream = stream};
    FILE *trace = fopen("trace", "r");
    assert_non_null(trace);
    while (fgets(line, sizeof line, trace))
        follow_step(&model, line);
    fclose(trace);
    assert_int_equal(model.skipped + (length - model.next), skipped);
}

TEST(sample_refuses_ids_exactly_while_their_records_are_there)
{
    enum { LENGTH = 4000 };
    static const char *const policies[] = {"ocdm", "rs", "max", "random"};
    static int stream[LENGTH];
    for (uint64_t seed = 0; seed < 8; seed++) {
        ocdm__random random = ocdm__random_stream(99, seed);
        FILE *file = fopen("in.jsonl", "w");
        assert_non_null(file);
        for (int i = 0; i < LENGTH; i++) {
            stream[i] = (int)ocdm__random_below(&random, ID_LIMIT);
            fprintf(file, "{\"id\":%d,\"labels\":[%d]}\n", stream[i], (int)ocdm__random_below(&random, 5));
        }
        fclose(file);
        print_message("# seed %d\n", (int)seed);
        ocdm__sampling *sampling = open_sampling(20, 1 + (uint32_t)seed * 3, policies[seed % 4]);
        run_all(sampling);
        uint64_t skipped = ocdm__records_skipped(ocdm__sampling_records(sampling));
        int sink = open("/dev/null", O_WRONLY);
        assert_int_equal(ocdm__sampling_finish(sampling, sink, NULL), OCDM_OK);
        close(sink);
        ocdm__sampling_close(sampling);
        follow_trace(stream, LENGTH, skipped);
    }
}

/* One long line passes through every slot of a memory that forgets the oldest; the blocks must shrink again. */
TEST(sample_gives_room_back_when_a_long_line_has_left)
{
    FILE *file = fopen("in.jsonl", "w");
    assert_non_null(file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "{\"labels\":[1],\"x\":\"%*s\"}\n", i < 100 ? 100000 : 1, "");
    fclose(file);
    ocdm__sampling *sampling = open_sampling(10, 1, "random");
    run_all(sampling);
    size_t total = 0;
    for (size_t slot = 0; slot < 10; slot++)
        total += sampling->kept[slot].room;
    assert_true(total < 5000);
    ocdm__sampling_close(sampling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_tells_ids_apart_when_they_share_a_hash),
        cmocka_unit_test(sample_refuses_ids_exactly_while_their_records_are_there),
        cmocka_unit_test(sample_gives_room_back_when_a_long_line_has_left),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
