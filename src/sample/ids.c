/*
 * Sampling: which ids are taken. A table leads from the hash of an id to its holders, records in memory or in the batch; two
 * ids may share a hash, so the bytes of every holder are compared.
 */
#include "base/error.h"
#include "base/hash_bytes.h"
#include "sample/state.h"

#define SMALL_BATCH 16u
#define FIRST_ROOM 64u
#define MOST_ROOM (UINT32_MAX / 3u)

ocdm__id_text ocdm__id_of_kept(const ocdm__sampling *sampling, uint32_t slot)
{
    const ocdm__kept_record *kept = &sampling->kept[slot];
    return (ocdm__id_text){.content = kept->bytes + kept->line_length,
                           .length = kept->id_length,
                           .shown = kept->bytes + kept->shown_at,
                           .shown_length = kept->shown_length};
}

ocdm__id_text ocdm__id_of_item(const ocdm__sampling *sampling, uint32_t item)
{
    const ocdm__batch_record *entry = &sampling->batch[item];
    const ocdm__record *record = &entry->record;
    if (!record->has_id)
        return (ocdm__id_text){.content = entry->number, .length = entry->number_length};
    return (ocdm__id_text){.content = ocdm__records_id(sampling->records, record),
                           .length = record->id_length,
                           .shown = ocdm__records_bytes(sampling->records, record->at) + record->shown_at,
                           .shown_length = record->shown_length};
}

/* A record without an id has its number as one, in digits. */
static void number_record(const ocdm__sampling *sampling, ocdm__batch_record *entry)
{
    uint64_t number = sampling->accepted;
    char digits[sizeof entry->number];
    uint32_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    entry->number_length = (uint32_t)sizeof digits - at;
    memcpy(entry->number, digits + at, entry->number_length);
}

static bool is_same(const ocdm__id_text *a, const ocdm__id_text *b)
{
    return a->length == b->length && memcmp(a->content, b->content, a->length) == 0;
}

static bool is_in_table(const ocdm__sampling *sampling, uint64_t hash, const ocdm__id_text *id)
{
    uint32_t tag = ocdm__table_tag(hash), place = tag & sampling->ids.mask, holder;
    while ((holder = ocdm__table_next(&sampling->ids, tag, &place)) != OCDM_NONE) {
        ocdm__id_text other =
            holder & OCDM__IN_BATCH ? ocdm__id_of_item(sampling, holder & ~OCDM__IN_BATCH) : ocdm__id_of_kept(sampling, holder);
        if (is_same(&other, id))
            return true;
    }
    return false;
}

/* A small batch is looked through: most of its records leave at once, and need no way in and out of the table. */
static bool is_small(const ocdm__sampling *sampling)
{
    return sampling->options.memory.batch <= SMALL_BATCH;
}

static bool is_in_batch(const ocdm__sampling *sampling, uint64_t hash, const ocdm__id_text *id)
{
    for (uint32_t i = 0; i < sampling->batch_count; i++) {
        if (sampling->batch[i].hash != hash)
            continue;
        ocdm__id_text other = ocdm__id_of_item(sampling, i);
        if (is_same(&other, id))
            return true;
    }
    return false;
}

/* Doubles the table. An entry's tag is all of the hash that the table uses. */
static ocdm_status grow_ids(ocdm__sampling *sampling, ocdm_error *error)
{
    struct ocdm__table larger, *ids = &sampling->ids;
    if (sampling->id_room > MOST_ROOM / 2)
        return ocdm__fail(error, OCDM_LIMIT, "use a smaller memory or batch", "too many ids in memory and batch: over %u",
                          sampling->id_room);
    uint32_t room = sampling->id_room ? 2 * sampling->id_room : FIRST_ROOM;
    if (ocdm__table_create(&larger, room) != OCDM_OK)
        return ocdm__fail_memory(error, "the ids in memory");
    for (uint64_t place = 0; ids->places && place <= ids->mask; place++)
        if (ids->places[place].entry != OCDM_NONE)
            ocdm__table_add(&larger, (uint64_t)ids->places[place].tag << 32, ids->places[place].entry);
    ocdm__table_destroy(ids);
    *ids = larger;
    sampling->id_room = room;
    return OCDM_OK;
}

static void add(ocdm__sampling *sampling, uint64_t hash, uint32_t holder)
{
    ocdm__table_add(&sampling->ids, hash, holder);
    sampling->id_count++;
}

static void remove_holder(ocdm__sampling *sampling, uint64_t hash, uint32_t holder)
{
    ocdm__table_remove(&sampling->ids, hash, holder);
    sampling->id_count--;
}

ocdm_status ocdm__take_id(ocdm__sampling *sampling, uint32_t item, bool *taken, ocdm_error *error)
{
    ocdm_status status = sampling->id_count + item < sampling->id_room ? OCDM_OK : grow_ids(sampling, error);
    if (status != OCDM_OK)
        return status;
    ocdm__batch_record *entry = &sampling->batch[item];
    if (!entry->record.has_id)
        number_record(sampling, entry);
    ocdm__id_text id = ocdm__id_of_item(sampling, item);
    entry->hash = ocdm__hash_bytes(id.content, id.length);
    *taken = is_in_table(sampling, entry->hash, &id) || (is_small(sampling) && is_in_batch(sampling, entry->hash, &id));
    if (!*taken && !is_small(sampling))
        add(sampling, entry->hash, OCDM__IN_BATCH | item);
    return OCDM_OK;
}

void ocdm__forget_id(ocdm__sampling *sampling, const ocdm_departure *left)
{
    if (left->item == OCDM_NONE)
        remove_holder(sampling, sampling->kept[left->slot].hash, left->slot);
    else if (!is_small(sampling))
        remove_holder(sampling, sampling->batch[left->item].hash, OCDM__IN_BATCH | left->item);
}

void ocdm__hand_over_id(ocdm__sampling *sampling, uint32_t item, uint32_t slot)
{
    uint64_t hash = sampling->batch[item].hash;
    if (!is_small(sampling))
        remove_holder(sampling, hash, OCDM__IN_BATCH | item);
    add(sampling, hash, slot);
}
