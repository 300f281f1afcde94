/* Whether markup is whole: for tests of pages and pictures. Include cmocka.h first. */
#ifndef OCDM_TESTS_WELL_FORMED_H
#define OCDM_TESTS_WELL_FORMED_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Elements close in the order in which they opened, attributes are quoted, and no bare & is left: enough to catch an escape
 * that was forgotten. Scripts and styles hold no tags. */
static inline void assert_well_formed(const char *text)
{
    static const char *const empty[] = {"meta", "link", "img", "!DOCTYPE"};
    char open[64][16];
    size_t depth = 0;
    for (const char *at = text; (at = strpbrk(at, "<&")) != NULL;) {
        if (*at == '&') {
            assert_true(strcspn(at, ";") < 8);
            at++;
            continue;
        }
        bool closes = at[1] == '/';
        size_t length = strcspn(at + 1 + closes, " >/\n");
        char name[16];
        assert_true(length > 0 && length < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)length, at + 1 + closes);
        const char *end = at;
        for (bool quoted = false; *end != '\0' && (quoted || *end != '>'); end++)
            quoted ^= *end == '"';
        assert_true(*end == '>');
        bool alone = end[-1] == '/';
        for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
            alone = alone || strcmp(name, empty[i]) == 0;
        if (closes) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (!alone) {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof name);
        }
        at = end + 1;
        if (!closes && (strcmp(name, "script") == 0 || strcmp(name, "style") == 0))
            at = strstr(at, closes ? "" : name[1] == 'c' ? "</script>" : "</style>");
    }
    assert_int_equal(depth, 0);
}

#endif
