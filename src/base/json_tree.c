/* The tree is made by one pass of the scanner; nodes and texts are allocated from blocks that are released together. */
#include "base/json_tree.h"

#include "base/files.h"

#define BLOCK 65536

/* Blocks are a list; each starts with the one before it. */
struct block {
    struct block *before;
    size_t used, room;
    max_align_t bytes[];
};

struct making {
    ocdm__json_tree *tree;
    ocdm__json json;
    bool out_of_memory;
    const char *line_start, *counted; /* how far lines are counted */
    uint64_t line;
};

/* Nodes and texts come from blocks that live as long as the tree. */
static void *cut(struct making *making, size_t size)
{
    struct block *block = making->tree->blocks;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (block == NULL || size > block->room - block->used) {
        size_t room = size > BLOCK ? size : BLOCK;
        block = ocdm__allocate(1, sizeof *block + room);
        if (block == NULL) {
            making->out_of_memory = true;
            return NULL;
        }
        block->before = making->tree->blocks;
        block->room = room;
        making->tree->blocks = block;
    }
    void *piece = (char *)block->bytes + block->used;
    block->used += size;
    return piece;
}

static const char *cut_text(struct making *making, size_t *length)
{
    char *text = cut(making, making->json.length + 1);
    if (text != NULL) {
        *length = ocdm__json_unescape(making->json.text, making->json.length, text);
        text[*length] = '\0';
    }
    return text;
}

/* Where a byte is that is not before those of earlier calls: together they go over the text once. */
static ocdm__place place_of(struct making *making, const char *at)
{
    const char *end;
    while ((end = memchr(making->counted, '\n', (size_t)(at - making->counted))) != NULL) {
        making->line_start = making->counted = end + 1;
        making->line++;
    }
    making->counted = at;
    return (ocdm__place){making->line, (uint64_t)(at - making->line_start) + 1};
}

/* The decimal point is a point whatever the locale is: the program sets none. */
static ocdm__json_node *make_node(struct making *making, enum ocdm__json_event kind)
{
    ocdm__json_node *node = cut(making, sizeof *node);
    if (node == NULL)
        return NULL;
    *node = (ocdm__json_node){.kind = kind, .number = NAN};
    node->place = place_of(making, making->json.text - (kind == OCDM__JSON_STRING));
    if (kind == OCDM__JSON_STRING || kind == OCDM__JSON_NUMBER)
        node->text = cut_text(making, &node->length);
    if (kind == OCDM__JSON_NUMBER && node->text != NULL)
        node->number = strtod(node->text, NULL);
    return node;
}

/* A container that is open, and where its next child goes. */
struct open {
    ocdm__json_node *node;
    const ocdm__json_node **end;
};

/* Depth is bounded by the scanner. */
static void make_nodes(struct making *making)
{
    struct open open[OCDM__JSON_DEPTH + 1] = {{.end = &making->tree->root}};
    size_t depth = 0;
    ocdm__json_node key = {.key = NULL}; /* the last one, until its value comes */
    enum ocdm__json_event event;
    while (!making->out_of_memory && (event = ocdm__json_next(&making->json)) > OCDM__JSON_END) {
        if (event == OCDM__JSON_KEY) {
            key.key_place = place_of(making, making->json.text - 1);
            key.key = cut_text(making, &key.key_length);
            continue;
        }
        if (event == OCDM__JSON_OBJECT_END || event == OCDM__JSON_ARRAY_END) {
            depth--;
            continue;
        }
        ocdm__json_node *node = make_node(making, event);
        if (node == NULL)
            return;
        node->key = key.key;
        node->key_length = key.key_length;
        node->key_place = key.key_place;
        key.key = NULL;
        *open[depth].end = node;
        open[depth].end = &node->next;
        if (open[depth].node != NULL)
            open[depth].node->count++;
        if (event == OCDM__JSON_OBJECT || event == OCDM__JSON_ARRAY)
            open[++depth] = (struct open){node, &node->first};
    }
}

ocdm_status ocdm__json_tree_parse(ocdm__json_tree *tree, const char *name, const char *bytes, size_t size, ocdm_error *error)
{
    struct making making = {.tree = tree, .line_start = bytes, .counted = bytes, .line = 1};
    *tree = (ocdm__json_tree){.root = NULL};
    if (size > OCDM__JSON_TREE_LIMIT)
        return ocdm__fail(error, OCDM_LIMIT, "", "%s: larger than %zu bytes", name, OCDM__JSON_TREE_LIMIT);
    ocdm__json_begin(&making.json, bytes, size);
    make_nodes(&making);
    ocdm_status status = OCDM_OK;
    if (making.out_of_memory)
        status = ocdm__fail_memory(error, "a JSON document");
    else if (ocdm__json_next(&making.json) == OCDM__JSON_ERROR)
        status = ocdm__fail_at(name, place_of(&making, bytes + making.json.error_at), OCDM_BAD_FILE, error, "", "%s",
                               making.json.reason);
    if (status != OCDM_OK)
        ocdm__json_tree_clear(tree);
    return status;
}

/* The file is not needed any more once the tree is made: texts are copies. */
ocdm_status ocdm__json_tree_read(ocdm__json_tree *tree, const char *path, ocdm_error *error)
{
    ocdm__mapped_file file = {.size = 0};
    *tree = (ocdm__json_tree){.root = NULL};
    ocdm_status status = ocdm__map_file(&file, path, error);
    OCDM_THEN(status, ocdm__json_tree_parse(tree, path, (const char *)file.bytes, file.size, error));
    ocdm__unmap_file(&file);
    return status;
}

/* All blocks. */
void ocdm__json_tree_clear(ocdm__json_tree *tree)
{
    for (struct block *block = tree->blocks, *before; block != NULL; block = before) {
        before = block->before;
        ocdm__release(block);
    }
    *tree = (ocdm__json_tree){.root = NULL};
}

/* ---- questions ------------------------------------------------------------------------------------------------------- */

/* Objects are small; a walk over their members is short. */
static const ocdm__json_node *member(const ocdm__json_node *node, const char *key, size_t length)
{
    if (node == NULL || node->kind != OCDM__JSON_OBJECT)
        return NULL;
    for (const ocdm__json_node *child = node->first; child != NULL; child = child->next)
        if (child->key_length == length && memcmp(child->key, key, length) == 0)
            return child;
    return NULL;
}

/* A key with a dot in it cannot be named. */
const ocdm__json_node *ocdm__json_find(const ocdm__json_node *node, const char *path)
{
    for (;;) {
        size_t length = strcspn(path, ".");
        node = member(node, path, length);
        if (path[length] == '\0')
            return node;
        path += length + 1;
    }
}

/* O(i). */
const ocdm__json_node *ocdm__json_element(const ocdm__json_node *list, size_t i)
{
    if (list == NULL || list->kind != OCDM__JSON_ARRAY)
        return NULL;
    const ocdm__json_node *child = list->first;
    while (child != NULL && i-- > 0)
        child = child->next;
    return child;
}

double ocdm__json_number(const ocdm__json_node *node)
{
    return node != NULL ? node->number : NAN;
}

const char *ocdm__json_text(const ocdm__json_node *node, const char *otherwise)
{
    return node != NULL && node->kind == OCDM__JSON_STRING ? node->text : otherwise;
}
