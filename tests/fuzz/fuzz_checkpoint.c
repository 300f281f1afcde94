/*
 * Checkpoints with right checksums and wrong contents. The first byte chooses one of some stopped runs, each further piece of
 * the input changes a number, a byte or the size of one of the tensors of its checkpoint, or a note. Then the run is resumed:
 * either the checkpoint is refused with a message, or the run ends with all its files.
 */
#define _GNU_SOURCE

#include "../test.h"
#include "../nested_files.h"

#include "../unit/run_in_folder.h"
#include "base/bytes.h"
#include "base/safetensors.h"

#define RUNS 3
#define MOST_TENSORS 64
#define MOST_NOTES 32
#define CHANGE_SIZE 12

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A run that was stopped: its settings, its log, and its checkpoint taken apart. */
static struct stopped_run {
    ocdm__run_settings settings;
    unsigned char *log, *checkpoint;
    size_t log_size;
    struct ocdm__safetensors file; /* names, keys and values end with NULs */
} runs[RUNS];

/* ---- the runs ----------------------------------------------------------------------------------------------------------- */

static char *ended(const char *text, size_t length)
{
    char *copy = strndup(text, length);
    assert_non_null(copy);
    return copy;
}

static void take_apart(struct stopped_run *run)
{
    size_t size;
    run->log = read_whole("parts/run.jsonl", &run->log_size);
    run->checkpoint = read_whole("parts/checkpoint.safetensors", &size);
    struct ocdm__safetensors *file = &run->file;
    assert_int_equal(ocdm__safetensors_read(file, "parts", run->checkpoint, size, NULL), OCDM_OK);
    assert_true(file->tensor_count <= MOST_TENSORS && file->note_count <= MOST_NOTES);
    for (size_t i = 0; i < file->tensor_count; i++)
        file->tensors[i].name = ended(file->tensors[i].name, file->tensors[i].name_length);
    for (size_t i = 0; i < file->note_count; i++) {
        file->notes[i].key = ended(file->notes[i].key, file->notes[i].key_length);
        file->notes[i].value = ended(file->notes[i].value, file->notes[i].value_length);
    }
}

static void make_run(struct stopped_run *run, const char *method, const char *model, bool rich)
{
    run->settings = settings_of(method);
    run->settings.model = model;
    run->settings.memory = 6;
    run->settings.log_every = 1;
    if (rich) {
        run->settings.network.averages = (ocdm__rates){.values = {0.5, 0.9}, .count = 2};
        run->settings.replay_policy = OCDM__REPLAY_LOSS;
        run->settings.network.loss.dark = 0.5;
        run->settings.loss_balance = 0.5;
        run->settings.blur.share = 0.3;
        run->settings.eval_every = 1;
        run->settings.eval_samples = 3;
        run->settings.steps_per_batch = 2;
        run->settings.budget.operations = 4000;
    }
    stops("parts", run->settings, "stream", 3);
    take_apart(run);
    remove_folder("parts");
}

static void leave(void)
{
    remove_tree(scratch_folder);
}

/* An assertion that fails outside of a test aborts, so that the fuzzer keeps the input. */
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    static const struct small_plan plan = {.tasks = 2, .train = 9, .test = 4, .seed = 1};
    (void)count, (void)arguments;
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    assert_int_equal(enter_folder(NULL), 0);
    atexit(leave);
    small_file(&plan, "stream");
    make_run(&runs[0], "ocdm", "none", false);
    make_run(&runs[1], "ocdm", "linear", true);
    make_run(&runs[2], "gss", "mlp", false);
    return 0;
}

/* ---- changes ------------------------------------------------------------------------------------------------------------ */

/* A checkpoint while it is changed; what is NULL is as it was. */
struct changed {
    const struct stopped_run *run;
    struct ocdm__tensor tensors[MOST_TENSORS];
    unsigned char *data[MOST_TENSORS];
    char *values[MOST_NOTES];
};

/* The tensor's bytes to write to, with room for twice as many. */
static unsigned char *own_data(struct changed *changed, size_t tensor)
{
    struct ocdm__tensor *it = &changed->tensors[tensor];
    if (changed->data[tensor] == NULL) {
        changed->data[tensor] = calloc(2 * it->size + 16, 1);
        assert_non_null(changed->data[tensor]);
        if (it->size > 0)
            memcpy(changed->data[tensor], it->data, it->size);
        it->data = changed->data[tensor];
    }
    return changed->data[tensor];
}

/* Where the data of a file begins that is a tensor itself; 0 for other tensors. */
static size_t inner_start(const struct ocdm__tensor *tensor)
{
    if (strcmp(tensor->name, "memory") != 0 || tensor->size < 8)
        return 0;
    uint64_t header = ocdm__get_u64(tensor->data);
    return header < tensor->size - 8 ? 8 + (size_t)header : 0;
}

static void put_number(struct changed *changed, size_t tensor, size_t place, uint64_t number)
{
    size_t start = inner_start(&changed->tensors[tensor]), count = (changed->tensors[tensor].size - start) / 8;
    if (count > 0)
        ocdm__put_u64(own_data(changed, tensor) + start + place % count * 8, number);
}

static void put_byte(struct changed *changed, size_t tensor, size_t place, unsigned char byte)
{
    if (changed->tensors[tensor].size > 0)
        own_data(changed, tensor)[place % changed->tensors[tensor].size] = byte;
}

/* Up to twice as many elements as the original has, zeros at the end. */
static void put_size(struct changed *changed, size_t tensor, size_t place)
{
    struct ocdm__tensor *it = &changed->tensors[tensor];
    size_t element = ocdm__dtype_size(it->dtype), original = changed->run->file.tensors[tensor].size / element;
    if (changed->data[tensor] == NULL)
        own_data(changed, tensor);
    it->size = place % (2 * original + 1) * element;
    it->shape[0] = it->size / element;
    it->rank = 1;
}

static void put_note(struct changed *changed, size_t note, size_t place, char byte)
{
    const char *value = changed->run->file.notes[note].value;
    if (changed->values[note] == NULL)
        changed->values[note] = ended(value, strlen(value));
    size_t length = strlen(changed->values[note]);
    if (length > 0 && byte >= ' ' && byte != '"' && byte != '\\')
        changed->values[note][place % length] = byte;
}

/* The bytes: what is changed, how, where (two bytes), and a number. */
static void change(struct changed *changed, const uint8_t *bytes)
{
    const struct ocdm__safetensors *file = &changed->run->file;
    size_t tensor = bytes[0] % file->tensor_count, place = bytes[2] + 256u * bytes[3];
    switch (bytes[1] % 5) {
    case 0:
        put_number(changed, tensor, place, ocdm__get_u64(bytes + 4));
        break;
    case 1:
        put_number(changed, tensor, place, bytes[4]);
        break;
    case 2:
        put_byte(changed, tensor, place, bytes[4]);
        break;
    case 3:
        put_size(changed, tensor, place);
        break;
    default:
        put_note(changed, bytes[0] % file->note_count, place, (char)bytes[4]);
    }
}

/* The memory within the checkpoint is a file with a checksum of its own. */
static void make_inner_checksum_right(unsigned char *bytes, size_t size)
{
    static const char key[] = "\"checksum\":\"";
    unsigned char *found = memmem(bytes, size, key, sizeof key - 1);
    if (found == NULL || (size_t)(bytes + size - found) < sizeof key - 1 + 16 || size < 8)
        return;
    char digits[17];
    memcpy(found + sizeof key - 1, OCDM__CHECKSUM_BLANK, 16);
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)ocdm__checksum(OCDM__CHECKSUM_START, bytes + 8, size - 8));
    memcpy(found + sizeof key - 1, digits, 16);
}

/* ---- resuming ----------------------------------------------------------------------------------------------------------- */

static void write_checkpoint(struct changed *changed)
{
    const struct ocdm__safetensors *file = &changed->run->file;
    struct ocdm__note notes[MOST_NOTES];
    size_t count = 0;
    for (size_t i = 0; i < file->note_count; i++)
        if (strcmp(file->notes[i].key, "checksum") != 0)
            notes[count++] = (struct ocdm__note){
                .key = file->notes[i].key, .value = changed->values[i] != NULL ? changed->values[i] : file->notes[i].value};
    for (size_t i = 0; i < file->tensor_count; i++)
        if (changed->data[i] != NULL && strcmp(changed->tensors[i].name, "memory") == 0)
            make_inner_checksum_right(changed->data[i], changed->tensors[i].size);
    ocdm__output output;
    assert_int_equal(ocdm__output_open(&output, "parts/checkpoint.safetensors", NULL), OCDM_OK);
    assert_int_equal(ocdm__safetensors_write(&output, notes, count, changed->tensors, file->tensor_count, NULL), OCDM_OK);
    assert_int_equal(ocdm__output_commit(&output, NULL), OCDM_OK);
}

static void resume(const struct stopped_run *run)
{
    ocdm_error error = {.status = OCDM_OK};
    ocdm_status status = run_in("parts", run->settings, "stream", true, NULL, &error);
    bool finished = access("parts/summary.json", F_OK) == 0 && access("parts/memory.jsonl", F_OK) == 0;
    assert_true(finished == (status == OCDM_OK));
    if (status == OCDM_OK)
        return;
    assert_true(status == OCDM_BAD_FILE || status == OCDM_BAD_ARGUMENT || status == OCDM_BAD_RECORD);
    assert_true(error.status == status && error.message[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct changed changed = {.run = &runs[size > 0 ? data[0] % RUNS : 0]};
    const struct stopped_run *run = changed.run;
    if (size > 1 + 16 * CHANGE_SIZE)
        return 0;
    memcpy(changed.tensors, run->file.tensors, run->file.tensor_count * sizeof *changed.tensors);
    for (size_t at = 1; at + CHANGE_SIZE <= size; at += CHANGE_SIZE)
        change(&changed, data + at);
    assert_int_equal(put_bytes("parts/run.jsonl", run->log, run->log_size), 0);
    write_checkpoint(&changed);
    resume(run);
    remove_folder("parts");
    for (size_t i = 0; i < MOST_TENSORS; i++)
        free(changed.data[i]);
    for (size_t i = 0; i < MOST_NOTES; i++)
        free(changed.values[i]);
    return 0;
}
