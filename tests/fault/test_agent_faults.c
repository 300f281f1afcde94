/*
 * Every allocation fails once, and every one from some call on fails, while an agent is made, trains, predicts, gives a
 * gradient, is saved and loaded: it reports that it is out of memory, nothing has changed, nothing leaks (the sanitizer
 * watches), and the agent goes on, to the bit, as one that never failed. oneDNN too runs out of memory at each of its calls;
 * where that is in the middle of a change, the agent must say from then on that it cannot go on.
 *
 * The allocations inside oneDNN are not reached one by one.
 */
#define _GNU_SOURCE

#include "../test.h"
#include "../scratch_folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dnnl.h>

#include "../agent_state.h"
#include "agent/network.h"
#include "agent/model.h"
#include "base/output.h"
#include "faults.h"

/* ---- oneDNN ----------------------------------------------------------------------------------------------------------- */

/* These two replace oneDNN's own, which are in a shared library. */
dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count,
                                     const dnnl_exec_arg_t *arguments)
{
    dnnl_status_t (*real)(const_dnnl_primitive_t, dnnl_stream_t, int, const dnnl_exec_arg_t *) = NULL;
    void *found = dlsym(RTLD_NEXT, "dnnl_primitive_execute");
    memcpy(&real, &found, sizeof real);
    return fault_now(FAULT_OWN) ? dnnl_out_of_memory : real(primitive, stream, count, arguments);
}

dnnl_status_t dnnl_sgemm(char a_turned, char b_turned, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha, const float *a,
                         dnnl_dim_t a_stride, const float *b, dnnl_dim_t b_stride, float beta, float *c, dnnl_dim_t c_stride)
{
    dnnl_status_t (*real)(char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t, float, const float *, dnnl_dim_t, const float *,
                          dnnl_dim_t, float, float *, dnnl_dim_t) = NULL;
    void *found = dlsym(RTLD_NEXT, "dnnl_sgemm");
    memcpy(&real, &found, sizeof real);
    return fault_now(FAULT_OWN) ? dnnl_out_of_memory
                                : real(a_turned, b_turned, m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
}

/* ---- agents and samples ----------------------------------------------------------------------------------------------- */

struct subject {
    const char *model;
    uint32_t size, blocks;
    unsigned threads;
    bool bf16;
};

/* mobilenet1 has what cnn does not: 1x1 and depthwise convolutions. The last is for CPUs that have bf16. */
static const struct subject subjects[] = {{"linear", 12, 0, 1, false},
                                          {"mlp", 12, 0, 1, false},
                                          {"cnn", 8, 0, 1, false},
                                          {"mobilenet1", 8, 2, 2, false},
                                          {"mlp", 12, 0, 1, true}};
enum { SUBJECTS = 5, CLASSES = 3, FIRST_BATCH = 2, BATCH = 5, WIDEST = 3 * 8 * 8 };

static ocdm__agent_settings settings_of(const struct subject *subject)
{
    ocdm__agent_settings settings = {.network = ocdm__network_settings_default()};
    settings.size.name = subject->model;
    settings.size.class_count = CLASSES;
    settings.size.features = settings.size.height = settings.size.width = subject->size;
    settings.size.blocks = subject->blocks;
    settings.network.threads = subject->threads;
    settings.network.precision = subject->bf16 ? OCDM__PRECISION_BF16 : OCDM__PRECISION_F32;
    settings.network.learning_rate = 1e-3;
    settings.network.seed = 7;
    return settings;
}

static size_t subject_count(void)
{
    ocdm__agent_settings settings = settings_of(&subjects[SUBJECTS - 1]);
    ocdm__agent *agent = NULL;
    ocdm_status status = ocdm__agent_create(&settings, NULL, &agent, NULL);
    ocdm__agent_destroy(agent);
    return status == OCDM_BAD_ARGUMENT ? SUBJECTS - 1 : SUBJECTS;
}

/* As many samples as are asked for, the same every time; one label each, and the second has none. */
static ocdm__batch samples(size_t count)
{
    static float input[BATCH * WIDEST];
    static const size_t starts[BATCH + 1] = {0, 1, 1, 2, 3, 4};
    static const uint32_t labels[] = {2, 0, 1, 2};
    for (size_t i = 0; i < BATCH * WIDEST; i++)
        input[i] = (float)((i * 37 + i / 11) % 23) / 11 - 1;
    return (ocdm__batch){.input = input, .starts = starts, .labels = labels, .count = count};
}

static ocdm__agent *agent_of(const struct subject *subject)
{
    ocdm__agent_settings settings = settings_of(subject);
    ocdm__agent *agent = NULL;
    assert_int_equal(ocdm__agent_create(&settings, NULL, &agent, NULL), OCDM_OK);
    return agent;
}

static void train(ocdm__agent *agent, size_t count)
{
    ocdm__batch batch = samples(count);
    assert_int_equal(agent_train(agent, &batch, NULL, NULL), OCDM_OK);
}

/* ---- bytes to compare ------------------------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *data;
    size_t size;
};

/* What came out of an agent while allocations fail is put here. */
static unsigned char result_room[6 << 20];

static void append(struct bytes *bytes, const void *data, size_t size)
{
    assert_true(bytes->data != result_room || size <= sizeof result_room - bytes->size);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void append_state(struct bytes *bytes, const ocdm__tensor_list *state)
{
    for (size_t i = 0; i < state->count; i++)
        append(bytes, state->tensors[i].data, state->tensors[i].size);
}

/* The agent's tensors, and room for `more` bytes. */
static struct bytes weights_of(ocdm__agent *agent, bool optimiser, size_t more)
{
    ocdm__tensor_list state;
    struct bytes bytes = {0};
    size_t size = more;
    assert_int_equal(agent_save(agent, optimiser, &state, NULL), OCDM_OK);
    for (size_t i = 0; i < state.count; i++)
        size += state.tensors[i].size;
    bytes.data = malloc(size);
    assert_non_null(bytes.data);
    append_state(&bytes, &state);
    ocdm__tensor_list_clear(&state);
    return bytes;
}

static void same_bytes(const struct bytes *expected, struct bytes found, const char *where)
{
    HOLDS(where, expected->size == found.size && !memcmp(expected->data, found.data, found.size));
    free(found.data);
}

/* ---- what an agent does ----------------------------------------------------------------------------------------------- */

/* A file of another agent, in memory. */
struct kept_file {
    unsigned char *bytes;
    struct ocdm__safetensors file;
};

static struct kept_file kept_of(const struct subject *subject, bool optimiser)
{
    ocdm__agent *agent = agent_of(subject);
    ocdm__tensor_list state;
    struct kept_file kept;
    ocdm__output output;
    size_t size;
    train(agent, BATCH);
    assert_int_equal(agent_save(agent, optimiser, &state, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_open(&output, "kept", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, NULL, 0, state.tensors, state.count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
    kept.bytes = read_whole("kept", &size);
    assert_int_equal(ocdm__safetensors_read(&kept.file, "kept", kept.bytes, size, NULL), OCDM_OK);
    ocdm__tensor_list_clear(&state);
    ocdm__agent_destroy(agent);
    return kept;
}

static void kept_closed(struct kept_file *kept)
{
    ocdm__safetensors_close(&kept->file);
    free(kept->bytes);
}

/* The agent, the file that it may load, and the result. */
struct scene {
    const struct subject *subject;
    ocdm__agent *agent;
    const struct kept_file *kept;
    struct bytes result;
};

static ocdm_status make(struct scene *scene, ocdm_error *error)
{
    ocdm__agent_settings settings = settings_of(scene->subject);
    struct ocdm__weights weights = {"kept", &scene->kept->file};
    ocdm__agent *agent = NULL;
    ocdm_status status = ocdm__agent_create(&settings, scene->kept->bytes ? &weights : NULL, &agent, error);
    HOLDS(scene->subject->model, (agent != NULL) == (status == OCDM_OK));
    if (status != OCDM_OK)
        return status;
    scene->agent = agent;
    return OCDM_OK;
}

static ocdm_status step(struct scene *scene, ocdm_error *error)
{
    ocdm__batch batch = samples(BATCH);
    double loss = 77;
    uint64_t steps = scene->agent->steps;
    ocdm_status status = agent_train(scene->agent, &batch, &loss, error);
    HOLDS(scene->subject->model, (loss == 77) == (status != OCDM_OK));
    HOLDS(scene->subject->model, scene->agent->steps == steps + (status == OCDM_OK));
    if (status == OCDM_OK)
        append(&scene->result, &loss, sizeof loss);
    return status;
}

static ocdm_status predict(struct scene *scene, ocdm_error *error)
{
    float logits[BATCH * CLASSES];
    ocdm_status status = ocdm__agent_predict(scene->agent, samples(BATCH).input, BATCH, logits, error);
    if (status == OCDM_OK)
        append(&scene->result, logits, sizeof logits);
    return status;
}

static ocdm_status features(struct scene *scene, ocdm_error *error)
{
    size_t size = BATCH * (size_t)ocdm__agent_feature_width(scene->agent) * sizeof(float);
    float rows[BATCH * 1024];
    assert_true(size <= sizeof rows);
    ocdm_status status = ocdm__agent_features(scene->agent, samples(BATCH).input, BATCH, rows, error);
    if (status == OCDM_OK)
        append(&scene->result, rows, size);
    return status;
}

/* One sample, as GSS asks for it. The room was made before: it is the caller's. */
static ocdm_status gradient(struct scene *scene, ocdm_error *error)
{
    static float room[400000];
    size_t size = ocdm__agent_gradient_size(scene->agent);
    assert_true(size <= sizeof room / sizeof room[0]);
    ocdm__batch batch = samples(1);
    ocdm_status status = ocdm__agent_gradient(scene->agent, &batch, room, error);
    if (status == OCDM_OK)
        append(&scene->result, room, size * sizeof(float));
    return status;
}

static ocdm_status save_some(struct scene *scene, bool optimiser, ocdm_error *error)
{
    ocdm__tensor_list state = {.count = 77};
    ocdm_status status = agent_save(scene->agent, optimiser, &state, error);
    HOLDS(scene->subject->model, (state.count == 77 && state.tensors == NULL) == (status != OCDM_OK));
    if (status != OCDM_OK)
        return status;
    append_state(&scene->result, &state);
    ocdm__tensor_list_clear(&state);
    return OCDM_OK;
}

static ocdm_status save_weights(struct scene *scene, ocdm_error *error)
{
    return save_some(scene, false, error);
}

static ocdm_status save_checkpoint(struct scene *scene, ocdm_error *error)
{
    return save_some(scene, true, error);
}

static ocdm_status load(struct scene *scene, ocdm_error *error)
{
    struct ocdm__weights weights = {"kept", &scene->kept->file};
    return ocdm__agent_load(scene->agent, &weights, error);
}

enum needs { NO_FILE, WEIGHTS, CHECKPOINT };

static const struct act {
    const char *name;
    ocdm_status (*run)(struct scene *, ocdm_error *);
    enum needs needs;
    bool onednn;  /* it calls oneDNN, whatever the model */
    bool changes; /* it changes weights as it goes */
} acts[] = {
    {"create", make, NO_FILE, false, false},
    {"create with weights", make, WEIGHTS, false, false},
    {"create from a checkpoint", make, CHECKPOINT, false, false},
    {"train", step, NO_FILE, true, true},
    {"predict", predict, NO_FILE, true, false},
    {"features", features, NO_FILE, false, false},
    {"gradient", gradient, NO_FILE, true, false},
    {"save weights", save_weights, NO_FILE, false, false},
    {"save a checkpoint", save_checkpoint, NO_FILE, false, false},
    {"load weights", load, WEIGHTS, false, true},
    {"load a checkpoint", load, CHECKPOINT, false, true},
};
enum { ACTS = sizeof acts / sizeof acts[0] };

/* ---- failing ---------------------------------------------------------------------------------------------------------- */

/* One act of one model, the agent being new or having made a step on a smaller batch. */
struct trial {
    const struct subject *subject;
    const struct act *act;
    bool warmed;
    struct kept_file kept;
    struct bytes before, after; /* of an agent that never failed */
    char where[80];
};

static struct scene scene_of(const struct trial *trial)
{
    struct scene scene = {.subject = trial->subject, .kept = &trial->kept};
    scene.result.data = result_room;
    if (trial->act->run != make)
        scene.agent = agent_of(trial->subject);
    if (trial->act->run != make && trial->warmed)
        train(scene.agent, FIRST_BATCH);
    return scene;
}

/* Ends a scene after a good act: what came out of it, and what a step and a prediction from there come to. */
static struct bytes end_of(struct scene *scene)
{
    assert_int_equal(step(scene, NULL), OCDM_OK);
    assert_int_equal(predict(scene, NULL), OCDM_OK);
    struct bytes all = weights_of(scene->agent, true, scene->result.size);
    append(&all, scene->result.data, scene->result.size);
    ocdm__agent_destroy(scene->agent);
    return all;
}

static void begin(struct trial *trial, const struct subject *subject, const struct act *act, bool warmed)
{
    *trial = (struct trial){.subject = subject, .act = act, .warmed = warmed};
    snprintf(trial->where, sizeof trial->where, "%s, %s, %s agent", subject->model, act->name, warmed ? "used" : "new");
    if (act->needs != NO_FILE)
        trial->kept = kept_of(subject, act->needs == CHECKPOINT);
    struct scene scene = scene_of(trial);
    if (scene.agent != NULL)
        trial->before = weights_of(scene.agent, false, 0);
    ocdm__agent_destroy(scene.agent);
    scene = scene_of(trial);
    assert_int_equal(act->run(&scene, NULL), OCDM_OK);
    trial->after = end_of(&scene);
}

static void end(struct trial *trial)
{
    if (trial->kept.bytes != NULL)
        kept_closed(&trial->kept);
    free(trial->before.data);
    free(trial->after.data);
}

static void check_failure(ocdm_status status, const ocdm_error *error, const char *where)
{
    HOLDS(where, status == OCDM_NO_MEMORY && error->status == OCDM_NO_MEMORY);
    HOLDS(error->message, strstr(error->message, "memory"));
}

/* Whether the act did, with call number n of a kind failing. */
static bool acts_with_fault(const struct trial *trial, struct scene *scene, enum fault_kind kind, unsigned long n,
                            bool for_good)
{
    ocdm_error error = {0};
    fault_at(kind, n, ENOMEM, for_good);
    ocdm_status status = trial->act->run(scene, &error);
    unsigned long calls = fault_calls(kind);
    fault_off();
    HOLDS(trial->where, (status == OCDM_OK) == (calls < n));
    if (status != OCDM_OK)
        check_failure(status, &error, trial->where);
    return status == OCDM_OK;
}

/* Fails each call of a kind, on an agent of its own each time; one that could not be made leaves nothing to look at. Returns
 * how many calls there were. */
static unsigned long fail_each(const struct trial *trial, enum fault_kind kind, bool for_good)
{
    for (unsigned long n = 1;; n++) {
        struct scene scene = scene_of(trial);
        bool done = acts_with_fault(trial, &scene, kind, n, for_good);
        if (!done && scene.agent == NULL)
            continue;
        if (!done) {
            same_bytes(&trial->before, weights_of(scene.agent, false, 0), trial->where);
            assert_int_equal(trial->act->run(&scene, NULL), OCDM_OK);
        }
        same_bytes(&trial->after, end_of(&scene), trial->where);
        if (done)
            return n - 1;
    }
}

/* On a new agent each allocation fails once; on a used one all that follow fail too. */
TEST(agent_changes_nothing_at_every_failed_allocation)
{
    size_t count = subject_count() * ACTS * 2;
    for (size_t i = 0; i < count; i++) {
        const struct act *act = &acts[i / 2 % ACTS];
        struct trial trial;
        if (act->run == make && i % 2)
            continue;
        begin(&trial, &subjects[i / 2 / ACTS], act, i % 2);
        bool nothing_to_allocate = trial.act->run == features && ocdm__model_takes_images(trial.subject->model) == false;
        unsigned long failed = fail_each(&trial, FAULT_ALLOCATE, i % 2);
        HOLDS(trial.where, failed > 0 || nothing_to_allocate);
        if (act->run == make)
            fail_each(&trial, FAULT_ALLOCATE, true);
        end(&trial);
    }
}

/* ---- oneDNN runs out of memory ------------------------------------------------------------------------------------------ */

static void agent_refuses_everything(struct scene *scene, const char *where)
{
    for (size_t i = 3; i < ACTS; i++) {
        ocdm_error error = {0};
        if (acts[i].needs != NO_FILE && scene->kept->bytes == NULL)
            continue;
        ocdm_status status = acts[i].run(scene, &error);
        HOLDS(where, status == OCDM_NO_MEMORY);
        HOLDS(acts[i].name, strstr(error.message, "cannot go on"));
    }
}

/* The agent is either unchanged, or refuses every later call. */
static unsigned long fail_each_in_the_middle(const struct trial *trial, bool for_good)
{
    for (unsigned long n = 1;; n++) {
        struct scene scene = scene_of(trial);
        bool done = acts_with_fault(trial, &scene, FAULT_OWN, n, for_good);
        if (done) {
            same_bytes(&trial->after, end_of(&scene), trial->where);
            return n - 1;
        }
        agent_refuses_everything(&scene, trial->where);
        ocdm__agent_destroy(scene.agent);
    }
}

TEST(agent_is_whole_or_cannot_go_on_when_onednn_fails)
{
    size_t count = subject_count() * ACTS;
    for (size_t i = 0; i < count; i++) {
        struct trial trial;
        begin(&trial, &subjects[i / ACTS], &acts[i % ACTS], true);
        for (int for_good = 0; for_good < 2; for_good++) {
            unsigned long failed =
                trial.act->changes ? fail_each_in_the_middle(&trial, for_good) : fail_each(&trial, FAULT_OWN, for_good);
            HOLDS(trial.where, failed > 0 || !trial.act->onednn);
        }
        end(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agent_changes_nothing_at_every_failed_allocation),
        cmocka_unit_test(agent_is_whole_or_cannot_go_on_when_onednn_fails),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
