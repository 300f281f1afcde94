/* `--blur`: samples leave their tasks. docs/methods.md has the three constructions. */
#include "experiment/loop/schedule.h"

#include "base/random.h"

/* When a sample arrives: periods count from 0. Equal times keep the order of `key`. */
struct arrival {
    double time;
    uint64_t key;
    uint32_t sample;
};

static int by_arrival(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

/* The last `share` of a task's samples, which are shuffled, leave: one after another they go to the next task, the one after
 * it, and so on, around the end of the order, never to their own. Inside a period the order is random. With a deviation,
 * sample i of n would arrive at (i + 1/2) / n of its task. `tasks` are those that have samples. */
static void find_arrivals(const ocdm__stream_order *order, const ocdm__blur *blur, size_t tasks, uint64_t base,
                          struct arrival *arrivals)
{
    size_t period = 0, start = 0;
    for (size_t k = 0; k < order->task_count; k++) {
        size_t size = order->ends[k] - start, staying = size - (size_t)floor(blur->share * (double)size + 0.5);
        for (size_t i = 0; i < size; i++) {
            uint32_t sample = order->samples[start + i];
            size_t away = i < staying ? 0 : 1 + (i - staying) % (tasks - 1);
            struct arrival *arrival = &arrivals[start + i];
            *arrival = (struct arrival){(double)((period + away) % tasks), ocdm__random_at(base, sample), sample};
            if (blur->deviation == 0)
                continue;
            ocdm__random random = ocdm__random_stream(base, sample);
            double planned = (double)period + ((double)i + 0.5) / (double)size;
            arrival->time = planned + blur->deviation * ocdm__random_normal(&random);
            arrival->key = i;
        }
        start = order->ends[k];
        period += size > 0;
    }
}

/* ---- Si-Blurry: tasks of random classes and sizes ------------------------------------------------------------------ */

/* Who is dealt to which period: by class, and by place in the shuffled pool of blurred samples. */
struct deal {
    uint64_t *counts;  /* samples with each class */
    uint32_t *classes; /* those that some sample has, in random order; the first are the disjoint ones */
    size_t class_count;
    uint32_t *period_of; /* of each class */
    bool *is_disjoint;   /* of each class */
    uint32_t *pool;      /* samples of blurry classes, by their places in the order, shuffled */
    size_t pool_count;
    size_t *cuts; /* of as many items as are dealt: those below cuts[k] go to period k or one before */
    size_t periods;
};

static int by_size(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* T - 1 sorted uniform cuts of `count` items. */
static void cut(struct deal *deal, size_t count, ocdm__random *random)
{
    for (size_t k = 0; k + 1 < deal->periods; k++)
        deal->cuts[k] = (size_t)ocdm__random_below(random, count + 1);
    qsort(deal->cuts, deal->periods - 1, sizeof *deal->cuts, by_size);
    deal->cuts[deal->periods - 1] = count;
}

static uint32_t period_of_item(const struct deal *deal, size_t item)
{
    uint32_t period = 0;
    while (item >= deal->cuts[period])
        period++;
    return period;
}

/* Classes are dealt to periods, the disjoint ones first. Every sample goes to the period of its rarest class; then a share of
 * those of blurry classes is pooled and dealt anew. */
static void deal_samples(struct deal *deal, const ocdm__stream_order *order, const ocdm__stream_table *table,
                         const ocdm__blur *blur, uint64_t base, struct arrival *arrivals)
{
    ocdm__random random = ocdm__random_stream(base, UINT64_MAX);
    for (size_t i = 0; i < order->count; i++)
        ocdm__count_labels(table, order->samples[i], deal->counts);
    for (uint32_t c = 0; c < table->class_count; c++)
        if (deal->counts[c] > 0)
            deal->classes[deal->class_count++] = c;
    ocdm__random_shuffle(&random, deal->classes, deal->class_count);
    size_t first = (size_t)floor(blur->disjoint * (double)deal->class_count + 0.5);
    cut(deal, first, &random);
    for (size_t i = 0; i < deal->class_count; i++) {
        if (i == first)
            cut(deal, deal->class_count - first, &random);
        deal->period_of[deal->classes[i]] = period_of_item(deal, i < first ? i : i - first);
        deal->is_disjoint[deal->classes[i]] = i < first;
    }
    if (first == deal->class_count)
        cut(deal, 0, &random);
    for (size_t i = 0; i < order->count; i++) {
        uint32_t sample = order->samples[i], class_number = ocdm__rarest_class(table, sample, deal->counts);
        arrivals[i] = (struct arrival){.time = class_number == OCDM_NONE ? 0 : (double)deal->period_of[class_number],
                                       .key = ocdm__random_at(base, sample),
                                       .sample = sample};
        if (class_number == OCDM_NONE || !deal->is_disjoint[class_number])
            deal->pool[deal->pool_count++] = (uint32_t)i;
    }
    ocdm__random_shuffle(&random, deal->pool, deal->pool_count);
    size_t blurred = (size_t)floor(blur->share * (double)deal->pool_count + 0.5);
    cut(deal, blurred, &random);
    for (size_t i = 0; i < blurred; i++)
        arrivals[deal->pool[i]].time = (double)period_of_item(deal, i);
}

static ocdm_status deal_anew(ocdm__stream_order *order, const ocdm__stream_table *table, const ocdm__blur *blur, uint64_t base,
                             struct arrival *arrivals, ocdm__arena *room, ocdm_error *error)
{
    struct deal deal = {.counts = ocdm__arena_new(room, table->class_count, sizeof *deal.counts),
                        .classes = ocdm__arena_new(room, table->class_count, sizeof *deal.classes),
                        .period_of = ocdm__arena_new(room, table->class_count, sizeof *deal.period_of),
                        .is_disjoint = ocdm__arena_new(room, table->class_count, sizeof *deal.is_disjoint),
                        .pool = ocdm__arena_new(room, order->count, sizeof *deal.pool),
                        .cuts = ocdm__arena_new(room, order->task_count, sizeof *deal.cuts),
                        .periods = order->task_count};
    OCDM_TRY(ocdm__arena_check(room, "the classes of the tasks", error));
    deal_samples(&deal, order, table, blur, base, arrivals);
    for (size_t k = 0; k < order->task_count; k++)
        order->ends[k] = 0;
    for (size_t i = 0; i < order->count; i++)
        order->ends[(size_t)arrivals[i].time]++;
    for (size_t k = 1; k < order->task_count; k++)
        order->ends[k] += order->ends[k - 1];
    return OCDM_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

ocdm_status ocdm__stream_order_blur(ocdm__stream_order *order, const ocdm__stream_table *table, const ocdm__blur *blur,
                                    uint64_t seed, ocdm_error *error)
{
    size_t tasks = 0;
    if (blur->share == 0 && blur->deviation == 0 && !blur->anew)
        return OCDM_OK;
    for (size_t k = 0; k < order->task_count; k++)
        tasks += order->ends[k] > (k > 0 ? order->ends[k - 1] : 0);
    if (tasks < 2)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "leave --blur out",
                          "the stream has one task with training samples: it has "
                          "no boundary that could be blurred");
    uint64_t base = ocdm__random_base(seed, OCDM__FOR_BLUR);
    ocdm__arena room = {.failed = false};
    struct arrival *arrivals = ocdm__arena_new(&room, order->count, sizeof *arrivals);
    ocdm_status status = ocdm__arena_check(&room, "the arrivals of the samples", error);
    if (blur->anew)
        OCDM_THEN(status, deal_anew(order, table, blur, base, arrivals, &room, error));
    else if (status == OCDM_OK)
        find_arrivals(order, blur, tasks, base, arrivals);
    if (status == OCDM_OK)
        qsort(arrivals, order->count, sizeof *arrivals, by_arrival);
    for (size_t i = 0; status == OCDM_OK && i < order->count; i++)
        order->samples[i] = arrivals[i].sample;
    ocdm__arena_clear(&room);
    return status;
}
