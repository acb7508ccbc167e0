#include <glib.h>
#include <string.h>

#include "model/dtype.h"
#include "model/granularity.h"

static void
test_names (void)
{
  static const char *const plain[]
      = { "F64",     "F32", "F16", "BF16", "F8_E4M3", "F8_E4M3FNUZ", "F8_E5M2", "F8_E5M2FNUZ", "F8_E8M0", "F6_E2M3",
          "F6_E3M2", "F4",  "I64", "I32",  "I16",     "I8",          "I4",      "I2",          "U64",     "U32",
          "U16",     "U8",  "U4",  "U2",   "BOOL",    "C64",         "C128",    "STRING" };

  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    {
      TmDtype dtype = tm_dtype_from_name (plain[i]);

      g_assert_cmpint (dtype, !=, TM_DTYPE_UNKNOWN);
      g_assert_cmpstr (tm_dtype_get_name (dtype), ==, plain[i]);
      g_assert_false (tm_dtype_get_info (dtype)->quantized);
    }
  for (guint i = 1; i < TM_DTYPE_CODE_U1; i++) /* codes share names with plain dtypes */
    g_assert_cmpint (tm_dtype_from_name (tm_dtype_get_name ((TmDtype)i)), ==, (gint)i);
  for (guint bits = 1; bits <= 8; bits++)
    {
      TmDtype code = tm_dtype_get_code (bits, FALSE);

      g_assert_cmpuint (tm_dtype_get_info (code)->code_bits, ==, bits);
      g_assert_true (tm_dtype_get_info (code)->quantized);
    }
  g_assert_cmpstr (tm_dtype_get_name (tm_dtype_get_code (3, FALSE)), ==, "U3");
  g_assert_cmpstr (tm_dtype_get_name (tm_dtype_get_code (8, TRUE)), ==, "I8");
  g_assert_cmpint (tm_dtype_get_code (3, TRUE), ==, TM_DTYPE_UNKNOWN);
  g_assert_cmpint (tm_dtype_get_code (9, FALSE), ==, TM_DTYPE_UNKNOWN);
  g_assert_cmpint (tm_dtype_from_name ("f32"), ==, TM_DTYPE_UNKNOWN);
  g_assert_cmpint (tm_dtype_from_name ("unknown"), ==, TM_DTYPE_UNKNOWN);
  g_assert_cmpint (tm_dtype_from_name (NULL), ==, TM_DTYPE_UNKNOWN);
  g_assert_cmpstr (tm_dtype_get_name ((TmDtype)9999), ==, "unknown");
  g_assert_cmpstr (tm_dtype_get_name ((TmDtype)-1), ==, "unknown");
}

static void
test_bytes (void)
{
  guint64 bytes;

  g_assert_true (tm_dtype_get_bytes (TM_DTYPE_Q6_K, 524288, 2048, &bytes));
  g_assert_cmpuint (bytes, ==, 430080);
  g_assert_false (tm_dtype_get_bytes (TM_DTYPE_Q6_K, 512, 128, &bytes));
  g_assert_true (tm_dtype_get_bytes (TM_DTYPE_F4, 10, 5, &bytes));
  g_assert_cmpuint (bytes, ==, 5);
  g_assert_false (tm_dtype_get_bytes (TM_DTYPE_F4, 5, 5, &bytes));
  g_assert_true (tm_dtype_get_bytes (TM_DTYPE_F6_E2M3, 4, 4, &bytes));
  g_assert_cmpuint (bytes, ==, 3);
  g_assert_false (tm_dtype_get_bytes (TM_DTYPE_F64, G_GUINT64_CONSTANT (1) << 61, 1, &bytes));
  g_assert_false (tm_dtype_get_bytes (TM_DTYPE_UNKNOWN, 1, 1, &bytes));
  g_assert_true (tm_dtype_get_bytes (TM_DTYPE_F32, 0, 0, &bytes));
  g_assert_cmpuint (bytes, ==, 0);
}

static TmGranularity *
make (guint rank, const guint64 *shape, guint n_levels, const guint64 *extents)
{
  static const char *const labels[] = { "super-block", "group" };

  return tm_granularity_new (rank, shape, FALSE, n_levels, extents, labels + (n_levels == 1));
}

static void
test_kinds (void)
{
  static const struct
  {
    guint64 shape[2], extent[2];
    TmGranularityKind kind;
    gint axis;
    const char *text;
  } cases[] = {
    { { 256, 2048 }, { 256, 2048 }, TM_PER_TENSOR, -1, "per-tensor" },
    { { 256, 2048 }, { 1, 2048 }, TM_PER_CHANNEL, 0, "per-channel (axis 0)" },
    { { 256, 2048 }, { 256, 1 }, TM_PER_CHANNEL, 1, "per-channel (axis 1)" },
    { { 256, 2048 }, { 1, 32 }, TM_PER_GROUP, 1, "per-group 32" },
    { { 256, 2048 }, { 64, 1 }, TM_PER_GROUP, 0, "per-group 64" },
    { { 256, 2048 }, { 128, 128 }, TM_PER_BLOCK, -1, "per-block 128×128" },
    { { 256, 2048 }, { 1, 1 }, TM_PER_BLOCK, -1, "per-block 1" },
    { { 4, 32 }, { 1, 32 }, TM_PER_CHANNEL, 0, "per-channel (axis 0)" },
    { { 1, 2048 }, { 1, 32 }, TM_PER_GROUP, 1, "per-group 32" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (TmGranularity) granularity = make (2, cases[i].shape, 1, cases[i].extent);
      g_autofree char *text = tm_granularity_describe (granularity);

      g_assert_cmpint (tm_granularity_get_kind (granularity), ==, cases[i].kind);
      g_assert_cmpint (tm_granularity_get_axis (granularity), ==, cases[i].axis);
      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_blocks (void)
{
  const guint64 shape[2] = { 4, 600 }, extents[4] = { 1, 256, 1, 32 };
  g_autoptr (TmGranularity) granularity = make (2, shape, 2, extents);
  g_autofree char *text = tm_granularity_describe (granularity), *none = tm_granularity_describe (NULL);
  guint64 start[2], end[2];

  g_assert_cmpstr (text, ==, "per-group 32 ⊂ super-block 256");
  g_assert_cmpstr (none, ==, "not quantized");
  tm_granularity_get_block (granularity, 0, (guint64[]){ 3, 530 }, start, end);
  g_assert_cmpuint (start[0], ==, 3);
  g_assert_cmpuint (end[0], ==, 4);
  g_assert_cmpuint (start[1], ==, 512);
  g_assert_cmpuint (end[1], ==, 600); /* a short last block */
  tm_granularity_get_block (granularity, 1, (guint64[]){ 3, 530 }, start, end);
  g_assert_cmpuint (start[1], ==, 512);
  g_assert_cmpuint (end[1], ==, 544);
}

/* A short axis clamps extents, yet two tensors of one scheme stay equal. */
static void
test_equal (void)
{
  const guint64 wide[2] = { 4, 512 }, narrow[2] = { 4, 16 }, extents[4] = { 1, 256, 1, 32 },
                other[4] = { 1, 256, 1, 16 };
  g_autoptr (TmGranularity) a = make (2, wide, 2, extents), b = make (2, narrow, 2, extents),
                            c = make (2, wide, 2, other);
  g_autoptr (TmGranularity) d = make (2, narrow, 2, other);

  g_assert_cmpuint (b->level[1].extent[1], ==, 16);
  g_assert_true (tm_granularity_equal_levels (a, b));
  g_assert_false (tm_granularity_equal_levels (a, c));
  g_assert_false (tm_granularity_equal_levels (b, d));
  g_assert_true (tm_granularity_equal_levels (NULL, NULL));
  g_assert_false (tm_granularity_equal_levels (a, NULL));
}

static void
test_table (void)
{
  const guint64 shape[2] = { 2, 8 }, extents[2] = { 1, 4 };
  static const guint32 groups[8] = { 0, 0, 1, 1, 1, 0, 1, 0 };
  g_autoptr (TmGranularity) granularity = make (2, shape, 1, extents), plain = make (2, shape, 1, extents);
  guint64 start[2], end[2];

  tm_granularity_set_table (granularity, 1, g_memdup2 (groups, sizeof groups));
  g_assert_false (tm_granularity_equal_levels (granularity, plain));
  tm_granularity_get_block (granularity, 0, (guint64[]){ 1, 3 }, start, end);
  g_assert_cmpuint (start[1], ==, 2);
  g_assert_cmpuint (end[1], ==, 5);
  tm_granularity_get_block (granularity, 0, (guint64[]){ 1, 7 }, start, end);
  g_assert_cmpuint (start[1], ==, 7);
  g_assert_cmpuint (end[1], ==, 8);
  g_assert_cmpuint (start[0], ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/dtype/names", test_names);
  g_test_add_func ("/dtype/bytes", test_bytes);
  g_test_add_func ("/granularity/kinds", test_kinds);
  g_test_add_func ("/granularity/blocks", test_blocks);
  g_test_add_func ("/granularity/equal", test_equal);
  g_test_add_func ("/granularity/table", test_table);
  return g_test_run ();
}
