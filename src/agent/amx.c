#define _GNU_SOURCE

#include "agent/amx.h"

#include <stdlib.h>
#include <strings.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__x86_64__) && defined(__linux__)

/* Whether AMX can be used, not only seen: some virtual machines pass its flag on and hide the leaf that says how its tiles are
 * (oneDNN would then configure none, and its first instruction is illegal), and Linux wants to be asked for the tiles' state.
 */
static bool amx_is_whole(void)
{
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & (1u << 24)))
        return true;
    if (!__get_cpuid_count(0x1D, 0, &a, &b, &c, &d) || a == 0)
        return false;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

#else

static bool amx_is_whole(void)
{
    return true;
}

#endif

/* Whether oneDNN's own variables keep it from AMX. */
static bool less_is_wanted(void)
{
    static const char *const lesser[] = {
        "SSE41",           "AVX", "AVX2", "AVX2_VNNI", "AVX512_MIC", "AVX512_MIC_4OPS", "AVX512_CORE", "AVX512_CORE_VNNI",
        "AVX512_CORE_BF16"};
    const char *wanted = getenv("ONEDNN_MAX_CPU_ISA");
    if (wanted == NULL)
        wanted = getenv("DNNL_MAX_CPU_ISA");
    for (size_t i = 0; wanted != NULL && i < sizeof lesser / sizeof *lesser; i++)
        if (strcasecmp(wanted, lesser[i]) == 0)
            return true;
    return false;
}

bool ocdm__amx_must_be_hidden(void)
{
    return !amx_is_whole() && !less_is_wanted();
}
