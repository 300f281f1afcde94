#include "stream/task_lists.h"
const char *ocdm__shipped_list_name(size_t number)
{
    return number ? NULL : "coco44";
}
const char *ocdm__shipped_list_text(size_t number)
{
    return number ? NULL : "person";
}
