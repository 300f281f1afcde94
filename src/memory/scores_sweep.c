/*
 * The sweep: when the ceilings do not exclude that a sleeper is the best deletion, the sleepers that may be the best are found
 * (caught) by their heights and scored exactly. Those that score enough become guests. Then the ceilings are set again.
 *
 * Risers are classes above their references. There are two ways to catch the sleepers that reach the goal with them:
 *   - over lists: raise all sleepers of each riser, note those that reach the goal, reset the heights;
 *   - over pairs: a sleeper is on the lists of some pairs of its classes. If none of them is a pair of risers, at most half of
 *     its classes are risers. That is not enough where scores are close together, as in a balanced memory, so only the lists of
 *     all pairs of risers are read.
 */
#include "memory/scores_parts.h"

/* If a sweep catches more than CAUGHT_AT_MOST sleepers, it reduces its margin until about CAUGHT_AT_LEAST are left. */
#define CAUGHT_AT_LEAST 16u
#define CAUGHT_AT_MOST 32u
#define LARGEST_MARGIN 1024u

/* A class that was above its reference in so many sweeps in a row gets a new one. One sweep stops doing this once it has
 * corrected the heights of so many sleepers. */
#define SWEEPS_ABOVE 8u
#define MOVED_AT_MOST 65536u

/* If the best is further than this from par, in units, par is set again. */
#ifndef FAR_FROM_PAR
#define FAR_FROM_PAR 8192
#endif

/* So many lines of pairs are fetched at a time. */
#define LOOKUPS 32u

/* With so many risers the spare pairs cost little, and the margin may be larger with them. */
#ifndef FEW_RISERS
#define FEW_RISERS 8u
#endif

/* A cardinality with at most so many sleepers does not limit the margin of a sweep over pairs. */
#ifndef FEW_SLEEPERS
#define FEW_SLEEPERS 256u
#endif

/* What it costs, in quarters of a nanosecond, about: to sweep at all; to score a sleeper, to look at a row of seats, to raise a
 * height and put it back, in the cache and elsewhere; to look up the list of a riser, that of a pair, to read a line of the
 * latter, to catch a sleeper. */
#define COST_OF_SWEEP 6000u
#define COST_OF_SCORING 150u
#define COST_OF_ROW 12u
#define COST_OF_RAISING_IN_CACHE 8u
#define COST_OF_RAISING 24u
#define COST_OF_RISER 40u
#define COST_OF_CATCH 20u
#ifndef COST_OF_PAIR
#define COST_OF_PAIR 20u
#define COST_OF_VISIT 60u
#endif

static uint64_t cost_of_raising(const struct scores *scores, uint64_t heights)
{
    return heights * (ocdm__scores_in_cache(scores) ? COST_OF_RAISING_IN_CACHE : COST_OF_RAISING);
}

/* ---- goals and risers ------------------------------------------------------------------------------------------------- */

/* Changes a class's reference by whole units; the heights of all its sleepers follow. */
static void move_reference(struct scores *scores, const struct pool *pool, struct class *class, int64_t units)
{
    class->reference += units * ((int64_t)1 << scores->unit);
    ocdm__sleepers_move(&scores->sleepers, pool->lists + class->asleep.first, class->asleep.count, units);
    scores->work.listed += class->asleep.count;
    scores->sleep_trial.spent += cost_of_raising(scores, class->asleep.count);
}

/* The highest score that a set can have that is so many units short of its goal, or more. */
static int64_t highest_short_of(const struct scores *scores, const struct bucket *bucket, int64_t units)
{
    return bucket->par + (bucket->goal - units - OCDM__PAR) * ((int64_t)1 << scores->unit);
}

/* Sets the goals of all cardinalities. Par follows one that goes far away, so that 16 bits are always enough. */
static void set_goals(struct scores *scores, const struct filter *filter, int64_t best)
{
    for (uint32_t i = 0; i < scores->present_count; i++) {
        uint32_t cardinality = scores->present[i];
        struct bucket *bucket = &scores->buckets[cardinality];
        if (!bucket->asleep)
            continue;
        int64_t above = ocdm__units_above(ocdm__least_score(filter, cardinality, best) - bucket->par, scores->unit);
        if (above > FAR_FROM_PAR || above < -FAR_FROM_PAR) {
            bucket->par += above * ((int64_t)1 << scores->unit);
            ocdm__sleepers_move_cardinality(&scores->sleepers, cardinality, -above);
            scores->sleep_trial.spent += cost_of_raising(scores, bucket->asleep);
            above = 0;
        }
        bucket->goal = OCDM__PAR + above;
    }
}

/* The classes above their reference; one that stays there gets a new one. */
static uint32_t list_risers(struct scores *scores, struct pool *pool)
{
    uint32_t listed = scores->risen_count, kept = 0, count = 0, moved = 0;
    for (uint32_t i = 0; i < listed; i++) {
        uint32_t class_index = scores->risen[i];
        struct class *class = &pool->classes[class_index];
        int64_t units = ocdm__units_above(class->weight - class->reference, scores->unit);
        bool stays = class->above >= SWEEPS_ABOVE && moved < MOVED_AT_MOST;
        class->risen = units > 0 && class->asleep.count && !stays;
        class->above = class->risen ? class->above + 1 : 0;
        if (class->risen) {
            scores->risen[kept++] = class_index;
            scores->risers[count++] = (struct riser){.class_index = class_index,
                                                     .units = units < OCDM__HIGHEST ? (uint32_t)units : OCDM__HIGHEST,
                                                     .hash = ocdm__pair_hash(class_index)};
        } else if (units > 0 && class->asleep.count) {
            move_reference(scores, pool, class, units);
            moved += class->asleep.count;
        }
    }
    scores->risen_count = kept;
    return count;
}

/* A sleeper was scored for nothing: its height may be too large, or one of its classes far below its reference. */
static void learn_from_miss(struct scores *scores, struct pool *pool, uint32_t number)
{
    const struct set *set = &pool->sets[number];
    ocdm__sleepers_set_height(&scores->sleepers, set->lane, ocdm__scores_height(scores, pool, number));
    uint32_t lowest = OCDM_NONE;
    int64_t depth = (int64_t)1 << scores->unit;
    for (uint32_t i = 0; i < set->cardinality; i++) {
        uint32_t class_index = pool->cells[set->cells + i].class_index;
        int64_t below = pool->classes[class_index].reference - pool->classes[class_index].weight;
        lowest = below >= depth ? class_index : lowest;
        depth = below >= depth ? below : depth;
    }
    if (lowest == OCDM_NONE)
        return;
    struct class *class = &pool->classes[lowest];
    class->charge += COST_OF_SCORING;
    if (class->charge <= cost_of_raising(scores, class->asleep.count))
        return;
    class->charge = 0;
    move_reference(scores, pool, class, -(depth >> scores->unit));
}

/* What a sweep has found so far, in scores->ranked: sleepers that are at most `margin` units short of their goal, or past it.
 */
struct catch
{
    uint32_t count;
    uint32_t margin;
};

/* Scores the sleepers that were caught. Those that score more than the margin excludes become guests, or wake up. */
static void settle(struct scores *scores, struct pool *pool, const struct catch *caught)
{
    for (uint32_t i = 0; i < caught->count; i++) {
        if (scores->ranked[i].gap > caught->margin)
            continue;
        uint32_t number = scores->ranked[i].set;
        const struct bucket *bucket = &scores->buckets[pool->sets[number].cardinality];
        int64_t score = ocdm__scores_sum_weights(pool, number);
        scores->work.scored++;
        scores->sleep_trial.spent += COST_OF_SCORING;
        if (score <= highest_short_of(scores, bucket, (int64_t)caught->margin + 1)) {
            learn_from_miss(scores, pool, number);
        } else if (!ocdm__scores_invite(scores, pool, number, score)) {
            ocdm__scores_wake(scores, pool, number, score);
            scores->work.woken++;
        }
    }
}

/* Too many were caught: reduces the margin, at most to 0, until few are left. */
static void narrow(const struct scores *scores, struct catch *caught)
{
    uint32_t at[LARGEST_MARGIN + 1] = {0}, left = 0, kept = 0;
    for (uint32_t i = 0; i < caught->count; i++)
        if (scores->ranked[i].gap <= caught->margin) {
            at[scores->ranked[i].gap]++;
            left++;
        }
    for (; caught->margin && left > CAUGHT_AT_LEAST; caught->margin--)
        left -= at[caught->margin];
    for (uint32_t i = 0; i < caught->count; i++) {
        scores->ranked[kept] = scores->ranked[i];
        kept += scores->ranked[i].gap <= caught->margin;
    }
    caught->count = kept;
}

/* The largest margin, up to `wanted`, at which no sleeper is caught that has no raised class; 0 if some are at any. In a
 * balanced memory most sleepers have the same height, and a margin that reaches it would catch them all. */
static uint32_t margin_at_rest(struct scores *scores, uint32_t wanted)
{
    int64_t margin = wanted;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->tallest = scores->sleepers.wards[scores->present[i]].tallest;
        if (bucket->asleep && bucket->tallest >= bucket->goal - margin)
            bucket->tallest = ocdm__sleepers_tallest_of(&scores->sleepers, scores->present[i]);
        if (bucket->asleep && bucket->tallest >= bucket->goal - margin)
            margin = bucket->goal - bucket->tallest - 1;
    }
    return margin > 0 ? (uint32_t)margin : 0;
}

/* Sets the marks of all cardinalities; returns whether one of their sleepers may reach its mark without a raised class. */
static bool set_marks(struct scores *scores, uint32_t margin)
{
    bool reached = false;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        const struct bucket *bucket = &scores->buckets[scores->present[i]];
        struct ward *ward = &scores->sleepers.wards[scores->present[i]];
        int64_t mark = bucket->goal - margin;
        ward->mark = (uint16_t)(mark < 1 ? 1 : mark);
        reached = reached || (bucket->asleep && ward->tallest >= ward->mark);
    }
    return reached;
}

static uint16_t mark_of(const struct sleepers *sleepers, uint32_t row)
{
    return sleepers->wards[sleepers->labels[row]].mark;
}

/* The seats of one row whose height reaches the mark without a raised class. */
static uint32_t reached_at_rest(struct scores *scores, uint32_t row, uint32_t *reached)
{
    struct sleepers *sleepers = &scores->sleepers;
    const uint16_t *height = sleepers->height + (size_t)row * OCDM__ROW;
    uint32_t count = 0;
    for (uint64_t bits = scores->search->reach(height, mark_of(sleepers, row)); bits; bits &= bits - 1)
        reached[count++] = row * OCDM__ROW + ocdm__lowest_bit(bits);
    if (!count)
        ocdm__sleepers_tallest(sleepers, row);
    return count;
}

/* ---- over lists ------------------------------------------------------------------------------------------------------ */

/* Writes to scores->ranked the sleepers that reach their marks, without a raised class or after all risers are raised. */
static uint32_t catch_by_lists(struct scores *scores, const struct pool *pool, uint32_t risers, bool at_rest)
{
    struct sleepers *sleepers = &scores->sleepers;
    uint32_t *reached = scores->tied, count = 0, rows = at_rest ? sleepers->row_used : 0;
    for (uint32_t row = 0; row < rows; row++)
        if (sleepers->top[row] >= mark_of(sleepers, row))
            count += reached_at_rest(scores, row, reached + count);
    for (uint32_t i = 0; i < risers; i++) {
        const struct class_list *list = &pool->classes[scores->risers[i].class_index].asleep;
        count +=
            ocdm__sleepers_raise(sleepers, pool->lists + list->first, list->count, scores->risers[i].units, reached + count);
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t gap = scores->buckets[sleepers->labels[reached[i] / OCDM__ROW]].goal - sleepers->raised[reached[i]];
        scores->ranked[i] = (struct ranked){gap > 0 ? gap : 0, sleepers->set[reached[i]]};
    }
    for (uint32_t i = 0; i < risers; i++) {
        const struct class_list *list = &pool->classes[scores->risers[i].class_index].asleep;
        ocdm__sleepers_put_back(sleepers, pool->lists + list->first, list->count);
    }
    scores->work.heights += rows;
    scores->sleep_trial.spent += (uint64_t)rows * COST_OF_ROW + (uint64_t)risers * COST_OF_RISER;
    return count;
}

/* ---- over pairs ----------------------------------------------------------------------------------------------------- */

/* The sum of the `count` largest risers, at most: beyond those that are known, each counts as the last. */
static int64_t sum_of_largest(const int64_t largest[OCDM__RISES], uint32_t count)
{
    int64_t sum = count > OCDM__RISES ? largest[OCDM__RISES - 1] * (int64_t)(count - OCDM__RISES) : 0;
    for (uint32_t i = 0; i < count && i < OCDM__RISES; i++)
        sum += largest[i];
    return sum;
}

/* The most that a set of each cardinality is raised without a pair of risers of the kinds up to this one: by the largest
 * risers. */
static void set_alone(struct scores *scores, uint32_t risers, uint32_t kind)
{
    int64_t largest[OCDM__RISES] = {0};
    for (uint32_t i = 0; i < risers; i++) {
        int64_t units = scores->risers[i].units;
        uint32_t place = OCDM__RISES;
        for (; place > 0 && largest[place - 1] < units; place--)
            if (place < OCDM__RISES)
                largest[place] = largest[place - 1];
        if (place < OCDM__RISES)
            largest[place] = units;
    }
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->alone = sum_of_largest(largest, ocdm__alone_at_most(scores->present[i], kind));
    }
}

/* A sleeper of at least this height may be within `margin` of its goal without a pair of risers. */
static int64_t suspicious(const struct bucket *bucket, int64_t margin)
{
    return bucket->goal - bucket->alone - margin;
}

/* The largest margin, up to `wanted`, at which nobody is suspicious, but for cardinalities with few sleepers; negative if there
 * is none. */
static int64_t margin_for_pairs(struct scores *scores, uint32_t risers, uint32_t kind, int64_t wanted)
{
    int64_t margin = wanted;
    set_alone(scores, risers, kind);
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->tallest = scores->sleepers.wards[scores->present[i]].tallest;
        if (bucket->tallest >= suspicious(bucket, wanted))
            bucket->tallest = ocdm__sleepers_tallest_of(&scores->sleepers, scores->present[i]);
        int64_t most = suspicious(bucket, 0) - bucket->tallest - 1;
        margin = bucket->asleep > FEW_SLEEPERS && most < margin ? most : margin;
    }
    return margin;
}

/* How many units a set with this score is short of its goal; less than 0: it is past it. */
static int64_t gap_of(const struct scores *scores, const struct bucket *bucket, int64_t score)
{
    return bucket->goal - OCDM__PAR - ocdm__units_above(score - bucket->par, scores->unit);
}

/* Catches a sleeper that is at most the margin short of its goal. raised[] is 0 for one that was caught already. */
static void visit(struct scores *scores, const struct pool *pool, uint32_t seat, struct catch *caught)
{
    struct sleepers *sleepers = &scores->sleepers;
    uint32_t number = sleepers->set[seat];
    const struct bucket *bucket = &scores->buckets[pool->sets[number].cardinality];
    int64_t gap = gap_of(scores, bucket, ocdm__scores_sum_weights(pool, number));
    if (gap > caught->margin || sleepers->raised[seat] == 0)
        return;
    sleepers->raised[seat] = 0;
    scores->ranked[caught->count++] = (struct ranked){gap > 0 ? gap : 0, number};
}

/* Visits the sleepers that are suspicious; only cardinalities with few sleepers have any. */
static void visit_suspicious(struct scores *scores, const struct pool *pool, struct catch *caught)
{
    struct sleepers *sleepers = &scores->sleepers;
    int64_t short_of = 0;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        const struct bucket *bucket = &scores->buckets[scores->present[i]];
        int64_t over = bucket->asleep ? bucket->tallest - suspicious(bucket, caught->margin) + 1 : 0;
        short_of = over > short_of ? over : short_of;
    }
    uint32_t rows = short_of > 0 ? sleepers->row_used : 0;
    scores->work.heights += rows;
    scores->sleep_trial.spent += (uint64_t)rows * COST_OF_ROW;
    for (uint32_t row = 0; row < rows; row++) {
        int64_t least = suspicious(&scores->buckets[sleepers->labels[row]], caught->margin);
        if (sleepers->top[row] < least)
            continue;
        uint64_t bits = scores->search->reach(sleepers->height + (size_t)row * OCDM__ROW, (uint16_t)(least < 1 ? 1 : least));
        for (; bits; bits &= bits - 1)
            visit(scores, pool, row * OCDM__ROW + ocdm__lowest_bit(bits), caught);
    }
}

/* A line of entries that is to be read for a pair of risers. */
struct lookup {
    int64_t value; /* of the pair */
    uint32_t line;
};

/*
 * A sweep over pairs: the lines that are to be read next, and the sleepers found in others that may be within the margin.
 *
 * The value of a class is its weight, so that the sum over all classes of an entry is the score; or, if several classes have
 * one code, how far it is raised, so that the sum says how far the tallest sleeper would be raised, at most.
 */
struct hunt {
    const struct pairs *pairs;
    const int64_t *value_of_code;
    int64_t least[OCDM__PAIRED + 2]; /* by number of labels: the least sum of values that may be within the margin */
    uint32_t *suspects;              /* their seats */
    uint32_t suspect_count;
    uint32_t suspect_room;
    uint32_t read; /* lines */
    uint32_t lookup_count;
    struct lookup lookups[LOOKUPS];
};

static int64_t value_of_others(const int64_t *value_of_code, uint64_t others)
{
    int64_t value = 0;
    for (uint32_t i = 0; i < OCDM__OTHERS; i++)
        value += value_of_code[others >> i * OCDM__BITS_OF_CODE & OCDM__NO_CODE];
    return value;
}

/* A list may contain entries of other pairs. Their sums are wrong, but such a sleeper is found by its own pairs. */
static void read_line(struct hunt *hunt, const struct pair_line *line, int64_t value)
{
    for (uint32_t i = 0; i < OCDM__ENTRIES; i++) {
        int64_t sum = value + value_of_others(hunt->value_of_code, line->others[i]);
        if (sum < hunt->least[ocdm__labels_of_entry(line->others[i])])
            continue;
        hunt->suspects[hunt->suspect_count] = line->seat[i] % OCDM__SEATS;
        hunt->suspect_count += hunt->suspect_count + 1 < hunt->suspect_room;
    }
}

/* Reads the lines that are to be read, then those behind them, and so on. All are fetched before the first one is read. */
static void read_lines(struct hunt *hunt)
{
    for (uint32_t count = hunt->lookup_count; count > 0; count = hunt->lookup_count) {
        for (uint32_t i = 0; i < count; i++)
            ocdm__prefetch(&hunt->pairs->lines[hunt->lookups[i].line]);
        hunt->read += count;
        hunt->lookup_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct pair_line *line = &hunt->pairs->lines[hunt->lookups[i].line];
            read_line(hunt, line, hunt->lookups[i].value);
            hunt->lookups[hunt->lookup_count] = (struct lookup){hunt->lookups[i].value, line->next};
            hunt->lookup_count += line->next > 0;
        }
    }
}

/* Looks up all pairs of risers; false if there are more than `most` lines. */
static bool look_up_pairs(struct hunt *hunt, const struct riser *risers, uint32_t count, uint64_t most)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j <= i; j++) {
            uint32_t hash = risers[i].hash + risers[j].hash;
            int64_t value = risers[i].value + (j < i ? risers[j].value : 0);
            hunt->lookups[hunt->lookup_count] = (struct lookup){value, hash & hunt->pairs->mask};
            hunt->lookup_count += ocdm__pair_is_filled(hunt->pairs, hash);
            if (hunt->lookup_count < LOOKUPS)
                continue;
            read_lines(hunt);
            if (hunt->read > most)
                return false;
        }
    read_lines(hunt);
    return hunt->suspect_count + 1 < hunt->suspect_room;
}

/* Looks at the suspects closely. What is read of them is in four places; each is fetched for all of them at once. */
static void visit_suspects(struct scores *scores, const struct pool *pool, const struct hunt *hunt, struct catch *caught)
{
    const struct sleepers *sleepers = &scores->sleepers;
    for (uint32_t i = 0; i < hunt->suspect_count; i++) {
        ocdm__prefetch(&sleepers->set[hunt->suspects[i]]);
        ocdm__prefetch(&sleepers->height[hunt->suspects[i]]);
    }
    for (uint32_t i = 0; i < hunt->suspect_count; i++)
        ocdm__prefetch(&pool->sets[sleepers->set[hunt->suspects[i]]]);
    for (uint32_t i = 0; i < hunt->suspect_count; i++)
        ocdm__prefetch(&pool->cells[pool->sets[sleepers->set[hunt->suspects[i]]].cells]);
    for (uint32_t i = 0; i < hunt->suspect_count; i++)
        visit(scores, pool, hunt->suspects[i], caught);
}

static void set_values(struct scores *scores, uint32_t risers, bool by_weight)
{
    for (uint32_t i = 0; i < risers; i++) {
        struct riser *riser = &scores->risers[i];
        uint32_t code = ocdm__code_of_class(riser->class_index);
        int64_t *raise = &scores->raise_of_code[code];
        riser->value = by_weight ? scores->weight_of_code[code] : riser->units;
        if (!by_weight && riser->units > *raise)
            *raise = riser->units;
    }
}

/* Raises are for one sweep only. */
static void reset_values(struct scores *scores, uint32_t risers)
{
    for (uint32_t i = 0; i < risers; i++)
        scores->raise_of_code[ocdm__code_of_class(scores->risers[i].class_index)] = 0;
}

/* The least sums of values that may be within the margin. With more labels than an entry has, any may. */
static void set_least(const struct scores *scores, struct hunt *hunt, uint32_t margin, bool by_weight)
{
    hunt->least[0] = INT64_MAX;
    for (uint32_t i = 1; i < OCDM__PAIRED + 2; i++)
        hunt->least[i] = INT64_MIN;
    for (uint32_t i = 0; i < scores->present_count; i++) {
        uint32_t cardinality = scores->present[i];
        const struct bucket *bucket = &scores->buckets[cardinality];
        if (cardinality > 0 && cardinality <= OCDM__PAIRED)
            hunt->least[cardinality] =
                by_weight ? highest_short_of(scores, bucket, (int64_t)margin + 1) + 1 : bucket->goal - margin - bucket->tallest;
    }
}

/* Visits the sleepers that have a pair of risers, if the others of their classes may bring them within the margin. Returns
 * false if more than `most` lines would have to be read. */
static bool visit_pairs(struct scores *scores, const struct pool *pool, uint32_t kind, uint32_t risers, uint64_t most,
                        struct catch *caught)
{
    bool by_weight = pool->class_count <= OCDM__NO_CODE;
    struct hunt hunt;
    hunt.pairs = &scores->sleepers.pairs[kind];
    hunt.value_of_code = by_weight ? scores->weight_of_code : scores->raise_of_code;
    hunt.suspects = scores->tied;
    hunt.suspect_room = scores->set_room;
    hunt.suspect_count = hunt.read = hunt.lookup_count = 0;
    set_least(scores, &hunt, caught->margin, by_weight);
    set_values(scores, risers, by_weight);
    bool enough = look_up_pairs(&hunt, scores->risers, risers, most);
    reset_values(scores, risers);
    uint64_t spent = (uint64_t)risers * risers / 2 * COST_OF_PAIR + (uint64_t)hunt.read * COST_OF_VISIT;
    scores->work.paired += hunt.read;
    scores->sleep_trial.spent += spent;
    scores->pair_trial.spent += spent;
    if (enough)
        visit_suspects(scores, pool, &hunt, caught);
    return enough;
}

/* Catches the sleepers within the margin of their goals. Returns false if this would cost more than `budget`. */
static bool catch_by_pairs(struct scores *scores, const struct pool *pool, uint32_t last_kind, uint32_t risers, uint64_t budget,
                           struct catch *caught)
{
    struct sleepers *sleepers = &scores->sleepers;
    bool enough = true;
    visit_suspicious(scores, pool, caught);
    for (uint32_t kind = 0; kind <= last_kind; kind++)
        enough = enough && visit_pairs(scores, pool, kind, risers, budget / COST_OF_VISIT, caught);
    for (uint32_t i = 0; i < caught->count; i++) {
        uint32_t seat = pool->sets[scores->ranked[i].set].lane;
        sleepers->raised[seat] = sleepers->height[seat];
    }
    return enough;
}

/* Whether pairs may cost less than lists, which cost `plain`. */
static bool try_pairs(struct scores *scores, uint32_t risers, uint64_t plain)
{
    for (uint32_t kind = 0; kind < OCDM__KINDS_OF_PAIRS; kind++)
        if (scores->sleepers.pairs[kind].overflowed)
            return false;
    if ((uint64_t)risers * risers / 2 * COST_OF_PAIR >= plain)
        return false;
    return !ocdm__trial_rests(&scores->pair_trial, plain);
}

/* A sweep over pairs with a smaller margin is soon followed by another one, so it saves half as much. */
static bool sweep_pairs(struct scores *scores, const struct pool *pool, uint32_t risers, uint64_t plain, struct catch *caught)
{
    if (!try_pairs(scores, risers, plain))
        return false;
    uint32_t kind = risers > FEW_RISERS ? OCDM__MAIN_PAIRS : OCDM__SPARE_PAIRS;
    int64_t margin = margin_for_pairs(scores, risers, kind, caught->margin);
    if (margin < 0 && kind == OCDM__MAIN_PAIRS) {
        kind = OCDM__SPARE_PAIRS;
        margin = margin_for_pairs(scores, risers, kind, caught->margin);
    }
    if (margin < 0)
        return false;
    struct catch found = {.margin = (uint32_t)margin};
    bool enough = catch_by_pairs(scores, pool, kind, risers, plain, &found);
    uint64_t saved = !enough ? 0 : found.margin < caught->margin ? plain / 2 : plain;
    uint64_t patience = (uint64_t)(scores->sleepers.count + scores->awake_count) * 32;
    ocdm__trial_fails(&scores->pair_trial, 0, saved, patience);
    if (enough)
        *caught = found;
    return enough;
}

static void sweep_lists(struct scores *scores, const struct pool *pool, uint32_t risers, uint64_t listed, struct catch *caught)
{
    bool at_rest = set_marks(scores, caught->margin);
    caught->count = catch_by_lists(scores, pool, risers, at_rest);
    scores->work.listed += listed;
    scores->sleep_trial.spent += cost_of_raising(scores, listed);
}

/* ---- the sweep ------------------------------------------------------------------------------------------------------ */

/* How many sleepers the risers have in all. */
static uint64_t count_listed(const struct scores *scores, const struct pool *pool, uint32_t risers)
{
    uint64_t listed = 0;
    for (uint32_t i = 0; i < risers; i++)
        listed += pool->classes[scores->risers[i].class_index].asleep.count;
    return listed;
}

/* The margin of the next sweep of this round: as large as this one could have been without catching too many. */
static void adapt_sweep(uint32_t *margin, uint32_t looked, uint32_t left)
{
    if (left < looked)
        *margin = left + 1;
    else if (looked == *margin)
        *margin += *margin / 4 + 1;
    *margin = *margin < LARGEST_MARGIN ? *margin : LARGEST_MARGIN;
}

void ocdm__scores_sweep(struct scores *scores, struct pool *pool, const struct filter *filter, int64_t best)
{
    uint32_t *margin = &scores->margin[scores->swept];
    ocdm__scores_dismiss_guests(scores, pool);
    scores->swept += scores->swept + 1 < OCDM__ROUNDS;
    ocdm__scores_refine_units(scores, pool, filter, best);
    set_goals(scores, filter, best);
    uint32_t risers = list_risers(scores, pool);
    uint64_t listed = count_listed(scores, pool, risers);
    struct catch caught = {.margin = margin_at_rest(scores, *margin)};
    if (!sweep_pairs(scores, pool, risers, cost_of_raising(scores, listed), &caught))
        sweep_lists(scores, pool, risers, listed, &caught);
    uint32_t looked = caught.margin;
    scores->sleep_trial.spent += COST_OF_SWEEP + (uint64_t)caught.count * COST_OF_CATCH;
    if (caught.count > CAUGHT_AT_MOST)
        narrow(scores, &caught);
    adapt_sweep(margin, looked, caught.margin);
    settle(scores, pool, &caught);
    for (uint32_t i = 0; i < scores->present_count; i++) {
        struct bucket *bucket = &scores->buckets[scores->present[i]];
        bucket->ceiling = bucket->asleep ? highest_short_of(scores, bucket, (int64_t)caught.margin + 1) : INT64_MIN;
    }
    ocdm__scores_start_new_age(scores);
    scores->work.sweeps++;
}
