/*
 * A JSON document as a tree, for small files of which a few values are needed: the summary of a run, a table of numbers. Large
 * or hostile streams of records go through base/json.h's scanner instead, which allocates nothing.
 *
 *     ocdm__json_tree tree = {0};
 *     if (ocdm__json_tree_read(&tree, path, error) != OCDM_OK) ...
 *     double map = ocdm__json_number(ocdm__json_find(tree.root, "final.total.mAP"));
 *     ocdm__json_tree_clear(&tree);
 *
 * Every function accepts NULL and nodes of another kind and then returns NULL, NaN or "".
 */
#ifndef OCDM_BASE_JSON_TREE_H
#define OCDM_BASE_JSON_TREE_H

#include "base/json.h"

/* The largest file that is read. */
#define OCDM__JSON_TREE_LIMIT ((size_t)256 * 1024 * 1024)

typedef struct ocdm__json_node ocdm__json_node;
struct ocdm__json_node {
    enum ocdm__json_event kind; /* OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE or NULL */
    const char *key;            /* of a member, unescaped and NUL-ended; NULL for an element */
    const char *text;           /* of a string, unescaped and NUL-ended; of a number its digits */
    size_t key_length, length;  /* of these two: they may have NULs inside */
    ocdm__place key_place;      /* where the key starts in the text, */
    ocdm__place place;          /* and the value; at the quote of those that have one */
    double number;              /* NaN unless it is a number */
    size_t count;               /* members or elements */
    const ocdm__json_node *first, *next;
};

/* Start with all bytes zero. */
typedef struct ocdm__json_tree {
    const ocdm__json_node *root;
    void *blocks; /* what the nodes and texts are in */
} ocdm__json_tree;

/* Reads a file, or `size` bytes, which messages call `name`. OCDM_OK, OCDM_BAD_FILE (name:line:column), OCDM_IO, OCDM_LIMIT,
 * OCDM_NO_MEMORY. On error the tree is empty. */
ocdm_status ocdm__json_tree_read(ocdm__json_tree *tree, const char *path, ocdm_error *error);
ocdm_status ocdm__json_tree_parse(ocdm__json_tree *tree, const char *name, const char *bytes, size_t size, ocdm_error *error);

/* Releases everything. */
void ocdm__json_tree_clear(ocdm__json_tree *tree);

/* The member at the end of a path of keys with dots between; NULL when there is none. The first of equal keys. */
const ocdm__json_node *ocdm__json_find(const ocdm__json_node *node, const char *path);

/* The first member or element, NULL when there is none; those behind it are `next`. */
static inline const ocdm__json_node *ocdm__json_first(const ocdm__json_node *node)
{
    return node != NULL ? node->first : NULL;
}

/* Element number i of a list. */
const ocdm__json_node *ocdm__json_element(const ocdm__json_node *list, size_t i);

/* A number, NaN for anything else; a text, `otherwise` for anything else. */
double ocdm__json_number(const ocdm__json_node *node);
const char *ocdm__json_text(const ocdm__json_node *node, const char *otherwise);

#endif
