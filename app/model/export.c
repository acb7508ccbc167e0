#include "model/export.h"

#include "io/error.h"
#include "io/number.h"
#include "io/output-file.h"

#include <math.h>
#include <string.h>

#define FLUSH 65536u /* bytes of text before they are written */

gboolean
tm_export_format_from_path (const char *path, TmExportFormat *format)
{
  static const struct
  {
    const char *ending;
    TmExportFormat format;
  } endings[] = { { ".npy", TM_EXPORT_NPY }, { ".csv", TM_EXPORT_CSV } };
  gsize length = strlen (path);

  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    if (length > 4 && g_ascii_strcasecmp (path + length - 4, endings[i].ending) == 0)
      {
        *format = endings[i].format;
        return TRUE;
      }
  return FALSE;
}

/* --- One number as text ------------------------------------------------------------------------------------------ */

typedef void (*AppendFunc) (GString *text, gconstpointer number, gboolean json);

static void
append_named (GString *text, const char *number, gboolean json, gboolean finite)
{
  if (json && !finite)
    g_string_append_printf (text, "\"%s\"", number);
  else
    g_string_append (text, number);
}

static void
append_f32 (GString *text, gconstpointer number, gboolean json)
{
  char buffer[TM_NUMBER_SIZE];
  float value;

  memcpy (&value, number, sizeof value);
  append_named (text, tm_format_float32 (buffer, value), json, isfinite (value) != 0);
}

static void
append_f64 (GString *text, gconstpointer number, gboolean json)
{
  char buffer[TM_NUMBER_SIZE];
  double value;

  memcpy (&value, number, sizeof value);
  append_named (text, tm_format_float64 (buffer, value), json, isfinite (value) != 0);
}

#define DEFINE_APPEND_INTEGER(name, type, format, wide)                                                                \
  static void name (GString *text, gconstpointer number, gboolean json G_GNUC_UNUSED)                                  \
  {                                                                                                                    \
    type value;                                                                                                        \
    memcpy (&value, number, sizeof value);                                                                             \
    g_string_append_printf (text, "%" format, (wide)value);                                                            \
  }
DEFINE_APPEND_INTEGER (append_i8, gint8, G_GINT64_FORMAT, gint64)
DEFINE_APPEND_INTEGER (append_i16, gint16, G_GINT64_FORMAT, gint64)
DEFINE_APPEND_INTEGER (append_i32, gint32, G_GINT64_FORMAT, gint64)
DEFINE_APPEND_INTEGER (append_i64, gint64, G_GINT64_FORMAT, gint64)
DEFINE_APPEND_INTEGER (append_u8, guint8, G_GUINT64_FORMAT, guint64)
DEFINE_APPEND_INTEGER (append_u16, guint16, G_GUINT64_FORMAT, guint64)
DEFINE_APPEND_INTEGER (append_u32, guint32, G_GUINT64_FORMAT, guint64)
DEFINE_APPEND_INTEGER (append_u64, guint64, G_GUINT64_FORMAT, guint64)

static void
append_bool (GString *text, gconstpointer number, gboolean json G_GNUC_UNUSED)
{
  g_string_append (text, *(const guint8 *)number ? "true" : "false");
}

/* [re, im] in JSON, re+imj elsewhere, as most tools for arrays write and read it. */
static void
append_complex (GString *text, gconstpointer number, gboolean json, AppendFunc append, gsize part)
{
  GString *imaginary = g_string_new (NULL);

  if (json)
    g_string_append_c (text, '[');
  append (text, number, json);
  append (imaginary, (const char *)number + part, json);
  if (json)
    g_string_append_c (text, ',');
  else if (imaginary->str[0] != '-')
    g_string_append_c (text, '+');
  g_string_append (text, imaginary->str);
  g_string_append_c (text, json ? ']' : 'j');
  g_string_free (imaginary, TRUE);
}

static void
append_c64 (GString *text, gconstpointer number, gboolean json)
{
  append_complex (text, number, json, append_f32, 4);
}

static void
append_c128 (GString *text, gconstpointer number, gboolean json)
{
  append_complex (text, number, json, append_f64, 8);
}

/* What the numbers of a region may be, and what npy calls it. */
static const struct
{
  TmDtype dtype;
  const char *descr; /* without the byte order */
  AppendFunc append;
} kinds[] = {
  { TM_DTYPE_F32, "f4", append_f32 }, { TM_DTYPE_F64, "f8", append_f64 },    { TM_DTYPE_I64, "i8", append_i64 },
  { TM_DTYPE_I32, "i4", append_i32 }, { TM_DTYPE_I16, "i2", append_i16 },    { TM_DTYPE_I8, "i1", append_i8 },
  { TM_DTYPE_I4, "i1", append_i8 },   { TM_DTYPE_I2, "i1", append_i8 },      { TM_DTYPE_U64, "u8", append_u64 },
  { TM_DTYPE_U32, "u4", append_u32 }, { TM_DTYPE_U16, "u2", append_u16 },    { TM_DTYPE_U8, "u1", append_u8 },
  { TM_DTYPE_U4, "u1", append_u8 },   { TM_DTYPE_U2, "u1", append_u8 },      { TM_DTYPE_BOOL, "b1", append_bool },
  { TM_DTYPE_C64, "c8", append_c64 }, { TM_DTYPE_C128, "c16", append_c128 },
};

/* --- The writer --------------------------------------------------------------------------------------------------- */

typedef struct
{
  const TmExport *export;
  gsize kind; /* in kinds */
  gsize size; /* of a number */
  const guint64 *start, *end;
  guint rank;
  guint64 total, done; /* numbers */
  guint64 row, matrix; /* numbers a row of the last axis, numbers a matrix of the last two */
  gsize width;         /* TEXT: of a column, measured on the first piece */
  GString *text;
  GString *cell;
} Writer;

static gboolean
flush (Writer *writer, gsize at_least, GError **error)
{
  gboolean ok = TRUE;

  if (writer->text->len > 0 && writer->text->len >= at_least)
    {
      ok = writer->export->write (writer->text->str, writer->text->len, writer->export->user_data, error);
      g_string_truncate (writer->text, 0);
    }
  return ok;
}

static gboolean
report (Writer *writer, gsize count, GError **error)
{
  const TmExport *export = writer->export;

  writer->done += count;
  return export->progress == NULL || export->progress (writer->done, writer->total, export->user_data, error);
}

static gsize
measure (Writer *writer, const char *numbers, gsize count)
{
  gsize width = 1;

  for (gsize i = 0; i < MIN (count, 4096); i++)
    {
      g_string_truncate (writer->cell, 0);
      kinds[writer->kind].append (writer->cell, numbers + i * writer->size, FALSE);
      width = MAX (width, writer->cell->len);
    }
  return width;
}

static gboolean
write_rows (gconstpointer numbers, gsize count, gpointer user_data, GError **error)
{
  Writer *writer = user_data;
  const char *bytes = numbers;
  gboolean aligned = writer->export->format == TM_EXPORT_TEXT;

  if (aligned && writer->width == 0)
    writer->width = measure (writer, bytes, count);
  for (gsize i = 0; i < count; i++)
    {
      guint64 at = writer->done + i, column = at % writer->row;

      if (aligned && at > 0 && at % writer->matrix == 0)
        g_string_append_c (writer->text, '\n');
      if (column > 0)
        g_string_append (writer->text, aligned ? "  " : ",");
      g_string_truncate (writer->cell, 0);
      kinds[writer->kind].append (writer->cell, bytes + i * writer->size, FALSE);
      if (aligned)
        for (gsize pad = writer->cell->len; pad < writer->width; pad++)
          g_string_append_c (writer->text, ' ');
      g_string_append_len (writer->text, writer->cell->str, (gssize)writer->cell->len);
      if (column == writer->row - 1)
        g_string_append_c (writer->text, '\n');
      if (!flush (writer, FLUSH, error))
        return FALSE;
    }
  return report (writer, count, error);
}

/* Opens or closes the brackets of every axis that begins or ends with number at. */
static void
append_brackets (Writer *writer, guint64 at, char bracket)
{
  guint64 span = 1;

  for (guint axis = writer->rank; axis > 0; axis--)
    {
      span *= writer->end[axis - 1] - writer->start[axis - 1];
      if (at % span != 0)
        break;
      g_string_append_c (writer->text, bracket);
    }
}

static gboolean
write_json (gconstpointer numbers, gsize count, gpointer user_data, GError **error)
{
  Writer *writer = user_data;
  const char *bytes = numbers;

  for (gsize i = 0; i < count; i++)
    {
      guint64 at = writer->done + i;

      if (at > 0)
        g_string_append_c (writer->text, ',');
      append_brackets (writer, at, '[');
      kinds[writer->kind].append (writer->text, bytes + i * writer->size, TRUE);
      append_brackets (writer, at + 1, ']');
      if (!flush (writer, FLUSH, error))
        return FALSE;
    }
  return report (writer, count, error);
}

/* Nothing calls write_json() for an empty region: its brackets, down to the axis without an index. */
static void
append_empty_json (Writer *writer, guint axis)
{
  guint64 n = writer->end[axis] - writer->start[axis];
  guint open = 0;

  while (n == 1 && axis + 1 < writer->rank)
    {
      g_string_append_c (writer->text, '[');
      open++;
      axis++;
      n = writer->end[axis] - writer->start[axis];
    }
  g_string_append (writer->text, "[]");
  for (; open > 0; open--)
    g_string_append_c (writer->text, ']');
}

static gboolean
write_npy (gconstpointer numbers, gsize count, gpointer user_data, GError **error)
{
  Writer *writer = user_data;

  if (kinds[writer->kind].dtype == TM_DTYPE_BOOL)
    { /* any byte but 0 is true in the file; npy knows 0 and 1 */
      const guint8 *bytes = numbers;

      for (gsize i = 0; i < count; i++)
        g_string_append_c (writer->text, bytes[i] ? 1 : 0);
      if (!flush (writer, 0, error))
        return FALSE;
    }
  else if (!writer->export->write (numbers, count * writer->size, writer->export->user_data, error))
    return FALSE;
  return report (writer, count, error);
}

static gboolean
append_npy_header (Writer *writer, GError **error)
{
  GString *header = g_string_new ("{'descr': '");
  char order = G_BYTE_ORDER == G_LITTLE_ENDIAN ? '<' : '>';
  gsize length;

  g_string_append_c (header, writer->size == 1 ? '|' : order);
  g_string_append_printf (header, "%s', 'fortran_order': False, 'shape': (", kinds[writer->kind].descr);
  for (guint i = 0; i < writer->rank; i++)
    g_string_append_printf (header, "%s%" G_GUINT64_FORMAT "%s", i > 0 ? " " : "", writer->end[i] - writer->start[i],
                            i + 1 < writer->rank || writer->rank == 1 ? "," : "");
  g_string_append (header, "), }");
  while ((10 + header->len + 1) % 64 != 0)
    g_string_append_c (header, ' ');
  g_string_append_c (header, '\n');
  length = header->len;
  if (length > G_MAXUINT16)
    {
      g_string_free (header, TRUE);
      g_set_error (error, TM_ERROR, TM_ERROR_UNSUPPORTED, "a shape of %u axes does not fit in an npy header",
                   writer->rank);
      return FALSE;
    }
  g_string_append_len (writer->text, "\x93NUMPY\x01\x00", 8);
  g_string_append_c (writer->text, (char)(length & 0xff));
  g_string_append_c (writer->text, (char)(length >> 8));
  g_string_append_len (writer->text, header->str, (gssize)length);
  g_string_free (header, TRUE);
  return TRUE;
}

static gboolean
find_kind (const TmExport *export, gsize *kind, GError **error)
{
  TmDtype dtype = tm_region_get_dtype (export->tensor, export->quantity);

  for (*kind = 0; *kind < G_N_ELEMENTS (kinds); (*kind)++)
    if (kinds[*kind].dtype == dtype)
      return TRUE;
  g_set_error (error, TM_ERROR, TM_ERROR_UNSUPPORTED, "values of dtype %s cannot be exported",
               tm_dtype_get_name (dtype));
  return FALSE;
}

static gboolean
run (Writer *writer, GCancellable *cancellable, GError **error)
{
  const TmExport *export = writer->export;
  TmRegionFunc func = export->format == TM_EXPORT_NPY    ? write_npy
                      : export->format == TM_EXPORT_JSON ? write_json
                                                         : write_rows;

  if (export->format == TM_EXPORT_NPY && (!append_npy_header (writer, error) || !flush (writer, 0, error)))
    return FALSE;
  if (!tm_region_foreach (export->tensor, export->quantity, writer->start, writer->end, func, writer, cancellable,
                          error))
    return FALSE;
  if (export->format == TM_EXPORT_JSON && writer->total == 0)
    append_empty_json (writer, 0);
  return flush (writer, 0, error);
}

gboolean
tm_export_region (const TmExport *export, GCancellable *cancellable, GError **error)
{
  const TmTensor *tensor = export->tensor;
  g_autofree guint64 *zeros = g_new0 (guint64, tensor->rank + 1);
  Writer writer = { .export = export, .rank = tensor->rank, .total = 1, .row = 1, .matrix = 1 };
  gboolean ok;

  writer.start = export->start ? export->start : zeros;
  writer.end = export->end ? export->end : tensor->shape;
  if (!find_kind (export, &writer.kind, error))
    return FALSE;
  writer.size = tm_region_get_number_size (tensor, export->quantity);
  for (guint i = 0; i < tensor->rank; i++)
    writer.total *= writer.end[i] - writer.start[i]; /* at most n_elements, which was checked */
  if (writer.total > 0 && tensor->rank > 1)
    writer.row = writer.end[tensor->rank - 1] - writer.start[tensor->rank - 1];
  writer.matrix = writer.total;
  if (writer.total > 0 && tensor->rank > 2)
    writer.matrix = writer.row * (writer.end[tensor->rank - 2] - writer.start[tensor->rank - 2]);
  writer.text = g_string_sized_new (FLUSH + 256);
  writer.cell = g_string_new (NULL);
  ok = run (&writer, cancellable, error);
  g_string_free (writer.text, TRUE);
  g_string_free (writer.cell, TRUE);
  return ok;
}

/* --- Into a file ---------------------------------------------------------------------------------------------------
 */

typedef struct
{
  const TmExport *export;
  TmOutputFile *file;
} FileExport;

static gboolean
write_to_file (gconstpointer bytes, gsize count, gpointer user_data, GError **error)
{
  FileExport *target = user_data;

  return tm_output_file_write (target->file, bytes, count, error);
}

static gboolean
report_of_file (guint64 done, guint64 total, gpointer user_data, GError **error)
{
  FileExport *target = user_data;

  return target->export->progress (done, total, target->export->user_data, error);
}

gboolean
tm_export_file (const TmExport *export, const char *path, GCancellable *cancellable, GError **error)
{
  FileExport target = { .export = export };
  TmExport inner = *export;

  target.file = tm_output_file_new (path, error);
  if (target.file == NULL)
    return FALSE;
  inner.write = write_to_file;
  inner.progress = export->progress ? report_of_file : NULL;
  inner.user_data = &target;
  if (!tm_export_region (&inner, cancellable, error))
    {
      tm_output_file_discard (target.file);
      return FALSE;
    }
  return tm_output_file_commit (target.file, error);
}
