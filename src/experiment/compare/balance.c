/* Counting what a memory holds. */
#include "experiment/compare/balance.h"

ocdm__balance ocdm__balance_of(const ocdm_memory *memory, size_t class_count, uint32_t *kept)
{
    ocdm__balance balance = {.fewest = UINT32_MAX};
    for (size_t c = 0; c < class_count; c++) {
        kept[c] = ocdm_memory_kept(memory, (uint32_t)c);
        balance.fewest = kept[c] < balance.fewest ? kept[c] : balance.fewest;
        balance.most = kept[c] > balance.most ? kept[c] : balance.most;
        balance.lost += kept[c] == 0;
        balance.under += kept[c] < OCDM__BALANCE_FEW;
        balance.over += kept[c] > OCDM__BALANCE_MANY;
    }
    return balance;
}
