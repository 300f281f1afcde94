/* The target, eq. (5), and the distances as they are reported: plain sums over classes, for people to read, deciding nothing.
 */
#include "memory/memory.h"

#include <math.h>

#include "memory/distances.h"
#include "memory/logarithm.h"

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

void ocdm__target(const ocdm_memory *memory, ocdm_scope scope, double *p)
{
    double scale;
    double total = total_power(memory, scope, &scale);
    for (uint32_t i = 0; i < memory->pool.class_count; i++) {
        const struct class *class = &memory->pool.classes[i];
        p[i] = in_scope(memory, class, scope) ? ocdm__exp(log_power(memory, class) - scale) / total : 0;
    }
}

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
