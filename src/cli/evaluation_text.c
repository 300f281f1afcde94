/* Tables of metrics. */
#include "cli/evaluation_text.h"

#include <math.h>

#include "base/text.h"

static void print_percent(FILE *out, double fraction)
{
    if (isnan(fraction))
        fprintf(out, "  %6s", "-");
    else
        fprintf(out, "  %6.1f", 100 * fraction);
}

static void print_row(FILE *out, const char *name, const ocdm__averages *averages)
{
    fprintf(out, "%-8s  %7zu", name, averages->classes);
    print_percent(out, averages->value[OCDM__CF1]);
    print_percent(out, averages->value[OCDM__OF1]);
    print_percent(out, averages->value[OCDM__MAP]);
    fprintf(out, "\n");
}

void ocdm__print_evaluation(FILE *out, const ocdm__evaluation *evaluation)
{
    fprintf(out, "%-8s  %7s  %6s  %6s  %6s\n", "", "classes", "CF1", "OF1", "mAP");
    for (int g = 0; g < OCDM__GROUPS; g++)
        print_row(out, ocdm__class_group_name((enum ocdm__class_group)g), &evaluation->groups[g]);
    print_row(out, "total", &evaluation->total);
}

void ocdm__print_class_scores(FILE *out, const ocdm__stream_table *table, const uint8_t *groups,
                              const ocdm__class_score *scores)
{
    fprintf(out, "%-*s  %-8s  %7s  %6s  %6s  %6s\n", OCDM__LABEL_WIDTH, "class", "group", "tests", "AP", "prec.", "recall");
    for (size_t c = 0; c < table->class_count; c++) {
        size_t length;
        const char *name = ocdm__text_at(&table->classes, c, &length);
        ocdm__shown_label shown = ocdm__show_label(name, length);
        const ocdm__class_score *score = &scores[c];
        fprintf(out, "%s%*s  %-8s  %7lu", shown.text, (int)(OCDM__LABEL_WIDTH - shown.width), "",
                ocdm__class_group_name((enum ocdm__class_group)groups[c]), (unsigned long)score->positives);
        print_percent(out, score->ap);
        print_percent(out, score->positives == 0 ? NAN : score->predicted > 0 ? (double)score->hits / score->predicted : 0);
        print_percent(out, score->positives > 0 ? (double)score->hits / score->positives : NAN);
        fprintf(out, "\n");
    }
}
