/* A small strict JSON reader for tests: written apart from the engine's writer and scanner, so that it can disagree. */
#pragma once

#include <glib.h>

typedef enum
{
  JSON_NULL,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
} JsonKind;

typedef struct _JsonTree JsonTree;
struct _JsonTree
{
  JsonKind kind;
  char *key;        /* within an object */
  char *text;       /* NUMBER: as written; STRING: unescaped; BOOL: "true" or "false" */
  GPtrArray *items; /* ARRAY, OBJECT: JsonTree *, in order */
};

/* NULL if text is not exactly one JSON value; *where is then the position of the fault. */
JsonTree *json_tree_parse (const char *text, gsize *where);
void json_tree_free (JsonTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonTree, json_tree_free)

/* Asserts that it is JSON, and that the members are there. */
JsonTree *json_tree_read (const char *text);
const JsonTree *json_tree_get (const JsonTree *object, const char *key);
const JsonTree *json_tree_at (const JsonTree *array, guint index);
guint json_tree_length (const JsonTree *tree);
const char *json_tree_text (const JsonTree *object, const char *key); /* NULL for null */
/* "a,b,c": the keys in order. (transfer full) */
char *json_tree_keys (const JsonTree *object);
