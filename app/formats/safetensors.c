#include "formats/safetensors.h"

#include <string.h>

#include "formats/readers.h"
#include "io/error.h"
#include "io/json.h"
#include "io/limits.h"

typedef struct
{
  guint64 at;         /* of the name in the file */
  guint64 begin, end; /* in the data buffer */
  gboolean placed;    /* begin and end are known and in order */
} Entry;

typedef struct
{
  TmSource *source;
  TmModel *model;
  TmJson json;
  guint64 data_start;
  guint64 buffer;    /* bytes after the header */
  GArray *entries;   /* Entry, one a stored tensor */
  guint n_strange;   /* entries that are neither object nor array */
} Reader;

#define SHORT_ENTRY 100 /* bytes of header that a tensor takes, at least in models that have many */

#define ENTRY(reader, i) (&g_array_index ((reader)->entries, Entry, (i)))

/* Dtypes of the format; other names of ours ("Q4_K", "I4") mean nothing here. */
static const TmDtype known_dtypes[] = {
  TM_DTYPE_BOOL, TM_DTYPE_U8, TM_DTYPE_I8, TM_DTYPE_U16, TM_DTYPE_I16, TM_DTYPE_U32, TM_DTYPE_I32, TM_DTYPE_U64,
  TM_DTYPE_I64, TM_DTYPE_F16, TM_DTYPE_BF16, TM_DTYPE_F32, TM_DTYPE_F64, TM_DTYPE_C64, TM_DTYPE_F8_E4M3,
  TM_DTYPE_F8_E5M2, TM_DTYPE_F8_E8M0, TM_DTYPE_F8_E4M3FNUZ, TM_DTYPE_F8_E5M2FNUZ, TM_DTYPE_F6_E2M3, TM_DTYPE_F6_E3M2,
  TM_DTYPE_F4,
};

/* --- The header's JSON ---------------------------------------------------------------------------------------------- */

/* A field that is not what it should be: the tensor is listed, the rest of the header is read. */
static gboolean
bad_field (Reader *reader, TmStored *stored, const char *code, const char *what)
{
  guint64 at = reader->json.base + reader->json.start;

  tm_stored_mark (reader->model, stored, code, at, "tensor \"%s\": %s at byte %" G_GUINT64_FORMAT, stored->name, what, at);
  return tm_json_skip (&reader->json);
}

/* Field readers return FALSE for an error of the JSON text only. The value's first token is the last one read. */
static gboolean
read_dtype (Reader *reader, TmStored *stored)
{
  TmJson *json = &reader->json;
  gboolean as_object = json->token == TM_JSON_OBJECT;

  if (as_object)
    {
      /* {"F32": null}: taken by the reference reader by accident of its JSON library. */
      if (tm_json_next (json) != TM_JSON_KEY)
        return json->error == NULL && bad_field (reader, stored, "dtype", "its dtype is an empty object");
    }
  else if (json->token != TM_JSON_STRING)
    return bad_field (reader, stored, "dtype", "its dtype is not a string");

  stored->dtype = TM_DTYPE_UNKNOWN;
  for (guint i = 0; i < G_N_ELEMENTS (known_dtypes) && stored->dtype == TM_DTYPE_UNKNOWN; i++)
    if (tm_json_string_equals (json, tm_dtype_get_name (known_dtypes[i])))
      stored->dtype = known_dtypes[i];
  if (stored->dtype == TM_DTYPE_UNKNOWN)
    {
      gsize length;
      char *label = tm_json_dup_string (json, &length);

      stored->type_label = tm_name_from_bytes (label, length);
      tm_stored_mark (reader->model, stored, "unknown-dtype", json->base + json->start,
                      "tensor \"%s\": dtype \"%s\" is unknown and not decoded", stored->name, stored->type_label);
    }
  if (!as_object)
    return TRUE;

  if (tm_json_next (json) == TM_JSON_ERROR || !tm_json_skip (json))
    return FALSE;
  if (tm_json_next (json) == TM_JSON_OBJECT_END)
    {
      tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "odd-entry", reader->source, json->base + json->start, stored->name,
                            "tensor \"%s\": its dtype is written as an object", stored->name);
      return TRUE;
    }
  while (json->token == TM_JSON_KEY)
    if (tm_json_next (json) == TM_JSON_ERROR || !tm_json_skip (json) || tm_json_next (json) == TM_JSON_ERROR)
      return FALSE;
  return json->error == NULL && bad_field (reader, stored, "dtype", "its dtype is an object");
}

static gboolean
read_shape (Reader *reader, TmStored *stored)
{
  TmJson *json = &reader->json;
  guint64 shape[TM_MAX_RANK];
  guint rank = 0;
  const char *fault = NULL;
  guint64 fault_at = 0;

  if (json->token != TM_JSON_ARRAY)
    return bad_field (reader, stored, "shape", "its shape is not an array");
  while (tm_json_next (json) != TM_JSON_ARRAY_END)
    {
      guint64 length = 0;

      if (json->token == TM_JSON_ERROR)
        return FALSE;
      if (fault == NULL && !tm_json_get_u64 (json, &length))
        {
          fault = "its shape is not made of whole numbers from 0 to 2^64 − 1";
          fault_at = json->base + json->start;
        }
      else if (fault == NULL && rank == TM_MAX_RANK)
        {
          fault = "its shape has too many axes";
          fault_at = json->base + json->start;
        }
      if (!tm_json_skip (json))
        return FALSE;
      if (fault == NULL)
        shape[rank++] = length;
    }
  if (fault != NULL)
    {
      tm_stored_mark (reader->model, stored, "shape", fault_at, "tensor \"%s\": %s (byte %" G_GUINT64_FORMAT ")", stored->name,
                      fault, fault_at);
      return TRUE;
    }
  tm_stored_set_rank (stored, rank);
  memcpy (stored->shape, shape, sizeof *shape * rank);
  return TRUE;
}

static gboolean
read_offsets (Reader *reader, TmStored *stored, Entry *entry)
{
  TmJson *json = &reader->json;
  guint64 offset[2] = { 0, 0 };
  guint64 at = json->base + json->start;
  gboolean right = TRUE;
  guint n = 0;

  if (json->token != TM_JSON_ARRAY)
    return bad_field (reader, stored, "offsets", "its data_offsets are not an array");
  while (tm_json_next (json) != TM_JSON_ARRAY_END)
    {
      if (json->token == TM_JSON_ERROR)
        return FALSE;
      right = right && n < 2 && tm_json_get_u64 (json, &offset[n++]);
      if (!tm_json_skip (json))
        return FALSE;
    }
  if (!right || n != 2)
    tm_stored_mark (reader->model, stored, "offsets", at,
                    "tensor \"%s\": its data_offsets at byte %" G_GUINT64_FORMAT " are not two whole numbers", stored->name, at);
  else if (offset[1] < offset[0])
    tm_stored_mark (reader->model, stored, "offsets", at,
                    "tensor \"%s\": its data end (%" G_GUINT64_FORMAT ") before they begin (%" G_GUINT64_FORMAT ")", stored->name,
                    offset[1], offset[0]);
  else
    {
      entry->begin = offset[0];
      entry->end = offset[1];
      entry->placed = TRUE;
    }
  return TRUE;
}

/* ["F32", [2], [0, 8]]: the fields in order, taken by the reference reader by accident of its JSON library. */
static gboolean
read_entry_array (Reader *reader, TmStored *stored, Entry *entry)
{
  TmJson *json = &reader->json;
  guint n = 0;

  while (tm_json_next (json) != TM_JSON_ARRAY_END)
    {
      gboolean ok = json->token == TM_JSON_ERROR ? FALSE
                  : n == 0 ? read_dtype (reader, stored) : n == 1 ? read_shape (reader, stored)
                  : n == 2 ? read_offsets (reader, stored, entry) : tm_json_skip (json);

      if (!ok)
        return FALSE;
      n++;
    }
  if (n != 3)
    return bad_field (reader, stored, "tensor-field", "its entry is an array that is not dtype, shape, data_offsets");
  tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "odd-entry", reader->source, entry->at, stored->name,
                        "tensor \"%s\": its entry is written as an array", stored->name);
  return TRUE;
}

static gboolean
read_entry_object (Reader *reader, TmStored *stored, Entry *entry)
{
  static const char *const fields[] = { "dtype", "shape", "data_offsets" };
  TmJson *json = &reader->json;
  guint seen[G_N_ELEMENTS (fields)] = { 0 };

  while (tm_json_next (json) != TM_JSON_OBJECT_END)
    {
      guint field = G_N_ELEMENTS (fields);

      if (json->token == TM_JSON_ERROR)
        return FALSE;
      for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
        if (tm_json_string_equals (json, fields[i]))
          field = i;
      if (tm_json_next (json) == TM_JSON_ERROR)
        return FALSE;
      if (field == G_N_ELEMENTS (fields))
        {
          if (!tm_json_skip (json))
            return FALSE;
          continue;
        }
      if (seen[field]++ > 0)
        {
          if (!bad_field (reader, stored, "duplicate-field", "a field of its entry stands twice"))
            return FALSE;
        }
      else if (!(field == 0 ? read_dtype (reader, stored) : field == 1 ? read_shape (reader, stored)
                 : read_offsets (reader, stored, entry)))
        return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (seen[i] == 0)
      tm_stored_mark (reader->model, stored, "tensor-field", entry->at, "tensor \"%s\": its entry has no %s", stored->name, fields[i]);
  return TRUE;
}

static gboolean
read_entry (Reader *reader)
{
  TmJson *json = &reader->json;
  TmStored *stored;
  Entry entry = { .at = json->base + json->start };
  gboolean ok;

  if (json->escaped)
    {
      gsize length;
      char *plain = tm_json_dup_string (json, &length);
      g_autofree char *name = tm_name_from_bytes (plain, length);

      stored = tm_stored_new (name, strlen (name));
    }
  else
    stored = tm_stored_new (json->text + json->start, json->size);
  stored->source = tm_source_ref (reader->source);
  g_ptr_array_add (reader->model->stored, stored);
  switch (tm_json_next (json))
    {
    case TM_JSON_ERROR:
      return FALSE;
    case TM_JSON_OBJECT:
      ok = read_entry_object (reader, stored, &entry);
      break;
    case TM_JSON_ARRAY:
      ok = read_entry_array (reader, stored, &entry);
      break;
    default:
      if (reader->n_strange++ == TM_MAX_PROBLEMS)
        return tm_json_fail (json, "too many entries that are no tensors");
      ok = bad_field (reader, stored, "tensor-field", "its entry is not an object");
      break;
    }
  g_array_append_val (reader->entries, entry);
  return ok;
}

static TmMetadata *
add_metadata (Reader *reader, TmMetaType type, char *key, gsize key_length, char *text, gsize length)
{
  TmMetadata *entry = g_new0 (TmMetadata, 1);

  entry->key = key;
  entry->key_length = key_length;
  entry->type = type;
  entry->string = text;
  entry->string_length = length;
  g_ptr_array_add (reader->model->metadata, entry);
  return entry;
}

static gboolean
add_json_metadata (Reader *reader, char *key, gsize key_length)
{
  guint64 at = reader->json.base + reader->json.start;
  const char *text = "";
  gsize length = 0;
  gboolean ok = tm_json_skip_span (&reader->json, &text, &length);

  add_metadata (reader, TM_META_JSON, key, key_length, g_strndup (text, length), length);
  if (ok)
    tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "metadata-type", reader->source, at, NULL,
                          "metadata \"%s\" is not a string", key);
  return ok;
}

static gboolean
read_metadata (Reader *reader)
{
  TmJson *json = &reader->json;
  g_autoptr (GHashTable) keys = NULL;

  if (tm_json_next (json) == TM_JSON_NULL)
    return TRUE;
  if (json->token == TM_JSON_ERROR)
    return FALSE;
  if (json->token != TM_JSON_OBJECT)
    return add_json_metadata (reader, g_strdup ("__metadata__"), strlen ("__metadata__"));

  keys = g_hash_table_new (g_str_hash, g_str_equal);
  while (tm_json_next (json) != TM_JSON_OBJECT_END)
    {
      guint64 at = json->base + json->start;
      gsize length;
      char *key;

      if (json->token == TM_JSON_ERROR)
        return FALSE;
      key = tm_json_dup_string (json, &length);
      if (tm_json_next (json) == TM_JSON_STRING)
        {
          gsize text_length;
          char *text = tm_json_dup_string (json, &text_length);

          add_metadata (reader, TM_META_STRING, key, length, text, text_length);
        }
      else if (!add_json_metadata (reader, key, length))
        return FALSE;
      if (!g_hash_table_add (keys, key))
        tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "duplicate-key", reader->source, at, NULL,
                              "metadata key \"%s\" stands more than once", key);
    }
  return TRUE;
}

static gboolean
read_header (Reader *reader)
{
  TmJson *json = &reader->json;
  guint n_metadata = 0;

  if (tm_json_next (json) != TM_JSON_OBJECT)
    return json->error == NULL ? tm_json_fail (json, "not an object") : FALSE;
  while (tm_json_next (json) != TM_JSON_OBJECT_END)
    {
      if (json->token == TM_JSON_ERROR)
        return FALSE;
      if (!tm_json_string_equals (json, "__metadata__"))
        {
          if (!read_entry (reader))
            return FALSE;
          continue;
        }
      if (n_metadata++ == 1)
        tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "duplicate-key", reader->source, json->base + json->start, NULL,
                              "__metadata__ stands more than once");
      if (!read_metadata (reader))
        return FALSE;
    }
  return tm_json_next (json) == TM_JSON_END;
}

/* --- Bytes ---------------------------------------------------------------------------------------------------------- */

static void
check_size (Reader *reader, guint i)
{
  TmStored *stored = tm_model_stored (reader->model, i);
  Entry *entry = ENTRY (reader, i);
  guint bits = tm_dtype_get_info (stored->dtype)->bits;
  gboolean fits = tm_stored_measure (stored, FALSE);
  guint64 total;

  stored->offset = reader->data_start;
  if (entry->placed)
    {
      stored->bytes = entry->end - entry->begin;
      if (__builtin_add_overflow (reader->data_start, entry->begin, &stored->offset))
        stored->offset = G_MAXUINT64;
    }
  if (stored->dtype == TM_DTYPE_UNKNOWN)
    bits = 0;
  if (!fits || __builtin_mul_overflow (stored->n_elements, (guint64) bits, &total))
    {
      tm_stored_mark (reader->model, stored, "shape-overflow", entry->at, "tensor \"%s\": its size does not fit 64 bits", stored->name);
      return;
    }
  if (bits == 0 || !entry->placed || stored->fault != NULL)
    return;
  if (total % 8 != 0)
    tm_stored_mark (reader->model, stored, "sub-byte", entry->at,
                    "tensor \"%s\": %" G_GUINT64_FORMAT " elements of %u bits are not byte-aligned", stored->name, stored->n_elements, bits);
  else if (total / 8 != stored->bytes)
    tm_stored_mark (reader->model, stored, "size-mismatch", entry->at,
                    "tensor \"%s\": shape and dtype need %" G_GUINT64_FORMAT " bytes, its range has %" G_GUINT64_FORMAT, stored->name,
                    total / 8, stored->bytes);
}

static gint
compare_ranges (gconstpointer a, gconstpointer b, gpointer data)
{
  Reader *reader = data;
  guint i = *(const guint *) a, j = *(const guint *) b;
  const Entry *x = ENTRY (reader, i), *y = ENTRY (reader, j);

  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end)
    return x->end < y->end ? -1 : 1;
  return i < j ? -1 : i > j;
}

static void
report_overlap (Reader *reader, guint i, guint other)
{
  const TmStored *stored = tm_model_stored (reader->model, i);

  tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "overlap", reader->source, stored->offset, stored->name,
                        "tensor \"%s\" shares bytes with \"%s\"", stored->name, tm_model_stored (reader->model, other)->name);
}

/* The ranges should tile the buffer. One sweep in their order finds what does not. */
static void
check_tiling (Reader *reader)
{
  guint n = reader->entries->len, n_placed = 0, holder = G_MAXUINT;
  g_autofree guint *order = g_new (guint, MAX (n, 1));
  g_autofree gboolean *told = g_new0 (gboolean, MAX (n, 1));
  guint64 covered = 0, n_holes = 0, hole_bytes = 0, first_hole = 0, first_size = 0;

  for (guint i = 0; i < n; i++)
    if (ENTRY (reader, i)->placed)
      order[n_placed++] = i;
  for (guint k = 1; k < n_placed; k++) /* most writers have them in order */
    if (compare_ranges (&order[k - 1], &order[k], reader) > 0)
      {
        g_qsort_with_data (order, (gint) n_placed, sizeof (guint), compare_ranges, reader);
        break;
      }

  for (guint k = 0; k < n_placed; k++)
    {
      guint i = order[k];
      const Entry *entry = ENTRY (reader, i);
      TmStored *stored = tm_model_stored (reader->model, i);

      if (entry->end > reader->buffer && entry->end > entry->begin)
        {
          /* Another fault (size against shape) came first: then nothing of it can be trusted. */
          if (stored->fault == NULL && entry->begin < reader->buffer)
            stored->available = reader->buffer - entry->begin;
          tm_stored_mark (reader->model, stored, "past-end", stored->offset,
                          "tensor \"%s\": its data end at byte %" G_GUINT64_FORMAT " of the buffer, which has %" G_GUINT64_FORMAT,
                          stored->name, entry->end, reader->buffer);
        }
      if (entry->begin == entry->end)
        {
          if (entry->begin != covered)
            tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "empty-range", reader->source, stored->offset, stored->name,
                                  "tensor \"%s\" is empty and lies at byte %" G_GUINT64_FORMAT
                                  " of the buffer, not at the border of another", stored->name, entry->begin);
          continue;
        }
      if (entry->begin < covered && holder != G_MAXUINT)
        {
          if (!told[holder])
            report_overlap (reader, holder, i);
          report_overlap (reader, i, holder);
          told[holder] = told[i] = TRUE;
        }
      else if (entry->begin > covered)
        {
          if (n_holes++ == 0)
            {
              first_hole = covered;
              first_size = MIN (entry->begin, reader->buffer) - MIN (covered, reader->buffer);
            }
          hole_bytes += MIN (entry->begin, reader->buffer) - MIN (covered, reader->buffer);
        }
      if (entry->end > covered)
        {
          covered = entry->end;
          holder = i;
        }
    }

  if (n_holes == 1)
    tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "hole", reader->source, reader->data_start + MIN (first_hole, reader->buffer),
                          NULL, "hole of %" G_GUINT64_FORMAT " bytes between tensors at byte %" G_GUINT64_FORMAT " of the buffer",
                          first_size, first_hole);
  else if (n_holes > 1)
    tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "hole", reader->source, reader->data_start + MIN (first_hole, reader->buffer),
                          NULL, "%" G_GUINT64_FORMAT " holes of %" G_GUINT64_FORMAT " bytes in all between tensors, the first of %" G_GUINT64_FORMAT
                          " at byte %" G_GUINT64_FORMAT " of the buffer", n_holes, hole_bytes, first_size, first_hole);
  if (covered < reader->buffer)
    tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "trailing-bytes", reader->source, reader->data_start + covered, NULL,
                          "%" G_GUINT64_FORMAT " bytes after the last tensor", reader->buffer - covered);
}

/* --- The file ------------------------------------------------------------------------------------------------------- */

static gboolean
read_length (TmSource *source, guint64 *length, GError **error)
{
  guint64 size = tm_source_get_size (source), le;

  if (size < 8)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_TRUNCATED,
                   "the file ends at byte %" G_GUINT64_FORMAT "; a safetensors file begins with 8 bytes of header length", size);
      return FALSE;
    }
  if (!tm_source_read (source, 0, &le, 8, error))
    return FALSE;
  *length = GUINT64_FROM_LE (le);
  if (*length > TM_MAX_SAFETENSORS_HEADER)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_FORMAT,
                   "no model file: no GGUF magic at byte 0, and as a safetensors header length it is %" G_GUINT64_FORMAT
                   ", over the limit of %u", *length,
                   TM_MAX_SAFETENSORS_HEADER);
      return FALSE;
    }
  if (*length > size - 8)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_TRUNCATED,
                   "the safetensors header of %" G_GUINT64_FORMAT " bytes at byte 8 reaches past the end of the file (%" G_GUINT64_FORMAT
                   " bytes)", *length, size);
      return FALSE;
    }
  return TRUE;
}

gboolean
tm_safetensors_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error)
{
  Reader reader = { .source = source, .model = model };
  g_autofree char *header = NULL;
  guint64 length;
  gboolean ok;

  if (!read_length (source, &length, error))
    return FALSE;
  header = g_try_malloc ((gsize) length + 1);
  if (header == NULL)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_IO, "no memory for a header of %" G_GUINT64_FORMAT " bytes", length);
      return FALSE;
    }
  if (!tm_source_read (source, 8, header, (gsize) length, error) || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  model->format = g_strdup ("safetensors");
  model->byte_order = g_strdup ("little");
  g_ptr_array_add (model->files, tm_source_ref (source));
  reader.data_start = 8 + length;
  reader.buffer = tm_source_get_size (source) - reader.data_start;
  reader.entries = g_array_sized_new (FALSE, FALSE, sizeof (Entry), (guint) (length / SHORT_ENTRY));
  tm_json_init (&reader.json, header, (gsize) length, 8);

  ok = read_header (&reader);
  if (ok)
    {
      for (guint i = 0; i < reader.entries->len; i++)
        check_size (&reader, i);
      check_tiling (&reader);
    }
  else
    g_propagate_prefixed_error (error, g_steal_pointer (&reader.json.error), "safetensors header: ");

  tm_json_clear (&reader.json);
  g_array_unref (reader.entries);
  return ok;
}
