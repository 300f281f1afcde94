/* Which method wins by how much, and how certain that is. */
#include "report/charts/canvas.h"
#include "report/page/parts.h"
#include "report/text.h"

static void put_mean(ocdm__output *out, const ocdm__study *study, const ocdm__run_group *group)
{
    const int decimals = study->trained ? 1 : 4;
    ocdm__summary summary = ocdm__group_summary(group, ocdm__study_measure(study));
    ocdm__put_markup(out, "%#.*f", decimals, summary.mean);
    if (isfinite(summary.deviation))
        ocdm__put_markup(out, " ± %#.*f", decimals, summary.deviation);
    ocdm__output_text(out, study->trained ? " %" : "");
}

void ocdm__put_verdict(ocdm__output *out, const ocdm__study *study)
{
    const ocdm__run_group *best = ocdm__study_best(study);
    const ocdm__judgement *judged = ocdm__study_judge(study, 0, ocdm__study_measure(study), study->trained ? 1 : -1);
    const ocdm__judgement *judgement = best != NULL ? &judged[best - study->groups] : NULL;
    ocdm__output_text(out, "<p class=\"verdict\" data-name=\"verdict\">");
    if (best == NULL)
        ocdm__output_text(out, "These runs have no number to compare them by.");
    else if (judgement->other < study->base_count) {
        /* Compares the best with the next. With fewer than two common seeds there is no interval. */
        const ocdm__run_group *other = &study->groups[judgement->other];
        const ocdm__summary *difference = &judgement->difference;
        bool known = isfinite(difference->low), sure = known && (difference->low > 0 || difference->high < 0);
        ocdm__put_markup(out, "<strong>%-.*s</strong> %s: its %s", OCDM__MARK_LIMIT, best->label,
                         sure    ? "wins"
                         : known ? "is ahead, but not beyond chance"
                                 : "is ahead",
                         study->trained ? "total mAP at the end is " : "memory ends nearest to the target, at a distance of ");
        put_mean(out, study, best);
        ocdm__output_text(out, ", ");
        if (difference->count > 0 && !isnan(difference->mean)) {
            /* How far the best is before another, as a positive number; without a network less is better. */
            const int decimals = study->trained ? 1 : 4;
            double sign = study->trained ? 1 : -1;
            ocdm__put_markup(out, "%#.*f%s", decimals, sign * difference->mean, study->trained ? " points" : "");
            if (isfinite(difference->low))
                ocdm__put_markup(out, " (95 %% interval %#.*f to %#.*f, %zu paired seeds)", decimals,
                                 sign > 0 ? difference->low : -difference->high, decimals,
                                 sign > 0 ? difference->high : -difference->low, difference->count);
            ocdm__output_text(out, study->trained ? " above " : " below ");
        } else
            ocdm__output_text(out, "before ");
        ocdm__put_markup(out, "%-.*s with ", OCDM__MARK_LIMIT, other->label);
        put_mean(out, study, other);
        ocdm__output_text(out, sure    ? "."
                               : known ? "; the interval includes 0."
                                       : ". With fewer than two seeds in common this says nothing about chance.");
    } else {
        ocdm__put_markup(out, "One method was run: <strong>%-.*s</strong>, %s", OCDM__MARK_LIMIT, best->label,
                         study->trained ? "with a total mAP at the end of "
                                        : "whose memory ends at a distance to the target of ");
        put_mean(out, study, best);
        ocdm__output_text(out, ". There is nothing to compare it with.");
    }
    ocdm__output_text(out, "</p>\n");
}
