#define _DEFAULT_SOURCE

#include "base/terminal.h"

#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_WIDTH 80u

bool ocdm__is_terminal(int descriptor)
{
    return isatty(descriptor) == 1;
}

bool ocdm__moves_cursor(int descriptor)
{
    const char *kind = getenv("TERM");
    return kind != NULL && strcmp(kind, "dumb") != 0 && ocdm__is_terminal(descriptor);
}

bool ocdm__wants_colour(int descriptor)
{
    const char *refused = getenv("NO_COLOR");
    return (refused == NULL || refused[0] == '\0') && ocdm__moves_cursor(descriptor);
}

unsigned ocdm__terminal_width(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col;
}

/* By the locale that the environment names: the program itself stays in "C". */
bool ocdm__speaks_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value == NULL || *value == '\0')
            continue;
        const char *codeset = strchr(value, '.');
        return codeset != NULL && (strncasecmp(codeset, ".utf-8", 6) == 0 || strncasecmp(codeset, ".utf8", 5) == 0);
    }
    return false;
}

/* Seconds, minutes, or hours and minutes: no more digits than people need. */
void ocdm__duration(double seconds, char text[OCDM__DURATION])
{
    double whole = round(seconds < 0 ? 0 : seconds), minutes = round(whole / 60);
    if (!(whole < 1e9))
        snprintf(text, OCDM__DURATION, "unknown time");
    else if (whole < 100)
        snprintf(text, OCDM__DURATION, "%.0f s", whole);
    else if (minutes < 100)
        snprintf(text, OCDM__DURATION, "%.0f min", minutes);
    else
        snprintf(text, OCDM__DURATION, "%.0f h %02.0f min", floor(minutes / 60), fmod(minutes, 60));
}

/* ---- bars --------------------------------------------------------------------------------------------------------------- */

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {" ", ".", ":", "|"};
static const char *const ascii_fine[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};

const ocdm__bar_style ocdm__bar_blocks = {8, blocks, "▲", "×"};
const ocdm__bar_style ocdm__bar_ascii = {3, ascii, "^", "x"};
const ocdm__bar_style ocdm__bar_ascii_fine = {8, ascii_fine, "^", "x"};

/* What a bar shows in a row of text, which has as many heights as the style has levels. */
static const char *glyph_of(const ocdm__bars *bars, double height, unsigned row)
{
    const ocdm__bar_style *style = bars->style;
    if (bars->marks && row == 0 && !(height > 0))
        return style->none;
    if (bars->marks && row == bars->rows - 1 && height > bars->rows)
        return style->cut;
    double steps = (height - row) * style->levels;
    return style->glyphs[steps >= style->levels ? style->levels : steps > 0 ? (unsigned)ceil(steps) : 0];
}

/* One line of the chart, from the left. */
void ocdm__bars_row(ocdm__output *output, const ocdm__bars *bars, unsigned row)
{
    for (size_t i = 0; i < bars->count; i++) {
        if (bars->apart != NULL && bars->apart[i])
            ocdm__output_text(output, " ");
        for (unsigned column = 0; column < bars->width; column++) {
            bool is_gap = column > 0 && column + 1 == bars->width;
            ocdm__output_text(output, is_gap ? " " : glyph_of(bars, bars->height[i], row));
        }
    }
    ocdm__output_text(output, "\n");
}

/* Each `merged` neighbours become one bar, of their mean. */
size_t ocdm__bars_merge(const double *values, size_t count, size_t merged, double *means)
{
    size_t bars = 0;
    for (size_t first = 0; first < count; first += merged) {
        size_t part = count - first < merged ? count - first : merged;
        double sum = 0;
        for (size_t i = first; i < first + part; i++)
            sum += values[i];
        means[bars++] = sum / (double)part;
    }
    return bars;
}

size_t ocdm__bar_fill(char *bar, double length)
{
    size_t rounded = (size_t)(length + 0.5);
    memset(bar, '#', rounded);
    bar[rounded] = '\0';
    return rounded;
}
