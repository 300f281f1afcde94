/* The table of formulas. Each says what the code of this folder does, not what the metric is called elsewhere. */
#include "metrics/explain.h"

#include <string.h>

static const ocdm__explanation explanations[] = {
    {"G_c", "test samples that carry class c; a class with G_c = 0 is left out of everything below"},
    {"P_c", "test samples whose logit for c is over 0, so that c is predicted"},
    {"TP_c", "test samples that carry c and for which c is predicted"},
    {"AP_c",
     "sum over thresholds k of (R_k - R_(k-1)) P_k, P_k and R_k being precision and recall of the samples that score at "
     "least as high as the k-th highest score; equal scores are one threshold, no interpolation"},
    {"mAP", "mean over classes of AP_c"},
    {"CP", "mean over classes of TP_c / P_c, which is 0 when P_c = 0"},
    {"CR", "mean over classes of TP_c / G_c"},
    {"CF1", "2 CP CR / (CP + CR), 0 when both are 0: the F1 of the means, as PRS and the paper have it"},
    {"CF1_macro", "mean over classes of 2 TP_c / (P_c + G_c): the mean of the F1s, as scikit-learn's macro average"},
    {"OP", "sum of TP_c / sum of P_c over classes, 0 when nothing is predicted"},
    {"OR", "sum of TP_c / sum of G_c over classes"},
    {"OF1", "2 OP OR / (OP + OR) = 2 sum of TP_c / (sum of P_c + sum of G_c)"},
    {"total", "the formulas above over all classes; null when no class has a positive test sample"},
    {"majority", "the same formulas over the classes of this group; null when none of them has a positive test sample"},
    {"moderate", "as majority, over the classes of this group"},
    {"minority", "as majority, over the classes of this group"},
    {"forgetting",
     "of a task: the best earlier mAP on its own test set minus the final one, in points; in total: the mean over "
     "the tasks that were evaluated before the end"},
    {"mean_mAP", "mean over the evaluations, one after each task, of total mAP"},
    {"std", "sqrt(sum over n seeds of (x - mean)^2 / (n - 1)); null for one seed"},
    {"interval", "of the difference d of two methods with the same n seeds: mean(d) -+ t std(d) / sqrt(n), t being the 97.5 % "
                 "quantile of Student's distribution with n - 1 degrees of freedom; null for one seed"},
};

const ocdm__explanation *ocdm__explanation_at(size_t index)
{
    return index < sizeof explanations / sizeof *explanations ? &explanations[index] : NULL;
}

const ocdm__explanation *ocdm__explain(const char *name)
{
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (strcmp(explanations[i].name, name) == 0)
            return &explanations[i];
    return NULL;
}
