/* Statistics on disk: one small file a model, named by what identifies its files and readings, replaced as a whole. What is
 * read from it is checked like any other file. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "analysis/statistics-private.h"
#include "io/output-file.h"

#define MAGIC "tensormorph statistics 1\n"
#define MAGIC_SIZE (sizeof MAGIC - 1)
#define DIGEST_SIZE 32
#define MAX_FILE (G_GUINT64_CONSTANT (1) << 30)
#define MAX_FOLDER (G_GUINT64_CONSTANT (1) << 28) /* bytes; the oldest files go first */
#define MAX_CODES (65536 + 32768)

static char *chosen_folder;
static gboolean is_chosen;

void
tm_statistics_set_cache_folder (const char *folder)
{
  g_free (chosen_folder);
  chosen_folder = g_strdup (folder);
  is_chosen = TRUE;
}

static char *
get_folder (void)
{
  return is_chosen ? g_strdup (chosen_folder)
                   : g_build_filename (g_get_user_cache_dir (), "tensormorph", "statistics", NULL);
}

static char *
get_path (const char *identity)
{
  g_autofree char *folder = get_folder ();

  return folder == NULL ? NULL : g_build_filename (folder, identity, NULL);
}

/* --- Identity ----------------------------------------------------------------------------------------------------- */

static void
add_text (GChecksum *sum, const char *text)
{
  g_checksum_update (sum, (const guchar *) (text != NULL ? text : ""), text != NULL ? (gssize) strlen (text) + 1 : 1);
}

static void
add_number (GChecksum *sum, guint64 number)
{
  number = GUINT64_TO_LE (number);
  g_checksum_update (sum, (const guchar *) &number, sizeof number);
}

/* FALSE: it is not there, or not as it was opened. */
static gboolean
add_file (GChecksum *sum, const char *path, gint64 size)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInfo) info
      = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE "," G_FILE_ATTRIBUTE_TIME_MODIFIED "," G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC,
                           G_FILE_QUERY_INFO_NONE, NULL, NULL);
  g_autofree char *absolute = g_file_get_path (file);

  if (info == NULL || (size >= 0 && g_file_info_get_size (info) != size))
    return FALSE;
  add_text (sum, absolute);
  add_number (sum, (guint64) g_file_info_get_size (info));
  add_number (sum, g_file_info_get_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED));
  add_number (sum, g_file_info_get_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC));
  return TRUE;
}

static void
add_tensor (GChecksum *sum, const TmTensor *tensor)
{
  add_text (sum, tensor->name);
  add_text (sum, tensor->scheme);
  add_number (sum, tensor->dtype);
  add_number (sum, tensor->code_bits);
  add_number (sum, tensor->group_size);
  add_number (sum, tensor->rank);
  for (guint axis = 0; axis < tensor->rank; axis++)
    add_number (sum, tensor->shape[axis]);
}

char *
tm_statistics_cache_identify (TmModel *model)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *folder = get_folder ();

  if (folder == NULL || model->files == NULL || model->files->len == 0)
    return NULL;
  for (guint i = 0; i < model->files->len; i++)
    {
      TmSource *source = g_ptr_array_index (model->files, i);

      if (!add_file (sum, tm_source_get_path (source), (gint64) tm_source_get_size (source)))
        return NULL;
    }
  if (model->quantization_file != NULL)
    {
      g_autofree char *beside = g_path_get_dirname (tm_source_get_path (g_ptr_array_index (model->files, 0)));
      g_autofree char *path = g_build_filename (beside, model->quantization_file, NULL);

      add_file (sum, path, -1);
    }
  for (guint i = 0; i < model->assumptions->len; i++)
    {
      const TmAssumption *assumption = g_ptr_array_index (model->assumptions, i);

      add_text (sum, assumption->tensor);
      add_text (sum, assumption->key);
      add_text (sum, assumption->value);
    }
  for (guint i = 0; i < model->tensors->len; i++)
    add_tensor (sum, tm_model_tensor (model, i));
  return g_strdup (g_checksum_get_string (sum));
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* Seven bits a byte, the lowest first. */
static void
put (GByteArray *out, guint64 number)
{
  guint8 bytes[10];
  guint n = 0;

  for (; number >= 128; number >>= 7)
    bytes[n++] = (guint8) (number | 128);
  bytes[n++] = (guint8) number;
  g_byte_array_append (out, bytes, n);
}

static void
put_double (GByteArray *out, double number)
{
  guint64 bits;

  memcpy (&bits, &number, sizeof bits);
  bits = GUINT64_TO_LE (bits);
  g_byte_array_append (out, (const guint8 *) &bits, sizeof bits);
}

static void
put_distribution (GByteArray *out, const TmDistribution *distribution)
{
  guint32 before = 0;

  put (out, distribution->count);
  put (out, distribution->n_finite);
  put (out, distribution->n_nan);
  put (out, distribution->n_inf);
  put (out, distribution->n_zeros);
  put (out, distribution->n_negative_zeros);
  put (out, distribution->n_subnormal);
  put_double (out, distribution->min);
  put_double (out, distribution->max);
  put_double (out, distribution->absmax);
  put_double (out, distribution->mean);
  put_double (out, distribution->std);
  put_double (out, distribution->rms);
  put_double (out, distribution->sum_squares_about_mean);
  put (out, distribution->coarse != FALSE);
  put (out, distribution->n_cells);
  for (guint i = 0; i < distribution->n_cells; i++)
    {
      guint32 cell = distribution->cells[i].cell;

      /* Steps are mostly −1 or 1: signs go to the lowest bit. */
      put (out, cell >= before ? (guint64) (cell - before) << 1 : (guint64) (before - cell) << 1 | 1);
      put (out, distribution->cells[i].count);
      before = cell;
    }
}

static void
put_statistics (GByteArray *out, guint index, const TmStatistics *statistics)
{
  put (out, index);
  put (out, statistics->parts);
  put_distribution (out, &statistics->values);
  put (out, statistics->has_scales != FALSE);
  if (statistics->has_scales)
    put_distribution (out, &statistics->scales);
  put (out, statistics->codes != NULL ? statistics->n_codes : 0);
  if (statistics->codes == NULL)
    return;
  put (out, (guint64) ((gint64) statistics->first_code + MAX_CODES));
  for (guint i = 0; i < statistics->n_codes; i++)
    put (out, statistics->codes[i]);
}

static void
digest (const guint8 *bytes, gsize n, guint8 result[DIGEST_SIZE])
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize size = DIGEST_SIZE;

  g_checksum_update (sum, bytes, (gssize) n);
  g_checksum_get_digest (sum, result, &size);
}

typedef struct
{
  char *path;
  guint64 size;
  gint64 time;
} Kept;

static void
clear_kept (gpointer data)
{
  g_free (((Kept *) data)->path);
}

static int
compare_kept (gconstpointer a, gconstpointer b)
{
  const Kept *x = a, *y = b;

  return x->time < y->time ? 1 : x->time > y->time ? -1 : 0;
}

/* The newest files that fit stay. */
static void
make_room (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (Kept));
  guint64 total = 0;
  const char *name;

  g_array_set_clear_func (files, clear_kept);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      Kept kept = { .path = g_build_filename (folder, name, NULL) };
      GStatBuf status;

      if (g_stat (kept.path, &status) != 0)
        {
          g_free (kept.path);
          continue;
        }
      kept.size = (guint64) status.st_size;
      kept.time = (gint64) status.st_mtime;
      g_array_append_val (files, kept);
    }
  g_array_sort (files, compare_kept);
  for (guint i = 0; i < files->len; i++)
    {
      const Kept *kept = &g_array_index (files, Kept, i);

      total += kept->size;
      if (i > 0 && total > MAX_FOLDER)
        g_unlink (kept->path);
    }
}

void
tm_statistics_cache_save (const char *identity, TmStatistics *const *of, guint n)
{
  g_autofree char *path = get_path (identity), *folder = get_folder ();
  g_autoptr (GByteArray) out = g_byte_array_new ();
  TmOutputFile *file;
  guint8 sum[DIGEST_SIZE];

  if (path == NULL || g_mkdir_with_parents (folder, 0700) != 0)
    return;
  for (guint i = 0; i < n; i++)
    if (of[i] != NULL && of[i]->fault == NULL && out->len < G_MAXUINT32 / 2)
      put_statistics (out, i, of[i]);
  digest (out->data, out->len, sum);
  file = tm_output_file_new (path, NULL);
  if (file == NULL)
    return;
  if (!tm_output_file_write (file, MAGIC, MAGIC_SIZE, NULL) || !tm_output_file_write (file, sum, DIGEST_SIZE, NULL)
      || !tm_output_file_write (file, out->data, out->len, NULL))
    tm_output_file_discard (file);
  else if (tm_output_file_commit (file, NULL))
    make_room (folder);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

typedef struct
{
  const guint8 *at, *end;
  gboolean bad;
} Reader;

static guint64
take (Reader *reader)
{
  guint64 number = 0;

  for (guint shift = 0; shift < 64; shift += 7)
    {
      guint8 byte;

      if (reader->at >= reader->end)
        break;
      byte = *reader->at++;
      number |= (guint64) (byte & 127) << shift;
      if (byte < 128)
        return number;
    }
  reader->bad = TRUE;
  return 0;
}

static guint64
take_below (Reader *reader, guint64 limit)
{
  guint64 number = take (reader);

  reader->bad = reader->bad || number >= limit;
  return reader->bad ? 0 : number;
}

static double
take_double (Reader *reader)
{
  guint64 bits = 0;
  double number;

  if (reader->end - reader->at < (gssize) sizeof bits)
    {
      reader->bad = TRUE;
      return 0;
    }
  memcpy (&bits, reader->at, sizeof bits);
  reader->at += sizeof bits;
  bits = GUINT64_FROM_LE (bits);
  memcpy (&number, &bits, sizeof number);
  return number;
}

static void
take_distribution (Reader *reader, TmDistribution *distribution)
{
  guint64 cell = 0;
  guint n;

  distribution->count = take (reader);
  distribution->n_finite = take (reader);
  distribution->n_nan = take (reader);
  distribution->n_inf = take (reader);
  distribution->n_zeros = take (reader);
  distribution->n_negative_zeros = take (reader);
  distribution->n_subnormal = take (reader);
  distribution->min = take_double (reader);
  distribution->max = take_double (reader);
  distribution->absmax = take_double (reader);
  distribution->mean = take_double (reader);
  distribution->std = take_double (reader);
  distribution->rms = take_double (reader);
  distribution->sum_squares_about_mean = take_double (reader);
  distribution->coarse = take_below (reader, 2) != 0;
  n = (guint) take_below (reader, TM_N_CELLS + 1);
  distribution->cells = g_new (TmCellCount, n + 1);
  for (guint i = 0; i < n && !reader->bad; i++)
    {
      guint64 step = take (reader);

      cell = step & 1 ? cell - (step >> 1) : cell + (step >> 1);
      if (cell >= TM_N_CELLS)
        reader->bad = TRUE;
      distribution->cells[i] = (TmCellCount){ (guint32) (cell & (TM_N_CELLS - 1)), take (reader) };
      distribution->n_cells = i + 1;
    }
}

static TmStatistics *
take_statistics (Reader *reader, guint n_tensors, guint *index)
{
  TmStatistics *statistics = tm_statistics_new ();
  guint n;

  *index = (guint) take_below (reader, n_tensors);
  statistics->parts = (TmStatisticsParts) take_below (reader, TM_STATISTICS_ALL + 1);
  take_distribution (reader, &statistics->values);
  statistics->has_scales = take_below (reader, 2) != 0;
  if (statistics->has_scales)
    take_distribution (reader, &statistics->scales);
  n = (guint) take_below (reader, MAX_CODES + 1);
  if (n == 0)
    return statistics;
  statistics->n_codes = n;
  statistics->codes = g_new0 (guint64, n);
  statistics->first_code = (gint32) ((gint64) take_below (reader, 2 * MAX_CODES) - MAX_CODES);
  for (guint i = 0; i < n && !reader->bad; i++)
    {
      statistics->codes[i] = take (reader);
      statistics->codes_used += statistics->codes[i] > 0;
    }
  return statistics;
}

void
tm_statistics_cache_load (const char *identity, TmStatistics **of, guint n)
{
  g_autofree char *path = get_path (identity), *bytes = NULL;
  Reader reader = { 0 };
  guint8 sum[DIGEST_SIZE];
  GStatBuf status;
  gsize size;

  if (path == NULL || n == 0 || g_stat (path, &status) != 0 || (guint64) status.st_size > MAX_FILE
      || !g_file_get_contents (path, &bytes, &size, NULL) || size < MAGIC_SIZE + DIGEST_SIZE
      || memcmp (bytes, MAGIC, MAGIC_SIZE) != 0)
    return;
  reader.at = (const guint8 *) bytes + MAGIC_SIZE + DIGEST_SIZE;
  reader.end = (const guint8 *) bytes + size;
  digest (reader.at, size - MAGIC_SIZE - DIGEST_SIZE, sum);
  if (memcmp (sum, bytes + MAGIC_SIZE, DIGEST_SIZE) != 0)
    return;
  while (reader.at < reader.end && !reader.bad)
    {
      guint index;
      TmStatistics *one = take_statistics (&reader, n, &index);

      if (reader.bad || of[index] != NULL)
        tm_statistics_unref (one);
      else
        of[index] = one;
    }
}
