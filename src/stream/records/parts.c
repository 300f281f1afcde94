/* Records: the labels and ids of those at hand, in arrays that grow to what the largest batch needs and are used again. */
#include "stream/records/state.h"

#include "base/allocate.h"

#include <string.h>

/* Makes an array of `*room` elements hold at least `needed`. */
static bool make_room(void **array, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return true;
    size_t larger = *room < 64 ? 64 : *room;
    while (larger < needed)
        larger = larger > SIZE_MAX / 2 ? SIZE_MAX : larger * 2;
    void *block = ocdm__resize(*array, larger, size);
    if (!block)
        return false;
    *array = block;
    *room = larger;
    return true;
}

ocdm_status ocdm__grow_pieces(ocdm__records *records, const ocdm__record_place *place, size_t position, ocdm_error *error)
{
    if (records->piece_count == OCDM_MAX_LABELS)
        return ocdm__bad_record(records, place, position, error, NULL, "more than %u labels on one record", OCDM_MAX_LABELS);
    void *pieces = records->pieces;
    size_t room = records->piece_room;
    if (!make_room(&pieces, &room, records->piece_count + 1, sizeof *records->pieces))
        return ocdm__fail_memory(error, "the labels of a record");
    records->pieces = pieces;
    records->piece_room = room < OCDM_MAX_LABELS ? room : OCDM_MAX_LABELS;
    return OCDM_OK;
}

ocdm_status ocdm__reserve_scratch(ocdm__records *records, size_t length, ocdm_error *error)
{
    void *scratch = records->scratch;
    if (!make_room(&scratch, &records->scratch_room, length + OCDM__LABEL_PADDING, 1))
        return ocdm__fail_memory(error, "the labels of a record");
    records->scratch = scratch;
    return OCDM_OK;
}

static bool grow_numbers(ocdm__records *records)
{
    void *numbers = records->numbers;
    bool grown =
        make_room(&numbers, &records->number_room, records->number_count + records->piece_count, sizeof *records->numbers);
    records->numbers = numbers;
    return grown;
}

ocdm_status ocdm__add_labels(ocdm__records *records, ocdm__record *record, ocdm_error *error)
{
    if (records->piece_count > records->number_room - records->number_count && !grow_numbers(records))
        return ocdm__fail_memory(error, "the labels of a batch");
    for (size_t i = 0; i < records->piece_count; i++) {
        const ocdm__label_piece *piece = &records->pieces[i];
        ocdm_status status = ocdm__label_table_add(&records->table, piece->text, piece->length,
                                                   &records->numbers[records->number_count + i], error);
        if (status != OCDM_OK)
            return status;
    }
    record->label_at = records->number_count;
    record->label_count = records->piece_count;
    records->number_count += records->piece_count;
    return OCDM_OK;
}

ocdm_status ocdm__grow_ids(ocdm__records *records, size_t length, ocdm_error *error)
{
    void *ids = records->ids;
    if (!make_room(&ids, &records->id_room, records->id_used + length + OCDM__INPUT_PADDING, 1))
        return ocdm__fail_memory(error, "the ids of a batch");
    records->ids = ids;
    return OCDM_OK;
}

static size_t count_parts(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == '.';
    return count;
}

ocdm_status ocdm__split_path(const char *text, ocdm__name_path *path, ocdm_error *error)
{
    path->text = text;
    path->part_count = count_parts(text);
    path->parts = ocdm__allocate(path->part_count, sizeof *path->parts);
    if (!path->parts)
        return ocdm__fail_memory(error, "a name");
    for (size_t i = 0; i < path->part_count; i++) {
        size_t length = strcspn(text, ".");
        if (length == 0)
            return ocdm__fail(error, OCDM_BAD_ARGUMENT, "a path is names with single dots between them, such as meta.labels",
                              "the path \"%s\" has an empty part", path->text);
        path->parts[i] = (ocdm__label_piece){.text = text, .length = length};
        text += length + 1;
    }
    path->length = strlen(path->text);
    path->simple = path->part_count == 1 && path->length <= sizeof path->words;
    if (path->simple)
        memcpy(path->words, path->text, path->length);
    return OCDM_OK;
}
