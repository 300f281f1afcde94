/* Which method wins by how much, and how certain that is. */
#include "report/page/parts.h"
#include "report/text.h"

#define LABEL_LIMIT 60

static int decimals_of(const ocdm__study *study)
{
    return study->trained ? 1 : 4;
}

static void put_mean(ocdm__output *out, const ocdm__study *study, const ocdm__run_group *group)
{
    ocdm__summary summary = ocdm__group_summary(group, ocdm__study_measure(study));
    ocdm__put_decimals(out, summary.mean, decimals_of(study));
    if (isfinite(summary.deviation)) {
        ocdm__output_text(out, " ± ");
        ocdm__put_decimals(out, summary.deviation, decimals_of(study));
    }
    if (study->trained)
        ocdm__output_text(out, " %");
}

static void put_difference(ocdm__output *out, const ocdm__study *study, const ocdm__summary *difference)
{
    int decimals = decimals_of(study);
    double sign = study->trained ? 1 : -1;
    ocdm__put_decimals(out, sign * difference->mean, decimals);
    ocdm__output_text(out, study->trained ? " points" : "");
    if (!isfinite(difference->low))
        return;
    ocdm__output_text(out, " (95 % interval ");
    ocdm__put_decimals(out, sign > 0 ? difference->low : -difference->high, decimals);
    ocdm__output_text(out, " to ");
    ocdm__put_decimals(out, sign > 0 ? difference->high : -difference->low, decimals);
    ocdm__put(out, ", %zu paired seeds)", difference->count);
}

/* Compares the best with the next. With fewer than two common seeds there is no interval. */
static void put_comparison(ocdm__output *out, const ocdm__study *study, const ocdm__run_group *const best[2])
{
    double least = ocdm__study_least_difference(study, ocdm__study_measure(study));
    ocdm__summary difference = ocdm__group_difference(best[0], best[1], ocdm__study_measure(study));
    difference.low = difference.mean - least;
    difference.high = difference.mean + least;
    bool sure = isfinite(difference.low) && (difference.low > 0 || difference.high < 0);
    ocdm__output_text(out, "<strong>");
    ocdm__put_name(out, best[0]->label, LABEL_LIMIT);
    ocdm__output_text(out, !sure ? isfinite(difference.low) ? "</strong> is ahead, but not beyond chance: its "
                                                            : "</strong> is ahead: its "
                                 : "</strong> wins: its ");
    ocdm__output_text(out,
                      study->trained ? "total mAP at the end is " : "memory ends nearest to the target, at a distance of ");
    put_mean(out, study, best[0]);
    ocdm__output_text(out, ", ");
    if (difference.count > 0 && !isnan(difference.mean)) {
        put_difference(out, study, &difference);
        ocdm__output_text(out, study->trained ? " above " : " below ");
    } else {
        ocdm__output_text(out, "before ");
    }
    ocdm__put_name(out, best[1]->label, LABEL_LIMIT);
    ocdm__output_text(out, " with ");
    put_mean(out, study, best[1]);
    if (isfinite(difference.low))
        ocdm__output_text(out, sure ? "." : "; the interval includes 0.");
    else
        ocdm__output_text(out, ". With fewer than two seeds in common this says nothing about chance.");
}

void ocdm__put_verdict(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__run_group *best[2];
    /* The best two groups of the base, bounds excluded; NULL when there are fewer. */
    size_t found = 0;
    best[0] = best[1] = NULL;
    for (size_t i = 0; i < study->base_count && found < 2; i++)
        if (!study->groups[i].bound && !isnan(ocdm__group_summary(&study->groups[i], ocdm__study_measure(study)).mean))
            best[found++] = &study->groups[i];
    ocdm__output_text(out, "<p class=\"verdict\" data-name=\"verdict\">");
    if (best[1] != NULL) {
        put_comparison(out, study, best);
    } else if (best[0] != NULL) {
        ocdm__output_text(out, "One method was run: <strong>");
        ocdm__put_name(out, best[0]->label, LABEL_LIMIT);
        ocdm__output_text(out, study->trained ? "</strong>, with a total mAP at the end of "
                                              : "</strong>, whose memory ends at a distance to the target of ");
        put_mean(out, study, best[0]);
        ocdm__output_text(out, ". There is nothing to compare it with.");
    } else {
        ocdm__output_text(out, "These runs have no number to compare them by.");
    }
    ocdm__output_text(out, "</p>\n");
}
