#include "cli/info.h"

#include "io/json-writer.h"
#include "model/quantization.h"

static void
write_string_key (TmJsonWriter *json, const char *key, const char *text)
{
  tm_json_key (json, key);
  tm_json_string (json, text, -1);
}

static void
write_dtypes (TmJsonWriter *json, TmModel *model)
{
  g_autoptr (GArray) counts = tm_model_count_dtypes (model);

  tm_json_key (json, "dtypes");
  tm_json_begin_array (json);
  for (guint i = 0; i < counts->len; i++)
    {
      const TmDtypeCount *count = &g_array_index (counts, TmDtypeCount, i);

      tm_json_begin_object (json);
      write_string_key (json, "dtype", count->dtype);
      tm_json_key (json, "tensors");
      tm_json_uint (json, count->tensors);
      tm_json_key (json, "parameters");
      tm_json_uint (json, count->parameters);
      tm_json_key (json, "bytes");
      tm_json_uint (json, count->bytes);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_granularities (TmJsonWriter *json, TmModel *model)
{
  g_autoptr (GArray) rows = cli_info_count_granularities (model);

  tm_json_key (json, "granularity");
  tm_json_begin_array (json);
  for (guint i = 0; i < rows->len; i++)
    {
      const CliGranularityRow *row = &g_array_index (rows, CliGranularityRow, i);
      const TmGranularity *granularity = row->granularity;

      if (granularity == NULL) /* what is not quantized has none */
        continue;
      tm_json_begin_object (json);
      write_string_key (json, "granularity", tm_granularity_kind_get_name (tm_granularity_get_kind (granularity)));
      tm_json_key (json, "levels");
      tm_json_begin_array (json);
      for (guint level = 0; level < granularity->n_levels; level++)
        tm_json_uints (json, granularity->level[level].extent, granularity->rank);
      tm_json_end_array (json);
      tm_json_key (json, "tensors");
      tm_json_uint (json, row->tensors);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static gboolean write_items (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error);

/* Arrays within arrays: brackets alone, or with their length told where they are cut. The reader refuses deep nesting.
 */
static gboolean
write_nested (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error)
{
  gboolean cut = !full && entry->n_items > CLI_INFO_CUT;

  if (cut)
    {
      tm_json_begin_object (json);
      tm_json_key (json, "length");
      tm_json_uint (json, entry->n_items);
      tm_json_key (json, "value");
    }
  if (!write_items (json, entry, full, error))
    return FALSE;
  if (cut)
    tm_json_end_object (json);
  return TRUE;
}

static gboolean
write_value (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error)
{
  switch (entry->type)
    {
    case TM_META_U8:
    case TM_META_U16:
    case TM_META_U32:
    case TM_META_U64:
      tm_json_uint (json, entry->as.u);
      return TRUE;
    case TM_META_I8:
    case TM_META_I16:
    case TM_META_I32:
    case TM_META_I64:
      tm_json_int (json, entry->as.i);
      return TRUE;
    case TM_META_F32:
      tm_json_float32 (json, (float)entry->as.f);
      return TRUE;
    case TM_META_F64:
      tm_json_float64 (json, entry->as.f);
      return TRUE;
    case TM_META_BOOL:
      tm_json_bool (json, entry->as.b);
      return TRUE;
    case TM_META_STRING:
      tm_json_string (json, entry->string, (gssize)entry->string_length);
      return TRUE;
    case TM_META_JSON:
      tm_json_text (json, entry->string, entry->string_length);
      return TRUE;
    case TM_META_ARRAY:
      return write_nested (json, entry, full, error);
    default:
      tm_json_null (json);
      return TRUE;
    }
}

static gboolean
write_items (TmJsonWriter *json, const TmMetadata *entry, gboolean full, GError **error)
{
  g_autoptr (GPtrArray) items = tm_metadata_read_items (entry, full ? entry->n_items : CLI_INFO_CUT, error);

  if (items == NULL)
    return FALSE;
  tm_json_begin_array (json);
  for (guint i = 0; i < items->len; i++)
    if (!write_value (json, g_ptr_array_index (items, i), full, error) || !cli_flush (json->out, CLI_FLUSH, error))
      return FALSE;
  tm_json_end_array (json);
  return TRUE;
}

static gboolean
write_metadata (TmJsonWriter *json, TmModel *model, gboolean full, GError **error)
{
  tm_json_key (json, "metadata");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->metadata->len; i++)
    {
      const TmMetadata *entry = g_ptr_array_index (model->metadata, i);

      tm_json_begin_object (json);
      tm_json_key (json, "key");
      tm_json_string (json, entry->key, (gssize)entry->key_length);
      write_string_key (json, "type", tm_meta_type_get_name (entry->type));
      if (entry->type == TM_META_ARRAY)
        {
          write_string_key (json, "item_type", tm_meta_type_get_name (entry->item_type));
          tm_json_key (json, "length");
          tm_json_uint (json, entry->n_items);
        }
      tm_json_key (json, "value");
      if (entry->type == TM_META_ARRAY ? !write_items (json, entry, full, error)
                                       : !write_value (json, entry, full, error))
        return FALSE;
      tm_json_end_object (json);
      if (!cli_flush (json->out, CLI_FLUSH, error))
        return FALSE;
    }
  tm_json_end_array (json);
  return TRUE;
}

static void
write_files (TmJsonWriter *json, TmModel *model)
{
  tm_json_key (json, "files");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->files->len; i++)
    {
      TmSource *source = g_ptr_array_index (model->files, i);

      tm_json_begin_object (json);
      write_string_key (json, "path", tm_source_get_name (source));
      tm_json_key (json, "bytes");
      tm_json_uint (json, tm_source_get_size (source));
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_problems (TmJsonWriter *json, TmModel *model)
{
  tm_json_key (json, "problems");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      tm_json_begin_object (json);
      write_string_key (json, "severity", tm_severity_get_name (problem->severity));
      write_string_key (json, "code", problem->code);
      write_string_key (json, "message", problem->message);
      write_string_key (json, "file", problem->file);
      tm_json_key (json, "offset");
      if (problem->offset == TM_NO_OFFSET)
        tm_json_null (json);
      else
        tm_json_uint (json, problem->offset);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

/* One a tensor, as the contract has it, however many are alike. */
static void
write_assumptions (TmJsonWriter *json, TmModel *model)
{
  tm_json_key (json, "assumptions");
  tm_json_begin_array (json);
  for (guint i = 0; i < model->assumptions->len; i++)
    {
      const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);

      tm_json_begin_object (json);
      write_string_key (json, "tensor", assumption->tensor);
      write_string_key (json, "key", assumption->key);
      write_string_key (json, "value", assumption->value);
      write_string_key (json, "evidence", assumption->evidence);
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_quantization (TmJsonWriter *json, TmModel *model)
{
  g_autoptr (GArray) schemes = tm_model_count_schemes (model);

  tm_json_key (json, "quantization");
  tm_json_begin_array (json);
  for (guint i = 0; i < schemes->len; i++)
    {
      const TmSchemeCount *count = &g_array_index (schemes, TmSchemeCount, i);

      tm_json_begin_object (json);
      write_string_key (json, "scheme", count->scheme);
      tm_json_key (json, "tensors");
      tm_json_uint (json, count->tensors);
      tm_json_key (json, "parameters");
      tm_json_uint (json, count->parameters);
      tm_json_key (json, "bits");
      if (count->bits > 0)
        tm_json_uint (json, count->bits);
      else
        tm_json_null (json);
      tm_json_key (json, "group");
      if (count->group > 0)
        tm_json_uint (json, count->group);
      else
        tm_json_null (json);
      tm_json_key (json, "symmetric");
      if (count->symmetric < 0)
        tm_json_null (json);
      else
        tm_json_bool (json, count->symmetric == 1);
      write_string_key (json, "config", tm_scheme_count_get_config (model, count));
      tm_json_end_object (json);
    }
  tm_json_end_array (json);
}

static void
write_part (TmJsonWriter *json, const char *key, const TmQuantizationPart *part)
{
  tm_json_key (json, key);
  tm_json_begin_object (json);
  tm_json_key (json, "tensors");
  tm_json_uint (json, part->tensors);
  tm_json_key (json, "parameters");
  tm_json_uint (json, part->parameters);
  tm_json_key (json, "bytes");
  tm_json_uint (json, part->bytes);
  tm_json_end_object (json);
}

/* What is not quantized, whether the config says so, and the size against bfloat16; of files
 * that are quantized by a convention. */
static void
write_summary (TmJsonWriter *json, TmModel *model)
{
  g_auto (TmQuantizationSummary) summary = { 0 };

  tm_model_summarise_quantization (model, &summary);
  if (summary.quantized.tensors == 0 || g_strcmp0 (model->format, "safetensors") != 0)
    return;
  tm_json_key (json, "quantization_summary");
  tm_json_begin_object (json);
  write_part (json, "quantized", &summary.quantized);
  write_part (json, "full_precision", &summary.matrices);
  tm_json_key (json, "full_precision_listed_by_config");
  tm_json_uint (json, summary.matrices_excluded);
  write_part (json, "norms_and_biases", &summary.small);
  write_part (json, "companions", &summary.companions);
  write_part (json, "bookkeeping", &summary.bookkeeping);
  tm_json_key (json, "conflicts");
  tm_json_uint (json, summary.conflicts);
  tm_json_key (json, "bfloat16_bytes");
  tm_json_uint (json, summary.bfloat16_bytes);
  tm_json_end_object (json);
}

gboolean
cli_info_print_json (TmModel *model, gboolean full, GError **error)
{
  GString *out = g_string_new (NULL);
  TmJsonWriter json;
  gboolean ok;

  tm_json_writer_init (&json, out);
  tm_json_begin_object (&json);
  write_string_key (&json, "format", model->format);
  write_string_key (&json, "version", model->version);
  write_string_key (&json, "byte_order", model->byte_order);
  write_string_key (&json, "architecture", model->architecture);
  write_string_key (&json, "name", model->name);
  tm_json_key (&json, "tensors");
  tm_json_uint (&json, model->tensors->len);
  tm_json_key (&json, "quantized_tensors");
  tm_json_uint (&json, model->n_quantized);
  tm_json_key (&json, "parameters");
  tm_json_uint (&json, model->parameters);
  tm_json_key (&json, "bytes");
  tm_json_uint (&json, model->bytes);
  tm_json_key (&json, "bits_per_weight");
  tm_json_float64 (&json, cli_info_get_bits_per_weight (model->bytes, model->parameters));
  write_dtypes (&json, model);
  write_granularities (&json, model);
  ok = write_metadata (&json, model, full, error);
  if (ok)
    {
      write_files (&json, model);
      write_quantization (&json, model);
      if (full)
        write_summary (&json, model);
      write_assumptions (&json, model);
      write_problems (&json, model);
      tm_json_end_object (&json);
      g_string_append_c (out, '\n');
      ok = cli_flush (out, 0, error);
    }
  g_string_free (out, TRUE);
  return ok;
}
