/*
 * Getting ready for a run on several ranks, and following its leader.
 *
 * Ranks only work together after all of them have said that they are ready and have the same files. From then on an error of
 * one of them that the others cannot know ends all.
 */
#include "experiment/run_ranks.h"

#include "base/bytes.h"
#include "base/output.h"
#include "ranks/ranks.h"

#define UNIT sizeof(uint32_t)

/* Numbers in one message: MPI counts them with an int. */
#define PIECE ((size_t)1 << 24)

/* ---- agreement -------------------------------------------------------------------------------------------------------- */

/*
 * The same on all ranks: OCDM_OK if all of them are ready and have the leader's checksum, so that none waits for another that
 * cannot go on. `status` is this rank's, its error in `error`. The leader's error then is that of the first rank that is not
 * ready, whose number it has; `what` is what the checksum is of.
 */
static ocdm_status agree(const ocdm__ranks *ranks, ocdm_status status, const uint64_t checksum[2], const char *what,
                         ocdm_error *error)
{
    uint64_t leader[2] = {checksum[0], checksum[1]};
    ocdm_error own = {.status = status};
    if (status != OCDM_OK && error != NULL && ranks->rank == 0)
        own = *error;
    else if (status != OCDM_OK && error != NULL)
        (void)ocdm__fail(&own, status, error->hint, "rank %zu: %.400s", ranks->rank, error->message);
    ranks->broadcast(leader, sizeof leader / (UNIT));
    if (own.status == OCDM_OK && memcmp(leader, checksum, sizeof leader) != 0)
        (void)ocdm__fail(&own, OCDM_BAD_FILE, "give all ranks the same files", "rank %zu has %s than rank 0", ranks->rank,
                         what);
    status = ocdm__ranks_agree(ranks, &own);
    if (status != OCDM_OK && error != NULL)
        *error = own;
    return status;
}

/* After a part of the work, which has no checksum. */
static ocdm_status all_did(const ocdm__ranks *ranks, ocdm_status status, ocdm_error *error)
{
    static const uint64_t none[2] = {0, 0};
    return agree(ranks, status, none, "", error);
}

/* Of what the results of a run follow from. */
static ocdm_status checksum_of(const ocdm__run *run, uint64_t checksum[2], ocdm_error *error)
{
    const ocdm__stream_order *order = &run->schedule.order;
    size_t classes = run->stream->table.class_count;
    ocdm__output text;
    OCDM_TRY(ocdm__output_open_memory(&text, "the settings", error));
    ocdm__run_settings_write(&text, run->settings, order->tasks, order->task_count);
    ocdm_status status = ocdm__output_check(&text, error);
    uint64_t sum = ocdm__checksum(OCDM__CHECKSUM_START, text.buffer, text.used);
    ocdm__output_abandon(&text);
    sum = ocdm__checksum(sum, run->stream->checksum, sizeof run->stream->checksum);
    sum = ocdm__checksum(sum, run->groups, classes * sizeof *run->groups);
    if (run->class_weights != NULL)
        sum = ocdm__checksum(sum, run->class_weights, classes * sizeof *run->class_weights);
    checksum[0] = sum;
    return status;
}

static const char run_files[] = "another stream, or other groups or weights of classes,";

/* ---- the state of a run ------------------------------------------------------------------------------------------------- */

/* The memory of the leader, which may come from a checkpoint, as bytes: all ranks then make the same decisions. */
static ocdm_status share_memory(ocdm__run *run, ocdm_error *error)
{
    const ocdm__ranks *ranks = run->ranks;
    unsigned char *bytes = NULL;
    size_t length = 0;
    ocdm_status status = ranks->rank == 0 ? ocdm__run_memory_bytes(run, &bytes, &length, error) : OCDM_OK;
    uint64_t size = length;
    ranks->broadcast(&size, sizeof size / UNIT);
    if (ranks->rank != 0)
        status = ocdm__new(&bytes, (size_t)size + UNIT, 1, "the memory of rank 0", error);
    status = all_did(ranks, status, error);
    if (status == OCDM_OK) {
        ranks->broadcast(bytes, ((size_t)size + UNIT - 1) / UNIT);
        if (ranks->rank != 0 && size > 0) {
            ocdm_memory_destroy(run->memory);
            run->memory = NULL;
            status = ocdm_memory_load_bytes(bytes, (size_t)size, NULL, NULL, &run->memory, error);
        }
        status = all_did(ranks, status, error);
    }
    ocdm__release(bytes);
    return status;
}

/* What a checkpoint may have brought to the leader: where the run is, what is kept beside the samples of the memory, the memory
 * and the learner. The same on all ranks: OCDM_OK if all of them have it. The learner allocated what it needs for this when it
 * was made, so that its part fails nowhere or ends all ranks. */
static ocdm_status share_state(ocdm__run *run, ocdm_error *error)
{
    const ocdm__ranks *ranks = run->ranks;
    const ocdm__replay *replays = &run->replays;
    uint64_t position[] = {run->step, run->evaluation_count, run->skipped, run->probes.count};
    ranks->broadcast(position, sizeof position / (UNIT));
    run->step = position[0];
    run->evaluation_count = (size_t)position[1];
    run->skipped = position[2];
    run->probes.count = (size_t)position[3];
    ranks->broadcast(&run->cost, sizeof run->cost / UNIT);
    if (run->misses != NULL)
        ranks->broadcast(run->misses, (size_t)(ocdm__schedule_steps(&run->schedule) / 32) + 1);
    size_t count = replays->kept != NULL ? replays->capacity * replays->width : 0;
    for (size_t at = 0; at < count; at += PIECE)
        ranks->broadcast(replays->kept + at, count - at < PIECE ? count - at : PIECE);
    OCDM_TRY(share_memory(run, error));
    ocdm_error own = {.status = OCDM_OK};
    ocdm_status status = run->learner->functions->share(run->learner->state, &own);
    if (status != OCDM_OK)
        ranks->fail(&own);
    if (ranks->rank != 0) {
        OCDM_THEN(status, ocdm__probes_reserve(&run->probes, run->probes.count, error));
        OCDM_THEN(status, ocdm__run_begin(run, error));
    }
    return all_did(ranks, status, error);
}

/* ---- leading and following --------------------------------------------------------------------------------------------- */

ocdm_status ocdm__run_lead(ocdm__run *run, ocdm_error *error)
{
    uint64_t checksum[2] = {0, 0};
    uint32_t begins = run != NULL && run->ranks->size > 1;
    ocdm__ranks_all()->broadcast(&begins, 1);
    if (!begins)
        return OCDM_OK;
    ocdm_status status = checksum_of(run, checksum, error);
    OCDM_TRY(agree(run->ranks, status, checksum, run_files, error));
    return share_state(run, error);
}

void ocdm__run_follow(ocdm__run_settings *settings, const char *path, const ocdm__learner_maker *learner)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    ocdm__stream stream = {.task_count = 0};
    uint64_t checksum[2] = {0, 0};
    enum ocdm__run_event event;
    ocdm__run *run = NULL;
    ocdm_error error;
    uint32_t begins;
    ranks->broadcast(&begins, 1);
    if (!begins)
        return;
    ocdm_status status = ocdm__stream_open(&stream, path, &error);
    OCDM_THEN(status, ocdm__run_settings_resolve(settings, &stream, path, &error));
    OCDM_THEN(status, ocdm__run_open(settings, &stream, learner, &run, &error));
    OCDM_THEN(status, checksum_of(run, checksum, &error));
    status = agree(ranks, status, checksum, run_files, &error);
    OCDM_THEN(status, share_state(run, &error));
    while (status == OCDM_OK && ocdm__run_goes_on(run, false))
        (void)ocdm__run_advance(run, NULL, &event, &error); /* the leader reports what is no reason to end all ranks */
    ocdm__run_close(run);
    ocdm__stream_close(&stream);
}

/* ---- joining ------------------------------------------------------------------------------------------------------------ */

/* Whether all ranks work alike; whether the leader has told the others. */
static bool joined, told;

void ocdm__join_begin(bool wanted)
{
    uint32_t word = wanted;
    ocdm__ranks_all()->broadcast(&word, 1);
    joined = wanted && ocdm__ranks_all()->size > 1;
    told = true;
}

void ocdm__join_end(void)
{
    if (!told)
        ocdm__join_begin(false);
    joined = told = false;
}

bool ocdm__join_await(void)
{
    uint32_t wanted = 0;
    ocdm__ranks_all()->broadcast(&wanted, 1);
    joined = wanted != 0;
    return joined;
}

bool ocdm__joined(void)
{
    return joined;
}

ocdm_status ocdm__join_ready(const ocdm__learner *learner, const ocdm__stream *stream, ocdm_status status, ocdm_error *error)
{
    const ocdm__ranks *ranks = ocdm__ranks_all();
    ocdm_error own = {.status = OCDM_OK};
    if (!joined)
        return status;
    OCDM_TRY(agree(ranks, status, stream->checksum, "another stream", error));
    status = learner->functions->share(learner->state, &own);
    if (status != OCDM_OK)
        ocdm__ranks_end_after(ranks, &own);
    return status;
}
