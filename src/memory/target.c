/*
 * The target p_i = w_i n_i^rho / Z, eq. (5) with weights, and the distances from it as they are reported: plain sums over
 * classes, for people to read, deciding nothing.
 *
 * Weights and minimums are kept by class id, since a class may get them before it appears; its record has ln w_i and the
 * minimum from the moment it does.
 */
#include "memory/memory.h"

#include "memory/distances.h"
#include "base/logarithm.h"
#include "memory/internal.h"
#include "memory/pool.h"

/* ---- settings of classes -------------------------------------------------------------------------------------------- */

static bool is_setting_of(const void *settings, uint32_t number, const void *class_id)
{
    return ((const struct class_setting *)settings)[number].class_id == *(const uint32_t *)class_id;
}

static uint32_t find_setting(const struct pool *pool, uint32_t class_id)
{
    return ocdm__hash_table_find(&pool->setting_table, ocdm__hash_number(class_id), is_setting_of, pool->settings, &class_id);
}

/* Most memories have no settings; the table is not asked then. */
struct class_setting ocdm__pool_setting(const struct pool *pool, uint32_t class_id)
{
    struct class_setting setting = {.weight = 1, .class_id = class_id, .minimum = OCDM_NONE};
    uint32_t number = pool->setting_count > 0 ? find_setting(pool, class_id) : OCDM_NONE;
    if (number != OCDM_NONE)
        setting = pool->settings[number];
    if (setting.minimum == OCDM_NONE)
        setting.minimum = pool->minimum;
    return setting;
}

/* To be changed, and then brought into the class's record, if it has one; NULL when out of memory, and nothing has changed
 * then. */
static struct class_setting *add_setting(struct pool *pool, uint32_t class_id)
{
    uint32_t number = find_setting(pool, class_id);
    if (number == OCDM_NONE) {
        if (!ocdm__reserve(&pool->settings, &pool->setting_room, pool->setting_count + (size_t)1, sizeof *pool->settings) ||
            !ocdm__hash_table_reserve(&pool->setting_table, pool->setting_count + 1))
            return NULL;
        number = pool->setting_count++;
        pool->settings[number] = (struct class_setting){.weight = 1, .class_id = class_id, .minimum = OCDM_NONE};
        ocdm__hash_table_add(&pool->setting_table, ocdm__hash_number(class_id), number);
    }
    return &pool->settings[number];
}

void ocdm__pool_apply_setting(struct pool *pool, struct class *class)
{
    struct class_setting setting = ocdm__pool_setting(pool, class->id);
    class->ln_weight = setting.weight == 1 ? 0 : ocdm__ln_real(setting.weight);
    class->minimum = setting.minimum;
}

/* Weights that are 1 take no part in anything. */
ocdm_status ocdm_memory_set_weight(ocdm_memory *memory, uint32_t class_id, double weight, ocdm_error *error)
{
    if (memory == NULL)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory must not be NULL");
    if (!(weight >= OCDM_MIN_WEIGHT && weight <= OCDM_MAX_WEIGHT))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "1 is a class like any other", "the weight %g is not between %g and %g",
                          weight, OCDM_MIN_WEIGHT, OCDM_MAX_WEIGHT);
    struct class_setting *setting = add_setting(&memory->pool, class_id);
    if (setting == NULL)
        return ocdm__fail_memory(error, "the weights of classes");
    setting->weight = weight;
    uint32_t class_index = ocdm__pool_class(&memory->pool, class_id);
    if (class_index == OCDM_NONE)
        return OCDM_OK;
    ocdm__pool_apply_setting(&memory->pool, &memory->pool.classes[class_index]);
    if (memory->index != NULL)
        ocdm__index_class_seen(memory->index, &memory->pool, class_index);
    return OCDM_OK;
}

double ocdm_memory_weight(const ocdm_memory *memory, uint32_t class_id)
{
    return memory == NULL ? 0 : ocdm__pool_setting(&memory->pool, class_id).weight;
}

/* With minimums an update may have to be taken back. */
static ocdm_status begin_minimums(ocdm_memory *memory, ocdm_error *error)
{
    OCDM_TRY(ocdm__check_minimum(&memory->options, error));
    if (!memory->keeps_journal) {
        OCDM_TRY(ocdm__new(&memory->journal, (size_t)memory->batch_room * 2, sizeof *memory->journal,
                           "the journal of the update", error));
        memory->keeps_journal = true;
    }
    memory->pool.has_minimums = true;
    return OCDM_OK;
}

/* Takes effect with the next deletion, for classes that are in memory too. */
ocdm_status ocdm_memory_set_minimum(ocdm_memory *memory, uint32_t class_id, uint32_t minimum, ocdm_error *error)
{
    if (memory == NULL || minimum > OCDM_MAX_CAPACITY)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "", "memory must not be NULL, and a minimum be at most %lu",
                          (unsigned long)OCDM_MAX_CAPACITY);
    OCDM_TRY(begin_minimums(memory, error));
    struct class_setting *setting = add_setting(&memory->pool, class_id);
    if (setting == NULL)
        return ocdm__fail_memory(error, "the minimums of classes");
    setting->minimum = minimum;
    uint32_t class_index = ocdm__pool_class(&memory->pool, class_id);
    if (class_index != OCDM_NONE)
        ocdm__pool_apply_setting(&memory->pool, &memory->pool.classes[class_index]);
    return OCDM_OK;
}

ocdm_status ocdm__memory_set_default_minimum(ocdm_memory *memory, uint32_t minimum, ocdm_error *error)
{
    OCDM_TRY(begin_minimums(memory, error));
    memory->options.minimum = memory->pool.minimum = minimum;
    return OCDM_OK;
}

uint32_t ocdm_memory_minimum(const ocdm_memory *memory, uint32_t class_id)
{
    return memory == NULL ? 0 : ocdm__pool_setting(&memory->pool, class_id).minimum;
}

/* ---- the target ----------------------------------------------------------------------------------------------------- */

static bool in_scope(const ocdm_memory *memory, const struct class *class, ocdm_scope scope)
{
    return scope == OCDM_SEEN_EVER ? class->seen > 0 : ocdm__in_play(memory, class);
}

/* ln(w_i n_i^rho). */
static double log_power(const ocdm_memory *memory, const struct class *class)
{
    double power = memory->options.rho == 0 ? 0 : memory->options.rho * ocdm__ln(class->seen);
    return power + class->ln_weight;
}

/* w_i n_i^rho is scaled by the largest of them, so that it neither overflows nor vanishes; the scale is ln of that. */
static double total_power(const ocdm_memory *memory, ocdm_scope scope, double *scale)
{
    const struct pool *pool = &memory->pool;
    double most = -HUGE_VAL, total = 0;
    for (uint32_t i = 0; i < pool->class_count; i++)
        if (in_scope(memory, &pool->classes[i], scope) && log_power(memory, &pool->classes[i]) > most)
            most = log_power(memory, &pool->classes[i]);
    for (uint32_t i = 0; i < pool->class_count; i++)
        if (in_scope(memory, &pool->classes[i], scope))
            total += ocdm__exp(log_power(memory, &pool->classes[i]) - most);
    *scale = most;
    return total;
}

/* Two passes: the sum of the powers first, then the shares. */
void ocdm__target(const ocdm_memory *memory, ocdm_scope scope, double *p)
{
    double scale;
    double total = total_power(memory, scope, &scale);
    for (uint32_t i = 0; i < memory->pool.class_count; i++) {
        const struct class *class = &memory->pool.classes[i];
        p[i] = in_scope(memory, class, scope) ? ocdm__exp(log_power(memory, class) - scale) / total : 0;
    }
}

/* Target shares over all classes ever seen, as a user looks at them. */
size_t ocdm_memory_counts(const ocdm_memory *memory, ocdm_class *classes, size_t room)
{
    if (memory == NULL)
        return 0;
    room = classes == NULL ? 0 : room;
    double scale;
    double total = total_power(memory, OCDM_SEEN_EVER, &scale);
    for (uint32_t i = 0; i < memory->pool.class_count && i < room; i++) {
        const struct class *class = &memory->pool.classes[i];
        double target = class->seen ? ocdm__exp(log_power(memory, class) - scale) / total : 0;
        classes[i] = (ocdm_class){class->id, class->kept, class->seen, target};
    }
    return memory->pool.class_count;
}

/* The plain sum of the terms, O(C): for reports. Decisions are made by the index. */
double ocdm_memory_distance(const ocdm_memory *memory, ocdm_scope scope)
{
    if (memory == NULL || memory->pool.label_total == 0)
        return NAN;
    const struct pool *pool = &memory->pool;
    double (*term)(double, double, double, double) = ocdm__distances[memory->options.distance].term;
    double scale, distance = 0;
    double ln_total = ocdm__ln_real(total_power(memory, scope, &scale));
    double labels = (double)pool->label_total;
    for (uint32_t i = 0; i < pool->class_count; i++) {
        const struct class *class = &pool->classes[i];
        if (!in_scope(memory, class, scope))
            continue;
        double ln_p = log_power(memory, class) - scale - ln_total;
        distance += term(class->kept / labels, class->kept, ln_p, labels);
    }
    return distance;
}
