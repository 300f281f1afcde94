/* An open-addressing table of 32-bit entries, found by hash; the caller compares keys. It stores no keys: they are in the
 * records that the entries refer to. Removal shifts entries back, so there are no tombstones and a table never degrades. */
#ifndef OCDM_BASE_HASH_TABLE_H
#define OCDM_BASE_HASH_TABLE_H

#include "base/bytes.h"
#include "base/random.h"

/* `entry` is OCDM_NONE if free. The high half of the hash is stored beside it, so that most misses touch nothing else. */
struct ocdm__hash_table_place {
    uint32_t tag;
    uint32_t entry;
};

struct ocdm__hash_table {
    struct ocdm__hash_table_place *places;
    uint32_t mask;
};

/* Makes room for `entries` entries, a third full at most; a table starts as {0}. False when out of memory: nothing has changed
 * then. */
bool ocdm__hash_table_reserve(struct ocdm__hash_table *table, uint32_t entries);
void ocdm__hash_table_destroy(struct ocdm__hash_table *table);

/* Whether an entry, a number of one of the caller's records, has the key. */
typedef bool ocdm__has_key(const void *records, uint32_t entry, const void *key);

/* The entry with the key whose hash this is, OCDM_NONE if there is none. */
static inline uint32_t ocdm__hash_table_find(const struct ocdm__hash_table *table, uint64_t hash, ocdm__has_key *has_key,
                                             const void *records, const void *key)
{
    if (table->places == NULL)
        return OCDM_NONE;
    uint32_t tag = (uint32_t)(hash >> 32);
    for (uint32_t place = tag;; place++) {
        struct ocdm__hash_table_place here = table->places[place & table->mask];
        if (here.entry == OCDM_NONE || (here.tag == tag && has_key(records, here.entry, key)))
            return here.entry;
    }
}

/* Adds an entry that is not in the table. */
void ocdm__hash_table_add(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry);

/* Removes an entry that is in the table. */
void ocdm__hash_table_remove(struct ocdm__hash_table *table, uint64_t hash, uint32_t entry);

/* ---- hashes ---------------------------------------------------------------------------------------------------------- */

/*
 * Hashes for tables in memory, under a random key of the process: the author of the input cannot know which keys of a table
 * collide, so it cannot make a table slow on purpose. The tables compare the keys too: a collision costs time but never
 * correctness, and no result depends on the key. Hashes differ from process to process: do not write them to files.
 *
 * Numbers and short strings: sums of 32-bit pieces, each times a random word, of which the upper half counts. That is strongly
 * universal (Dietzfelbinger 1996): for any two different inputs the pair of hashes is uniform over the keys, whatever the
 * inputs. A fixed mix follows; it keeps that and breaks up the evenly spaced hashes of evenly spaced inputs, which are bad for
 * linear probing. Longer strings: SipHash-1-3 (Aumasson, Bernstein 2012), then the same.
 *
 * An attacker who can time single calls of a long-lived process may learn about the key; nothing is promised against that.
 */

/* The first `count` bytes, up to 8, of a word that is read in full; the others are zero. */
static inline uint64_t ocdm__first_bytes(const char *text, size_t count)
{
    static const unsigned char mask_of[16] = {255, 255, 255, 255, 255, 255, 255, 255};
    uint64_t word, mask;
    memcpy(&word, text, 8);
    memcpy(&mask, mask_of + 8 - count, 8);
    return word & mask;
}

/* Under a key of zeros all hashes are equal, which tests use. */
struct ocdm__hash_key {
    uint64_t sip[2];
    uint64_t upper[5], lower[5]; /* a summand, then a factor for each piece: for the upper and the lower half of a hash */
};

/* The key of this process. Read it only after ocdm__hash_key_prepare, which chooses it at its first call; from any thread. */
extern struct ocdm__hash_key ocdm__hash_key;
void ocdm__hash_key_prepare(void);

/* Replaces the key, for tests: everything follows from `seed`, and seed 0 is the key of zeros. No table may be in use. */
void ocdm__hash_key_replace(uint64_t seed);

/* Of a number; 32 random bits in it. */
static inline uint64_t ocdm__hash_number(uint64_t number)
{
    const uint64_t *key = ocdm__hash_key.upper;
    return ocdm__mix((key[0] + key[1] * (uint32_t)number + key[2] * (number >> 32)) >> 32);
}

static inline uint64_t ocdm__universal_half(const uint64_t key[5], uint64_t a, uint64_t b)
{
    return (key[0] + key[1] * (uint32_t)a + key[2] * (a >> 32) + key[3] * (uint32_t)b + key[4] * (b >> 32)) >> 32;
}

/* Of two numbers; 64 random bits. */
static inline uint64_t ocdm__hash_pair(uint64_t a, uint64_t b)
{
    const struct ocdm__hash_key *key = &ocdm__hash_key;
    return ocdm__mix(ocdm__universal_half(key->upper, a, b) << 32 | ocdm__universal_half(key->lower, a, b));
}

static inline uint64_t ocdm__rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void ocdm__sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = ocdm__rotate(v[1], 13) ^ v[0];
    v[3] = ocdm__rotate(v[3], 16) ^ v[2];
    v[0] = ocdm__rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[1] = ocdm__rotate(v[1], 17) ^ v[2];
    v[3] = ocdm__rotate(v[3], 21) ^ v[0];
    v[2] = ocdm__rotate(v[2], 32);
}

/* SipHash-1-3 under a key of two words. */
static inline uint64_t ocdm__siphash(const uint64_t key[2], const void *text, size_t length)
{
    const unsigned char *bytes = text;
    uint64_t v[4] = {key[0] ^ 0x736F6D6570736575u, key[1] ^ 0x646F72616E646F6Du, key[0] ^ 0x6C7967656E657261u,
                     key[1] ^ 0x7465646279746573u};
    uint64_t last = (uint64_t)length << 56;
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word = ocdm__get_u64(bytes);
        v[3] ^= word;
        ocdm__sip_round(v);
        v[0] ^= word;
    }
    for (size_t i = 0; i < length; i++)
        last |= (uint64_t)bytes[i] << (8 * i);
    v[3] ^= last;
    ocdm__sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++)
        ocdm__sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static inline uint64_t ocdm__hash_bytes(const void *bytes, size_t length)
{
    return ocdm__hash_pair(ocdm__siphash(ocdm__hash_key.sip, bytes, length), length);
}

#endif
