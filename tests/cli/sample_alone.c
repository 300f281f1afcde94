/* `ocdm sample` and `ocdm demo` without the other verbs: what test_determinism.sh builds by several compilers, and what needs
 * neither oneDNN nor libraries for images. */
#include <stdio.h>
#include <string.h>

#include "cli/console.h"
#include "cli/verbs.h"

const char ocdm__program[] = "ocdm";

int main(int argc, char **argv)
{
    static const ocdm__verb *const verbs[] = {&ocdm__verb_sample, &ocdm__verb_demo};
    ocdm__arguments arguments;
    ocdm_error error;
    for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(argv[1], verbs[i]->name) != 0)
            continue;
        if (ocdm__parse_arguments(verbs[i], (size_t)argc - 2, argv + 2, &arguments, &error) != OCDM_OK)
            return ocdm__report(&error);
        return ocdm__run_verb(verbs[i], &arguments);
    }
    fputs("sample or demo\n", stderr);
    return OCDM__EXIT_USAGE;
}
