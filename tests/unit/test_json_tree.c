/* JSON documents as trees. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "base/json_tree.h"

static ocdm_status parse(ocdm__json_tree *tree, const char *text, ocdm_error *error)
{
    return ocdm__json_tree_parse(tree, "t", text, strlen(text), error);
}

TEST(json_tree_answers_by_path)
{
    ocdm__json_tree tree;
    ocdm_error error;
    assert_int_equal(
        parse(&tree, "{\"a\":{\"b\\u0063\":[1,{\"x\":-2.5e1},[],null,true]},\"s\":\"q\\n\\u00e9\",\"a2\":0}", &error), OCDM_OK);
    const ocdm__json_node *list = ocdm__json_find(tree.root, "a.bc");
    assert_non_null(list);
    assert_int_equal(list->count, 5);
    assert_true(ocdm__json_number(ocdm__json_element(list, 0)) == 1);
    assert_true(ocdm__json_number(ocdm__json_find(ocdm__json_element(list, 1), "x")) == -25);
    assert_int_equal(ocdm__json_element(list, 2)->count, 0);
    assert_int_equal(ocdm__json_element(list, 3)->kind, OCDM__JSON_NULL);
    assert_null(ocdm__json_element(list, 5));
    assert_string_equal(ocdm__json_text(ocdm__json_find(tree.root, "s"), ""), "q\n\xc3\xa9");
    assert_true(ocdm__json_number(ocdm__json_find(tree.root, "a2")) == 0);
    ocdm__json_tree_clear(&tree);
}

TEST(json_tree_answers_nothing_where_nothing_is)
{
    ocdm__json_tree tree;
    ocdm_error error;
    assert_int_equal(parse(&tree, "{\"a\":1}", &error), OCDM_OK);
    assert_null(ocdm__json_find(tree.root, "a.b"));
    assert_null(ocdm__json_find(tree.root, "b.c.d"));
    assert_null(ocdm__json_find(NULL, "a"));
    assert_true(isnan(ocdm__json_number(NULL)));
    assert_string_equal(ocdm__json_text(ocdm__json_find(tree.root, "a"), "none"), "none");
    ocdm__json_tree_clear(&tree);
}

TEST(json_tree_refuses_what_is_not_json_with_its_place)
{
    ocdm__json_tree tree;
    ocdm_error error;
    assert_int_equal(parse(&tree, "{\"a\":1,\n \"b\" 2}", &error), OCDM_BAD_FILE);
    assert_int_equal(strncmp(error.message, "t:2:6: ", 7), 0);
    assert_null(tree.root);
    assert_int_equal(parse(&tree, "", &error), OCDM_BAD_FILE);
    assert_int_equal(parse(&tree, "[1", &error), OCDM_BAD_FILE);
    assert_int_equal(parse(&tree, "1 2", &error), OCDM_BAD_FILE);
}

TEST(json_tree_takes_long_texts_and_many_nodes)
{
    static char text[300000];
    ocdm__json_tree tree;
    ocdm_error error;
    size_t length = 0;
    length += (size_t)sprintf(text + length, "[\"");
    memset(text + length, 'x', 100000);
    length += 100000;
    length += (size_t)sprintf(text + length, "\"");
    for (int i = 0; i < 20000; i++)
        length += (size_t)sprintf(text + length, ",%d", i);
    sprintf(text + length, "]");
    assert_int_equal(parse(&tree, text, &error), OCDM_OK);
    assert_int_equal(tree.root->count, 20001);
    assert_int_equal(strlen(tree.root->first->text), 100000);
    assert_true(ocdm__json_number(ocdm__json_element(tree.root, 20000)) == 19999);
    ocdm__json_tree_clear(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_tree_answers_by_path),
        cmocka_unit_test(json_tree_answers_nothing_where_nothing_is),
        cmocka_unit_test(json_tree_refuses_what_is_not_json_with_its_place),
        cmocka_unit_test(json_tree_takes_long_texts_and_many_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
