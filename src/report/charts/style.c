/* Colours: the style sheet of the charts, and which colour a method has. */
#include "base/text.h"
#include "experiment/loop/settings.h"
#include "report/charts/canvas.h"

const char ocdm__figure_style[] =
    ".fig{font-family:system-ui,\"DejaVu Sans\",Arial,sans-serif;font-size:13px}\n"
    ".fig text{fill:#1f2328}\n.fig .small{font-size:11.5px}\n.fig .tiny{font-size:10px}\n.fig .faint{fill:#57606a}\n"
    ".fig .strong{font-weight:600}\n.fig .head{font-size:17px;font-weight:600}\n"
    ".fig .paper{fill:#ffffff}\n.fig .axis{stroke:#57606a;fill:none}\n.fig .field{fill:none;pointer-events:all}\n"
    ".fig .grid{stroke:#d8dee4;fill:none}\n.fig .mark{stroke:#1f2328;stroke-width:1.5;fill:none}\n.fig .solid{fill:#1f2328}\n"
    ".fig .change{stroke:#8c959f;stroke-dasharray:3 3;fill:none}\n.fig .lead{stroke:#8c959f;stroke-width:.8;fill:none}\n"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}\n.fig .band{fill-opacity:.18}\n"
    ".fig .raw{fill:none;stroke-width:1;stroke-opacity:.3}\n"
    ".d1{stroke-dasharray:7 3}.d2{stroke-dasharray:2 3}.d3{stroke-dasharray:9 3 2 3}.d4{stroke-dasharray:5 2 1 2 1 2}\n"
    ".ink{stroke:#1f2328}.inkf{fill:#1f2328}\n"
    ".s0{stroke:#0067c0}.s1{stroke:#00996b}.s2{stroke:#8a478b}.s3{stroke:#bd8600}.s4{stroke:#2492ea}.s5{stroke:#c8420a}\n"
    ".s6{stroke:#5b2b12}.s7{stroke:#7d7a3c}.s8{stroke:#6902d3}.s9{stroke:#6b7480}.s10{stroke:#1f2328}\n"
    ".f0{fill:#0067c0}.f1{fill:#00996b}.f2{fill:#8a478b}.f3{fill:#bd8600}.f4{fill:#2492ea}.f5{fill:#c8420a}\n"
    ".f6{fill:#5b2b12}.f7{fill:#7d7a3c}.f8{fill:#6902d3}.f9{fill:#6b7480}.f10{fill:#1f2328}\n"
    ".h0{fill:#f4f1fb}.h1{fill:#e5dff5}.h2{fill:#d2c8ed}.h3{fill:#bcaee3}.h4{fill:#a493d6}\n"
    ".h5{fill:#7b68ba}.h6{fill:#664fa6}.h7{fill:#523b8e}.h8{fill:#3d2873}\n"
    ".k0,.k1,.k3{stroke:none}.k1{fill-opacity:.5}.k2{fill-opacity:.2;stroke-width:1}.k3{fill-opacity:.3}\n"
    ".fig .t5,.fig .t6,.fig .t7,.fig .t8{fill:#ffffff}\n.part{stroke:#664fa6;stroke-width:.7}\n";

const char ocdm__figure_style_dark[] =
    ".fig text{fill:#e6edf3}.fig .faint{fill:#a3adb8}.fig .paper{fill:#0d1117}.fig .axis{stroke:#a3adb8}\n"
    ".fig .grid{stroke:#30363d}.fig .mark{stroke:#e6edf3}.fig .solid{fill:#e6edf3}\n"
    ".fig .change,.fig .lead{stroke:#7d8590}.ink{stroke:#e6edf3}.inkf{fill:#e6edf3}\n"
    ".s0{stroke:#4aa3f5}.s1{stroke:#1be0a0}.s2{stroke:#c36fc0}.s3{stroke:#ffba1b}.s4{stroke:#a9c4ee}.s5{stroke:#e0560f}\n"
    ".s6{stroke:#a8684e}.s7{stroke:#a8a552}.s8{stroke:#9a52ff}.s9{stroke:#78818c}.s10{stroke:#e6edf3}\n"
    ".f0{fill:#4aa3f5}.f1{fill:#1be0a0}.f2{fill:#c36fc0}.f3{fill:#ffba1b}.f4{fill:#a9c4ee}.f5{fill:#e0560f}\n"
    ".f6{fill:#a8684e}.f7{fill:#a8a552}.f8{fill:#9a52ff}.f9{fill:#78818c}.f10{fill:#e6edf3}\n"
    ".h0{fill:#1d1830}.h1{fill:#282043}.h2{fill:#352a59}.h3{fill:#443771}.h4{fill:#55478b}\n"
    ".h5{fill:#6a5ca4}.h6{fill:#8275bc}.h7{fill:#9f94d3}.h8{fill:#c1b9e8}\n"
    ".k0,.k1,.k3{stroke:none}\n.fig .t5{fill:#e6edf3}.fig .t6,.fig .t7,.fig .t8{fill:#0d1117}.part{stroke:#9f94d3}\n";

/* ---- methods ------------------------------------------------------------------------------------------------------------ */

/* Whether a name is another one with a word before or behind it, as bat-ocdm and prs-released are. */
static bool is_variant(const char *name, const char *of)
{
    size_t length = strlen(name), part = strlen(of);
    return length > part + 1 && ((strncmp(name, of, part) == 0 && name[part] == '-') ||
                                 (strcmp(name + length - part, of) == 0 && name[length - part - 1] == '-'));
}

static bool is_bound(const char *method)
{
    return strcmp(method, OCDM__LOWER_BOUND) == 0 || strcmp(method, OCDM__UPPER_BOUND) == 0;
}

bool ocdm__method_is_coloured(const char *method)
{
    return ocdm_policy_find(method) != NULL || is_bound(method);
}

/* The policy that a method is a variant of; NULL for none. */
static const ocdm_policy *variant_of(const char *method)
{
    size_t i = 0;
    while (ocdm_policy_at(i) != NULL && !is_variant(method, ocdm_policy_at(i)->name))
        i++;
    return ocdm_policy_at(i);
}

/* The policies have the colours in the order of their table; the last two, which are greys, are those of the bounds. Were there
 * more policies than colours, they would begin again with the second dash. A variant of a policy has that one's colour and the
 * first dash. */
unsigned ocdm__method_colour(const char *method)
{
    enum { OWN_COLOURS = OCDM__COLOURS - 2 };
    const ocdm_policy *of = variant_of(method);
    unsigned before = 0;
    if (!ocdm__method_is_coloured(method)) {
        /* FNV-1a of the name; dashed, since the solid lines belong to the methods of the program. */
        uint32_t hash = 2166136261u;
        for (const char *at = method; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * 16777619u;
        return OCDM__COLOURS + (hash ^ hash >> 16) % (OCDM__COLOURS * (OCDM__DASHES - 1));
    }
    if (is_bound(method))
        return OWN_COLOURS + (strcmp(method, OCDM__UPPER_BOUND) == 0);
    for (size_t i = 0; strcmp(ocdm_policy_at(i)->name, method) != 0; i++)
        before += variant_of(ocdm_policy_at(i)->name) == of;
    if (of != NULL)
        return ocdm__method_colour(of->name) + (1 + before) * OCDM__COLOURS;
    return before % OWN_COLOURS + 2 * OCDM__COLOURS * (before / OWN_COLOURS);
}

/* ---- classes ------------------------------------------------------------------------------------------------------------ */

static bool is_ink(unsigned colour)
{
    return colour >= OCDM__INK(0);
}

unsigned ocdm__dash_of(unsigned colour)
{
    return (is_ink(colour) ? colour - OCDM__INK(0) : colour / OCDM__COLOURS) % OCDM__DASHES;
}

/* "s3" or "ink", and with "d1" behind it the dash. */
ocdm__colour_class ocdm__stroke(unsigned colour, bool dashed)
{
    ocdm__colour_class class = {"ink"};
    if (!is_ink(colour))
        snprintf(class.text, sizeof class.text, "s%u", colour % OCDM__COLOURS);
    if (dashed && ocdm__dash_of(colour) > 0)
        ocdm__append(class.text, sizeof class.text, " d%u", ocdm__dash_of(colour));
    return class;
}

ocdm__colour_class ocdm__fill(unsigned colour)
{
    ocdm__colour_class class = {"inkf"};
    if (!is_ink(colour))
        snprintf(class.text, sizeof class.text, "f%u", colour % OCDM__COLOURS);
    return class;
}
