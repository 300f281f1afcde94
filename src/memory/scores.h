/*
 * The index that makes the exact greedy fast: for every distinct label set Y it has the sum of the class weights, or a bound.
 *
 * Deleting a sample with label set Y, k = |Y|, leaves (see docs/algorithm.md)
 *     KL = (A - sum of w_i over Y) / (S - k) - ln(S - k) + ln Z,   w_i = f(m_i) - f(m_i - 1) - rho ln n_i,   f(m) = m ln m,
 * so among sets of one cardinality the largest sum wins, and only the winners of the cardinalities meet in floating point.
 * Weights and sums are whole numbers on a grid of 2^-32: exact, in any order, for ever.
 *
 * Sets that are awake are stored in blocks of one cardinality (lanes.h). When a class weight changes, the scores of the sets
 * with that class are updated through the list of the class. When there are many sets, most are asleep. Two bounds exclude
 * sleepers:
 *   - the ceiling: when it was set, no sleeper with k labels scored more. Since then scores rose by at most the sum of the k
 *     largest rises of class weights. It costs almost nothing and is enough while weights change little.
 *   - the height, 16 bits per sleeper: a sweep raises the heights of the sleepers of each class that is above its reference
 *     weight, collects those that reach the height of the best deletion found so far, and scores them exactly. Those that could
 *     be the best become guests, whose scores are updated too; the others set a new ceiling. Within a batch class weights only
 *     fall, so a sweep with a margin serves several deletions.
 */
#ifndef OCDM_MEMORY_SCORES_H
#define OCDM_MEMORY_SCORES_H

#include "memory/lanes.h"
#include "memory/pool.h"

/* ---- pairs of classes ----------------------------------------------------------------------------------------------- */

/*
 * A hash table that finds the sleepers with both classes of a pair. A sleeper is in it for some pairs of its classes, as few as
 * are needed so that any number of raised classes beyond a limit contains a pair. By Turan's theorem these are all pairs inside
 * groups of about the same size, as many groups as the limit. The main pairs have the limit k / 2, rounded down. With the spare
 * pairs, in a table of their own, it is one less for an even number of labels from 4 on. A single class is paired with itself.
 * With more than 8 labels only the first eight are paired.
 *
 * An entry contains what a sweep needs to exclude nearly all sleepers that it meets: the other classes. The entries of a list
 * are in lines of the cache: its first line, found by the hash, and those behind it.
 */

/* How many classes of a sleeper are paired at most. */
#define OCDM__PAIRED 8u

/* Which pairs a table has, and how many kinds there are. */
enum { OCDM__MAIN_PAIRS, OCDM__SPARE_PAIRS, OCDM__KINDS_OF_PAIRS };

/* The code of a class in an entry: classes with the same code cannot be told apart. The last one is no class. */
#define OCDM__CODES 1024u
#define OCDM__NO_CODE (OCDM__CODES - 1)
#define OCDM__BITS_OF_CODE 10u
#define OCDM__OTHERS (OCDM__PAIRED - 2)

#define OCDM__ENTRIES 5u

/* Seats have so many bits; what is above them in an entry are the upper bits of the pair's hash. */
#define OCDM__BITS_OF_SEAT 29u
#define OCDM__SEATS ((uint32_t)1 << OCDM__BITS_OF_SEAT)

struct pair_line {
    uint64_t others[OCDM__ENTRIES]; /* codes of the classes that are not of the pair, then the number of labels, at most 9; 0:
                                       no entry */
    uint32_t seat[OCDM__ENTRIES];
    uint32_t next; /* the next line of the list, or the next free line; 0: none. Of the lines of a list only the second one, or
                      the only one, may have room */
};

struct pairs {
    void *block;             /* where the lines are */
    struct pair_line *lines; /* first lines, by hash, then the others; aligned to lines of the cache */
    uint8_t *filled;     /* by first line: a bit for each value of the upper bits of hashes, 0 if no entry has it; few enough
                            to stay in the cache where the lines do not */
    uint32_t mask;       /* of first lines; 0: there is no table */
    uint32_t upper_bits; /* how many upper bits: 0 to 3 */
    uint32_t line_used;
    uint32_t line_room;
    uint32_t free_line;
    uint32_t entries;
    bool overflowed; /* an entry found no room: the table is not kept up to date, and excludes nobody */
};

static inline uint32_t ocdm__code_of_class(uint32_t class_index)
{
    return class_index % OCDM__NO_CODE;
}

/* The number of labels of an entry, at most OCDM__PAIRED + 1. */
static inline uint32_t ocdm__labels_of_entry(uint64_t others)
{
    return (uint32_t)(others >> OCDM__OTHERS * OCDM__BITS_OF_CODE);
}

/* The hash of a pair is the sum of those of its classes. */
static inline uint32_t ocdm__pair_hash(uint32_t class_index)
{
    return (uint32_t)ocdm__mix((uint64_t)class_index + OCDM__GOLDEN_STEP);
}

/* Which bit of `filled` stands for a pair. */
static inline size_t ocdm__bit_of_pair(const struct pairs *pairs, uint32_t line, uint32_t hash)
{
    return (size_t)line << pairs->upper_bits | hash >> OCDM__BITS_OF_SEAT >> (3 - pairs->upper_bits);
}

/* Whether the list of a pair may have entries: 0 or 1. */
static inline uint32_t ocdm__pair_is_filled(const struct pairs *pairs, uint32_t hash)
{
    size_t bit = ocdm__bit_of_pair(pairs, hash & pairs->mask, hash);
    return (uint32_t)pairs->filled[bit / 8] >> bit % 8 & 1u;
}

/* How many classes of a set may be raised at most without a pair of them, of one of the kinds up to this one: one of each
 * group, and all that are not paired. */
static inline uint32_t ocdm__alone_at_most(uint32_t cardinality, uint32_t kind)
{
    if (cardinality < 2)
        return 0;
    uint32_t paired = cardinality < OCDM__PAIRED ? cardinality : OCDM__PAIRED;
    bool fewer_groups = kind == OCDM__SPARE_PAIRS && paired % 2 == 0 && paired > 2;
    return cardinality - paired + paired / 2 - fewer_groups;
}

/* Makes room for the pairs of so many sets. A table with entries only gets more lines behind the first ones, and one that
 * overflowed nothing. */
void ocdm__pairs_reserve(struct pairs *pairs, uint32_t sets, bool *failed);
void ocdm__pairs_clear(struct pairs *pairs);

/* If the table overflowed: starts again without entries. Nobody may be asleep. */
void ocdm__pairs_restart(struct pairs *pairs);

/* A sleeper comes, and goes: in one kind of table. */
void ocdm__pairs_add(struct pairs *pairs, uint32_t kind, uint32_t seat, const struct cell *cells, uint32_t cardinality);
void ocdm__pairs_remove(struct pairs *pairs, uint32_t kind, uint32_t seat, const struct cell *cells, uint32_t cardinality);

/* ---- sleepers ------------------------------------------------------------------------------------------------------ */

/*
 * The label sets that are asleep. The index only knows an upper bound of a sleeper's score, its height of 16 bits. Each class
 * has a list of its sleepers, and heights are small enough to stay in the cache, so the heights of all sleepers with a class
 * are raised quickly.
 *
 * Each sleeper has a seat, which does not move. A row is 64 seats for sets of one cardinality.
 */

#define OCDM__ROW 64u

/* The largest height. The bound of a sleeper with this height is not known: it may be larger. */
#define OCDM__HIGHEST 65535u

struct row {
    uint64_t taken; /* one bit for each seat */
    /* In the list of rows of this cardinality with a free seat, or of rows without a sleeper; OCDM_NONE at the ends. */
    uint32_t next;
    uint32_t previous;
};

/* The sleepers of one cardinality. */
struct ward {
    uint32_t open_row; /* the first with a free seat; OCDM_NONE: none */
    uint16_t tallest;  /* an upper bound of their heights */
    uint16_t mark;     /* a sweep collects the sleepers that reach this height */
    uint32_t as_tall;  /* how many have that height; 0: the bound may be too large */
};

struct sleepers {
    uint32_t *set;    /* by seat */
    uint16_t *height; /* by seat; 0: free */
    uint16_t *raised; /* equal to height; during a sweep raised further, or 0: the sleeper was caught */
    uint32_t count;

    struct row *rows;
    uint16_t *labels; /* by row: the cardinality of its sets */
    uint16_t *top;    /* by row: an upper bound of its heights */
    bool *loose;      /* by row: the bound may be too large */
    uint32_t row_used;
    uint32_t row_room;
    uint32_t free_row;

    struct ward *wards; /* by cardinality */
    uint32_t ward_room;

    struct pairs pairs[OCDM__KINDS_OF_PAIRS];
};

void ocdm__sleepers_init(struct sleepers *sleepers);
void ocdm__sleepers_clear(struct sleepers *sleepers);

/* Makes room for `sets` sleepers, and as many seats again, since rows of other cardinalities may have free ones. After a
 * failure nothing has changed. */
void ocdm__sleepers_reserve(struct sleepers *sleepers, uint32_t sets, bool *failed);

/* Makes room for sleepers with less than so many labels. */
void ocdm__sleepers_reserve_wards(struct sleepers *sleepers, uint32_t room, bool *failed);

/* Gives a set a seat, in set->lane; and frees it. _add returns false if there is no seat: many rows may be nearly empty. */
bool ocdm__sleepers_add(struct sleepers *sleepers, struct set *set, uint32_t number, const struct cell *cells, uint16_t height);
void ocdm__sleepers_remove(struct sleepers *sleepers, const struct set *set, const struct cell *cells);

/* Sets the height of a sleeper; changes the heights of all on a list, or of all of one cardinality, by some units. A height of
 * OCDM__HIGHEST stays, since the bound may be larger; no height becomes less than 1. */
void ocdm__sleepers_set_height(struct sleepers *sleepers, uint32_t seat, uint16_t height);
void ocdm__sleepers_move(struct sleepers *sleepers, const struct listed *list, uint32_t count, int64_t units);
void ocdm__sleepers_move_cardinality(struct sleepers *sleepers, uint32_t cardinality, int64_t units);

/* The same heights in units of half the size. */
void ocdm__sleepers_halve_units(struct sleepers *sleepers);

/* Raises the sleepers on a list. Writes the seats of those that now reach their mark, and returns how many.
 * _put_back resets the heights. */
uint32_t ocdm__sleepers_raise(struct sleepers *sleepers, const struct listed *list, uint32_t count, uint32_t by,
                              uint32_t *reached);
void ocdm__sleepers_put_back(struct sleepers *sleepers, const struct listed *list, uint32_t count);

/* The exact largest height of a row, and of a cardinality. */
uint16_t ocdm__sleepers_tallest(struct sleepers *sleepers, uint32_t row);
uint16_t ocdm__sleepers_tallest_of(struct sleepers *sleepers, uint32_t cardinality);

/* ---- the index ----------------------------------------------------------------------------------------------------- */

/* A 128-bit whole number in two's complement, for sums that outgrow 64 bits on any machine. */
struct wide {
    uint64_t low;
    int64_t high;
};

/* The best set of one cardinality. */
struct contender {
    int64_t value; /* the objective it leaves, in multiples of 2^-40; INT64_MAX for an empty rest */
    int64_t score; /* INT64_MIN: it was not looked at closely */
};

/* The order of sets of one cardinality: the highest score first, then the least tie order of the first sample. */
struct standing {
    int64_t score;
    int64_t order;
};

/* The sets of one cardinality. */
struct bucket {
    uint32_t first_block;  /* OCDM_NONE: none is awake */
    uint32_t awake;        /* how many are awake */
    int64_t highest;       /* none of them scores more, if there was a full search since a sample joined */
    uint32_t asleep;       /* how many are asleep */
    int64_t ceiling;       /* no sleeper scored more when it was set */
    int64_t floor;         /* of the last full search: who scores less is too far from the best */
    struct standing rest;  /* of the last full search: no set that was not kept near the best came before this */
    int64_t goal;          /* of a sweep: every set that leaves as little as the best has at least this height */
    int64_t alone;         /* of a sweep: the most that a set is raised if no pair of it is raised as a whole */
    int64_t tallest;       /* of a sweep: an upper bound of the heights */
    int64_t par;           /* the score that has the height OCDM__PAR */
    int64_t highest_guest; /* of a search: the highest score of its guests */
    uint32_t place;        /* in `present` */
    uint32_t near_first;   /* those near the best: from here to before near_end */
    uint32_t near_end;
};

/* A sleeper whose score is kept up to date, like that of a set that is awake: it may soon be the best, but in most cases it
 * will not be, and waking it and putting it to sleep again would cost more. */
struct guest {
    int64_t score;
    uint32_t set;
    uint32_t cardinality;
};

/* A set and how far it is from the best: by what its deletion would leave, or by its height. */
struct ranked {
    int64_t gap;
    uint32_t set;
};

/* Numbers for a quick test that excludes scores that cannot be the best. */
struct filter {
    double sum;    /* A */
    double labels; /* S */
    double share;  /* 1 / S */
    double ln;     /* ln S */
};

/* A class that is above its reference in a sweep, and by how many units of height, rounded up. */
struct riser {
    uint32_t class_index;
    uint32_t units;
    uint32_t hash; /* for the lists of pairs */
    int64_t value; /* of a sweep over pairs */
};

/*
 * Decides whether a method saves work, by counted steps: those spent with it, and those that the plain method would have
 * taken. A method that costs more is paused, twice as long each time, and then tried again. So the total is little more than
 * that of the cheaper method.
 */
struct ocdm__trial {
    uint64_t spent;
    uint64_t plain;
    uint64_t rest;    /* the length of the next pause, in steps of the plain method */
    uint64_t resting; /* steps left of the current pause; 0: the method is in use */
};

/* Counts of the work done, which do not depend on the machine. */
struct ocdm__search_work {
    uint64_t deletions;
    uint64_t searches;   /* over all sets that are awake */
    uint64_t lanes;      /* scores of sets that are awake, compared by searches */
    uint64_t listed;     /* scores changed through the lists of classes, awake or asleep */
    uint64_t heights;    /* heights copied and compared by sweeps */
    uint64_t candidates; /* sets compared to find those near the best */
    uint64_t paired;     /* lines of pairs of classes that were read */
    uint64_t scored;     /* sleepers scored exactly */
    uint64_t woken;
    uint64_t guests; /* sleepers that became guests */
    uint64_t sweeps;
    uint64_t rankings; /* sets ranked to decide who sleeps */
};

#define OCDM__LN_CACHE 256
#define OCDM__RISES 16
#define OCDM__PAR 49152

/* The first full searches of a batch find few sets near the best, the last ones many: each has a margin of its own. */
#define OCDM__ROUNDS 8u

/* A class has one bit for each set that is near the best, and one for each guest. */
#define OCDM__NEAR 64u
#define OCDM__GUESTS 64u

struct scores {
    const struct ocdm__lane_search *search;
    struct lanes lanes;
    uint32_t block_room;
    uint32_t free_block;

    struct bucket *buckets; /* by cardinality */
    uint32_t *present;      /* the cardinalities that the pool has now */
    struct contender *contenders;
    int64_t *highest_score; /* of each, of the sets that a search looks at */
    uint32_t present_count;
    uint32_t best_place; /* in `present`: where the last best deletion was */
    uint32_t cardinality_room;

    /* Of the last full search: the sets near the best, one cardinality after the other, with their scores as the pool is now;
     * INT64_MIN for one that is gone. Until a sample joins, weights only fall, and the best is one of them as long as it beats
     * the rest. */
    uint32_t near_set[OCDM__NEAR];
    int64_t near_score[OCDM__NEAR];
    uint32_t near_count;               /* 0: search anew */
    int64_t near_margin[OCDM__ROUNDS]; /* how far behind the best they may be, by round */
    uint32_t round;                    /* full searches since a sample joined that looked for them */
    bool searched;                     /* there was a full search since a sample joined */
    uint32_t candidates;               /* sets that the last one found within the margin */

    uint32_t *changed; /* classes whose weight is to be looked at anew */
    uint32_t changed_count;
    uint32_t pending; /* how many of them there were before the last batch, while the memory fills */
    uint32_t class_room;

    uint32_t awake_count;
    uint32_t awake_limit;
    struct sleepers sleepers;
    struct guest guests[OCDM__GUESTS];
    uint32_t guest_count;
    struct ranked *ranked; /* scratch of a ranking, and of a sweep */
    uint32_t *tied;
    uint32_t set_room; /* for ranked and tied */

    uint64_t age;                  /* of the ceilings */
    uint32_t highest[OCDM__RISES]; /* the classes whose weights have risen most since they were set, the highest rise first */
    uint32_t highest_count;

    int unit; /* a unit of height is 2^unit steps of the grid */
    int64_t
        lowest_goal; /* since it was last tried to sleep, or to halve the unit: the least and the largest score that a set */
    int64_t highest_goal;          /* with one label needed to be the best; the former is larger if there was none */
    uint32_t looked;               /* sweeps since it was last tried to halve the unit */
    uint32_t margin[OCDM__ROUNDS]; /* how many units further than needed a sweep looks, by how many there were since a sample
                                      joined */
    uint32_t swept;
    uint32_t *risen; /* classes that may stand above their reference */
    uint32_t risen_count;
    struct riser *risers;                /* scratch of a sweep */
    int64_t weight_of_code[OCDM__CODES]; /* of the first classes: class weights once more, where they are close together */
    int64_t raise_of_code[OCDM__CODES];  /* of a sweep over pairs: the largest riser with this code; else 0 */
    bool tended;                         /* some sets were put to sleep, or woken, since a sample joined */

    struct ocdm__trial near_trial;
    struct ocdm__trial sleep_trial;
    struct ocdm__trial pair_trial;
    uint32_t near_share; /* what searches cost with the sets near the best, in sixteenths of what they cost without */
    struct ocdm__search_work work;

    int64_t *steps; /* f(m) - f(m - 1) on the grid, by m, as far as known */
    uint32_t step_room;
    uint32_t step_known;

    bool weighted; /* KL: scores are kept; else the sets are only enumerated */
    double rho;
    struct wide sum; /* A: of f(m_i) - rho m_i ln n_i, from the rounded steps */
    uint64_t ln_argument[OCDM__LN_CACHE];
    double ln_value[OCDM__LN_CACHE];
};

ocdm_status ocdm__scores_create(struct scores **scores, double rho, bool weighted, uint32_t room, ocdm_error *error);
void ocdm__scores_destroy(struct scores *scores);

/* Makes room for so many samples and classes, and for label sets of this cardinality, so that what follows cannot fail. */
ocdm_status ocdm__scores_reserve(struct scores *scores, uint32_t samples, uint32_t classes, uint32_t cardinality,
                                 ocdm_error *error);

/* The pool tells: a set appeared, a set is about to go, another of its samples comes first now; n_i changed, which matters
 * under KL with rho != 0 only. */
void ocdm__scores_add_set(struct scores *scores, struct pool *pool, uint32_t set);
void ocdm__scores_remove_set(struct scores *scores, struct pool *pool, uint32_t set);
void ocdm__scores_first_changed(struct scores *scores, const struct pool *pool, uint32_t set);
void ocdm__scores_class_seen(struct scores *scores, struct pool *pool, uint32_t class_index);

/* A batch joined and nothing has to be deleted: there is room for `room` samples, batches have `batch`. */
void ocdm__scores_fill(struct scores *scores, struct pool *pool, uint32_t room, uint32_t batch);

/* The set whose first sample is the best to delete under KL; of several, the one whose first sample has the least priority. */
uint32_t ocdm__scores_best(struct scores *scores, struct pool *pool);

/* All sets that tie with the best, into scores->tied; returns how many. */
uint32_t ocdm__scores_all_best(struct scores *scores, struct pool *pool);

/* Appends to scores->tied, which holds `count`, the sets of a cardinality that are awake and have this score; returns the new
 * count. */
uint32_t ocdm__scores_collect(struct scores *scores, uint32_t cardinality, int64_t score, uint32_t count);

#endif
