/*
 * COCO files made up from a seed, in one to three files: what is read is what was written, by a judge that looks at every
 * annotation for every image and class. Order of members, spaces, escapes, unknown members and long outlines are drawn too.
 */
#define _XOPEN_SOURCE 700

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "../test.h"
#include "base/random.h"
#include "coco_text.h"

#define MOST 24
#define CLASSES 8
static const char *const class_names[CLASSES] = {"person", "dog", "tennis racket", "\xC3\xA4pfel", "a\\u0062c", "x", "y", "q"};
static const char *const class_shown[CLASSES] = {"person", "dog", "tennis racket", "\xC3\xA4pfel", "abc", "x", "y", "q"};

/* What one file is to say. */
struct made {
    size_t images, annotations, categories;
    uint64_t image_ids[MOST];
    bool has_path[MOST];
    size_t image_of[3 * MOST], category_of[3 * MOST]; /* positions */
    uint64_t category_ids[CLASSES];
    size_t class_of[CLASSES]; /* in class_names */
};

struct writer {
    ocdm__random random;
    char text[1 << 18];
    size_t size;
};

static size_t below(struct writer *writer, size_t count)
{
    return (size_t)ocdm__random_below(&writer->random, count);
}

#define PUT(writer, ...) ((writer)->size += (size_t)sprintf((writer)->text + (writer)->size, __VA_ARGS__))

static void put_space(struct writer *writer)
{
    static const char *const spaces[] = {"", "", "", " ", "\n  ", "\t\r\n"};
    PUT(writer, "%s", spaces[below(writer, 6)]);
}

static void put_numbers(struct writer *writer)
{
    PUT(writer, "[");
    for (size_t i = 0, count = below(writer, 60); i < count; i++)
        PUT(writer, "%s%d.%d", i > 0 ? "," : "", (int)below(writer, 640), (int)below(writer, 100));
    PUT(writer, "]");
}

/* A member that is not needed, with a comma after it, or nothing. */
static void put_unknown(struct writer *writer)
{
    switch (below(writer, 5)) {
    case 0:
        PUT(writer, "\"segmentation\":[");
        put_numbers(writer);
        PUT(writer, ",");
        put_numbers(writer);
        PUT(writer, "],");
        break;
    case 1:
        PUT(writer, "\"segmentation\": {\"counts\": ");
        put_numbers(writer);
        PUT(writer, ",\"size\": [480,640]},");
        break;
    case 2:
        PUT(writer, "\"area\": -2.5e3,\"iscrowd\": %d,\"note\": \"\\\"]}{\\u20ac\",", (int)below(writer, 2));
        break;
    default:
        break;
    }
    put_space(writer);
}

/* Two members in either order. */
static void put_object(struct writer *writer, const char *first, const char *second)
{
    bool swap = below(writer, 2) == 1;
    const char *one = swap ? second : first, *two = swap ? first : second;
    PUT(writer, "{");
    put_unknown(writer);
    PUT(writer, "%s%s", one, *one && *two ? "," : "");
    put_space(writer);
    if (*one && *two)
        put_unknown(writer);
    PUT(writer, "%s}", two);
    put_space(writer);
}

static void put_images(struct writer *writer, const struct made *made)
{
    for (size_t i = 0; i < made->images; i++) {
        char id[64], path[64] = "";
        snprintf(id, sizeof id, "\"id\": %" PRIu64, made->image_ids[i]);
        if (made->has_path[i])
            snprintf(path, sizeof path, "\"file_name\":\"%s%" PRIu64 ".jpg\"", i % 2 ? "in\\/" : "in/", made->image_ids[i]);
        PUT(writer, "%s", i > 0 ? "," : "");
        put_object(writer, id, path);
    }
}

static void put_annotations(struct writer *writer, const struct made *made)
{
    for (size_t i = 0; i < made->annotations; i++) {
        char image[64], category[64];
        snprintf(image, sizeof image, "\"image_id\":%" PRIu64, made->image_ids[made->image_of[i]]);
        snprintf(category, sizeof category, "\"category_id\" : %" PRIu64, made->category_ids[made->category_of[i]]);
        PUT(writer, "%s", i > 0 ? "," : "");
        put_object(writer, image, category);
    }
}

static void put_categories(struct writer *writer, const struct made *made)
{
    for (size_t i = 0; i < made->categories; i++) {
        char id[64], name[64];
        snprintf(id, sizeof id, "\"id\":%" PRIu64, made->category_ids[i]);
        snprintf(name, sizeof name, "\"name\":\"%s\"", class_names[made->class_of[i]]);
        PUT(writer, "%s", i > 0 ? "," : "");
        put_object(writer, id, name);
    }
}

static void put_file(struct writer *writer, const struct made *made)
{
    static void (*const lists[])(struct writer *, const struct made *) = {put_images, put_annotations, put_categories};
    static const char *const keys[] = {"images", "annotations", "categories"};
    size_t start = below(writer, 3), step = 1 + below(writer, 2);
    writer->size = 0;
    PUT(writer, "{");
    for (size_t i = 0; i < 3; i++) {
        size_t which = (start + i * step) % 3;
        put_unknown(writer);
        PUT(writer, "\"%s\":[", keys[which]);
        put_space(writer);
        lists[which](writer, made);
        PUT(writer, "]%s", i < 2 ? "," : "}");
        put_space(writer);
    }
}

/* Ids by position in a permutation-like spread, so that files share none. */
static void make(struct writer *writer, size_t file, struct made *made)
{
    made->images = below(writer, MOST + 1);
    made->categories = 1 + below(writer, CLASSES);
    made->annotations = made->images > 0 ? below(writer, 3 * MOST + 1) : 0;
    size_t first_class = below(writer, CLASSES);
    for (size_t i = 0; i < made->images; i++) {
        made->image_ids[i] = ((i + 1) * 0x9E3779B97F4A7C15u) << 2 | file;
        made->has_path[i] = below(writer, 4) > 0;
    }
    for (size_t i = 0; i < made->categories; i++) {
        made->category_ids[i] = (i * 7 + first_class) % 90;
        made->class_of[i] = (first_class + i * 3) % CLASSES;
    }
    for (size_t i = 0; i < made->annotations; i++) {
        made->image_of[i] = below(writer, made->images);
        made->category_of[i] = below(writer, made->categories);
    }
}

/* ---- the judge -------------------------------------------------------------------------------------------------------- */

static bool shows(const struct made *made, size_t image, size_t class_number)
{
    for (size_t i = 0; i < made->annotations; i++)
        if (made->image_of[i] == image && made->class_of[made->category_of[i]] == class_number)
            return true;
    return false;
}

static void judge(const struct made *files, size_t count, char *expected)
{
    size_t order[CLASSES], known = 0;
    char *at = expected;
    *at = '\0';
    for (size_t f = 0; f < count; f++)
        for (size_t i = 0; i < files[f].categories; i++) {
            size_t j = 0;
            while (j < known && order[j] != files[f].class_of[i])
                j++;
            if (j == known)
                order[known++] = files[f].class_of[i];
        }
    for (size_t f = 0; f < count; f++)
        for (size_t i = 0; i < files[f].images; i++) {
            uint64_t id = files[f].image_ids[i];
            at += sprintf(at, "%" PRIu64 " ", id);
            at += files[f].has_path[i] ? sprintf(at, "in/%" PRIu64 ".jpg ", id) : sprintf(at, "- ");
            bool any = false;
            for (size_t j = 0; j < known; j++)
                if (shows(&files[f], i, order[j])) {
                    at += sprintf(at, "%s%s", any ? "," : "", class_shown[order[j]]);
                    any = true;
                }
            at += sprintf(at, "\n");
        }
}

TEST(coco_gives_what_was_written_for_any_seed)
{
    const uint64_t first = 100, rounds = 1000;
    print_message("seeds %d to %d\n", (int)first, (int)(first + rounds - 1));
    static struct writer writers[3];
    static struct made files[3];
    static coco_answer answer;
    static char expected[sizeof answer.shown];
    for (uint64_t seed = first; seed < first + rounds; seed++) {
        const char *texts[3];
        size_t count = 1 + (size_t)(seed % 3);
        for (size_t f = 0; f < count; f++) {
            writers[f].random = ocdm__random_stream(seed, f);
            make(&writers[f], f, &files[f]);
            put_file(&writers[f], &files[f]);
            texts[f] = writers[f].text;
        }
        judge(files, count, expected);
        read_coco(texts, count, seed % 2 == 1, &answer);
        char where[64];
        snprintf(where, sizeof where, "seed %" PRIu64 ": %.40s", seed, answer.error.message);
        HOLDS(where, answer.status == OCDM_OK && answer.reading.skip_count == 0 && strcmp(answer.shown, expected) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coco_gives_what_was_written_for_any_seed),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
