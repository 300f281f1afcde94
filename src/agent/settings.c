/* How a network learns: what its settings are by default, which of them fit together, and what they make of a step. */
#include <math.h>

#include "agent/agent_parts.h"
#include "base/error.h"

ocdm__network_settings ocdm__network_settings_default(void)
{
    return (ocdm__network_settings){.learning_rate = 1e-4, .epsilon = 1e-4, .loss = {.negatives = 1}, .threads = 1};
}

ocdm_status ocdm__network_settings_check(const ocdm__network_settings *settings, ocdm_error *error)
{
    bool cosine = settings->lr_schedule == OCDM__LR_COSINE;
    if (settings->optimiser == OCDM__OPTIMISER_ADAM && settings->weight_decay > 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--optimiser adamw has it", "adam has no weight decay");
    if (settings->optimiser == OCDM__OPTIMISER_ADAMW && settings->weight_decay == 0)
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "such as --weight-decay 0.01", "adamw without weight decay is adam");
    if (cosine != (settings->horizon > 0))
        return ocdm__fail(error, OCDM_BAD_ARGUMENT, "--schedule cosine --horizon STEPS",
                          cosine ? "the cosine schedule needs a horizon" : "a horizon without the cosine schedule");
    return ocdm__loss_check(&settings->loss, error);
}

double ocdm__learning_rate(const ocdm__network_settings *settings, uint64_t step)
{
    double rate = settings->learning_rate, t = (double)step;
    if (settings->lr_schedule == OCDM__LR_COSINE)
        rate *= 0.5 * (1 + cos(acos(-1) * fmin(1, (t - 1) / (double)settings->horizon)));
    return step < settings->warmup ? rate * t / (double)settings->warmup : rate;
}

struct ocdm__adam ocdm__step_of(const ocdm__network_settings *settings, uint64_t step)
{
    double rate = ocdm__learning_rate(settings, step), t = (double)step;
    bool sgd = settings->optimiser == OCDM__OPTIMISER_SGD;
    return (struct ocdm__adam){.step_size = (float)(sgd ? rate : rate / (1.0 - pow(0.9, t))),
                               .root_scale = (float)(1.0 / sqrt(1.0 - pow(0.999, t))),
                               .epsilon = (float)settings->epsilon,
                               .clip = (float)settings->clip,
                               .decay = sgd ? 0 : (float)(rate * settings->weight_decay),
                               .sgd = sgd,
                               .momentum = (float)settings->momentum,
                               .penalty = (float)settings->weight_decay};
}
