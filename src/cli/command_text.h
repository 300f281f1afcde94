/* A command line as a file's notes have it: what decides the contents, without what does not, and without folders. */
#ifndef OCDM_CLI_COMMAND_TEXT_H
#define OCDM_CLI_COMMAND_TEXT_H

#include "cli/flags.h"
#include "ocdm/ocdm.h"

/* The verb, its flags in the order of the table and its operands, quoted for a shell where needed. `left_out` names flags that
 * are not told, ended by NULL. OCDM_OK, OCDM_NO_MEMORY; `*command` is set on success, for ocdm__release. */
ocdm_status ocdm__command_text(const ocdm__arguments *arguments, const char *const *left_out, char **command,
                               ocdm_error *error);

#endif
