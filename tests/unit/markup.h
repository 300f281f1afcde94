/* Parses HTML and SVG in tests: well-formedness, elements, and their attributes in any order. */
#ifndef OCDM_TESTS_MARKUP_H
#define OCDM_TESTS_MARKUP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements close in the order in which they opened, attributes are quoted, and no bare & is left: enough to catch an escape
 * that was forgotten. Scripts and styles hold no tags. */
static inline void assert_well_formed(const char *text)
{
    static const char *const empty[] = {"meta", "link", "img", "input", "!DOCTYPE"};
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
            at = strstr(at, name[1] == 'c' ? "</script>" : "</style>");
    }
    assert_int_equal(depth, 0);
}

/* The next element with this name from `at` on, at its `<`; NULL when there is none. */
static inline const char *next_element(const char *at, const char *name)
{
    size_t length = strlen(name);
    for (; (at = strchr(at, '<')) != NULL; at++)
        if (strncmp(at + 1, name, length) == 0 && strchr(" \n/>", at[1 + length]) != NULL)
            return at;
    return NULL;
}

/* The value of an element's attribute, as it is written; "" when it has none. Cut to the room. */
static inline const char *attribute_of(const char *element, const char *name, char *value, size_t room)
{
    size_t length = strlen(name);
    value[0] = '\0';
    for (const char *at = element; *at != '\0' && *at != '>'; at++) {
        if (*at == '"') {
            at++;
            at += strcspn(at, "\"");
        } else if ((*at == ' ' || *at == '\n') && strncmp(at + 1, name, length) == 0 &&
                   strncmp(at + 1 + length, "=\"", 2) == 0) {
            at += length + 3;
            snprintf(value, room, "%.*s", (int)strcspn(at, "\""), at);
            break;
        }
    }
    return value;
}

/* An attribute that has to be a number. */
static inline double number_of(const char *element, const char *name)
{
    char value[40], *end;
    attribute_of(element, name, value, sizeof value);
    double number = strtod(value, &end);
    assert_true(value[0] != '\0' && *end == '\0');
    return number;
}

/* Whether one of the words of an element's class is this one. */
static inline bool has_class(const char *element, const char *wanted)
{
    char value[200], *rest = value;
    attribute_of(element, "class", value, sizeof value);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        if (strcmp(word, wanted) == 0)
            return true;
    return false;
}

/* The next element with this name and this value of an attribute; NULL when there is none. */
static inline const char *element_with(const char *at, const char *name, const char *attribute, const char *wanted)
{
    char value[200];
    for (; (at = next_element(at, name)) != NULL; at++)
        if (strcmp(attribute_of(at, attribute, value, sizeof value), wanted) == 0)
            return at;
    return NULL;
}

/* Where an element ends: its closing tag, or the end of a tag that closes itself. Elements of the same name inside it are
 * passed over. */
static inline const char *end_of(const char *element)
{
    size_t length = strcspn(element + 1, " >/\n"), depth = 0;
    for (const char *at = element; (at = strchr(at, '<')) != NULL; at++) {
        bool closes = at[1] == '/';
        if (strncmp(at + 1 + closes, element + 1, length) != 0 || strchr(" >/\n", at[1 + closes + length]) == NULL)
            continue;
        const char *end = at + strcspn(at, ">");
        bool alone = end[-1] == '/';
        if (alone && depth == 0)
            return end;
        depth += !closes && !alone;
        if (closes && --depth == 0)
            return at;
    }
    fail_msg("<%.*s> does not end", (int)length, element + 1);
    return NULL;
}

/* What a reader sees of an element: its text without tags, entities as the characters that they stand for. Cut to the room. */
static inline const char *text_of(const char *element, char *text, size_t room)
{
    static const char *const entities[][2] = {{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&#39;", "'"}};
    const char *end = end_of(element);
    size_t used = 0;
    for (const char *at = element; at < end && used + 1 < room; at++) {
        if (*at == '<') {
            at += strcspn(at, ">");
            continue;
        }
        text[used] = *at;
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
            if (strncmp(at, entities[i][0], strlen(entities[i][0])) == 0) {
                text[used] = entities[i][1][0];
                at += strlen(entities[i][0]) - 1;
                break;
            }
        used++;
    }
    text[used] = '\0';
    return text;
}

/* The next element with this name and this text; NULL when there is none. */
static inline const char *element_saying(const char *at, const char *name, const char *wanted)
{
    char text[4000];
    for (; (at = next_element(at, name)) != NULL; at++)
        if (strcmp(text_of(at, text, sizeof text), wanted) == 0)
            return at;
    return NULL;
}

/* The next element with this name that has this as a part of its text; NULL when there is none. */
static inline const char *element_mentioning(const char *at, const char *name, const char *part)
{
    char text[4000];
    for (; (at = next_element(at, name)) != NULL; at++)
        if (strstr(text_of(at, text, sizeof text), part) != NULL)
            return at;
    return NULL;
}

/* How many elements with this name have this text, or this as a part of their text. */
static inline size_t count_saying(const char *at, const char *name, const char *wanted)
{
    size_t count = 0;
    for (; (at = element_saying(at, name, wanted)) != NULL; at++)
        count++;
    return count;
}

static inline size_t count_mentioning(const char *at, const char *name, const char *part)
{
    size_t count = 0;
    for (; (at = element_mentioning(at, name, part)) != NULL; at++)
        count++;
    return count;
}

/* How many elements have this name and, unless it is NULL, this class. */
static inline size_t count_elements(const char *text, const char *name, const char *class)
{
    size_t count = 0;
    for (const char *at = text; (at = next_element(at, name)) != NULL; at++)
        count += class == NULL || has_class(at, class);
    return count;
}

#endif
