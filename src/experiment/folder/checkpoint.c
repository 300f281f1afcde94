/*
 * Writes and reads checkpoints. Everything of a run that is numbers goes through one table, whose functions name the numbers in
 * their order: the same function writes, counts and reads them. The tensors of the learner are fetched one at a time;
 * everything else is small. Nothing in a file is trusted before it is checked.
 */
#include "experiment/folder/checkpoint.h"

#include "base/bytes.h"
#include "base/output.h"
#include "base/text.h"
#include "experiment/folder/saved_run.h"

/* What differs between versions of the format. */
static const char format_version[] = "1";

/* The note that says which instructions the learner's numbers come from. */
static const char instructions_note[] = "instructions";

/* ---- records of numbers -------------------------------------------------------------------------------------------------- */

/*
 * A tensor of numbers holds records; the note "fields.RECORD" of the file lists the names of their fields in order. A reader
 * takes the fields that it knows: one that the file does not have becomes NaN or 0, one that it does not know is skipped. So a
 * new metric or field does not keep older checkpoints from being resumed. Checkpoints without such notes have the fields of the
 * first version. To add a field, add it at the end of its row.
 */
enum record_kind {
    POSITION,   /* ocdm__checkpoint_position; the tensor is U64, all others are F64 */
    TIMES,      /* ocdm__run_times */
    POINT,      /* ocdm__curve_point */
    EVALUATION, /* ocdm__evaluation without its averages */
    AVERAGES,   /* ocdm__averages */
    SCORE,      /* ocdm__class_score */
    COST,       /* ocdm__run_cost */
    RECORD_KINDS
};

enum { RECORD_FIELDS = 24, RECORD_NOTE = 256 };

/* The type of a member. All are written as real numbers, but those of the position, which must be exact. */
enum type { REAL, LONG, SHORT, SIZE };

struct field {
    const char *name;
    enum type type;
    size_t offset;
};

/* clang-format off */
#define FIELD(object, type, member) {#member, type, offsetof(object, member)}
#define OF_POSITION(member) FIELD(ocdm__checkpoint_position, LONG, member)
#define OF_TIMES(member) FIELD(ocdm__run_times, REAL, member)
#define OF_POINT(member) FIELD(ocdm__curve_point, REAL, member)
#define OF_EVALUATION(type, member) FIELD(ocdm__evaluation, type, member)
#define OF_SCORE(type, member) FIELD(ocdm__class_score, type, member)
#define OF_COST(member) FIELD(ocdm__run_cost, REAL, member)

static const struct record {
    const char *key;
    size_t first_version; /* how many of the fields a file without the note has; 0: all */
    struct field fields[RECORD_FIELDS];
} records[RECORD_KINDS] = {
    [POSITION] = {"fields.position", 0,
                  {OF_POSITION(step), OF_POSITION(evaluations), OF_POSITION(skipped), OF_POSITION(log_size),
                   OF_POSITION(curve_offered), OF_POSITION(curve_stride), OF_POSITION(checksum), OF_POSITION(checksum_2)}},
    [TIMES] = {"fields.times", 0,
               {OF_TIMES(draw), OF_TIMES(decode), OF_TIMES(train), OF_TIMES(update), OF_TIMES(evaluate), OF_TIMES(total)}},
    [POINT] = {"fields.curve", 0,
               {OF_POINT(step), OF_POINT(task), OF_POINT(loss), OF_POINT(distance), OF_POINT(distance_seen)}},
    [EVALUATION] = {"fields.evaluations", 6,
                    {OF_EVALUATION(SHORT, task), OF_EVALUATION(LONG, step), OF_EVALUATION(LONG, samples),
                     OF_EVALUATION(REAL, distance), OF_EVALUATION(REAL, distance_seen), OF_EVALUATION(LONG, skipped),
                     OF_EVALUATION(REAL, ahead), OF_EVALUATION(REAL, threshold)}},
    [AVERAGES] = {"fields.averages", 9, {FIELD(ocdm__averages, SIZE, classes)}}, /* and all metrics */
    [SCORE] = {"fields.class_scores", 4,
               {OF_SCORE(SHORT, positives), OF_SCORE(SHORT, predicted), OF_SCORE(SHORT, hits), OF_SCORE(REAL, ap),
                OF_SCORE(SHORT, samples), OF_SCORE(REAL, auc), OF_SCORE(REAL, ece)}},
    [COST] = {"fields.cost", 0,
              {OF_COST(operations), OF_COST(updates), OF_COST(missed), OF_COST(missed_samples), OF_COST(behind)}},
};
/* clang-format on */

_Static_assert(OCDM__METRIC_COUNT < RECORD_FIELDS, "a record has room for all metrics");

/* Field number i; its name is NULL after the last one. */
static struct field field_at(enum record_kind kind, size_t i)
{
    const struct field none = {.name = NULL};
    if (i >= RECORD_FIELDS)
        return none;
    if (kind != AVERAGES || i == 0)
        return records[kind].fields[i];
    if (i > OCDM__METRIC_COUNT)
        return none;
    return (struct field){ocdm__metric_name((ocdm_metric)(i - 1)), REAL,
                          offsetof(ocdm__averages, value) + (i - 1) * sizeof(double)};
}

/* How a file stores a kind of record. */
struct layout {
    size_t width;             /* numbers of a record, 0 for a note that makes no sense */
    size_t at[RECORD_FIELDS]; /* place of each field that we know; SIZE_MAX: not in the file */
};

static struct layout layout_of(const struct ocdm__safetensors *file, enum record_kind kind)
{
    struct layout layout = {.width = 0};
    const struct ocdm__note *note = ocdm__safetensors_note(file, records[kind].key);
    const char *text = note != NULL ? note->value : NULL, *end = note != NULL ? text + note->value_length : NULL;
    size_t first = records[kind].first_version > 0 ? records[kind].first_version : RECORD_FIELDS;
    for (size_t i = 0; i < RECORD_FIELDS; i++) {
        bool known = note == NULL && i < first && field_at(kind, i).name != NULL;
        layout.at[i] = known ? layout.width : SIZE_MAX;
        layout.width += known;
    }
    for (; text < end; layout.width++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t length = (size_t)((comma != NULL ? comma : end) - text);
        for (size_t i = 0; field_at(kind, i).name != NULL; i++)
            if (ocdm__text_is(text, length, field_at(kind, i).name))
                layout.at[i] = layout.width;
        text += length + (comma != NULL);
    }
    return layout;
}

/* Numbers of eight bytes on their way to a file or from one. */
struct pass {
    ocdm__output *to;
    const unsigned char *from;
    size_t left; /* numbers that can be read; `lacks`: more were asked for */
    bool lacks;
    const struct layout *layouts; /* of the file that is read, one for each kind */
};

/* The place of so many numbers to read; NULL: there are not as many. */
static const unsigned char *take(struct pass *pass, size_t count)
{
    const unsigned char *from = pass->from;
    pass->lacks = pass->lacks || count > pass->left;
    if (pass->lacks)
        return NULL;
    pass->from += 8 * count;
    pass->left -= count;
    return from;
}

static void write_member(ocdm__output *output, enum type type, bool exact, const void *member)
{
    unsigned char bytes[8];
    if (exact)
        ocdm__put_u64(bytes, *(const uint64_t *)member);
    else
        ocdm__put_double(bytes, type == REAL    ? *(const double *)member
                                : type == LONG  ? (double)*(const uint64_t *)member
                                : type == SHORT ? *(const uint32_t *)member
                                                : (double)*(const size_t *)member);
    ocdm__output_write(output, bytes, sizeof bytes);
}

/* A count was written as a real number; what is not a count becomes 0. `bytes` is NULL for a field that the file lacks. */
static void read_member(const unsigned char *bytes, enum type type, bool exact, void *member)
{
    double value = bytes != NULL && !exact ? ocdm__get_double(bytes) : NAN;
    uint64_t count = value >= 0 && value < 0x1p53 ? (uint64_t)value : 0;
    if (type == REAL)
        *(double *)member = value;
    else if (type == LONG)
        *(uint64_t *)member = bytes != NULL && exact ? ocdm__get_u64(bytes) : count;
    else if (type == SHORT)
        *(uint32_t *)member = (uint32_t)count;
    else
        *(size_t *)member = (size_t)count;
}

static void pass_record(struct pass *pass, enum record_kind kind, void *object)
{
    const struct layout *layout = pass->to == NULL ? &pass->layouts[kind] : NULL;
    const unsigned char *from = layout != NULL ? take(pass, layout->width) : NULL;
    for (size_t i = 0; (pass->to != NULL || from != NULL) && field_at(kind, i).name != NULL; i++) {
        const struct field field = field_at(kind, i);
        void *member = (unsigned char *)object + field.offset;
        if (pass->to != NULL)
            write_member(pass->to, field.type, kind == POSITION, member);
        else
            read_member(layout->at[i] != SIZE_MAX ? from + 8 * layout->at[i] : NULL, field.type, kind == POSITION, member);
    }
}

/* Numbers that are no part of a record. */
static void pass_numbers(struct pass *pass, double *numbers, size_t count)
{
    const unsigned char *from = pass->to == NULL ? take(pass, count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (pass->to != NULL)
            write_member(pass->to, REAL, false, &numbers[i]);
        else if (from != NULL)
            numbers[i] = ocdm__get_double(from + 8 * i);
}

/* ---- numbers of a run ---------------------------------------------------------------------------------------------------- */

/* The tensors of numbers, in their order in the file, after the position. */
enum part {
    ALL_TIMES,
    CURVE,
    EVALUATIONS,
    SCORES,
    OTHER_EVALUATIONS,
    OTHER_SCORES,
    CLASS_WEIGHTS,
    ALL_COST,
    PROBES,
    UNTRAINED,
    PARTS
};

static const char *const part_names[PARTS] = {[ALL_TIMES] = "times",
                                              [CURVE] = "curve",
                                              [EVALUATIONS] = "evaluations",
                                              [SCORES] = "class_scores",
                                              [OTHER_EVALUATIONS] = "averages.evaluations",
                                              [OTHER_SCORES] = "averages.class_scores",
                                              [CLASS_WEIGHTS] = "class_weights",
                                              [ALL_COST] = "cost",
                                              [PROBES] = "probes",
                                              [UNTRAINED] = "untrained"};

/* Whether a run has such numbers: others keep their bytes. */
static bool has_part(const ocdm__run *run, enum part part)
{
    const bool has[PARTS] = {[ALL_TIMES] = true,
                             [CURVE] = true,
                             [EVALUATIONS] = true,
                             [SCORES] = true,
                             [OTHER_EVALUATIONS] = run->version_count > 1,
                             [OTHER_SCORES] = run->version_count > 1,
                             [CLASS_WEIGHTS] = run->class_weights != NULL,
                             [ALL_COST] = true,
                             [PROBES] = run->settings->eval_every > 0,
                             [UNTRAINED] = run->untrained != NULL};
    return has[part];
}

/* The version of the weights that is reported has tensors of its own, the others share theirs. An evaluation has the averages
 * of all classes, of each group, and of each task that was tested. */
static void pass_versions(struct pass *pass, ocdm__run *run, enum part part)
{
    bool reported = part == EVALUATIONS || part == SCORES, scores = part == SCORES || part == OTHER_SCORES;
    for (size_t v = 0; v < run->version_count; v++) {
        if ((v == run->reported) != reported)
            continue;
        for (size_t i = 0; !scores && i < run->evaluation_count; i++) {
            ocdm__evaluation *evaluation = &run->versions[v].evaluations[i];
            pass_record(pass, EVALUATION, evaluation);
            pass_record(pass, AVERAGES, &evaluation->total);
            for (size_t g = 0; g < OCDM__GROUPS; g++)
                pass_record(pass, AVERAGES, &evaluation->groups[g]);
            for (size_t k = 0; k < evaluation->task_count; k++)
                pass_record(pass, AVERAGES, &evaluation->tasks[k]);
        }
        for (size_t c = 0; scores && c < run->stream->table.class_count; c++)
            pass_record(pass, SCORE, &run->versions[v].scores[c]);
    }
}

static void pass_part(struct pass *pass, ocdm__run *run, enum part part)
{
    ocdm__run_times times = ocdm__run_times_now(run);
    switch (part) {
    case ALL_TIMES: /* a run that is restored goes on from the times of the checkpoint */
        pass_record(pass, TIMES, &times);
        run->times = pass->to == NULL ? times : run->times;
        break;
    case CURVE: /* the newest point is kept apart from those that the curve has thinned out */
        for (size_t i = 0; i < run->curve->count; i++)
            pass_record(pass, POINT, &run->curve->points[i]);
        pass_record(pass, POINT, &run->curve->last);
        break;
    case CLASS_WEIGHTS:
        pass_numbers(pass, run->class_weights, run->stream->table.class_count);
        break;
    case ALL_COST:
        pass_record(pass, COST, &run->cost);
        break;
    case PROBES: /* mAP of each evaluation at any time, by each version of the weights */
        pass_numbers(pass, run->probes.map, run->probes.count * run->probes.versions);
        break;
    case UNTRAINED: /* mAP of each task before the first step */
        pass_numbers(pass, run->untrained, run->schedule.order.task_count);
        break;
    default:
        pass_versions(pass, run, part);
    }
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

/* The file while it is put together: numbers of eight bytes in one block, the rest elsewhere. */
struct image {
    ocdm__output numbers, settings;
    unsigned char *memory;     /* a file within the file */
    ocdm__tensor_list learner; /* their data is fetched when the file is written */
    size_t first;              /* of them among the tensors */
    struct ocdm__tensor *tensors;
    size_t count;
    ocdm__arena arena; /* of the tensors, and of the names of the learner's with their prefix */
};

/* There is room for all of them. */
static void add_tensor(struct image *image, const char *name, enum ocdm__dtype dtype, const void *data, size_t count)
{
    image->tensors[image->count++] = ocdm__tensor_of(name, dtype, data, count);
}

/* The position has exact numbers and comes first; the others follow in the order of their table. */
static ocdm_status add_numbers(struct image *image, ocdm__run *run, uint64_t log_size, ocdm_error *error)
{
    struct pass pass = {.to = &image->numbers};
    ocdm__checkpoint_position position = {.step = run->step,
                                          .evaluations = run->evaluation_count,
                                          .skipped = run->skipped,
                                          .log_size = log_size,
                                          .curve_offered = run->curve->offered,
                                          .curve_stride = run->curve->stride,
                                          .checksum = run->stream->checksum[0],
                                          .checksum_2 = run->stream->checksum[1]};
    pass_record(&pass, POSITION, &position);
    add_tensor(image, "position", OCDM__U64, NULL, image->numbers.used / 8);
    for (enum part part = 0; part < PARTS; part++) {
        size_t begun = image->numbers.used;
        if (!has_part(run, part))
            continue;
        pass_part(&pass, run, part);
        add_tensor(image, part_names[part], OCDM__F64, NULL, (image->numbers.used - begun) / 8);
    }
    OCDM_TRY(ocdm__output_check(&image->numbers, error));
    const unsigned char *data = (const unsigned char *)image->numbers.buffer; /* its place is final now */
    for (size_t i = 0; i < image->count; data += image->tensors[i++].size)
        image->tensors[i].data = data;
    return OCDM_OK;
}

/* Elements of eight bytes come first, single bytes last, so that all are aligned. The learner's tensors have a prefix, so that
 * their names cannot collide with the others. */
static ocdm_status build(struct image *image, ocdm__run *run, uint64_t log_size, ocdm_error *error)
{
    static const char prefix[] = OCDM__CHECKPOINT_LEARNER;
    const ocdm__replay *replays = &run->replays;
    size_t size;
    OCDM_TRY(ocdm__output_open_memory(&image->numbers, "a checkpoint", error));
    OCDM_TRY(ocdm__output_open_memory(&image->settings, "a checkpoint", error));
    if (run->learner != NULL)
        OCDM_TRY(run->learner->functions->save(run->learner->state, true, &image->learner, error));
    image->tensors = ocdm__arena_new(&image->arena, image->learner.count + PARTS + 6, sizeof *image->tensors);
    OCDM_TRY(ocdm__arena_check(&image->arena, "a checkpoint", error));
    OCDM_TRY(add_numbers(image, run, log_size, error));
    image->first = image->count;
    for (size_t i = 0; i < image->learner.count; i++) {
        struct ocdm__tensor *tensor = &image->tensors[image->count++];
        *tensor = image->learner.tensors[i];
        size_t room = strlen(tensor->name) + sizeof prefix;
        char *name = ocdm__arena_new(&image->arena, room, 1);
        OCDM_TRY(ocdm__arena_check(&image->arena, "a checkpoint", error));
        tensor->name_length = (size_t)snprintf(name, room, "%s%s", prefix, tensor->name);
        tensor->name = name;
    }
    ocdm__run_settings_write(&image->settings, run->settings, run->schedule.order.tasks, run->schedule.order.task_count);
    OCDM_TRY(ocdm__output_check(&image->settings, error));
    OCDM_TRY(ocdm__run_memory_bytes(run, &image->memory, &size, error));
    if (replays->kept != NULL)
        add_tensor(image, "replays", OCDM__F32, replays->kept, replays->capacity * replays->width);
    add_tensor(image, "settings", OCDM__U8, image->settings.buffer, image->settings.used);
    add_tensor(image, "memory", OCDM__U8, image->memory, size);
    if (run->misses != NULL)
        add_tensor(image, "misses", OCDM__U8, run->misses, (size_t)((run->step + 7) / 8));
    add_tensor(image, "groups", OCDM__U8, run->groups, run->stream->table.class_count);
    return OCDM_OK;
}

/* Notes name the fields of each kind of record, so that later versions can add some. */
ocdm_status ocdm__checkpoint_write(ocdm__run *run, uint64_t log_size, const char *path, ocdm_error *error)
{
    char names[RECORD_KINDS][RECORD_NOTE];
    struct ocdm__note notes[4 + RECORD_KINDS] = {{.key = "format", .value = OCDM__CHECKPOINT_FORMAT},
                                                 {.key = "version", .value = format_version},
                                                 {.key = "program", .value = ocdm_version()}};
    size_t count = 3;
    for (enum record_kind kind = 0; kind < RECORD_KINDS; kind++) {
        names[kind][0] = '\0';
        for (size_t i = 0; field_at(kind, i).name != NULL; i++)
            ocdm__append(names[kind], RECORD_NOTE, "%s%s", i > 0 ? "," : "", field_at(kind, i).name);
        notes[count++] = (struct ocdm__note){.key = records[kind].key, .value = names[kind]};
    }
    if (run->learner != NULL && run->learner->instructions[0] != '\0')
        notes[count++] = (struct ocdm__note){.key = instructions_note, .value = run->learner->instructions};
    struct image image = {.count = 0};
    ocdm_status status = build(&image, run, log_size, error);
    const ocdm__learner_file file = {.notes = notes,
                                     .note_count = count,
                                     .tensors = image.tensors,
                                     .tensor_count = image.count,
                                     .learner = run->learner,
                                     .saved = &image.learner,
                                     .first = image.first};
    OCDM_THEN(status, ocdm__learner_file_write(path, &file, error));
    ocdm__output_abandon(&image.numbers);
    ocdm__output_abandon(&image.settings);
    ocdm__tensor_list_clear(&image.learner);
    ocdm__release(image.memory);
    ocdm__arena_clear(&image.arena);
    return status;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

/* The file is whole by its checksum, but no run of this program could have written it. */
static ocdm_status refuse(const ocdm__checkpoint *checkpoint, const char *what, ocdm_error *error)
{
    return ocdm__fail(error, OCDM_BAD_FILE, "the file is damaged or not a checkpoint of this program", "%s: %s",
                      checkpoint->file.name, what);
}

/* NULL where the file has none of that type. */
static const struct ocdm__tensor *find_tensor(const ocdm__checkpoint *checkpoint, const char *name, enum ocdm__dtype dtype)
{
    const struct ocdm__tensor *tensor = ocdm__safetensors_find(&checkpoint->tensors, name);
    return tensor != NULL && tensor->dtype == dtype && tensor->rank == 1 ? tensor : NULL;
}

ocdm_status ocdm__checkpoint_open(ocdm__checkpoint *checkpoint, const char *path, ocdm_error *error)
{
    *checkpoint = (ocdm__checkpoint){.tensors = {.tensor_count = 0}};
    OCDM_TRY(ocdm__map_file(&checkpoint->file, path, error));
    OCDM_TRY(ocdm__safetensors_read(&checkpoint->tensors, path, checkpoint->file.bytes, checkpoint->file.size, error));
    const struct ocdm__note *format = ocdm__safetensors_note(&checkpoint->tensors, "format");
    const struct ocdm__note *version = ocdm__safetensors_note(&checkpoint->tensors, "version");
    if (ocdm__safetensors_note(&checkpoint->tensors, "checksum") == NULL)
        return refuse(checkpoint, "the checksum is missing", error);
    if (format == NULL || !ocdm__note_is(format, OCDM__CHECKPOINT_FORMAT))
        return refuse(checkpoint, "this is not a checkpoint", error);
    if (version == NULL || !ocdm__note_is(version, format_version))
        return refuse(checkpoint, "the checkpoint is of another version", error);
    const struct layout layout = layout_of(&checkpoint->tensors, POSITION);
    const struct ocdm__tensor *position = find_tensor(checkpoint, "position", OCDM__U64);
    if (position == NULL || layout.width == 0 || position->size != 8 * layout.width ||
        find_tensor(checkpoint, "settings", OCDM__U8) == NULL || find_tensor(checkpoint, "memory", OCDM__U8) == NULL)
        return refuse(checkpoint, "a tensor is missing or has another shape", error);
    struct pass pass = {.from = position->data, .left = layout.width, .layouts = &layout};
    pass_record(&pass, POSITION, &checkpoint->position);
    return OCDM_OK;
}

void ocdm__checkpoint_close(ocdm__checkpoint *checkpoint)
{
    ocdm__safetensors_close(&checkpoint->tensors);
    ocdm__unmap_file(&checkpoint->file);
    *checkpoint = (ocdm__checkpoint){.tensors = {.tensor_count = 0}};
}

/* Groups are not there in a checkpoint of an earlier version, weights of classes not in one of a run without them. */
ocdm_status ocdm__checkpoint_compare(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    const struct ocdm__tensor *settings = find_tensor(checkpoint, "settings", OCDM__U8);
    const struct ocdm__tensor *groups = find_tensor(checkpoint, "groups", OCDM__U8);
    const struct ocdm__tensor *weights = find_tensor(checkpoint, part_names[CLASS_WEIGHTS], OCDM__F64);
    const uint64_t checksum[] = {checkpoint->position.checksum, checkpoint->position.checksum_2};
    size_t classes = run->stream->table.class_count;
    bool has_groups = groups != NULL && groups->size == classes, has_weights = weights != NULL && weights->size == 8 * classes;
    double *class_weights;
    OCDM_TRY(ocdm__new(&class_weights, classes, sizeof *class_weights, "the weights of classes", error));
    for (size_t c = 0; c < classes; c++) {
        has_groups = has_groups && groups->data[c] < OCDM__GROUPS;
        class_weights[c] = has_weights ? ocdm__get_double(weights->data + 8 * c) : 1;
    }
    ocdm__saved_run saved = {.name = checkpoint->file.name,
                             .settings = (const char *)settings->data,
                             .settings_length = settings->size,
                             .groups = has_groups ? groups->data : NULL,
                             .class_weights = has_weights ? class_weights : NULL};
    const ocdm__asked_run asked = ocdm__asked_of(run);
    ocdm__checksum_text(checksum, saved.checksum);
    ocdm_status status = ocdm__saved_run_compare(&saved, &asked, error);
    ocdm__release(class_weights);
    return status;
}

bool ocdm__checkpoint_has_other_instructions(const ocdm__checkpoint *checkpoint, const ocdm__run *run, char *text, size_t room)
{
    const struct ocdm__note *made = ocdm__safetensors_note(&checkpoint->tensors, instructions_note);
    const char *used = run->learner != NULL ? run->learner->instructions : "";
    if (made == NULL || used[0] == '\0' || ocdm__note_is(made, used))
        return false;
    snprintf(text, room, "%.*s", (int)(made->value_length < 64 ? made->value_length : 64), made->value);
    return true;
}

/* ---- restoring ----------------------------------------------------------------------------------------------------------- */

/* Whether so many of `count` samples can have been skipped: only a run that reads samples skips some. */
static bool can_skip(const ocdm__run *run, uint64_t skipped, uint64_t count)
{
    return skipped <= (run->inputs != NULL ? count : 0);
}

/* Checks the position, and makes room for as many evaluations and points as the file has then. */
static ocdm_status restore_position(const ocdm__checkpoint *checkpoint, const struct layout *layouts, ocdm__run *run,
                                    ocdm_error *error)
{
    const ocdm__checkpoint_position *position = &checkpoint->position;
    const ocdm__schedule *schedule = &run->schedule;
    uint64_t step = position->step, evaluations = position->evaluations;
    size_t tasks = schedule->order.task_count;
    bool fits = evaluations <= tasks && step <= ocdm__schedule_steps(schedule) &&
                (evaluations == 0 || step >= schedule->task_ends[evaluations - 1]) &&
                (evaluations == tasks || step <= schedule->task_ends[evaluations]) &&
                can_skip(run, position->skipped, step * schedule->batch);
    if (!fits)
        return refuse(checkpoint, "the position is none of this run", error);
    run->step = step;
    run->evaluation_count = (size_t)evaluations;
    run->skipped = position->skipped;
    for (size_t v = 0; v < run->version_count; v++)
        for (size_t i = 0; i < run->evaluation_count; i++)
            OCDM_TRY(ocdm__evaluation_start(&run->versions[v].evaluations[i], schedule->tested[i], error));
    const struct ocdm__tensor *curve = find_tensor(checkpoint, part_names[CURVE], OCDM__F64);
    size_t width = 8 * layouts[POINT].width, points = curve != NULL && width > 0 ? curve->size / width : 0;
    /* The curve keeps one of `stride` logged steps, a power of two. See ocdm__curve_add. */
    uint64_t offered = position->curve_offered, stride = position->curve_stride;
    bool doubles = stride > 0 && (stride & (stride - 1)) == 0;
    bool none = offered == 0 && stride <= 1 && points == 1;
    bool some = offered > 0 && doubles && offered <= step && points == (offered - 1) / stride + 2;
    if (points > OCDM__CURVE_ROOM || !(none || some))
        return refuse(checkpoint, "the curve has another size", error);
    run->curve->offered = offered;
    run->curve->stride = stride;
    run->curve->count = points - 1;
    const struct ocdm__tensor *probes = find_tensor(checkpoint, part_names[PROBES], OCDM__F64);
    size_t count = probes != NULL ? probes->size / 8 / run->probes.versions : 0;
    uint64_t every = run->settings->eval_every;
    if (every == 0)
        return OCDM_OK;
    /* One evaluation at any time has been made for each step that asks for one; the last may be due. */
    size_t due = (size_t)(step / every) + (step % every != 0 && step == ocdm__schedule_steps(schedule));
    if (count != due && !(ocdm__run_probes_after(run, step) && count + 1 == due))
        return refuse(checkpoint, "evaluations at any time are missing, or there are too many", error);
    OCDM_TRY(ocdm__probes_reserve(&run->probes, count, error));
    run->probes.count = count;
    return OCDM_OK;
}

/* A tensor has as many numbers as the run has room for. Weights of classes were compared before: the run has them. */
static ocdm_status restore_numbers(const ocdm__checkpoint *checkpoint, const struct layout *layouts, ocdm__run *run,
                                   ocdm_error *error)
{
    for (enum part part = 0; part < PARTS; part++) {
        const struct ocdm__tensor *tensor = find_tensor(checkpoint, part_names[part], OCDM__F64);
        if (!has_part(run, part) || part == CLASS_WEIGHTS)
            continue;
        if (tensor == NULL && part == ALL_COST && run->misses == NULL) {
            run->cost = (ocdm__run_cost){.operations = NAN, .updates = NAN}; /* an earlier version did not say */
            continue;
        }
        struct pass pass = {.lacks = tensor == NULL, .layouts = layouts};
        if (tensor != NULL) {
            pass.from = tensor->data;
            pass.left = tensor->size / 8;
        }
        pass_part(&pass, run, part);
        if (pass.lacks || pass.left > 0)
            return ocdm__fail(error, OCDM_BAD_FILE, "the file is damaged or not a checkpoint of this program",
                              "%s: %s is missing or of another size", checkpoint->file.name, part_names[part]);
    }
    return OCDM_OK;
}

/* Or there are none. */
static bool are_fractions(const double *map, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(map[i]) && !(map[i] >= 0 && map[i] <= 1))
            return false;
    return true;
}

/* What no run could have written. */
static ocdm_status check_numbers(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    const ocdm__run_cost *cost = &run->cost;
    double steps = (double)run->step;
    for (size_t v = 0; v < run->version_count; v++)
        for (size_t i = 0; i < run->evaluation_count; i++) {
            const ocdm__evaluation *evaluation = &run->versions[v].evaluations[i];
            if (!can_skip(run, evaluation->skipped, run->tests.ends[evaluation->task_count - 1]))
                return refuse(checkpoint, "an evaluation skipped more samples than there are", error);
        }
    if (!(cost->missed >= 0 && cost->missed <= steps && cost->missed_samples >= 0 &&
          cost->missed_samples <= steps * (double)run->schedule.batch && cost->behind >= 0 && isfinite(cost->behind)))
        return refuse(checkpoint, "what the steps cost is impossible", error);
    size_t tasks = run->untrained != NULL ? run->schedule.order.task_count : 0;
    if (!are_fractions(run->probes.map, run->probes.count * run->probes.versions) || !are_fractions(run->untrained, tasks))
        return refuse(checkpoint, "a mAP is not a fraction", error);
    return OCDM_OK;
}

/* With a budget: which steps passed while the learner was busy. */
static ocdm_status restore_misses(const ocdm__checkpoint *checkpoint, const ocdm__run *run, ocdm_error *error)
{
    size_t bytes = (size_t)((run->step + 7) / 8);
    const struct ocdm__tensor *tensor = find_tensor(checkpoint, "misses", OCDM__U8);
    double missed = 0;
    if (run->misses == NULL)
        return OCDM_OK;
    if (tensor == NULL || tensor->size != bytes)
        return refuse(checkpoint, "the steps that were missed are not there or of another number", error);
    memcpy(run->misses, tensor->data, bytes);
    for (uint64_t step = 0; step < run->step; step++)
        missed += ocdm__run_missed(run, step);
    return missed == run->cost.missed ? OCDM_OK : refuse(checkpoint, "more or fewer steps were missed than it says", error);
}

/* A memory is taken over only when it is one of samples of this stream, made with these settings; its ids lead into the
 * stream's tables. */
static ocdm_status restore_memory(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    const struct ocdm__tensor *tensor = find_tensor(checkpoint, "memory", OCDM__U8);
    ocdm_memory *memory = NULL;
    ocdm_error why;
    if (run->memory == NULL)
        return OCDM_OK;
    ocdm_status status = ocdm_memory_load_bytes(tensor->data, tensor->size, NULL, NULL, &memory, &why);
    if (status != OCDM_OK)
        return ocdm__fail(error, status, why.hint, "%s: %s", checkpoint->file.name, why.message);
    const ocdm_options *options = ocdm_memory_options(memory);
    bool fits = strcmp(options->policy->name, run->settings->method) == 0 && options->capacity == run->settings->memory;
    for (uint32_t slot = 0; slot < ocdm_memory_size(memory); slot++)
        fits = fits && ocdm_memory_id(memory, slot) < run->stream->table.sample_count;
    ocdm_memory_destroy(fits ? run->memory : memory);
    run->memory = fits ? memory : run->memory;
    return fits ? OCDM_OK : refuse(checkpoint, "the memory is not of this run", error);
}

/* What --dark and --replay-policy loss keep beside the memory. */
static ocdm_status restore_replays(const ocdm__checkpoint *checkpoint, ocdm__replay *replays, ocdm_error *error)
{
    const struct ocdm__tensor *tensor = find_tensor(checkpoint, "replays", OCDM__F32);
    size_t count = replays->capacity * replays->width;
    if (replays->kept == NULL)
        return OCDM_OK;
    if (tensor == NULL || tensor->size != count * sizeof *replays->kept)
        return refuse(checkpoint, "what is kept beside the memory's samples is missing or of another size", error);
    for (size_t i = 0; i < count; i++) {
        replays->kept[i] = ocdm__get_float(tensor->data + 4 * i);
        if (!isfinite(replays->kept[i]))
            return refuse(checkpoint, "what is kept beside the memory's samples is not of finite numbers", error);
    }
    return OCDM_OK;
}

/* The learner gets its own tensors, without the prefix. */
static ocdm_status restore_learner(const ocdm__checkpoint *checkpoint, ocdm__run *run, ocdm_error *error)
{
    if (run->learner == NULL)
        return OCDM_OK;
    struct ocdm__tensor *tensors;
    OCDM_TRY(ocdm__new(&tensors, checkpoint->tensors.tensor_count, sizeof *tensors, "the tensors of a checkpoint", error));
    struct ocdm__safetensors file = {.tensors = tensors};
    for (size_t i = 0; i < checkpoint->tensors.tensor_count; i++) {
        struct ocdm__tensor tensor = checkpoint->tensors.tensors[i];
        size_t length = ocdm__tensor_prefix(&tensor, OCDM__CHECKPOINT_LEARNER);
        tensor.name += length;
        tensor.name_length -= length;
        if (length > 0)
            tensors[file.tensor_count++] = tensor;
    }
    const struct ocdm__weights saved = {checkpoint->file.name, &file};
    ocdm_status status = run->learner->functions->load(run->learner->state, &saved, error);
    ocdm__release(tensors);
    return status;
}

ocdm_status ocdm__checkpoint_restore(const ocdm__checkpoint *checkpoint, ocdm__run *run, uint64_t *log_size, ocdm_error *error)
{
    struct layout layouts[RECORD_KINDS];
    for (enum record_kind kind = 0; kind < RECORD_KINDS; kind++)
        layouts[kind] = layout_of(&checkpoint->tensors, kind);
    OCDM_TRY(restore_position(checkpoint, layouts, run, error));
    OCDM_TRY(restore_memory(checkpoint, run, error));
    OCDM_TRY(restore_replays(checkpoint, &run->replays, error));
    OCDM_TRY(restore_learner(checkpoint, run, error));
    OCDM_TRY(restore_numbers(checkpoint, layouts, run, error));
    OCDM_TRY(check_numbers(checkpoint, run, error));
    OCDM_TRY(restore_misses(checkpoint, run, error));
    *log_size = checkpoint->position.log_size;
    return OCDM_OK;
}
