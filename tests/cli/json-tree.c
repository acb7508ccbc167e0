#include "json-tree.h"

#include <string.h>

typedef struct
{
  const char *at;
  guint depth;
} Parser;

static JsonTree *parse_value (Parser *parser);

static void
skip_space (Parser *parser)
{
  parser->at += strspn (parser->at, " \t\r\n");
}

static JsonTree *
new_tree (JsonKind kind)
{
  JsonTree *tree = g_new0 (JsonTree, 1);

  tree->kind = kind;
  if (kind == JSON_ARRAY || kind == JSON_OBJECT)
    tree->items = g_ptr_array_new_with_free_func ((GDestroyNotify)json_tree_free);
  return tree;
}

void
json_tree_free (JsonTree *tree)
{
  g_free (tree->key);
  g_free (tree->text);
  if (tree->items)
    g_ptr_array_unref (tree->items);
  g_free (tree);
}

static gboolean
parse_hex (const char *text, gunichar *code)
{
  *code = 0;
  for (int i = 0; i < 4; i++)
    {
      if (!g_ascii_isxdigit (text[i]))
        return FALSE;
      *code = *code * 16 + (gunichar)g_ascii_xdigit_value (text[i]);
    }
  return TRUE;
}

static char *
parse_string (Parser *parser)
{
  GString *text = g_string_new (NULL);
  const char *escapes = "\"\\/bfnrt", *meanings = "\"\\/\b\f\n\r\t";

  if (*parser->at != '"')
    goto bad;
  for (parser->at++; *parser->at != '"'; parser->at++)
    {
      gunichar code, low;

      if ((guchar)*parser->at < 0x20) /* the end of the text too */
        goto bad;
      if (*parser->at != '\\')
        {
          g_string_append_c (text, *parser->at);
          continue;
        }
      parser->at++;
      if (*parser->at == 'u' && parse_hex (parser->at + 1, &code))
        {
          parser->at += 4;
          if (code >= 0xd800 && code < 0xdc00)
            {
              if (parser->at[1] != '\\' || parser->at[2] != 'u' || !parse_hex (parser->at + 3, &low) || low < 0xdc00
                  || low > 0xdfff)
                goto bad;
              code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
              parser->at += 6;
            }
          else if (code >= 0xdc00 && code < 0xe000)
            goto bad;
          g_string_append_unichar (text, code == 0 ? 0x2400 : code); /* NUL: its picture, strings here end at NUL */
          continue;
        }
      if (*parser->at == '\0' || strchr (escapes, *parser->at) == NULL)
        goto bad;
      g_string_append_c (text, meanings[strchr (escapes, *parser->at) - escapes]);
    }
  parser->at++;
  if (g_utf8_validate (text->str, -1, NULL))
    return g_string_free (text, FALSE);
bad:
  g_string_free (text, TRUE);
  return NULL;
}

static JsonTree *
parse_number (Parser *parser)
{
  const char *begin = parser->at, *at = begin;
  JsonTree *tree;

  at += *at == '-';
  if (*at == '0')
    at++;
  else if (g_ascii_isdigit (*at))
    at += strspn (at, "0123456789");
  else
    return NULL;
  if (*at == '.')
    {
      if (!g_ascii_isdigit (at[1]))
        return NULL;
      at += 1 + strspn (at + 1, "0123456789");
    }
  if (*at == 'e' || *at == 'E')
    {
      at += 1 + (at[1] == '-' || at[1] == '+');
      if (!g_ascii_isdigit (*at))
        return NULL;
      at += strspn (at, "0123456789");
    }
  tree = new_tree (JSON_NUMBER);
  tree->text = g_strndup (begin, (gsize)(at - begin));
  parser->at = at;
  return tree;
}

static JsonTree *
parse_members (Parser *parser, JsonKind kind)
{
  JsonTree *tree = new_tree (kind);
  char close = kind == JSON_ARRAY ? ']' : '}';

  parser->at++;
  skip_space (parser);
  if (*parser->at == close)
    {
      parser->at++;
      return tree;
    }
  while (TRUE)
    {
      char *key = NULL;
      JsonTree *item;

      skip_space (parser);
      if (kind == JSON_OBJECT)
        {
          key = parse_string (parser);
          skip_space (parser);
          if (key == NULL || *parser->at++ != ':')
            {
              g_free (key);
              break;
            }
        }
      item = parse_value (parser);
      if (item == NULL)
        {
          g_free (key);
          break;
        }
      item->key = key;
      g_ptr_array_add (tree->items, item);
      skip_space (parser);
      if (*parser->at == close)
        {
          parser->at++;
          return tree;
        }
      if (*parser->at != ',')
        break;
      parser->at++;
    }
  json_tree_free (tree);
  return NULL;
}

static JsonTree *
parse_word (Parser *parser)
{
  static const struct
  {
    const char *word;
    JsonKind kind;
  } words[] = { { "null", JSON_NULL }, { "true", JSON_BOOL }, { "false", JSON_BOOL } };

  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (parser->at, words[i].word))
      {
        JsonTree *tree = new_tree (words[i].kind);
        if (words[i].kind == JSON_BOOL)
          tree->text = g_strdup (words[i].word);
        parser->at += strlen (words[i].word);
        return tree;
      }
  return NULL;
}

static JsonTree *
parse_value (Parser *parser)
{
  JsonTree *tree = NULL;

  skip_space (parser);
  if (++parser->depth > 200)
    return NULL;
  if (*parser->at == '{' || *parser->at == '[')
    tree = parse_members (parser, *parser->at == '{' ? JSON_OBJECT : JSON_ARRAY);
  else if (*parser->at == '"')
    {
      char *text = parse_string (parser);
      if (text)
        {
          tree = new_tree (JSON_STRING);
          tree->text = text;
        }
    }
  else if (*parser->at == '-' || g_ascii_isdigit (*parser->at))
    tree = parse_number (parser);
  else
    tree = parse_word (parser);
  parser->depth--;
  return tree;
}

JsonTree *
json_tree_parse (const char *text, gsize *where)
{
  Parser parser = { text, 0 };
  JsonTree *tree = parse_value (&parser);

  skip_space (&parser);
  *where = (gsize)(parser.at - text);
  if (tree != NULL && *parser.at != '\0')
    g_clear_pointer (&tree, json_tree_free);
  return tree;
}

JsonTree *
json_tree_read (const char *text)
{
  gsize where;
  JsonTree *tree = json_tree_parse (text, &where);

  if (tree == NULL)
    g_error ("not JSON at %" G_GSIZE_FORMAT ": %.60s", where, text + where);
  return tree;
}

const JsonTree *
json_tree_get (const JsonTree *object, const char *key)
{
  g_assert_cmpint (object->kind, ==, JSON_OBJECT);
  for (guint i = 0; i < object->items->len; i++)
    {
      const JsonTree *item = g_ptr_array_index (object->items, i);
      if (strcmp (item->key, key) == 0)
        return item;
    }
  g_error ("no member '%s'", key);
  return NULL;
}

const JsonTree *
json_tree_at (const JsonTree *array, guint index)
{
  g_assert_cmpint (array->kind, ==, JSON_ARRAY);
  g_assert_cmpuint (index, <, array->items->len);
  return g_ptr_array_index (array->items, index);
}

guint
json_tree_length (const JsonTree *tree)
{
  g_assert_nonnull (tree->items);
  return tree->items->len;
}

const char *
json_tree_text (const JsonTree *object, const char *key)
{
  return json_tree_get (object, key)->text;
}

char *
json_tree_keys (const JsonTree *object)
{
  GString *keys = g_string_new (NULL);

  g_assert_cmpint (object->kind, ==, JSON_OBJECT);
  for (guint i = 0; i < object->items->len; i++)
    g_string_append_printf (keys, "%s%s", i > 0 ? "," : "", ((JsonTree *)g_ptr_array_index (object->items, i))->key);
  return g_string_free (keys, FALSE);
}
