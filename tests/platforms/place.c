/* Where the stand-in for cmocka jumps when an assertion fails. */
#include "cmocka.h"

jmp_buf cmocka_failed;
