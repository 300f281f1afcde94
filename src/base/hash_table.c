/* Linear probing; removal shifts later entries back, so there are no tombstones. Also the key of all hashes of the process. */
#define _DEFAULT_SOURCE
#include "base/hash_table.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/random.h>
#endif

/* ---- the key -------------------------------------------------------------------------------------------------------- */

struct ocdm__hash_key ocdm__hash_key;

enum { NO_KEY, BEING_CHOSEN, CHOSEN };
static atomic_int key_state = NO_KEY;

/* 128 random bits of the system. If it cannot provide them at once, values that the author of a file cannot know: the time to
 * the nanosecond, the process, and where its code, its data and its stack are. */
static void draw_secret(uint64_t secret[2])
{
#ifdef __linux__
    if (getrandom(secret, 16, GRND_NONBLOCK) == 16)
        return;
#endif
    struct timespec now = {0}, running = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_MONOTONIC, &running);
    const uint64_t known[] = {
        (uint64_t)now.tv_sec, (uint64_t)now.tv_nsec,         (uint64_t)running.tv_sec,        (uint64_t)running.tv_nsec,
        (uint64_t)getpid(),   (uint64_t)(uintptr_t)&running, (uint64_t)(uintptr_t)&key_state, (uint64_t)(uintptr_t)draw_secret};
    for (uint64_t i = 0; i < 2; i++)
        secret[i] = ocdm__siphash((const uint64_t[2]){OCDM__GOLDEN_STEP, i}, known, sizeof known);
}

/* The words of the key are the SipHashes of their numbers. */
static void expand_secret(const uint64_t secret[2], struct ocdm__hash_key *key)
{
    uint64_t words[sizeof *key / sizeof(uint64_t)] = {0};
    for (uint64_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = ocdm__siphash(secret, &i, sizeof i);
    memcpy(key, words, sizeof *key);
}

/* Once per process: with a key that nobody outside knows, no input can be made whose entries all collide. */
void ocdm__hash_key_prepare(void)
{
    if (atomic_load_explicit(&key_state, memory_order_acquire) == CHOSEN)
        return;
    int found = NO_KEY;
    if (!atomic_compare_exchange_strong(&key_state, &found, BEING_CHOSEN)) {
        while (atomic_load_explicit(&key_state, memory_order_acquire) != CHOSEN)
            ;
        return;
    }
    uint64_t secret[2];
    draw_secret(secret);
    expand_secret(secret, &ocdm__hash_key);
    atomic_store_explicit(&key_state, CHOSEN, memory_order_release);
}

void ocdm__hash_key_replace(uint64_t seed)
{
    ocdm__hash_key_prepare();
    ocdm__hash_key = (struct ocdm__hash_key){0};
    if (seed != 0)
        expand_secret((const uint64_t[2]){seed, 0}, &ocdm__hash_key);
}

/* ---- the table ------------------------------------------------------------------------------------------------------ */

/* Tags are enough to find every entry its new place. */
bool ocdm__hash_table_reserve(struct ocdm__hash_table *table, uint32_t entries)
{
    ocdm__hash_key_prepare();
    uint64_t places = 16, before = table->places == NULL ? 0 : (uint64_t)table->mask + 1;
    while (places < (uint64_t)entries * 3)
        places *= 2;
    if (places <= before)
        return true;
    if (places > (uint64_t)UINT32_MAX + 1)
        return false;
    struct ocdm__hash_table larger = {.mask = (uint32_t)(places - 1)};
    larger.places = ocdm__allocate((size_t)places, sizeof *larger.places);
    if (larger.places == NULL)
        return false;
    for (uint64_t i = 0; i < places; i++)
        larger.places[i].entry = OCDM_NONE;
    for (uint64_t i = 0; i < before; i++)
        if (table->places[i].entry != OCDM_NONE)
            ocdm__hash_table_add(&larger, (uint64_t)table->places[i].tag << 32, table->places[i].entry);
    ocdm__hash_table_destroy(table);
    *table = larger;
    return true;
}

void ocdm__hash_table_destroy(struct ocdm__hash_table *table)
{
    ocdm__release(table->places);
    table->places = NULL;
}

void ocdm__hash_table_add(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry)
{
    uint32_t tag = (uint32_t)(hash >> 32), place = tag & table->mask;
    while (table->places[place].entry != OCDM_NONE)
        place = (place + 1) & table->mask;
    table->places[place] = (struct ocdm__hash_table_place){tag, entry};
}

/* Entries behind the gap move up until one stands where it belongs: there are no marks of removed ones. */
void ocdm__hash_table_remove(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry)
{
    struct ocdm__hash_table_place *places = table->places;
    uint32_t mask = table->mask;
    uint32_t hole = (uint32_t)(hash >> 32) & mask;
    while (places[hole].entry != entry)
        hole = (hole + 1) & mask;
    for (uint32_t place = (hole + 1) & mask; places[place].entry != OCDM_NONE; place = (place + 1) & mask) {
        uint32_t distance_to_hole = (place - hole) & mask;
        uint32_t distance_to_home = (place - places[place].tag) & mask;
        if (distance_to_home < distance_to_hole)
            continue;
        places[hole] = places[place];
        hole = place;
    }
    places[hole].entry = OCDM_NONE;
}
