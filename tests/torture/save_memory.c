/* Fills a memory and saves it, for the tests that disturb the saving: save_memory PATH */
#include <stdio.h>

#include "ocdm/ocdm.h"

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    ocdm_error error;
    ocdm_memory *memory = NULL;
    ocdm_options options = ocdm_options_default();
    options.capacity = 50;
    ocdm_status status = ocdm_memory_create(&options, &memory, &error);
    for (uint64_t id = 0; status == OCDM_OK && id < 500; id++) {
        uint32_t labels[] = {(uint32_t)(id % 7), (uint32_t)(id % 11 + 100)};
        status = ocdm_memory_update(memory, &(ocdm_sample){id, labels, 2}, 1, NULL, &error);
    }
    if (status == OCDM_OK)
        status = ocdm_memory_save(memory, arguments[1], &error);
    ocdm_memory_destroy(memory);
    if (status != OCDM_OK)
        fprintf(stderr, "error: %s\n", error.message);
    return status == OCDM_OK ? 0 : 4;
}
