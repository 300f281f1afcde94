/*
 * The fields of each kind of record, once: the table says what is written, in which order, and where it is read to.
 *
 * To add a field, add it at the end of its row; older files then lack it.
 */
#include "experiment/folder/checkpoint_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "experiment/loop/run.h"

/* The type of a member. All are written as real numbers, but those of the position, which must be exact. */
enum type { REAL, LONG, SHORT, SIZE };

struct field {
    const char *name;
    enum type type;
    size_t offset;
};

#define FIELD(type, object, member)                                                                                            \
    {                                                                                                                          \
#member, type, offsetof(object, member)                                                                                \
    }
#define OF_STEPS(member)                                                                                                       \
    {                                                                                                                          \
#member, REAL, offsetof(ocdm__run_times, steps.member)                                                                 \
    }

static const struct record {
    const char *key;
    size_t first_version; /* how many of the fields a file without the note has; 0: all */
    struct field fields[OCDM__RECORD_FIELDS];
} records[OCDM__RECORD_KINDS] = {
    [OCDM__RECORD_POSITION] =
        {"fields.position",
         0,
         {FIELD(LONG, ocdm__checkpoint_position, step), FIELD(LONG, ocdm__checkpoint_position, evaluations),
          FIELD(LONG, ocdm__checkpoint_position, skipped), FIELD(LONG, ocdm__checkpoint_position, log_size),
          FIELD(LONG, ocdm__checkpoint_position, curve_offered), FIELD(LONG, ocdm__checkpoint_position, curve_stride),
          FIELD(LONG, ocdm__checkpoint_position, checksum), FIELD(LONG, ocdm__checkpoint_position, checksum_2)}},
    [OCDM__RECORD_TIMES] = {"fields.times",
                            0,
                            {OF_STEPS(draw), OF_STEPS(decode), OF_STEPS(train), OF_STEPS(update),
                             FIELD(REAL, ocdm__run_times, evaluate), FIELD(REAL, ocdm__run_times, total)}},
    [OCDM__RECORD_POINT] = {"fields.curve",
                            0,
                            {FIELD(REAL, ocdm__curve_point, step), FIELD(REAL, ocdm__curve_point, task),
                             FIELD(REAL, ocdm__curve_point, loss), FIELD(REAL, ocdm__curve_point, distance),
                             FIELD(REAL, ocdm__curve_point, distance_seen)}},
    [OCDM__RECORD_EVALUATION] = {"fields.evaluations",
                                 0,
                                 {FIELD(SHORT, ocdm__evaluation, task), FIELD(LONG, ocdm__evaluation, step),
                                  FIELD(LONG, ocdm__evaluation, samples), FIELD(REAL, ocdm__evaluation, distance),
                                  FIELD(REAL, ocdm__evaluation, distance_seen), FIELD(LONG, ocdm__evaluation, skipped)}},
    [OCDM__RECORD_AVERAGES] = {"fields.averages", 9, {FIELD(SIZE, ocdm__averages, classes)}}, /* and all metrics */
    [OCDM__RECORD_SCORE] = {"fields.class_scores",
                            4,
                            {FIELD(SHORT, ocdm__class_score, positives), FIELD(SHORT, ocdm__class_score, predicted),
                             FIELD(SHORT, ocdm__class_score, hits), FIELD(REAL, ocdm__class_score, ap),
                             FIELD(SHORT, ocdm__class_score, samples), FIELD(REAL, ocdm__class_score, auc),
                             FIELD(REAL, ocdm__class_score, ece)}},
    [OCDM__RECORD_COST] = {"fields.cost",
                           0,
                           {FIELD(REAL, ocdm__run_cost, operations), FIELD(REAL, ocdm__run_cost, updates),
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
    for (size_t i = 0; field_at(kind, i).name != NULL; i++)
        used += (size_t)snprintf(text + used, OCDM__RECORD_NOTE - used, "%s%s", i > 0 ? "," : "", field_at(kind, i).name);
}

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

void ocdm__record_put(enum ocdm__record_kind kind, const void *object, ocdm__output *output)
{
    for (size_t i = 0; field_at(kind, i).name != NULL; i++) {
        unsigned char bytes[8];
        const struct field field = field_at(kind, i);
        const void *member = (const unsigned char *)object + field.offset;
        if (kind == OCDM__RECORD_POSITION)
            ocdm__put_u64(bytes, *(const uint64_t *)member);
        else
            ocdm__put_double(bytes, field.type == REAL    ? *(const double *)member
                                    : field.type == LONG  ? (double)*(const uint64_t *)member
                                    : field.type == SHORT ? *(const uint32_t *)member
                                                          : (double)*(const size_t *)member);
        ocdm__output_write(output, bytes, sizeof bytes);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

ocdm__record_layout ocdm__record_layout_of(const struct ocdm__safetensors *file, enum ocdm__record_kind kind)
{
    ocdm__record_layout layout = {.kind = kind};
    const struct ocdm__note *note = ocdm__safetensors_note(file, records[kind].key);
    const char *text = note != NULL ? note->value : NULL, *end = note != NULL ? text + note->value_length : NULL;
    size_t first = records[kind].first_version > 0 ? records[kind].first_version : OCDM__RECORD_FIELDS;
    for (size_t i = 0; i < OCDM__RECORD_FIELDS; i++) {
        bool known = note == NULL && i < first && field_at(kind, i).name != NULL;
        layout.at[i] = known ? layout.width : SIZE_MAX;
        layout.width += known;
    }
    for (; text < end; layout.width++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t length = (size_t)((comma != NULL ? comma : end) - text);
        for (size_t i = 0; field_at(kind, i).name != NULL; i++)
            if (strlen(field_at(kind, i).name) == length && memcmp(field_at(kind, i).name, text, length) == 0)
                layout.at[i] = layout.width;
        text += length + (comma != NULL);
    }
    return layout;
}

/* A count that was written as a real number; what is not a count becomes 0. */
static uint64_t as_count(double value)
{
    return value >= 0 && value < 0x1p53 ? (uint64_t)value : 0;
}

void ocdm__record_get(const ocdm__record_layout *layout, const unsigned char **bytes, void *object)
{
    for (size_t i = 0; field_at(layout->kind, i).name != NULL; i++) {
        const struct field field = field_at(layout->kind, i);
        void *member = (unsigned char *)object + field.offset;
        bool known = layout->at[i] != SIZE_MAX, exact = layout->kind == OCDM__RECORD_POSITION;
        const unsigned char *at = known ? *bytes + 8 * layout->at[i] : NULL;
        double value = known && !exact ? ocdm__get_double(at) : NAN;
        switch (field.type) {
        case REAL:
            *(double *)member = value;
            break;
        case LONG:
            *(uint64_t *)member = known && exact ? ocdm__get_u64(at) : as_count(value);
            break;
        case SHORT:
            *(uint32_t *)member = (uint32_t)as_count(value);
            break;
        case SIZE:
            *(size_t *)member = (size_t)as_count(value);
            break;
        }
    }
    *bytes += 8 * layout->width;
}
