/* GGUF, versions 1 to 3, both byte orders (formats/ggml.md, section 5). Reads the header only. */
#include <string.h>

#include "formats/gguf-layout.h"
#include "formats/readers.h"
#include "io/error.h"
#include "io/limits.h"
#include "io/text.h"
#include "model/meta-walk.h"

typedef struct
{
  TmSource *source;
  TmModel *model;
  TmCursor cursor;
  guint version;
  guint64 n_kv, n_tensors;
  guint64 alignment;
  guint64 text_left;   /* what keys, names and strings may still take together */
  GHashTable *keys;    /* of those read so far; owned by the entries */
  gboolean blank_pair; /* an all-zero key-value pair has been seen */
  gboolean blank_info; /* the same for a tensor info */
  GArray *infos;       /* TmGgufInfo */
} Reader;

static char *
read_text (Reader *reader, gsize *length, guint64 *at)
{
  TmCursor *cursor = &reader->cursor;
  guint64 size;

  *at = cursor->position;
  size = tm_meta_read_length (cursor, reader->version);
  if (cursor->error != NULL)
    return NULL;
  if (size > tm_cursor_get_left (cursor))
    {
      tm_cursor_fail (cursor, TM_ERROR_TRUNCATED,
                      "a string of %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT
                      " does not fit in the %" G_GUINT64_FORMAT " bytes left",
                      size, *at, tm_cursor_get_left (cursor));
      return NULL;
    }
  if (size > reader->text_left)
    {
      tm_cursor_fail (cursor, TM_ERROR_FORMAT,
                      "a string of %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT
                      ": names and strings of one header may have %u bytes together",
                      size, *at, TM_MAX_HEADER_TEXT);
      return NULL;
    }
  reader->text_left -= size;
  *length = (gsize) size;
  return tm_cursor_dup (cursor, size);
}

/* Puts what was being read in front of the latched error and hands it over. */
static gboolean
hand_over (Reader *reader, GError **error, const char *what, guint64 number, guint64 total, const char *name, gsize length)
{
  g_propagate_error (error, g_steal_pointer (&reader->cursor.error));
  if (error == NULL || g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return FALSE;
  if (name != NULL)
    {
      g_autofree char *escaped = tm_text_escape (name, (gssize) length);

      g_prefix_error (error, "%s %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " (%s): ", what, number + 1, total, escaped);
    }
  else
    g_prefix_error (error, "%s %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ": ", what, number + 1, total);
  return FALSE;
}

static gboolean
read_preamble (Reader *reader, GError **error)
{
  TmCursor *cursor = &reader->cursor;
  guint64 size = tm_source_get_size (reader->source);
  guint64 least, counts_at = 8;
  guint64 kv_bytes, info_bytes, all;
  const guint8 *magic = tm_cursor_take (cursor, 4);
  guint32 version;

  if (magic != NULL && memcmp (magic, "GGUF", 4) != 0)
    {
      g_set_error_literal (error, TM_ERROR, TM_ERROR_KIND, "no GGUF magic at byte 0");
      return FALSE;
    }
  version = tm_cursor_u32 (cursor);
  if (cursor->error == NULL && version != 0 && (version & 0xffff) == 0)
    {
      cursor->big_endian = TRUE;
      version = GUINT32_SWAP_LE_BE (version);
    }
  least = version == 1 ? 16 : 24;
  if (cursor->error != NULL || (version >= 1 && version <= 3 && size < least))
    {
      g_clear_error (&cursor->error);
      g_set_error (error, TM_ERROR, TM_ERROR_TRUNCATED,
                   "the file ends at byte %" G_GUINT64_FORMAT ", inside the GGUF header of %" G_GUINT64_FORMAT " bytes", size, least);
      return FALSE;
    }
  if (version < 1 || version > 3)
    {
      g_set_error (error, TM_ERROR, TM_ERROR_FORMAT, "GGUF version %u at byte 4; versions 1 to 3 are known", version);
      return FALSE;
    }
  reader->version = version;
  reader->n_tensors = tm_meta_read_length (cursor, version);
  reader->n_kv = tm_meta_read_length (cursor, version);
  if (cursor->error != NULL)
    return hand_over (reader, error, "header", 0, 1, NULL, 0);

  /* The least a pair and an info take; both counts together must fit before anything is allocated for them. */
  if (__builtin_mul_overflow (reader->n_tensors, (guint64) (version == 1 ? 20 : 24), &info_bytes)
      || info_bytes > tm_cursor_get_left (cursor))
    {
      g_set_error (error, TM_ERROR, TM_ERROR_FORMAT,
                   "%" G_GUINT64_FORMAT " tensors at byte %" G_GUINT64_FORMAT " do not fit in the %" G_GUINT64_FORMAT " bytes left",
                   reader->n_tensors, counts_at, tm_cursor_get_left (cursor));
      return FALSE;
    }
  if (__builtin_mul_overflow (reader->n_kv, (guint64) (version == 1 ? 9 : 13), &kv_bytes)
      || __builtin_add_overflow (kv_bytes, info_bytes, &all) || all > tm_cursor_get_left (cursor))
    {
      g_set_error (error, TM_ERROR, TM_ERROR_FORMAT,
                   "%" G_GUINT64_FORMAT " keys at byte %u do not fit in the %" G_GUINT64_FORMAT " bytes left",
                   reader->n_kv, version == 1 ? 12 : 16, tm_cursor_get_left (cursor));
      return FALSE;
    }

  reader->model->version = g_strdup_printf ("%u", version);
  reader->model->byte_order = g_strdup (cursor->big_endian ? "big" : "little");
  if (version == 1)
    tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "version-1", reader->source, 4, NULL,
                          "GGUF version 1, which today's loaders refuse");
  if (cursor->big_endian)
    tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "big-endian", reader->source, 4, NULL,
                          "big-endian file; loaders on little-endian machines refuse it");
  return TRUE;
}

/* The value of an entry whose type has been read. */
static void
read_value (Reader *reader, TmMetadata *entry, guint64 *odd_bool)
{
  TmCursor *cursor = &reader->cursor;
  guint64 at = cursor->position;
  guint32 bits;
  float single;

  switch (entry->type)
    {
    case TM_META_U8:
      entry->as.u = tm_cursor_u8 (cursor);
      break;
    case TM_META_I8:
      entry->as.i = (gint8) tm_cursor_u8 (cursor);
      break;
    case TM_META_U16:
      entry->as.u = tm_cursor_u16 (cursor);
      break;
    case TM_META_I16:
      entry->as.i = (gint16) tm_cursor_u16 (cursor);
      break;
    case TM_META_U32:
      entry->as.u = tm_cursor_u32 (cursor);
      break;
    case TM_META_I32:
      entry->as.i = (gint32) tm_cursor_u32 (cursor);
      break;
    case TM_META_F32:
      bits = tm_cursor_u32 (cursor);
      memcpy (&single, &bits, sizeof single);
      entry->as.f = (double) single;
      break;
    case TM_META_BOOL:
      entry->raw_bool = tm_cursor_u8 (cursor);
      entry->as.b = entry->raw_bool != 0;
      if (entry->raw_bool > 1)
        *odd_bool = at;
      break;
    case TM_META_STRING:
      entry->string = read_text (reader, &entry->string_length, &at);
      break;
    case TM_META_U64:
    case TM_META_I64:
    case TM_META_F64:
      entry->as.u = tm_cursor_u64 (cursor);
      break;
    case TM_META_ARRAY:
      entry->item_type = (TmMetaType) tm_cursor_u32 (cursor);
      at = cursor->position;
      entry->n_items = tm_meta_read_length (cursor, reader->version);
      entry->source = tm_source_ref (reader->source);
      entry->offset = cursor->position;
      entry->version = reader->version;
      entry->big_endian = cursor->big_endian;
      tm_meta_skip_items (cursor, reader->version, entry->item_type, entry->n_items, at, 1, odd_bool);
      entry->size = cursor->position - entry->offset;
      break;
    case TM_META_JSON:
    default:
      tm_cursor_fail (cursor, TM_ERROR_FORMAT, "unknown value type %u at byte %" G_GUINT64_FORMAT, (guint32) entry->type, at - 4);
      break;
    }
}

/* What is worth saying of one pair. */
static gboolean
check_pair (Reader *reader, const TmMetadata *entry, guint64 at, guint64 odd_bool)
{
  TmModel *model = reader->model;

  if (entry->key_length == 0)
    {
      if (entry->type == TM_META_U8 && entry->as.u == 0)
        {
          if (reader->blank_pair)
            return tm_cursor_fail (&reader->cursor, TM_ERROR_FORMAT,
                                   "the header is blank from byte %" G_GUINT64_FORMAT " on", at);
          reader->blank_pair = TRUE;
        }
      tm_model_add_problem (model, TM_SEVERITY_WARNING, "empty-key", reader->source, at, NULL, "a metadata key is empty");
    }
  if (!g_hash_table_add (reader->keys, (gpointer) entry))
    tm_model_add_problem (model, TM_SEVERITY_WARNING, "duplicate-key", reader->source, at, NULL,
                          "metadata key \"%s\" stands more than once", entry->key);
  if (odd_bool != G_MAXUINT64)
    tm_model_add_problem (model, TM_SEVERITY_WARNING, "odd-bool", reader->source, odd_bool, NULL,
                          "metadata key \"%s\": a bool that is neither 0 nor 1 counts as true", entry->key);
  if (entry->type == TM_META_ARRAY && entry->item_type == TM_META_ARRAY)
    tm_model_add_problem (model, TM_SEVERITY_WARNING, "nested-array", reader->source, at, NULL,
                          "metadata key \"%s\" is an array of arrays, which common loaders refuse", entry->key);
  if (entry->type == TM_META_ARRAY && entry->n_items > TM_MAX_STRING)
    tm_model_add_problem (model, TM_SEVERITY_WARNING, "long-array", reader->source, at, NULL,
                          "metadata key \"%s\" has more items than common loaders take", entry->key);
  return TRUE;
}

static gboolean
check_alignment (Reader *reader, const TmMetadata *entry, guint64 at)
{
  guint64 alignment = entry->as.u;

  if (entry->key_length != strlen ("general.alignment") || memcmp (entry->key, "general.alignment", entry->key_length) != 0)
    return TRUE;
  if (entry->type != TM_META_U32)
    return tm_cursor_fail (&reader->cursor, TM_ERROR_FORMAT,
                           "general.alignment at byte %" G_GUINT64_FORMAT " must be u32 but is %s", at,
                           tm_meta_type_get_name (entry->type));
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return tm_cursor_fail (&reader->cursor, TM_ERROR_FORMAT,
                           "general.alignment %" G_GUINT64_FORMAT " at byte %" G_GUINT64_FORMAT " is not a power of two", alignment, at);
  if (alignment > TM_MAX_GGUF_ALIGNMENT)
    return tm_cursor_fail (&reader->cursor, TM_ERROR_FORMAT,
                           "general.alignment %" G_GUINT64_FORMAT " at byte %" G_GUINT64_FORMAT " is over the limit of %u", alignment,
                           at, TM_MAX_GGUF_ALIGNMENT);
  if (alignment > tm_source_get_size (reader->source))
    return tm_cursor_fail (&reader->cursor, TM_ERROR_FORMAT,
                           "general.alignment %" G_GUINT64_FORMAT " at byte %" G_GUINT64_FORMAT " is larger than the file", alignment, at);
  if (reader->alignment == 0)
    reader->alignment = alignment;
  return TRUE;
}

static guint
hash_key (gconstpointer data)
{
  const TmMetadata *entry = data;
  guint hash = 5381;

  for (gsize i = 0; i < entry->key_length; i++)
    hash = hash * 33 + (guchar) entry->key[i];
  return hash;
}

static gboolean
equal_keys (gconstpointer a, gconstpointer b)
{
  const TmMetadata *x = a, *y = b;

  return x->key_length == y->key_length && memcmp (x->key, y->key, x->key_length) == 0;
}

static gboolean
read_metadata (Reader *reader, GError **error)
{
  TmCursor *cursor = &reader->cursor;

  for (guint64 i = 0; i < reader->n_kv; i++)
    {
      TmMetadata *entry = g_new0 (TmMetadata, 1);
      guint64 at, odd_bool = G_MAXUINT64;

      g_ptr_array_add (reader->model->metadata, entry);
      entry->key = read_text (reader, &entry->key_length, &at);
      entry->type = (TmMetaType) tm_cursor_u32 (cursor);
      if (cursor->error == NULL)
        read_value (reader, entry, &odd_bool);
      if (cursor->error != NULL || !check_pair (reader, entry, at, odd_bool) || !check_alignment (reader, entry, at))
        return hand_over (reader, error, "key", i, reader->n_kv, entry->key, entry->key_length);
    }
  return TRUE;
}

static gboolean
read_infos (Reader *reader, GError **error)
{
  TmCursor *cursor = &reader->cursor;

  for (guint64 i = 0; i < reader->n_tensors; i++)
    {
      TmGgufInfo info = { 0 };
      TmStored *stored = g_new0 (TmStored, 1);
      gsize length = 0;
      guint64 at;
      gboolean blank;

      g_ptr_array_add (reader->model->stored, stored);
      stored->name = read_text (reader, &length, &info.at);
      at = cursor->position;
      stored->rank = tm_cursor_u32 (cursor);
      if (cursor->error == NULL && stored->rank > TM_MAX_GGUF_RANK)
        tm_cursor_fail (cursor, TM_ERROR_FORMAT, "%u dimensions at byte %" G_GUINT64_FORMAT ", at most %d are read", stored->rank, at,
                        TM_MAX_GGUF_RANK);
      if (cursor->error != NULL)
        {
          stored->rank = 0;
          return hand_over (reader, error, "tensor", i, reader->n_tensors, stored->name, length);
        }
      stored->shape = g_new0 (guint64, MAX (stored->rank, 1));
      stored->stride = g_new0 (gint64, MAX (stored->rank, 1));
      for (guint axis = stored->rank; axis-- > 0;) /* fastest first in the file, outermost first here */
        stored->shape[axis] = tm_meta_read_length (cursor, reader->version);
      info.type = tm_cursor_u32 (cursor);
      info.offset = tm_cursor_u64 (cursor);
      if (cursor->error != NULL)
        return hand_over (reader, error, "tensor", i, reader->n_tensors, stored->name, length);

      /* Zeros read as an info are an unnamed F32 scalar at offset 0. One may be meant; two are padding or a hole. */
      blank = length == 0 && stored->rank == 0 && info.type == 0 && info.offset == 0;
      if (blank && reader->blank_info)
        {
          tm_cursor_fail (cursor, TM_ERROR_FORMAT, "the tensor list is blank from byte %" G_GUINT64_FORMAT " on", info.at);
          return hand_over (reader, error, "tensor", i, reader->n_tensors, NULL, 0);
        }
      reader->blank_info |= blank;
      info.blank = blank;
      if (length > 63)
        tm_model_add_problem (reader->model, TM_SEVERITY_WARNING, "long-name", reader->source, info.at, stored->name,
                              "tensor \"%s\": a name of %" G_GSIZE_FORMAT " bytes, common loaders take 63", stored->name, length);
      stored->name = tm_name_from_bytes (stored->name, length);
      stored->source = tm_source_ref (reader->source);
      stored->big_endian = cursor->big_endian;
      g_array_append_val (reader->infos, info);
    }
  return TRUE;
}

static char *
dup_string (const TmMetadata *entry)
{
  return tm_name_from_bytes (g_memdup2 (entry->string, entry->string_length + 1), entry->string_length);
}

static void
adopt_names (TmModel *model)
{
  const TmMetadata *architecture = tm_model_find_metadata (model, "general.architecture");
  const TmMetadata *name = tm_model_find_metadata (model, "general.name");

  if (architecture != NULL && architecture->type == TM_META_STRING && architecture->string_length > 0)
    model->architecture = dup_string (architecture);
  if (name != NULL && name->type == TM_META_STRING && name->string_length > 0)
    model->name = dup_string (name);
}

gboolean
tm_gguf_read (TmSource *source, TmModel *model, GCancellable *cancellable, GError **error)
{
  Reader reader = { .source = source, .model = model, .text_left = TM_MAX_HEADER_TEXT };
  gboolean ok;

  model->format = g_strdup ("GGUF");
  g_ptr_array_add (model->files, tm_source_ref (source));
  reader.keys = g_hash_table_new (hash_key, equal_keys);
  reader.infos = g_array_new (FALSE, FALSE, sizeof (TmGgufInfo));
  tm_cursor_init (&reader.cursor, source, 0, G_MAXUINT64, cancellable);

  ok = read_preamble (&reader, error) && read_metadata (&reader, error) && read_infos (&reader, error);
  if (ok)
    {
      adopt_names (model);
      ok = tm_gguf_lay_out (source, model, reader.infos, reader.cursor.position,
                            reader.alignment != 0 ? reader.alignment : 32, error);
    }

  tm_cursor_clear (&reader.cursor);
  g_hash_table_unref (reader.keys);
  g_array_unref (reader.infos);
  return ok;
}
