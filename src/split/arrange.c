/*
 * Minimises the sum over features and parts of weight * excess^2.
 *
 * The greedy start gives each unit to the part that needs its features most, in proportion to the part's size; units with many
 * features come first, while there is still a choice. Then two units of different parts are exchanged whenever that lowers the
 * sum. Half of the proposals are units with the same rarest label: their exchange changes few features, and near the end only
 * such exchanges help. All decisions are sums of whole numbers.
 */
#include "split/arrange.h"

#include "base/random.h"

#define CANDIDATES 8 /* proposals for a unit before the next one has its turn */
#define NEAR 16      /* related units are at most that far away */
#define MOST_FEATURES 65535u

/* Of labels and of the sizes of parts, as multiples of the weight of a pair; of labels besides, as a multiple of 1 / total. */
#define LABEL_WEIGHT 8u
#define RARE_LABEL_WEIGHT 16u
#define SIZE_WEIGHT 64u

/* In the last eighth of the search labels weigh so many times as much: it rounds each to the nearest number in every part, and
 * pairs lose next to nothing, since few exchanges are left to be made. */
#define LAST_LABEL_FACTOR 16u

/* ---- orders of units -------------------------------------------------------------------------------------------------- */

/* Most features first. */
static uint32_t key_of_size(const struct ocdm__features *features, uint32_t unit)
{
    uint64_t size = features->starts[unit + 1] - features->starts[unit];
    return MOST_FEATURES - (uint32_t)(size < MOST_FEATURES ? size : MOST_FEATURES);
}

/* Units with the same key are neighbours in `related`, the partners that change few features. */
static uint32_t key_of_rarest_label(const struct ocdm__features *features, uint32_t unit)
{
    uint32_t rarest = 0, total = UINT32_MAX;
    for (uint64_t at = features->starts[unit]; at < features->starts[unit + 1]; at++) {
        const struct ocdm__feature *feature = &features->features[features->list[at]];
        if (feature->order == 1 && feature->total < total) {
            rarest = features->list[at];
            total = feature->total;
        }
    }
    return rarest;
}

/* Sorts the shuffled units by a key below `keys`; equal ones stay shuffled. */
static ocdm_status sort_units(const struct ocdm__arrangement *arrangement,
                              uint32_t (*key)(const struct ocdm__features *features, uint32_t unit), size_t keys,
                              uint32_t *sorted, ocdm_error *error)
{
    const struct ocdm__features *features = arrangement->features;
    uint32_t *starts;
    OCDM_TRY(ocdm__new(&starts, keys + 1, sizeof *starts, "the order of the samples", error));
    for (uint32_t unit = 0; unit < features->unit_count; unit++)
        starts[key(features, unit) + 1]++;
    for (size_t i = 0; i < keys; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < features->unit_count; i++)
        sorted[starts[key(features, arrangement->shuffled[i])]++] = arrangement->shuffled[i];
    ocdm__release(starts);
    return OCDM_OK;
}

/* All units in a random order, which breaks every tie that follows. */
ocdm_status ocdm__arrangement_begin(struct ocdm__arrangement *arrangement, uint64_t seed, ocdm_error *error)
{
    const struct ocdm__features *features = arrangement->features;
    uint32_t count = features->unit_count;
    OCDM_TRY(ocdm__new(&arrangement->weights, features->count, sizeof *arrangement->weights, "the parts of a split", error));
    OCDM_TRY(ocdm__new(&arrangement->excess, features->count, (size_t)arrangement->parts * sizeof *arrangement->excess,
                       "the parts of a split", error));
    OCDM_TRY(ocdm__new(&arrangement->part, count, sizeof *arrangement->part, "the parts of a split", error));
    OCDM_TRY(ocdm__new(&arrangement->shuffled, count, sizeof *arrangement->shuffled, "the parts of a split", error));
    OCDM_TRY(ocdm__new(&arrangement->related, count, sizeof *arrangement->related, "the parts of a split", error));
    OCDM_TRY(ocdm__new(&arrangement->place, count, sizeof *arrangement->place, "the parts of a split", error));
    uint32_t *units = arrangement->shuffled;
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_SPLITS), 0);
    for (uint32_t i = 0; i < count; i++)
        units[i] = i;
    ocdm__random_shuffle(&random, units, count);
    return OCDM_OK;
}

void ocdm__arrangement_clear(struct ocdm__arrangement *arrangement)
{
    OCDM_RELEASE(arrangement->weights, arrangement->excess, arrangement->part, arrangement->shuffled, arrangement->related,
                 arrangement->place, arrangement->pinned);
}

/* ---- weights and targets --------------------------------------------------------------------------------------------------
 */

/* The largest whole number whose square is not more than x. */
static uint64_t square_root(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit /= 2)
        if ((root + bit) * (root + bit) <= x)
            root += bit;
    return root;
}

/* 2^16 / sqrt(total). Labels have more, and rare labels still more, so that every part has some of them. */
static uint32_t weight_of(const struct ocdm__feature *feature)
{
    uint64_t root = square_root((uint64_t)feature->total << 16), pair = (1u << 24) / root;
    if (feature->order == 1)
        return (uint32_t)(LABEL_WEIGHT * pair + RARE_LABEL_WEIGHT * 65536u / feature->total);
    return (uint32_t)(feature->order == 0 && feature->label[0] == OCDM__EVERY_SAMPLE ? SIZE_WEIGHT * pair : pair);
}

/* Each part's share of every feature, in eighths, so that sums of squares are whole numbers. */
void ocdm__target_shares(struct ocdm__arrangement *arrangement)
{
    const struct ocdm__features *features = arrangement->features;
    uint64_t samples = 0;
    for (uint32_t p = 0; p < arrangement->parts; p++)
        samples += arrangement->sizes[p];
    for (uint32_t f = 0; f < features->count; f++) {
        arrangement->weights[f] = weight_of(&features->features[f]);
        for (uint32_t p = 0; p < arrangement->parts; p++) {
            uint64_t target =
                ((uint64_t)OCDM__EIGHTHS * features->features[f].total * arrangement->sizes[p] + samples / 2) / samples;
            arrangement->excess[(size_t)f * arrangement->parts + p] = -(int32_t)target;
        }
    }
}

/* A feature that fewer samples have would be due less than half a sample in the smallest part. */
uint64_t ocdm__fewest(const uint64_t *sizes, size_t parts)
{
    uint64_t smallest = UINT64_MAX, samples = 0;
    for (size_t p = 0; p < parts; p++) {
        smallest = sizes[p] < smallest ? sizes[p] : smallest;
        samples += sizes[p];
    }
    uint64_t fewest = (samples + 2 * smallest - 1) / (2 * smallest);
    return fewest > 2 ? fewest : 2;
}

/* ---- the greedy start --------------------------------------------------------------------------------------------------- */

/* How much the sum grows when a unit comes to a part. A feature that the unit has twice is counted as two steps at once. */
static int64_t cost_of_adding(const struct ocdm__arrangement *arrangement, uint32_t unit, uint32_t part)
{
    const struct ocdm__features *features = arrangement->features;
    int64_t sum = 0;
    for (uint64_t at = features->starts[unit]; at < features->starts[unit + 1]; at++) {
        uint32_t feature = features->list[at];
        int64_t excess = arrangement->excess[(size_t)feature * arrangement->parts + part];
        sum += arrangement->weights[feature] * (2 * excess + OCDM__EIGHTHS);
    }
    return sum;
}

static void change_excess(struct ocdm__arrangement *arrangement, uint32_t unit, uint32_t part, int32_t change)
{
    const struct ocdm__features *features = arrangement->features;
    for (uint64_t at = features->starts[unit]; at < features->starts[unit + 1]; at++)
        arrangement->excess[(size_t)features->list[at] * arrangement->parts + part] += change;
}

/* The part that needs the unit most and has room for it. Groups have room everywhere: their size is a feature. */
static uint32_t choose_part(const struct ocdm__arrangement *arrangement, uint32_t unit, const uint64_t *room, uint32_t first)
{
    uint32_t parts = arrangement->parts, best = OCDM_NONE;
    double lowest = 0;
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t part = (first + i) % parts;
        if (room[part] == 0)
            continue;
        double cost = (double)cost_of_adding(arrangement, unit, part) / (double)arrangement->sizes[part];
        if (best == OCDM_NONE || cost < lowest) {
            lowest = cost;
            best = part;
        }
    }
    return best;
}

static bool is_pinned(const struct ocdm__arrangement *arrangement, uint32_t unit)
{
    return arrangement->pinned != NULL && arrangement->pinned[unit];
}

/* Pinned units first. */
static ocdm_status start_greedily(struct ocdm__arrangement *arrangement, const uint32_t *order, ocdm_error *error)
{
    const struct ocdm__features *features = arrangement->features;
    uint64_t *room;
    OCDM_TRY(ocdm__new(&room, arrangement->parts, sizeof *room, "the parts of a split", error));
    memcpy(room, arrangement->sizes, arrangement->parts * sizeof *room);
    uint32_t units = features->unit_count;
    for (uint32_t i = 0; i < 2 * units; i++) {
        uint32_t unit = order[i < units ? i : i - units], part = 0;
        if (is_pinned(arrangement, unit) != (i < units))
            continue;
        if (!is_pinned(arrangement, unit))
            part = choose_part(arrangement, unit, room, i % arrangement->parts);
        arrangement->part[unit] = part;
        change_excess(arrangement, unit, part, OCDM__EIGHTHS);
        room[part] -= features->size == NULL;
    }
    ocdm__release(room);
    return OCDM_OK;
}

/* ---- exchanges ---------------------------------------------------------------------------------------------------------- */

/* Unit `leaving` goes from one part to another; `coming`, OCDM_NONE for none, the other way. */
struct exchange {
    uint32_t leaving, coming, from, to;
};

/* How much the sum changes. The two lists ascend; what both units have does not change. */
static int64_t cost_of_exchange(const struct ocdm__arrangement *arrangement, const struct exchange *exchange)
{
    const struct ocdm__features *features = arrangement->features;
    const uint32_t *a = features->list + features->starts[exchange->leaving];
    const uint32_t *a_end = features->list + features->starts[exchange->leaving + 1];
    const uint32_t *b = NULL, *b_end = NULL;
    if (exchange->coming != OCDM_NONE) {
        b = features->list + features->starts[exchange->coming];
        b_end = features->list + features->starts[exchange->coming + 1];
    }
    int64_t sum = 0;
    while (a < a_end || b < b_end) {
        uint32_t feature = b == b_end || (a < a_end && *a < *b) ? *a : *b;
        int64_t moved = 0; /* eighths of samples with the feature, in this direction */
        for (; a < a_end && *a == feature; a++)
            moved += OCDM__EIGHTHS;
        for (; b < b_end && *b == feature; b++)
            moved -= OCDM__EIGHTHS;
        const int32_t *excess = arrangement->excess + (size_t)feature * arrangement->parts;
        sum += 2 * (int64_t)arrangement->weights[feature] * moved * (excess[exchange->to] - excess[exchange->from] + moved);
    }
    return sum;
}

/* Both units change parts; the excess of every feature that only one of them has changes with them. */
static void make_exchange(struct ocdm__arrangement *arrangement, const struct exchange *exchange)
{
    change_excess(arrangement, exchange->leaving, exchange->from, -OCDM__EIGHTHS);
    change_excess(arrangement, exchange->leaving, exchange->to, OCDM__EIGHTHS);
    arrangement->part[exchange->leaving] = exchange->to;
    if (exchange->coming == OCDM_NONE)
        return;
    change_excess(arrangement, exchange->coming, exchange->to, -OCDM__EIGHTHS);
    change_excess(arrangement, exchange->coming, exchange->from, OCDM__EIGHTHS);
    arrangement->part[exchange->coming] = exchange->from;
}

/* Proposal number `n` for a unit: any other, or a related one. Of groups, which have sizes, every fourth is a move. */
static struct exchange propose(const struct ocdm__arrangement *arrangement, uint32_t unit, uint64_t n, ocdm__random *random)
{
    uint32_t count = arrangement->features->unit_count, other;
    if (n % 2 == 0) {
        other = (uint32_t)ocdm__random_below(random, count);
    } else {
        uint64_t place = arrangement->place[unit] + (uint64_t)count - NEAR % count + ocdm__random_next(random) % (2 * NEAR + 1);
        other = arrangement->related[place % count];
    }
    bool moves = arrangement->features->size != NULL && n % 4 == 2;
    return (struct exchange){
        .leaving = unit, .coming = moves ? OCDM_NONE : other, .from = arrangement->part[unit], .to = arrangement->part[other]};
}

static bool is_possible(const struct ocdm__arrangement *arrangement, const struct exchange *exchange)
{
    return exchange->from != exchange->to && !is_pinned(arrangement, exchange->leaving) &&
           (exchange->coming == OCDM_NONE || !is_pinned(arrangement, exchange->coming));
}

/* Tries exchanges until there were `proposals` of them; returns how many of the last tenth were made. A part that is very small
 * makes most exchanges impossible, so the turns are limited too. */
static uint64_t exchange_units(struct ocdm__arrangement *arrangement, uint64_t proposals, ocdm__random *random,
                               ocdm_split_work *work)
{
    uint32_t count = arrangement->features->unit_count;
    uint64_t late = 0;
    for (uint64_t turn = 0; turn < proposals && work->proposals < proposals; turn++) {
        uint32_t unit = arrangement->shuffled[turn % count];
        for (uint64_t n = 0; n < CANDIDATES; n++) {
            struct exchange exchange = propose(arrangement, unit, n, random);
            if (!is_possible(arrangement, &exchange))
                continue;
            work->proposals++;
            if (cost_of_exchange(arrangement, &exchange) >= 0)
                continue;
            make_exchange(arrangement, &exchange);
            work->exchanges++;
            late += work->proposals > proposals - proposals / 10;
            break;
        }
    }
    return late;
}

/* Greedy start, then exchanges, seven eighths of them with plain weights and the last with heavier labels. */
ocdm_status ocdm__arrange(struct ocdm__arrangement *arrangement, uint64_t proposals, uint64_t seed, ocdm_split_work *work,
                          ocdm_error *error)
{
    const struct ocdm__features *features = arrangement->features;
    ocdm__random random = ocdm__random_stream(ocdm__random_base(seed, OCDM__FOR_SPLITS), 1);
    if (proposals == 0)
        proposals = ((uint64_t)1 << 19) + features->unit_count / 2;
    OCDM_TRY(sort_units(arrangement, key_of_size, MOST_FEATURES + 1, arrangement->related, error));
    OCDM_TRY(start_greedily(arrangement, arrangement->related, error));
    if (features->count == 0) /* a random split */
        return OCDM_OK;
    OCDM_TRY(sort_units(arrangement, key_of_rarest_label, features->count, arrangement->related, error));
    for (uint32_t i = 0; i < features->unit_count; i++)
        arrangement->place[arrangement->related[i]] = i;
    work->late = exchange_units(arrangement, proposals - proposals / 8, &random, work);
    for (uint32_t f = 0; f < arrangement->features->count; f++)
        if (arrangement->features->features[f].order == 1)
            arrangement->weights[f] *= LAST_LABEL_FACTOR;
    exchange_units(arrangement, proposals, &random, work);
    return OCDM_OK;
}
