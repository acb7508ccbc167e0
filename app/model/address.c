#include "model/address.h"

#include <string.h>

#include "io/error.h"
#include "io/number.h"
#include "io/text.h"

#define STORED_PREFIX "stored:"
#define MODULE_PREFIX "module:" /* for a module whose path is also a tensor's name */

/* --- The struct -------------------------------------------------------------------------------------------------- */

void
tm_address_clear (TmAddress *address)
{
  g_free (address->start);
  g_free (address->end);
  *address = (TmAddress) TM_ADDRESS_INIT;
}

void
tm_address_copy (const TmAddress *from, TmAddress *to)
{
  TmAddress copy = *from;

  copy.start = from->start == NULL ? NULL : g_memdup2 (from->start, from->rank * sizeof *from->start);
  copy.end = from->end == NULL ? NULL : g_memdup2 (from->end, from->rank * sizeof *from->end);
  *to = copy;
}

static gboolean
is_whole_equal (const TmAddress *a, const TmAddress *b)
{
  if (a->kind != b->kind)
    return FALSE;
  switch (a->kind)
    {
    case TM_ADDRESS_MODULE:
      return a->module == b->module;
    case TM_ADDRESS_FOLD:
      return a->module == b->module && a->fold == b->fold;
    case TM_ADDRESS_TENSOR:
    case TM_ADDRESS_STORED:
      return a->tensor == b->tensor;
    case TM_ADDRESS_MODEL:
    default:
      return TRUE;
    }
}

gboolean
tm_address_equal (const TmAddress *a, const TmAddress *b)
{
  if (!is_whole_equal (a, b) || a->within != b->within)
    return FALSE;
  if (a->within == TM_WITHIN_WHOLE)
    return TRUE;
  if (a->rank != b->rank)
    return FALSE;
  for (guint axis = 0; axis < a->rank; axis++)
    if (a->start[axis] != b->start[axis] || (a->within == TM_WITHIN_REGION && a->end[axis] != b->end[axis]))
      return FALSE;
  return TRUE;
}

/* --- Names ------------------------------------------------------------------------------------------------------- */

/* By "name" or "name#n". "name#1" also where the name is unique, so that a tensor without a name has an address; zeros before
 * n, so that the second "w" has one where another tensor is called "w#2". */
static gint64
find_exact (TmModel *model, gboolean stored, const char *name)
{
  const gint64 found = stored ? tm_model_find_stored (model, name) : tm_model_find_tensor (model, name);
  const GPtrArray *all = stored ? model->stored : model->tensors;
  const char *hash = strrchr (name, '#');
  g_autofree char *base = NULL;
  gint64 first;
  guint64 n;

  if (found >= 0 || hash == NULL || !tm_parse_u64 (hash + 1, -1, &n) || n == 0)
    return found;
  base = g_strndup (name, (gsize) (hash - name));
  first = stored ? tm_model_find_stored (model, base) : tm_model_find_tensor (model, base);
  if (first < 0 || n == 1)
    return first;
  for (guint i = (guint) first; i < all->len; i++)
    {
      const guint ordinal = stored ? tm_model_stored (model, i)->ordinal : tm_model_tensor (model, i)->ordinal;

      if (ordinal == n
          && strcmp (stored ? tm_model_stored (model, i)->name : tm_model_tensor (model, i)->name, base) == 0)
        return i;
    }
  return -1;
}

static gboolean
is_shown_as (const char *name, const char *shown, GString *name_json, const GString *shown_json)
{
  g_autofree char *escaped = tm_text_escape (name, -1);

  if (strcmp (escaped, shown) == 0)
    return TRUE;
  g_string_truncate (name_json, 0);
  tm_json_append_string (name_json, name, -1);
  return g_string_equal (name_json, shown_json);
}

/* A name with bytes that are no text is shown escaped, and in JSON with U+FFFD: the first that is shown so. */
static gint64
find_shown (TmModel *model, gboolean stored, const char *shown)
{
  const guint n = stored ? model->stored->len : model->tensors->len;
  g_autoptr (GString) name_json = NULL;
  g_autoptr (GString) shown_json = NULL;

  if (strchr (shown, '\\') == NULL && strstr (shown, "\uFFFD") == NULL)
    return -1;
  name_json = g_string_new (NULL);
  shown_json = g_string_new (NULL);
  tm_json_append_string (shown_json, shown, -1);
  for (guint i = 0; i < n; i++)
    if (is_shown_as (stored ? tm_model_stored (model, i)->name : tm_model_tensor (model, i)->name, shown, name_json, shown_json))
      return i;
  return -1;
}

gint64
tm_address_find_name (TmModel *model, gboolean stored, const char *name)
{
  const gint64 found = find_exact (model, stored, name);

  return found >= 0 ? found : find_shown (model, stored, name);
}

static gint64
fold_end (const TmModule *parent, const TmFold *fold)
{
  return ((const TmModule *) g_ptr_array_index (parent->children, fold->first + fold->count - 1))->number;
}

/* "blk.3-20": the fold that begins with module blk.3 and ends with number 20. */
static gboolean
find_fold (TmModel *model, const char *text, TmAddress *address)
{
  const char *dash = strrchr (text, '-');
  g_autofree char *path = NULL;
  guint64 last;
  const TmModule *module;

  if (dash == NULL || !tm_parse_u64 (dash + 1, -1, &last))
    return FALSE;
  path = g_strndup (text, (gsize) (dash - text));
  module = tm_module_find (model->root, path);
  if (module == NULL || module->parent == NULL)
    return FALSE;
  for (guint i = 0; i < module->parent->folds->len; i++)
    {
      const TmFold *fold = &g_array_index (module->parent->folds, TmFold, i);

      if (g_ptr_array_index (module->parent->children, fold->first) == module
          && fold_end (module->parent, fold) == (gint64) last)
        {
          address->kind = TM_ADDRESS_FOLD;
          address->module = module->parent;
          address->fold = i;
          return TRUE;
        }
    }
  return FALSE;
}

/* A name without brackets. */
static gboolean
find_whole (TmModel *model, const char *text, TmAddress *address)
{
  gint64 found = tm_address_find_name (model, FALSE, text);

  if (found >= 0)
    {
      address->kind = TM_ADDRESS_TENSOR;
      address->tensor = (guint) found;
      return TRUE;
    }
  if (g_str_has_prefix (text, STORED_PREFIX))
    {
      found = tm_address_find_name (model, TRUE, text + strlen (STORED_PREFIX));
      if (found >= 0)
        {
          address->kind = TM_ADDRESS_STORED;
          address->tensor = (guint) found;
          return TRUE;
        }
    }
  while (g_str_has_prefix (text, MODULE_PREFIX) && tm_module_find (model->root, text) == NULL)
    text += strlen (MODULE_PREFIX);
  address->module = text[0] == '\0' ? NULL : tm_module_find (model->root, text);
  if (address->module != NULL)
    {
      address->kind = address->module == model->root ? TM_ADDRESS_MODEL : TM_ADDRESS_MODULE;
      return TRUE;
    }
  return find_fold (model, text, address);
}

/* Says how far the name fits: the longest part before a dot that is a module. */
static void
set_unknown (TmModel *model, const char *text, GError **error)
{
  g_autofree char *known = g_strdup (text);
  g_autofree char *shown = NULL;
  char *dot;

  if (g_str_has_prefix (text, STORED_PREFIX))
    {
      shown = tm_text_escape (text + strlen (STORED_PREFIX), -1);
      g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "no stored tensor is called “%s”", shown);
      return;
    }
  for (guint tries = 0; tries < 64 && (dot = strrchr (known, '.')) != NULL && dot != known; tries++)
    {
      *dot = '\0';
      if (tm_module_find (model->root, known) != NULL)
        {
          g_autofree char *module = tm_text_escape (known, -1);

          shown = tm_text_escape (text + strlen (known) + 1, -1);
          g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "module “%s” has nothing called “%s”", module, shown);
          return;
        }
    }
  shown = tm_text_escape (text, -1);
  g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "no tensor or module is called “%s”", shown);
}

static gboolean
parse_within (TmModel *model, const char *inside, TmAddress *address, GError **error)
{
  guint rank;
  const guint64 *shape;
  gboolean region = strchr (inside, ':') != NULL;

  if (address->kind == TM_ADDRESS_STORED)
    {
      rank = tm_model_stored (model, address->tensor)->rank;
      shape = tm_model_stored (model, address->tensor)->shape;
    }
  else
    {
      rank = tm_model_tensor (model, address->tensor)->rank;
      shape = tm_model_tensor (model, address->tensor)->shape;
    }
  address->within = region ? TM_WITHIN_REGION : TM_WITHIN_INDEX;
  address->rank = rank;
  address->start = g_new0 (guint64, MAX (rank, 1));
  address->end = g_new0 (guint64, MAX (rank, 1));
  if (region)
    return tm_region_parse (inside, rank, shape, address->start, address->end, error);
  if (!tm_index_parse (inside, rank, shape, address->start, error))
    return FALSE;
  for (guint axis = 0; axis < rank; axis++)
    address->end[axis] = address->start[axis] + 1;
  return TRUE;
}

gboolean
tm_address_parse (TmModel *model, const char *text, TmAddress *address, GError **error)
{
  g_auto (TmAddress) parsed = TM_ADDRESS_INIT;
  const gsize length = strlen (text);
  const char *bracket = length > 0 && text[length - 1] == ']' ? strrchr (text, '[') : NULL;

  if (length > 0 && !find_whole (model, text, &parsed))
    {
      g_autofree char *name = NULL;
      g_autofree char *inside = NULL;

      if (bracket == NULL)
        {
          set_unknown (model, text, error);
          return FALSE;
        }
      name = g_strndup (text, (gsize) (bracket - text));
      inside = g_strndup (bracket + 1, length - (gsize) (bracket - text) - 2);
      if (!find_whole (model, name, &parsed))
        {
          set_unknown (model, name, error);
          return FALSE;
        }
      if (parsed.kind != TM_ADDRESS_TENSOR && parsed.kind != TM_ADDRESS_STORED)
        {
          g_autofree char *shown = tm_text_escape (name, -1);

          g_set_error (error, TM_ERROR, TM_ERROR_ADDRESS, "“%s” is a module: only tensors have elements", shown);
          return FALSE;
        }
      if (!parse_within (model, inside, &parsed, error))
        return FALSE;
    }
  *address = parsed;
  parsed = (TmAddress) TM_ADDRESS_INIT;
  return TRUE;
}

/* --- Writing ----------------------------------------------------------------------------------------------------- */

static void
append_within (GString *text, const TmAddress *address, guint zeros)
{
  if (address->within == TM_WITHIN_WHOLE)
    return;
  g_string_append_c (text, '[');
  for (guint axis = 0; axis < address->rank; axis++)
    {
      if (axis > 0)
        g_string_append_c (text, ',');
      for (guint i = 0; axis == 0 && i < zeros; i++)
        g_string_append_c (text, '0');
      g_string_append_printf (text, "%" G_GUINT64_FORMAT, address->start[axis]);
      if (address->within == TM_WITHIN_REGION)
        g_string_append_printf (text, ":%" G_GUINT64_FORMAT, address->end[axis]);
    }
  g_string_append_c (text, ']');
}

static gboolean
leads_to (TmModel *model, const char *text, const TmAddress *address)
{
  g_auto (TmAddress) back = TM_ADDRESS_INIT;

  return tm_address_parse (model, text, &back, NULL) && tm_address_equal (&back, address);
}

static char *
format_tensor (TmModel *model, const TmAddress *address)
{
  const gboolean stored = address->kind == TM_ADDRESS_STORED;
  const char *name
      = stored ? tm_model_stored (model, address->tensor)->name : tm_model_tensor (model, address->tensor)->name;
  const guint ordinal
      = stored ? tm_model_stored (model, address->tensor)->ordinal : tm_model_tensor (model, address->tensor)->ordinal;
  GString *text = g_string_new (NULL);

  /* Names may look like addresses ("w[0]", "w#2"). Then a number is written with zeros before it: the same number, and not
   * the other tensor's name. */
  for (guint attempt = 0; attempt < 8; attempt++)
    {
      const guint zeros = attempt / 2;

      g_string_assign (text, stored ? STORED_PREFIX : "");
      g_string_append (text, name);
      if (ordinal > 0 || attempt % 2 == 1)
        g_string_append_printf (text, "#%.*s%u", (int) MIN (zeros, 3), "000", MAX (ordinal, 1));
      append_within (text, address, zeros);
      if (leads_to (model, text->str, address))
        break;
    }
  return g_string_free (text, FALSE);
}

char *
tm_address_format (TmModel *model, const TmAddress *address)
{
  char *text;

  switch (address->kind)
    {
    case TM_ADDRESS_TENSOR:
    case TM_ADDRESS_STORED:
      return format_tensor (model, address);
    case TM_ADDRESS_MODULE:
      text = g_strdup (address->module->path);
      if (text[0] == '\0')
        return text;
      break;
    case TM_ADDRESS_FOLD:
      {
        const TmFold *fold = &g_array_index (address->module->folds, TmFold, address->fold);
        const TmModule *first = g_ptr_array_index (address->module->children, fold->first);

        text = g_strdup_printf ("%s-%" G_GINT64_FORMAT, first->path, fold_end (address->module, fold));
        break;
      }
    case TM_ADDRESS_MODEL:
    default:
      return g_strdup ("");
    }
  for (guint tries = 0; tries < 3 && !leads_to (model, text, address); tries++)
    {
      char *longer = g_strconcat (MODULE_PREFIX, text, NULL);

      g_free (text);
      text = longer;
    }
  return text;
}
