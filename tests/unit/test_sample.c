/* Sampling: ids are compared by their bytes, and each may occur once in a stream. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "base/hash_table.h"
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
    static char input[] = "in.jsonl", *const paths[] = {input};
    ocdm__sample_options options = {.paths = paths, .path_count = 1, .memory = ocdm_options_default(), .trace = "trace"};
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

TEST(sample_tells_ids_apart_when_they_share_a_hash)
{
    static const char a[] = "photograph-000-a", b[] = "photograph-000-b";
    ocdm__hash_key_replace(0);
    assert_int_equal(ocdm__hash_bytes(a, 16), ocdm__hash_bytes(b, 16));
    FILE *file = fopen("in.jsonl", "w");
    assert_non_null(file);
    for (int round = 0; round < 2; round++)
        fprintf(file, "{\"id\":\"%s\",\"labels\":[1]}\n{\"id\":\"%s\",\"labels\":[1]}\n", a, b);
    fclose(file);
    ocdm__sampling *sampling = open_sampling(100, 3, "ocdm");
    run_all(sampling);
    assert_int_equal(ocdm_memory_size(ocdm__sampling_memory(sampling)), 2);
    assert_int_equal(ocdm__sampling_records(sampling)->skipped, 2);
    ocdm__sampling_close(sampling);
    ocdm__hash_key_replace(1);
}

enum { LENGTH = 4000, LONGEST_ID = 64 };

/* An id of a stream in which most ids come again: a number, small, negative or around the largest that count as one; a text,
 * short, long or of the very length where the table changes its ways; or none. */
static void make_id(ocdm__random *random, char *id)
{
    int number = (int)ocdm__random_below(random, 900);
    switch (ocdm__random_below(random, 8)) {
    case 0:
        id[0] = '\0';
        return;
    case 1:
        snprintf(id, LONGEST_ID, "%d", number);
        return;
    case 2:
        snprintf(id, LONGEST_ID, "%015d", number);
        return;
    case 3:
        snprintf(id, LONGEST_ID, "%016d", number);
        return;
    case 4:
        snprintf(id, LONGEST_ID, "-%d", number % 90);
        return;
    case 5: /* the last number is followed by texts of 20 digits */
        snprintf(id, LONGEST_ID, "%s%04d", number % 2 ? "999999999999999" : "1000000000000000", number % 180);
        return;
    case 6:
        snprintf(id, LONGEST_ID, "1844674407370955%04d", number % 90);
        return;
    default:
        snprintf(id, LONGEST_ID, "photographs/of/%d/many/things.jpg", number);
    }
}

/* The naive judge: an id is refused if any id that was taken before is the same text; a record without one is called by its
 * number among those that were taken. */
static size_t judge_ids(char (*stream)[LONGEST_ID], char (*taken)[LONGEST_ID])
{
    size_t count = 0;
    for (int i = 0; i < LENGTH; i++) {
        char *id = taken[count];
        if (stream[i][0] != '\0')
            memcpy(id, stream[i], LONGEST_ID);
        else
            snprintf(id, LONGEST_ID, "%zu", count);
        size_t j = 0;
        while (j < count && strcmp(taken[j], id) != 0)
            j++;
        count += j == count;
    }
    return count;
}

/* The ids that came in by the trace are those that the judge has taken, in order. */
static void check_trace(char (*taken)[LONGEST_ID], size_t count)
{
    static char line[65536];
    size_t next = 0;
    FILE *trace = fopen("trace", "r");
    assert_non_null(trace);
    while (fgets(line, sizeof line, trace)) {
        char *save = NULL, *end = strchr(line, ']');
        assert_non_null(end);
        *end = '\0';
        for (char *id = strtok_r(strchr(line, '[') + 1, ",\"", &save); id; id = strtok_r(NULL, ",\"", &save)) {
            assert_true(next < count);
            assert_string_equal(id, taken[next++]);
        }
    }
    fclose(trace);
    assert_int_equal(next, count);
}

TEST(sample_refuses_an_id_whenever_an_earlier_record_had_it)
{
    static const char *const policies[] = {"ocdm", "rs", "max", "random"};
    static char stream[LENGTH][LONGEST_ID], taken[LENGTH][LONGEST_ID];
    for (uint64_t seed = 0; seed < 4; seed++) {
        ocdm__random random = ocdm__random_stream(99, seed);
        FILE *file = fopen("in.jsonl", "w");
        assert_non_null(file);
        for (int i = 0; i < LENGTH; i++) {
            make_id(&random, stream[i]);
            fprintf(file, stream[i][0] ? "{\"id\":\"%s\",\"labels\":[1]}\n" : "{%s\"labels\":[1]}\n", stream[i]);
        }
        fclose(file);
        size_t count = judge_ids(stream, taken);
        ocdm__hash_key_replace(seed); /* the first is the one under which all hashes are equal */
        ocdm__sampling *sampling = open_sampling(20, 1 + (uint32_t)seed * 9, policies[seed]);
        run_all(sampling);
        assert_int_equal(ocdm__sampling_records(sampling)->skipped, LENGTH - count);
        int sink = open("/dev/null", O_WRONLY);
        assert_int_equal(ocdm__sampling_finish(sampling, sink, NULL), OCDM_OK);
        close(sink);
        ocdm__sampling_close(sampling);
        check_trace(taken, count);
    }
}

TEST(sample_remembers_neighbouring_numbers_together)
{
    FILE *file = fopen("in.jsonl", "w");
    assert_non_null(file);
    for (int i = 0; i < 6400; i++)
        fprintf(file, i % 2 ? "{\"id\":%d,\"labels\":[1]}\n" : "{\"id\":\"%d\",\"labels\":[1]}\n", i * 7 % 6400);
    fclose(file);
    ocdm__sampling *sampling = open_sampling(10, 10, "rs");
    run_all(sampling);
    assert_int_equal(sampling->accepted, 6400);
    assert_int_equal(sampling->seen.count, 6400);
    assert_int_equal(sampling->seen.numbers.count, 100);
    assert_int_equal(sampling->seen.texts.count, 0);
    ocdm__sampling_close(sampling);
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
        cmocka_unit_test(sample_refuses_an_id_whenever_an_earlier_record_had_it),
        cmocka_unit_test(sample_remembers_neighbouring_numbers_together),
        cmocka_unit_test(sample_gives_room_back_when_a_long_line_has_left),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
