/* The fields of each kind of record. */
#include "experiment/folder/checkpoint_fields.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "experiment/loop/run.h"

enum type { REAL, LONG, SHORT, SIZE };

struct field {
    const char *name;
    enum type type;
    size_t offset;
};

struct record {
    const char *key;
    const char *first_version; /* the fields of a file without the note */
    struct field fields[OCDM__RECORD_FIELDS];
};

#define FIELD(type, object, member)                                                                                            \
    {                                                                                                                          \
#member, type, offsetof(object, member)                                                                                \
    }
#define STEP_TIME(member)                                                                                                      \
    {                                                                                                                          \
#member, REAL, offsetof(ocdm__run_times, steps) + offsetof(ocdm__step_times, member)                                   \
    }

static const struct record records[OCDM__RECORD_KINDS] = {
    [OCDM__RECORD_POSITION] =
        {.key = "fields.position",
         .first_version = "step,evaluations,skipped,log_size,curve_offered,curve_stride,checksum,checksum_2",
         .fields = {FIELD(LONG, ocdm__checkpoint_position, step), FIELD(LONG, ocdm__checkpoint_position, evaluations),
                    FIELD(LONG, ocdm__checkpoint_position, skipped), FIELD(LONG, ocdm__checkpoint_position, log_size),
                    FIELD(LONG, ocdm__checkpoint_position, curve_offered), FIELD(LONG, ocdm__checkpoint_position, curve_stride),
                    FIELD(LONG, ocdm__checkpoint_position, checksum), FIELD(LONG, ocdm__checkpoint_position, checksum_2)}},
    [OCDM__RECORD_TIMES] = {.key = "fields.times",
                            .first_version = "draw,decode,train,update,evaluate,total",
                            .fields = {STEP_TIME(draw), STEP_TIME(decode), STEP_TIME(train), STEP_TIME(update),
                                       FIELD(REAL, ocdm__run_times, evaluate), FIELD(REAL, ocdm__run_times, total)}},
    [OCDM__RECORD_POINT] = {.key = "fields.curve",
                            .first_version = "step,task,loss,distance,distance_seen",
                            .fields = {FIELD(REAL, ocdm__curve_point, step), FIELD(REAL, ocdm__curve_point, task),
                                       FIELD(REAL, ocdm__curve_point, loss), FIELD(REAL, ocdm__curve_point, distance),
                                       FIELD(REAL, ocdm__curve_point, distance_seen)}},
    [OCDM__RECORD_EVALUATION] = {.key = "fields.evaluations",
                                 .first_version = "task,step,samples,distance,distance_seen,skipped",
                                 .fields = {FIELD(SHORT, ocdm__evaluation, task), FIELD(LONG, ocdm__evaluation, step),
                                            FIELD(LONG, ocdm__evaluation, samples), FIELD(REAL, ocdm__evaluation, distance),
                                            FIELD(REAL, ocdm__evaluation, distance_seen),
                                            FIELD(LONG, ocdm__evaluation, skipped)}},
    [OCDM__RECORD_AVERAGES] = {.key = "fields.averages",
                               .first_version = "classes,CF1,OF1,mAP,CP,CR,CF1_macro,OP,OR",
                               .fields = {FIELD(SIZE, ocdm__averages, classes)}}, /* and all metrics */
    [OCDM__RECORD_SCORE] = {.key = "fields.class_scores",
                            .first_version = "positives,predicted,hits,ap",
                            .fields = {FIELD(SHORT, ocdm__class_score, positives), FIELD(SHORT, ocdm__class_score, predicted),
                                       FIELD(SHORT, ocdm__class_score, hits), FIELD(REAL, ocdm__class_score, ap),
                                       FIELD(SHORT, ocdm__class_score, samples), FIELD(REAL, ocdm__class_score, auc),
                                       FIELD(REAL, ocdm__class_score, ece)}},
    [OCDM__RECORD_COST] = {.key = "fields.cost",
                           .first_version = "operations,updates,missed,missed_samples,behind",
                           .fields = {FIELD(REAL, ocdm__run_cost, operations), FIELD(REAL, ocdm__run_cost, updates),
                                      FIELD(REAL, ocdm__run_cost, missed), FIELD(REAL, ocdm__run_cost, missed_samples),
                                      FIELD(REAL, ocdm__run_cost, behind)}},
};

_Static_assert(OCDM__METRIC_COUNT < OCDM__RECORD_FIELDS, "a record has room for all metrics");

/* Field number i; its name is NULL after the last one. */
static struct field field_at(enum ocdm__record_kind kind, size_t i)
{
    const struct field none = {.name = NULL};
    if (i >= OCDM__RECORD_FIELDS)
        return none;
    if (kind != OCDM__RECORD_AVERAGES || i == 0)
        return records[kind].fields[i];
    if (i > OCDM__METRIC_COUNT)
        return none;
    return (struct field){ocdm__metric_name((ocdm_metric)(i - 1)), REAL,
                          offsetof(ocdm__averages, value) + (i - 1) * sizeof(double)};
}

const char *ocdm__record_key(enum ocdm__record_kind kind)
{
    return records[kind].key;
}

void ocdm__record_names(enum ocdm__record_kind kind, char text[OCDM__RECORD_NOTE])
{
    size_t used = 0;
    for (size_t i = 0; field_at(kind, i).name != NULL; i++) {
        const char *name = field_at(kind, i).name;
        size_t length = strlen(name);
        if (i > 0)
            text[used++] = ',';
        memcpy(text + used, name, length);
        used += length;
    }
    text[used] = '\0';
}

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

static double as_real(const struct field *field, const void *member)
{
    switch (field->type) {
    case REAL:
        return *(const double *)member;
    case LONG:
        return (double)*(const uint64_t *)member;
    case SHORT:
        return *(const uint32_t *)member;
    case SIZE:
        break;
    }
    return (double)*(const size_t *)member;
}

void ocdm__record_put(enum ocdm__record_kind kind, const void *object, ocdm__output *output)
{
    for (size_t i = 0; field_at(kind, i).name != NULL; i++) {
        unsigned char bytes[8];
        const struct field field = field_at(kind, i);
        const void *member = (const unsigned char *)object + field.offset;
        if (kind == OCDM__RECORD_POSITION)
            ocdm__put_u64(bytes, *(const uint64_t *)member);
        else
            ocdm__put_double(bytes, as_real(&field, member));
        ocdm__output_write(output, bytes, sizeof bytes);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

/* The field of a name of `length` letters; OCDM__RECORD_FIELDS for one that we do not know. */
static size_t find_field(enum ocdm__record_kind kind, const char *name, size_t length)
{
    for (size_t i = 0; field_at(kind, i).name != NULL; i++)
        if (strlen(field_at(kind, i).name) == length && memcmp(field_at(kind, i).name, name, length) == 0)
            return i;
    return OCDM__RECORD_FIELDS;
}

ocdm__record_layout ocdm__record_layout_of(const struct ocdm__safetensors *file, enum ocdm__record_kind kind)
{
    ocdm__record_layout layout = {.kind = kind};
    const struct ocdm__note *note = ocdm__safetensors_note(file, records[kind].key);
    const char *text = note != NULL ? note->value : records[kind].first_version;
    const char *end = text + (note != NULL ? note->value_length : strlen(text));
    for (size_t i = 0; i < OCDM__RECORD_FIELDS; i++)
        layout.at[i] = SIZE_MAX;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t length = (size_t)((comma != NULL ? comma : end) - text);
        size_t field = find_field(kind, text, length);
        if (field < OCDM__RECORD_FIELDS)
            layout.at[field] = layout.width;
        layout.width++;
        text += length + (comma != NULL);
    }
    return layout;
}

/* A count that was written as a real number; what is not a count becomes 0. */
static uint64_t as_count(double value)
{
    return value >= 0 && value < 0x1p53 ? (uint64_t)value : 0;
}

static void set(const struct field *field, double value, void *member)
{
    switch (field->type) {
    case REAL:
        *(double *)member = value;
        break;
    case LONG:
        *(uint64_t *)member = as_count(value);
        break;
    case SHORT:
        *(uint32_t *)member = (uint32_t)as_count(value);
        break;
    case SIZE:
        *(size_t *)member = (size_t)as_count(value);
        break;
    }
}

void ocdm__record_get(const ocdm__record_layout *layout, const unsigned char **bytes, void *object)
{
    for (size_t i = 0; field_at(layout->kind, i).name != NULL; i++) {
        const struct field field = field_at(layout->kind, i);
        unsigned char *member = (unsigned char *)object + field.offset;
        bool known = layout->at[i] != SIZE_MAX;
        const unsigned char *at = known ? *bytes + 8 * layout->at[i] : NULL;
        if (layout->kind == OCDM__RECORD_POSITION)
            *(uint64_t *)(void *)member = known ? ocdm__get_u64(at) : 0;
        else
            set(&field, known ? ocdm__get_double(at) : NAN, member);
    }
    *bytes += 8 * layout->width;
}
