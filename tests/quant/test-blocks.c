/* Every ggml block type, bit for bit against the library's own output (tests/golden/ggml), in every build of the
 * kernels; block sizes; code books. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "quant/codecs.h"
#include "quant/kernels.h"

extern const TmKernels tm_kernels_plain_c; /* kernel-plain-c.c */

#define TABLE_FIELDS 14

static char *
read_golden (const char *folder, const char *name, gsize *length)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, folder, name, NULL);
  g_autoptr (GError) error = NULL;
  char *contents = NULL;

  if (!g_file_get_contents (path, &contents, length, &error))
    g_error ("%s", error->message);
  return contents;
}

/* Any NaN equals any NaN; everything else by bits. */
static gboolean
same_float (float a, float b)
{
  return (isnan (a) && isnan (b)) || memcmp (&a, &b, sizeof a) == 0;
}

static guint
compare_floats (const char *file, const float *got, const float *expected, gsize n)
{
  guint wrong = 0;

  for (gsize i = 0; i < n; i++)
    if (!same_float (got[i], expected[i]) && wrong++ < 3)
      g_test_message ("%s [%zu]: got %a, expected %a", file, i, (double)got[i], (double)expected[i]);
  return wrong;
}

static guint
compare_codes (const char *file, const gint32 *got, const gint16 *expected, gsize n)
{
  guint wrong = 0;

  for (gsize i = 0; i < n; i++)
    if (got[i] != expected[i] && wrong++ < 3)
      g_test_message ("%s [%zu]: got %d, expected %d", file, i, got[i], expected[i]);
  return wrong;
}

/* One line of the manifest with one build of one codec. Returns FALSE where the part is not a decoder's output. */
static gboolean
check_part (char **field, const TmBlockCodec *codec)
{
  const char *part = field[3], *file = field[13];
  gsize expected_length, packed_length;
  g_autofree char *bin = NULL, *expected = NULL, *packed = NULL;
  g_autofree gint32 *out = NULL;
  gsize elements = (gsize)g_ascii_strtoull (field[6], NULL, 10), bytes = (gsize)g_ascii_strtoull (field[7], NULL, 10);
  gsize n = (gsize)(g_ascii_strtoull (field[4], NULL, 10) * g_ascii_strtoull (field[5], NULL, 10));
  guint wrong;

  if (g_str_equal (part, "bin"))
    return FALSE;
  bin = g_str_equal (field[0], "quant") ? g_strdup_printf ("%s.bin", field[1])
                                        : g_strdup_printf ("%s.%s.bin", field[1], field[0]);
  packed = read_golden ("golden/ggml", bin, &packed_length);
  expected = read_golden ("golden/ggml", file, &expected_length);
  g_assert_cmpuint (packed_length, ==, n / elements * bytes);
  out = g_new0 (gint32, n);
  if (g_str_has_suffix (part, "f32"))
    {
      void (*decode) (const guint8 *, gsize, float *) = g_str_equal (part, "f32")         ? codec->values
                                                        : g_str_equal (part, "scale.f32") ? codec->scale
                                                                                          : codec->offset;

      g_assert_cmpuint (expected_length, ==, 4 * n);
      g_assert_nonnull (decode);
      decode ((const guint8 *)packed, n / elements, (float *)(gpointer)out);
      wrong = compare_floats (file, (const float *)(gpointer)out, (const float *)(gpointer)expected, n);
    }
  else
    {
      g_assert_cmpuint (expected_length, ==, 2 * n);
      (g_str_equal (part, "raw.i16") ? codec->raw : codec->level) ((const guint8 *)packed, n / elements, out);
      wrong = compare_codes (file, out, (const gint16 *)(gpointer)expected, n);
    }
  g_assert_cmpuint (wrong, ==, 0);
  return TRUE;
}

static guint
check_type (TmDtype dtype, const TmBlockCodec *codec)
{
  gsize length;
  g_autofree char *manifest = read_golden ("golden/ggml", "manifest.tsv", &length);
  g_auto (GStrv) lines = g_strsplit (manifest, "\n", -1);
  guint parts = 0;

  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) field = g_strsplit (lines[i], "\t", -1);

      if (g_strv_length (field) == TABLE_FIELDS && g_str_equal (field[1], tm_dtype_get_name (dtype)))
        parts += check_part (field, codec);
    }
  return parts;
}

static void
test_golden (gconstpointer data)
{
  TmDtype dtype = (TmDtype)GPOINTER_TO_UINT (data);

  /* At least values and codes of the quant and random sets and the values of the special one. */
  g_assert_cmpuint (check_type (dtype, tm_block_codec_get (dtype)), >=, 5);
  g_assert_cmpuint (check_type (dtype, tm_block_codec_get_portable (dtype)), >=, 5);
  {
    TmBlockCodec plain_c = *tm_block_codec_get (dtype);

    plain_c.values = tm_kernels_plain_c.block[dtype].values;
    plain_c.raw = tm_kernels_plain_c.block[dtype].raw;
    plain_c.level = tm_kernels_plain_c.block[dtype].level;
    plain_c.scale = tm_kernels_plain_c.block[dtype].scale;
    plain_c.offset = tm_kernels_plain_c.block[dtype].offset;
    g_assert_cmpuint (check_type (dtype, &plain_c), >=, 5);
  }
}

static void
test_files_are_the_manifest (void)
{
  gsize length;
  g_autofree char *manifest = read_golden ("golden/ggml", "manifest.tsv", &length);
  g_auto (GStrv) lines = g_strsplit (manifest, "\n", -1);
  guint files = 0;

  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) field = g_strsplit (lines[i], "\t", -1);
      g_autofree char *contents = NULL, *digest = NULL;
      TmDtype dtype;

      if (g_strv_length (field) != TABLE_FIELDS || lines[i][0] == '#')
        continue;
      contents = read_golden ("golden/ggml", field[13], &length);
      digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *)contents, length);
      g_assert_cmpstr (digest, ==, field[12]);
      dtype = tm_dtype_from_name (field[1]);
      g_assert_cmpint (dtype, !=, TM_DTYPE_UNKNOWN);
      g_assert_cmpuint (tm_dtype_get_info (dtype)->block_elements, ==, g_ascii_strtoull (field[6], NULL, 10));
      g_assert_cmpuint (tm_dtype_get_info (dtype)->block_bytes, ==, g_ascii_strtoull (field[7], NULL, 10));
      files++;
    }
  g_assert_cmpuint (files, >, 200);
}

/* Fields fill a block without a gap or an overlap. */
static void
test_fields (void)
{
  for (guint i = 0; i < TM_DTYPE_CODE_U1; i++)
    {
      const TmBlockCodec *codec = tm_block_codec_get ((TmDtype)i);
      const TmDtypeInfo *info = tm_dtype_get_info ((TmDtype)i);
      guint at = 0;

      g_assert_cmpint (codec != NULL, ==, info->quantized);
      if (codec == NULL)
        continue;
      for (guint f = 0; f < codec->n_fields; f++)
        {
          g_assert_cmpuint (codec->field[f].offset, ==, at);
          at += codec->field[f].bytes;
        }
      g_assert_cmpuint (at, ==, info->block_bytes);
      g_assert_cmpuint (info->block_elements % codec->granularity, ==, 0);
    }
  g_assert_null (tm_block_codec_get (TM_DTYPE_F32));
}

/* Arbitrary bits, any length: both builds give the same bits, and each block is decoded for itself. */
static void
test_builds_agree (void)
{
  for (guint i = 0; i < TM_DTYPE_CODE_U1; i++)
    {
      const TmBlockCodec *a = tm_block_codec_get ((TmDtype)i), *b = tm_block_codec_get_portable ((TmDtype)i);
      const TmDtypeInfo *info = tm_dtype_get_info ((TmDtype)i);
      const gsize n_blocks = 37, n = n_blocks * info->block_elements;
      g_autofree guint8 *packed = NULL;
      g_autofree float *x = NULL, *y = NULL;

      if (a == NULL)
        continue;
      packed = g_malloc (n_blocks * info->block_bytes + 1);
      x = g_new (float, n);
      y = g_new (float, n);
      for (gsize j = 0; j <= n_blocks * info->block_bytes; j++)
        packed[j] = (guint8)g_test_rand_int ();
      /* odd addresses too */
      a->values (packed + 1, n_blocks, x);
      for (gsize block = 0; block < n_blocks; block++)
        b->values (packed + 1 + block * info->block_bytes, 1, y + block * info->block_elements);
      g_assert_cmpuint (compare_floats (info->name, x, y, n), ==, 0);
    }
}

/* All 65536 patterns of both half formats, through both builds. */
static void
test_halves (void)
{
  gsize length;
  g_autofree char *packed = read_golden ("golden/ggml", "F16.bin", &length);
  g_autofree char *expected = read_golden ("golden/ggml", "F16.f32", &length);
  g_autofree float *out = g_new (float, 65536);

  g_assert_cmpuint (length, ==, 65536 * 4);
  tm_row_kernel_get (TM_DTYPE_F16) ((const guint8 *)packed, 65536, out);
  g_assert_cmpuint (compare_floats ("F16.f32", out, (const float *)(gpointer)expected, 65536), ==, 0);
  tm_row_kernel_get_portable (TM_DTYPE_F16) ((const guint8 *)packed, 65536, out);
  g_assert_cmpuint (compare_floats ("F16.f32", out, (const float *)(gpointer)expected, 65536), ==, 0);
  tm_kernels_plain_c.row[TM_DTYPE_F16]((const guint8 *)packed, 65536, out);
  g_assert_cmpuint (compare_floats ("F16.f32", out, (const float *)(gpointer)expected, 65536), ==, 0);
}

static void
test_bfloat (void)
{
  gsize length, n;
  g_autofree char *packed = read_golden ("golden/ggml", "BF16.bin", &n);
  g_autofree char *expected = read_golden ("golden/ggml", "BF16.f32", &length);
  g_autofree float *out = g_new (float, n / 2);

  tm_row_kernel_get (TM_DTYPE_BF16) ((const guint8 *)packed, n / 2, out);
  g_assert_cmpuint (compare_floats ("BF16.f32", out, (const float *)(gpointer)expected, n / 2), ==, 0);
  tm_row_kernel_get_portable (TM_DTYPE_BF16) ((const guint8 *)packed, n / 2, out);
  g_assert_cmpuint (compare_floats ("BF16.f32", out, (const float *)(gpointer)expected, n / 2), ==, 0);
  tm_kernels_plain_c.row[TM_DTYPE_BF16]((const guint8 *)packed, n / 2, out);
  g_assert_cmpuint (compare_floats ("BF16.f32", out, (const float *)(gpointer)expected, n / 2), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < TM_DTYPE_CODE_U1; i++)
    if (tm_dtype_get_info ((TmDtype)i)->quantized)
      {
        g_autofree char *path = g_strdup_printf ("/blocks/golden/%s", tm_dtype_get_name ((TmDtype)i));

        g_test_add_data_func (path, GUINT_TO_POINTER (i), test_golden);
      }
  g_test_add_func ("/blocks/golden-files-are-the-manifest", test_files_are_the_manifest);
  g_test_add_func ("/blocks/fields-fill-the-block", test_fields);
  g_test_add_func ("/blocks/builds-agree", test_builds_agree);
  g_test_add_func ("/blocks/f16-all-patterns", test_halves);
  g_test_add_func ("/blocks/bf16", test_bfloat);
  return g_test_run ();
}
