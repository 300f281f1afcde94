/* AMX, the CPU's instructions for tiles of matrices: whether oneDNN may be left to find it. */
#ifndef OCDM_AGENT_AMX_H
#define OCDM_AGENT_AMX_H

#include <stdbool.h>

/* Whether the CPU shows AMX that cannot be used, and oneDNN's own variables do not keep it to less anyway. Where AMX can be
 * used, this asks the system for the state of its tiles. */
bool ocdm__amx_must_be_hidden(void);

#endif
