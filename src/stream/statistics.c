/* The whole stream and each task have tallies of the same kind; a sample is counted in one or two of them. */
#include "stream/statistics.h"

const char *ocdm__class_group_name(enum ocdm__class_group group)
{
    static const char *const names[] = {"majority", "moderate", "minority"};
    return names[group];
}

enum ocdm__class_group ocdm__class_group_of(uint64_t count, uint64_t high, uint64_t low)
{
    return count > high ? OCDM__MAJORITY : count < low ? OCDM__MINORITY : OCDM__MODERATE;
}

static const char what[] = "the statistics of a stream";

static ocdm_status find_task(ocdm__statistics *statistics, uint64_t task, ocdm__tally **tally, ocdm_error *error)
{
    /* The position of the task among the others, or where to insert it. */
    size_t place = 0, high = statistics->task_count;
    while (place < high) {
        size_t middle = place + (high - place) / 2;
        if (statistics->tasks[middle].task < task)
            place = middle + 1;
        else
            high = middle;
    }

    if (place == statistics->task_count || statistics->tasks[place].task != task) {
        if (statistics->task_count == OCDM__MAX_TASKS)
            return ocdm__fail(error, OCDM_LIMIT, "is \"task\" the number of a task, or of something else?",
                              "the stream has over %d tasks", OCDM__MAX_TASKS);
        if (!ocdm__reserve(&statistics->tasks, &statistics->task_room, statistics->task_count + 1, sizeof *statistics->tasks))
            return ocdm__fail_memory(error, what);
        ocdm__tally *at = statistics->tasks + place;
        memmove(at + 1, at, (statistics->task_count++ - place) * sizeof *at);
        *at = (ocdm__tally){.task = task};
    }
    *tally = &statistics->tasks[place];
    return OCDM_OK;
}

/* ---- counting ------------------------------------------------------------------------------------------------------- */

/* Counts the labels of a training sample, each once; `task` is NULL when it has none. */
static ocdm_status count_labels(ocdm__statistics *statistics, const ocdm__counted_sample *sample, ocdm__tally *task,
                                ocdm_error *error)
{
    size_t distinct = 0;
    for (size_t i = 0; i < sample->label_count; i++) {
        if (!ocdm__reserve_zeroed(&statistics->noted, &statistics->noted_room, sample->labels[i] + 1,
                                  sizeof *statistics->noted))
            return ocdm__fail_memory(error, what);
        distinct += !statistics->noted[sample->labels[i]];
        statistics->noted[sample->labels[i]] = true;
    }
    ocdm__tally *const tallies[] = {&statistics->total, task};
    for (size_t i = 0; i < sample->label_count; i++) {
        uint32_t class_number = sample->labels[i];
        if (!statistics->noted[class_number])
            continue;
        statistics->noted[class_number] = false;
        for (size_t k = 0; k < (task != NULL ? 2 : 1); k++) {
            ocdm__tally *tally = tallies[k];
            if (!ocdm__reserve_zeroed(&tally->classes, &tally->class_room, (size_t)class_number + 1, sizeof *tally->classes))
                return ocdm__fail_memory(error, what);
            tally->classes[class_number].count++;
            tally->classes[class_number].shared += distinct > 1;
        }
    }
    statistics->label_count += distinct;
    statistics->samples[distinct < OCDM__LABEL_STEPS ? distinct : OCDM__LABEL_STEPS - 1]++;
    return OCDM_OK;
}

ocdm_status ocdm__statistics_add(ocdm__statistics *statistics, const ocdm__counted_sample *sample, ocdm_error *error)
{
    ocdm__tally *task = NULL;
    if (sample->has_task) {
        OCDM_TRY(find_task(statistics, sample->task, &task, error));
        task->train += !sample->test;
        task->test += sample->test;
    }
    statistics->without_task += !sample->has_task;
    statistics->total.train += !sample->test;
    statistics->total.test += sample->test;
    return sample->test ? OCDM_OK : count_labels(statistics, sample, task, error);
}

void ocdm__statistics_clear(ocdm__statistics *statistics)
{
    for (size_t i = 0; i < statistics->task_count; i++)
        ocdm__release(statistics->tasks[i].classes);
    OCDM_RELEASE(statistics->tasks, statistics->total.classes, statistics->noted);
    *statistics = (ocdm__statistics){.task_count = 0};
}

/* ---- questions ------------------------------------------------------------------------------------------------------ */

ocdm__class_tally ocdm__tally_class(const ocdm__tally *tally, size_t class_number)
{
    return class_number < tally->class_room ? tally->classes[class_number] : (ocdm__class_tally){0, 0};
}

size_t ocdm__tally_class_count(const ocdm__tally *tally)
{
    size_t count = 0;
    for (size_t i = 0; i < tally->class_room; i++)
        count += tally->classes[i].count > 0;
    return count;
}

void ocdm__tally_range(const ocdm__tally *tally, uint64_t *smallest, uint64_t *largest)
{
    *smallest = *largest = 0;
    for (size_t i = 0; i < tally->class_room; i++) {
        uint64_t count = tally->classes[i].count;
        if (count > 0 && (*smallest == 0 || count < *smallest))
            *smallest = count;
        if (count > *largest)
            *largest = count;
    }
}

double ocdm__tally_mlr(const ocdm__tally *tally, size_t class_number)
{
    ocdm__class_tally counts = ocdm__tally_class(tally, class_number);
    return counts.count > 0 ? 100 * (double)counts.shared / (double)counts.count : NAN;
}

double ocdm__tally_amlr(const ocdm__tally *tally)
{
    double sum = 0;
    size_t count = ocdm__tally_class_count(tally);
    for (size_t i = 0; i < tally->class_room; i++)
        if (tally->classes[i].count > 0)
            sum += ocdm__tally_mlr(tally, i);
    return count > 0 ? sum / (double)count : NAN;
}

ocdm__class_groups ocdm__tally_groups(const ocdm__tally *tally, uint64_t high, uint64_t low)
{
    ocdm__class_groups groups = {0, 0, 0};
    for (size_t i = 0; i < tally->class_room; i++) {
        uint64_t count = tally->classes[i].count;
        enum ocdm__class_group group = ocdm__class_group_of(count, high, low);
        groups.majority += count > 0 && group == OCDM__MAJORITY;
        groups.moderate += count > 0 && group == OCDM__MODERATE;
        groups.minority += count > 0 && group == OCDM__MINORITY;
    }
    return groups;
}

/* ---- bounds of groups --------------------------------------------------------------------------------------------------- */

ocdm__class_counts ocdm__tally_counts(const ocdm__tally *tally)
{
    const uint64_t *first = tally->class_room > 0 ? &tally->classes->count : NULL;
    return (ocdm__class_counts){.first = first, .stride = sizeof *tally->classes, .count = tally->class_room};
}

/* How many of the classes that occur have from `low` to `high` samples. */
static size_t classes_within(const ocdm__class_counts *counts, uint64_t low, uint64_t high)
{
    size_t found = 0;
    for (size_t i = 0; i < counts->count; i++) {
        uint64_t count = *(const uint64_t *)((const char *)counts->first + i * counts->stride);
        found += count > 0 && count >= low && count <= high;
    }
    return found;
}

/* Both by bisection: the number of classes on one side of a bound only falls, or only rises, as the bound does. */
void ocdm__tercile_bounds(const ocdm__class_counts *counts, uint64_t bounds[2])
{
    size_t third = classes_within(counts, 1, UINT64_MAX) / 3;
    bounds[0] = bounds[1] = 0;
    for (uint64_t bit = (uint64_t)1 << 63; bit > 0; bit /= 2) {
        if (classes_within(counts, bounds[0] + bit, UINT64_MAX) > third)
            bounds[0] += bit;
        if (classes_within(counts, 1, bounds[1] + bit - 1) <= third)
            bounds[1] += bit;
    }
}

bool ocdm__usual_bounds(const ocdm__class_counts *counts, uint64_t bounds[2])
{
    bounds[0] = OCDM__MAJORITY_OVER;
    bounds[1] = OCDM__MINORITY_UNDER;
    if (classes_within(counts, 1, UINT64_MAX) < 3 || classes_within(counts, OCDM__MAJORITY_OVER + 1, UINT64_MAX) > 0)
        return false;
    ocdm__tercile_bounds(counts, bounds);
    return true;
}
