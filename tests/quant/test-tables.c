/* The code books in memory, written out as the facts' CSV files, have the facts' checksums (data/tables/manifest.tsv):
 * one wrong entry is seen (B047). The FP4 scales are computed, and checked the same way. */
#include <glib.h>
#include <string.h>

#include "quant/half.h"
#include "quant/iq-table.h"

typedef struct
{
  const char *name;
  guint rows, columns;
  const void *data;
  gboolean is_signed;
} Table;

static const Table tables[] = {
  { "iq2xxs_grid", 256, 8, tm_iq2xxs_grid, FALSE },   { "iq2xs_grid", 512, 8, tm_iq2xs_grid, FALSE },
  { "iq2s_grid", 1024, 8, tm_iq2s_grid, FALSE },      { "iq3xxs_grid", 256, 4, tm_iq3xxs_grid, FALSE },
  { "iq3s_grid", 512, 4, tm_iq3s_grid, FALSE },       { "iq1s_grid", 2048, 8, tm_iq1s_grid, TRUE },
  { "ksigns_iq2xs", 128, 1, tm_ksigns_iq2xs, FALSE }, { "kvalues_iq4nl", 16, 1, tm_kvalues_iq4nl, TRUE },
  { "kvalues_fp4", 16, 1, tm_kvalues_fp4, TRUE },
};

static char *
write_csv (const Table *table)
{
  GString *csv = g_string_new ("index");
  const gint8 *entry = table->data;

  for (guint c = 0; c < table->columns; c++)
    if (table->columns > 1)
      g_string_append_printf (csv, ",v%u", c);
    else
      g_string_append (csv, ",value");
  g_string_append_c (csv, '\n');
  for (guint r = 0; r < table->rows; r++)
    {
      g_string_append_printf (csv, "%u", r);
      for (guint c = 0; c < table->columns; c++, entry++)
        g_string_append_printf (csv, ",%d", table->is_signed ? *entry : (guint8)*entry);
      g_string_append_c (csv, '\n');
    }
  return g_string_free (csv, FALSE);
}

static void
assert_checksum (const char *csv, const char *expected)
{
  g_autofree char *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, csv, -1);

  g_assert_cmpstr (digest, ==, expected);
}

static void
test_books (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "..", "data", "tables", "manifest.tsv", NULL);
  g_autofree char *manifest = NULL;
  g_auto (GStrv) lines = NULL;
  guint checked = 0;

  g_assert_true (g_file_get_contents (path, &manifest, NULL, NULL));
  lines = g_strsplit (manifest, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) field = g_strsplit (lines[i], "\t", -1);

      for (guint t = 0; t < G_N_ELEMENTS (tables) && g_strv_length (field) == 7; t++)
        if (g_str_equal (field[0], tables[t].name))
          {
            g_autofree char *csv = write_csv (&tables[t]);

            assert_checksum (csv, field[5]);
            checked++;
          }
    }
  g_assert_cmpuint (checked, ==, G_N_ELEMENTS (tables));
}

static void
test_scales (void)
{
  g_autoptr (GString) e8m0 = g_string_new ("index,bits\n"), ue4m3 = g_string_new ("index,bits\n");

  for (guint code = 0; code < 256; code++)
    {
      g_string_append_printf (e8m0, "%u,0x%08x\n", code, tm_float_to_bits (tm_e8m0_half_to_float ((guint8)code)));
      g_string_append_printf (ue4m3, "%u,0x%08x\n", code, tm_float_to_bits (tm_ue4m3_half_to_float ((guint8)code)));
    }
  assert_checksum (e8m0->str, "cf9a23763bf4aca069976b9cfda9ffd6cffa4e45657a91e5e4bb87ded436488b");
  assert_checksum (ue4m3->str, "bebeedcfa2c18854e65fbe9f0091dbbf2780c74b6e52bc529d54b3866cec3d44");
}

/* Seven stored signs: the eighth makes the number of ones even. */
static void
test_signs (void)
{
  for (guint code = 0; code < 128; code++)
    {
      g_assert_cmpuint (tm_ksigns_iq2xs[code] & 127, ==, code);
      g_assert_cmpint (__builtin_parity (tm_ksigns_iq2xs[code]), ==, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tables/books", test_books);
  g_test_add_func ("/tables/scales", test_scales);
  g_test_add_func ("/tables/signs", test_signs);
  return g_test_run ();
}
