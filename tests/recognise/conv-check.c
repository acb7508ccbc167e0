#include "recognise/conv-check.h"

#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

/* --- Files ----------------------------------------------------------------------------------------------------------- */

void
build_init (Build *build)
{
  build->header = g_string_new ("{");
  build->data = g_byte_array_new ();
}

void
build_add (Build *build, const char *name, const char *dtype, const char *shape, gconstpointer bytes, gsize n_bytes)
{
  g_string_append_printf (build->header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%u,%u]}",
                          build->header->len > 1 ? "," : "", name, dtype, shape, build->data->len,
                          build->data->len + (guint) n_bytes);
  if (bytes != NULL)
    g_byte_array_append (build->data, bytes, (guint) n_bytes);
  else
    {
      g_autofree guint8 *zeros = g_malloc0 (n_bytes + 1);

      g_byte_array_append (build->data, zeros, (guint) n_bytes);
    }
}

void
build_write (Build *build, const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint64 length;

  g_string_append_c (build->header, '}');
  length = GUINT64_TO_LE ((guint64) build->header->len);
  g_byte_array_append (file, (const guint8 *) &length, sizeof length);
  g_byte_array_append (file, (const guint8 *) build->header->str, (guint) build->header->len);
  if (build->data->len)
    g_byte_array_append (file, build->data->data, build->data->len);
  g_assert_true (
      g_file_set_contents_full (path, (const char *) file->data, file->len, G_FILE_SET_CONTENTS_NONE, 0600, &error));
  g_string_free (build->header, TRUE);
  g_byte_array_unref (build->data);
}

char *
make_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("tensormorph-conv-XXXXXX", &error);

  g_assert_no_error (error);
  return folder;
}

void
remove_folder (char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_remove (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

void
write_text (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

/* --- Models ---------------------------------------------------------------------------------------------------------- */

TmModel *
open_with (const char *path, ...)
{
  g_autoptr (TmAssume) assume = tm_assume_new ();
  g_autoptr (GError) error = NULL;
  TmModel *model;
  const char *key;
  va_list args;

  va_start (args, path);
  while ((key = va_arg (args, const char *)) != NULL)
    {
      const char *value = va_arg (args, const char *);

      g_assert_true (tm_assume_set (assume, NULL, key, value, &error));
    }
  va_end (args);
  model = tm_open_model_with (path, assume, NULL, &error);
  if (model == NULL)
    g_error ("%s: %s", path, error->message);
  return model;
}

const TmTensor *
need_tensor (TmModel *model, const char *name)
{
  gint64 at = tm_model_find_tensor (model, name);

  if (at < 0)
    {
      for (guint i = 0; i < model->problems->len; i++)
        g_test_message ("%s", ((const TmProblem *) g_ptr_array_index (model->problems, i))->message);
      g_error ("no tensor %s", name);
    }
  return tm_model_tensor (model, (guint) at);
}

gboolean
has_problem (TmModel *model, const char *code)
{
  for (guint i = 0; i < model->problems->len; i++)
    if (strcmp (((const TmProblem *) g_ptr_array_index (model->problems, i))->code, code) == 0)
      return TRUE;
  return FALSE;
}

const TmAssumption *
find_assumption (TmModel *model, const char *key)
{
  for (guint i = 0; i < model->assumptions->len; i++)
    {
      const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);

      if (strcmp (assumption->key, key) == 0)
        return assumption;
    }
  return NULL;
}

float
value_at (const TmTensor *tensor, guint64 row, guint64 column)
{
  g_autoptr (GError) error = NULL;
  float value;

  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, row * tensor->shape[tensor->rank - 1] + column, 1, &value,
                                   NULL, &error));
  g_assert_no_error (error);
  return value;
}

/* --- Golden ---------------------------------------------------------------------------------------------------------- */

/* manifest.json's rule: −0 is 0, any NaN is NaN, else the bits. */
static gboolean
same (float a, float b)
{
  return a == b || (isnan (a) && isnan (b));
}

static double
number_of (const JsonTree *sample, const char *key)
{
  const char *text = json_tree_text (sample, key);

  if (text == NULL)
    return 0;
  return strcmp (text, "NaN") == 0 ? (double) NAN : g_ascii_strtod (text, NULL);
}

static gboolean
has_member (const JsonTree *object, const char *key)
{
  for (guint i = 0; i < object->items->len; i++)
    if (strcmp (((const JsonTree *) g_ptr_array_index (object->items, i))->key, key) == 0)
      return json_tree_get (object, key)->kind != JSON_NULL;
  return FALSE;
}

/* Where bit k of the code is: the tensor's name and the bit in its data. */
static void
check_bits (TmModel *model, const TmScalar *scalar, const JsonTree *bits)
{
  guint total = 0;

  for (guint p = 0; p < json_tree_length (bits); p++)
    {
      const JsonTree *piece = json_tree_at (bits, p);
      const char *name = json_tree_at (piece, 0)->text;
      guint64 first = g_ascii_strtoull (json_tree_at (piece, 1)->text, NULL, 10);
      guint count = (guint) g_ascii_strtoull (json_tree_at (piece, 2)->text, NULL, 10);
      guint shift = (guint) g_ascii_strtoull (json_tree_at (piece, 3)->text, NULL, 10);
      gint64 at = tm_model_find_stored (model, name);
      const TmStored *stored;

      g_assert_cmpint (at, >=, 0);
      stored = tm_model_stored (model, (guint) at);
      total += count;
      for (guint k = 0; k < count; k++)
        {
          guint low = 0, found = 0;

          for (guint l = 0; l < scalar->n_locations; low += scalar->location[l++].bits)
            if (shift + k >= low && shift + k < low + scalar->location[l].bits)
              {
                const TmLocation *location = &scalar->location[l];
                guint64 bit = (location->byte - stored->offset) * 8 + location->bit + (shift + k - low);

                g_assert_true (location->source == stored->source);
                g_assert_cmpuint (bit, ==, first + k);
                found++;
              }
          g_assert_cmpuint (found, ==, 1);
        }
    }
  g_assert_cmpuint (total, ==, scalar->raw_bits);
}

static void
check_sample (TmModel *model, const TmTensor *tensor, const JsonTree *sample)
{
  const JsonTree *index = json_tree_get (sample, "index");
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  guint64 at[8];
  float scale = (float) number_of (sample, "scale"), zero = (float) number_of (sample, "zero_point");

  g_assert_cmpuint (json_tree_length (index), ==, tensor->rank);
  for (guint axis = 0; axis < tensor->rank; axis++)
    at[axis] = g_ascii_strtoull (json_tree_at (index, axis)->text, NULL, 10);
  if (!tm_tensor_explain (tensor, at, &scalar, &error))
    g_error ("%s: %s", tensor->name, error->message);
  g_assert_true (same (scalar.value.as.f32, (float) number_of (sample, "value")));
  if (!tensor->quantized)
    return;
  if (has_member (sample, "raw"))
    {
      g_assert_true (scalar.has_raw);
      g_assert_cmpint (scalar.raw, ==, (gint64) number_of (sample, "raw"));
      check_bits (model, &scalar, json_tree_get (sample, "bits"));
    }
  else
    g_assert_false (scalar.has_raw);
  g_assert_true (scalar.has_scale);
  if (strcmp (tensor->scheme, "bitsandbytes") == 0 && strcmp (tensor->dtype_label, "I8") == 0)
    scale *= 0.007874015718698502f; /* the samples have the bare SCB */
  g_assert_true (same ((float) scalar.scale, scale));
  if (has_member (sample, "q") && strcmp (tensor->scheme, "modelopt") != 0)
    { /* the samples have zero points of the signed code, records those of the stored one */
      zero = (float) (number_of (sample, "zero_point") + number_of (sample, "raw") - number_of (sample, "q"));
      g_assert_true (scalar.has_zero_point && same ((float) scalar.zero_point, zero));
    }
  else if (!has_member (sample, "zero_point"))
    g_assert_true ((!scalar.has_zero_point || scalar.zero_point == 0) && !scalar.has_offset);
  else if (scalar.has_offset) /* the samples have added terms as zero points, quanto's before it is negated */
    g_assert_true (same ((float) scalar.offset, strcmp (tensor->scheme, "quanto") == 0 ? -zero : zero));
  else
    g_assert_true (scalar.has_zero_point && same ((float) scalar.zero_point, zero));
}

void
check_golden (TmModel *model, const char *golden_folder, const char *only)
{
  g_autofree char *json_path = g_build_filename (golden_folder, "expected.json", NULL);
  g_autofree char *numbers_path = g_build_filename (golden_folder, "expected.f32", NULL);
  g_autofree char *json = NULL, *numbers = NULL;
  gsize n_bytes;
  g_autoptr (JsonTree) tree = NULL;
  const JsonTree *logical;
  guint n_checked = 0;

  g_assert_true (g_file_get_contents (json_path, &json, NULL, NULL));
  g_assert_true (g_file_get_contents (numbers_path, &numbers, &n_bytes, NULL));
  tree = json_tree_read (json);
  logical = json_tree_get (tree, "logical");
  for (guint t = 0; t < json_tree_length (logical); t++)
    {
      const JsonTree *expected = json_tree_at (logical, t), *shape = json_tree_get (expected, "shape");
      const JsonTree *samples = json_tree_get (expected, "samples"), *fold = json_tree_get (expected, "fold");
      const char *name = json_tree_text (expected, "name");
      guint64 offset = (guint64) number_of (expected, "f32_offset_elements");
      g_autoptr (GError) error = NULL;
      g_autofree float *out = NULL;
      const TmTensor *tensor;

      if (only != NULL && !g_str_has_prefix (name, only))
        continue;
      n_checked++;
      tensor = need_tensor (model, name);
      g_assert_cmpuint (tensor->rank, ==, json_tree_length (shape));
      for (guint axis = 0; axis < tensor->rank; axis++)
        g_assert_cmpuint (tensor->shape[axis], ==, g_ascii_strtoull (json_tree_at (shape, axis)->text, NULL, 10));
      for (guint f = 0; f < json_tree_length (fold); f++)
        { /* companions are under it and nowhere else */
          const char *part = json_tree_at (fold, f)->text;

          g_assert_cmpint (tm_model_find_stored (model, part), >=, 0);
          if (strcmp (part, name) != 0)
            g_assert_cmpint (tm_model_find_tensor (model, part), <, 0);
        }
      g_assert_cmpuint ((offset + tensor->n_elements) * 4, <=, n_bytes);
      out = g_new (float, tensor->n_elements);
      if (!tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, tensor->n_elements, out, NULL, &error))
        g_error ("%s: %s", name, error->message);
      for (guint64 i = 0; i < tensor->n_elements; i++)
        {
          float want;

          memcpy (&want, numbers + (offset + i) * 4, 4);
          if (!same (out[i], want))
            g_error ("%s: element %" G_GUINT64_FORMAT " is %.9g, not %.9g", name, i, (double) out[i], (double) want);
        }
      for (guint s = 0; s < json_tree_length (samples); s++)
        check_sample (model, tensor, json_tree_at (samples, s));
    }
  g_assert_cmpuint (n_checked, >, 0);
}

/* --- Against itself -------------------------------------------------------------------------------------------------- */

/* The code of the picture is the record's, whole or in pieces from its low bits up. */
static void
check_own_code (const TmPacking *packing, const TmScalar *scalar)
{
  const TmPackField *first = &g_array_index (packing->own, TmPackField, 0);
  guint64 code = 0;
  guint bits = 0;

  if (first->bits == scalar->raw_bits)
    {
      g_assert_cmpfloat (first->number, ==, (double) scalar->raw);
      return;
    }
  for (guint i = 0; i < packing->own->len; i++)
    {
      const TmPackField *own = &g_array_index (packing->own, TmPackField, i);

      if (own->role != TM_PACK_CODE)
        continue;
      code |= (guint64) own->number << bits;
      bits += (guint) own->bits;
    }
  g_assert_cmpuint (bits, ==, scalar->raw_bits);
  g_assert_cmpuint (code, ==, scalar->pattern[0]);
}

static void
check_place (const TmTensor *tensor, guint64 flat, const float *all)
{
  static const TmQuantity quantities[] = { TM_QUANTITY_SCALE, TM_QUANTITY_ZERO_POINT, TM_QUANTITY_OFFSET };
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_auto (TmPacking) packing = TM_PACKING_INIT;
  g_autoptr (GError) error = NULL;
  guint64 index[8];
  gint32 raw;
  float value;

  tm_tensor_unflatten (tensor, flat, index);
  g_assert_true (tm_tensor_explain (tensor, index, &scalar, &error));
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, flat, 1, &value, NULL, &error));
  g_assert_true (same (value, all[flat]));
  g_assert_true (same (value, scalar.value.as.f32));
  g_assert_cmpint (scalar.has_raw, ==, tm_tensor_has_quantity (tensor, TM_QUANTITY_RAW));
  if (scalar.has_raw)
    {
      g_assert_true (tm_tensor_decode_raw (tensor, flat, 1, &raw, NULL, &error));
      g_assert_cmpint (raw, ==, scalar.raw);
    }
  for (guint q = 0; q < G_N_ELEMENTS (quantities); q++)
    {
      gboolean has[] = { scalar.has_scale, scalar.has_zero_point, scalar.has_offset };
      double want[] = { scalar.scale, scalar.zero_point, scalar.offset };

      g_assert_cmpint (has[q], ==, tm_tensor_has_quantity (tensor, quantities[q]));
      if (!has[q])
        continue;
      g_assert_true (tm_tensor_decode (tensor, quantities[q], flat, 1, &value, NULL, &error));
      g_assert_true (same (value, (float) want[q]));
    }
  g_assert_true (scalar.has_group);
  g_assert_true (tm_tensor_describe_block (tensor, index, &packing, &error));
  g_assert_cmpuint (packing.own->len, >=, 2);
  g_assert_cmpuint (packing.fields->len, >=, packing.own->len);
  if (scalar.has_raw)
    check_own_code (&packing, &scalar);
  {
    g_autofree char *text = tm_scalar_to_json (&scalar), *formula = tm_scalar_format_formula (&scalar);
    g_autoptr (JsonTree) tree = json_tree_read (text);

    g_assert_nonnull (formula);
    g_assert_cmpstr (json_tree_text (tree, "tensor"), ==, tensor->name);
  }
}

/* Rows and columns at once are what runs give. */
static void
check_rectangle (const TmTensor *tensor, TmQuantity quantity, GRand *rand, const float *all, float *some)
{
  const guint64 length = tensor->shape[tensor->rank - 1], n_rows = tensor->n_elements / length;
  const guint64 row = (guint64) g_rand_int_range (rand, 0, (gint32) n_rows);
  const guint64 column = (guint64) g_rand_int_range (rand, 0, (gint32) length);
  const gsize rows = (gsize) g_rand_int_range (rand, 1, (gint32) MIN (n_rows - row, 90) + 1);
  const gsize columns = (gsize) g_rand_int_range (rand, 1, (gint32) (length - column) + 1);
  g_autoptr (GError) error = NULL;

  g_assert_true (
      tm_tensor_decode_rectangle (tensor, quantity, row * length + column, rows, columns, some, NULL, &error));
  for (gsize r = 0; r < rows; r++)
    for (gsize c = 0; c < columns; c++)
      if (!same (some[r * columns + c], all[(row + r) * length + column + c]))
        g_error ("%s: quantity %u of row %" G_GUINT64_FORMAT ", column %" G_GUINT64_FORMAT " depends on the rectangle",
                 tensor->name, quantity, row + r, column + c);
}

void
check_agrees (const TmTensor *tensor, guint n_places)
{
  static const TmQuantity quantities[]
      = { TM_QUANTITY_VALUE, TM_QUANTITY_RAW, TM_QUANTITY_SCALE, TM_QUANTITY_ZERO_POINT, TM_QUANTITY_OFFSET };
  const guint64 n = tensor->n_elements;
  g_autoptr (GRand) rand = g_rand_new_with_seed (20 + (guint32) n);
  g_autofree float *all = g_new (float, n), *some = g_new (float, n);
  g_autoptr (GError) error = NULL;

  g_assert_null (tensor->fault);
  for (guint q = 0; q < G_N_ELEMENTS (quantities); q++)
    {
      if (!tm_tensor_has_quantity (tensor, quantities[q]))
        continue;
      g_assert_true (tm_tensor_decode (tensor, quantities[q], 0, n, all, NULL, &error));
      for (guint i = 0; i < n_places; i++)
        {
          guint64 first = (guint64) g_rand_int_range (rand, 0, (gint32) n);
          gsize count = (gsize) g_rand_int_range (rand, 1, (gint32) MIN (n - first, 1500) + 1);

          g_assert_true (tm_tensor_decode (tensor, quantities[q], first, count, some, NULL, &error));
          for (gsize k = 0; k < count; k++)
            if (!same (some[k], all[first + k]))
              g_error ("%s: quantity %u of element %" G_GUINT64_FORMAT " depends on the run", tensor->name,
                       quantities[q], first + k);
          check_rectangle (tensor, quantities[q], rand, all, some);
        }
    }
  g_assert_true (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, n, all, NULL, &error));
  for (guint i = 0; i < n_places; i++)
    check_place (tensor, (guint64) g_rand_int_range (rand, 0, (gint32) n), all);
  check_place (tensor, 0, all);
  check_place (tensor, n - 1, all);
}
