/* Forgetting, by the differences of a column's last value and the best before it. */
#include "metrics/forgetting.h"

#include <math.h>

/* NaN when there is no value before the last row. */
static double best_earlier(const double *map, size_t evaluations, size_t tasks, size_t task)
{
    double best = NAN;
    for (size_t e = 0; e + 1 < evaluations; e++) {
        double value = map[e * tasks + task];
        if (isnan(best) || value > best)
            best = value;
    }
    return best;
}

double ocdm__forgetting(const double *map, size_t evaluations, size_t tasks, double *forgetting)
{
    for (size_t t = 0; t < tasks; t++) {
        double final = evaluations > 0 ? map[(evaluations - 1) * tasks + t] : (double)NAN;
        forgetting[t] = best_earlier(map, evaluations, tasks, t) - final;
    }
    return ocdm__mean_of_known(forgetting, tasks);
}

double ocdm__mean_of_known(const double *values, size_t count)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) {
            sum += values[i];
            known++;
        }
    return known > 0 ? sum / (double)known : (double)NAN;
}
