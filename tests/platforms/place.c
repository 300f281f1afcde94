/* What the stand-in for cmocka keeps: where it jumps when an assertion fails, and which tests run. */
#include "cmocka.h"

jmp_buf cmocka_failed;
const char *cmocka_filter = "";
