/* Words that run down the columns: whatever rectangle is asked for, in whatever order, each value is its record's; and
 * the three builds of the kernels agree. */
#include <string.h>

#include "quant/kernels.h"
#include "quant/packed-integer.h"

#define SLICES 2u

extern const TmKernels tm_kernels_plain_c; /* kernel-plain-c.c */

static guint64 state = 88172645463325252u;

static guint
draw (guint below)
{
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (guint) ((state >> 24) % below);
}

static TmStored *
store (TmDtype dtype, gsize n_bytes)
{
  TmStored *stored = g_new0 (TmStored, 1);
  guint8 *bytes = g_malloc (n_bytes);
  g_autoptr (GBytes) held = NULL;

  for (gsize i = 0; i < n_bytes; i++) /* as F16: neither infinite nor NaN */
    bytes[i] = (guint8) (dtype == TM_DTYPE_F16 && i % 2 ? draw (0x7C) : draw (256));
  held = g_bytes_new_take (bytes, n_bytes);
  stored->name = g_strdup ("words");
  stored->dtype = dtype;
  stored->bytes = n_bytes;
  stored->n_elements = n_bytes / tm_dtype_get_info (dtype)->block_bytes;
  stored->source = tm_source_new_bytes ("made", held);
  return stored;
}

static void
stored_free (TmStored *stored)
{
  tm_source_unref (stored->source);
  g_free (stored->name);
  g_free (stored);
}

typedef struct
{
  const char *path;
  TmWordArrangement arrangement;
  TmCodeOrder order;
  guint bits;
  guint rows, columns, group;
  guint8 flip;
  gboolean index;
} Case;

static void
check_rectangle (const TmTensor *tensor, const Case *c, guint64 row, gsize n_rows, guint64 column, gsize n_columns)
{
  g_autofree float *values = g_new (float, n_rows *n_columns);
  g_autofree gint32 *raw = g_new (gint32, n_columns);
  g_autoptr (GError) error = NULL;

  tm_tensor_decode_rectangle (tensor, TM_QUANTITY_VALUE, row * c->columns + column, n_rows, n_columns, values, NULL, &error);
  g_assert_no_error (error);
  for (gsize r = 0; r < n_rows; r++)
    {
      tm_tensor_decode_raw (tensor, (row + r) * c->columns + column, n_columns, raw, NULL, &error);
      g_assert_no_error (error);
      for (gsize k = 0; k < n_columns; k += 1 + draw (3))
        {
          const guint64 at[3] = { (row + r) / c->rows, (row + r) % c->rows, column + k };
          g_auto (TmScalar) scalar = { 0 };

          tm_tensor_explain (tensor, at, &scalar, &error);
          g_assert_no_error (error);
          g_assert_cmpmem (&values[r * n_columns + k], 4, &scalar.value.as.f32, 4);
          g_assert_cmpint (raw[k], ==, scalar.raw);
        }
    }
}

static void
check (gconstpointer user_data)
{
  const Case *c = user_data;
  const gboolean down = c->arrangement == TM_WORDS_ALONG_ROWS;
  const guint n_groups = (c->columns + c->group - 1) / c->group;
  TmCodeLayout layout = { c->order, c->bits, down, 0, 0 };
  const guint64 lines = down ? (tm_layout_get_stream_bits (&layout, c->columns) + 31) / 32 : c->columns;
  const guint64 pitch = down ? c->rows : (c->rows + 7) / 8;
  TmStored *words = store (TM_DTYPE_I32, SLICES * lines * pitch * 4);
  TmStored *scales = store (TM_DTYPE_F16, SLICES * n_groups * c->rows * 2);
  TmStored *zeros = store (TM_DTYPE_I32, n_groups * ((c->rows + 7) / 8) * 4);
  g_autofree guint32 *index = g_new (guint32, c->columns);
  TmTensor *tensor = g_new0 (TmTensor, 1);
  TmPackedInteger *data = g_new0 (TmPackedInteger, 1);

  for (guint i = 0; i < c->columns; i++)
    index[i] = draw (n_groups);
  layout.pitch = down ? pitch : pitch * 4;
  layout.slice = lines * pitch * 4;
  *data = (TmPackedInteger) { .arrangement = c->arrangement,
                              .layout = layout,
                              .words = words,
                              .n_slices = SLICES,
                              .n_rows = c->rows,
                              .n_columns = c->columns,
                              .n_groups = n_groups,
                              .group_size = c->group,
                              .index = c->index ? index : NULL,
                              .flip = c->flip,
                              .formula = "scale × (q − zero)" };
  data->scale = (TmGroupParameter) { .kind = TM_PARAMETER_ELEMENTS,
                                     .stored = scales,
                                     .slice_step = n_groups * c->rows,
                                     .row_step = 1,
                                     .group_step = c->rows };
  data->zero = (TmGroupParameter) { .kind = TM_PARAMETER_CODES,
                                    .stored = zeros,
                                    .lines_are_groups = TRUE,
                                    .add = 1,
                                    .layout = { TM_ORDER_STREAM, 4, FALSE, (c->rows + 7) / 8 * 4, 0 } };
  tensor->name = g_strdup ("w");
  tensor->rank = 3;
  tensor->shape = g_new (guint64, 3);
  tensor->shape[0] = SLICES;
  tensor->shape[1] = c->rows;
  tensor->shape[2] = c->columns;
  tensor->n_elements = (guint64) SLICES * c->rows * c->columns;
  tensor->values = words;
  tensor->code_bits = c->bits;
  tm_packed_integer_attach (tensor, data);

  if (c->rows < 1000)
    check_rectangle (tensor, c, 0, SLICES * c->rows, 0, c->columns);
  for (guint64 row = 0; row < SLICES * c->rows; row += 1 + draw (MAX (c->rows / 100, 5))) /* long rows, from stripes */
    check_rectangle (tensor, c, row, 1, 0, c->columns);
  for (guint i = 0; i < 40; i++)
    {
      const guint row = draw (SLICES * c->rows), column = draw (c->columns);

      check_rectangle (tensor, c, row, 1 + draw (MIN (SLICES * c->rows - row, 30)), column,
                       1 + draw (c->columns - column));
    }
  tm_tensor_free (tensor);
  stored_free (words);
  stored_free (scales);
  stored_free (zeros);
}

/* --- Builds ----------------------------------------------------------------------------------------------------------- */

static void
check_builds (const TmIntegerKernels *one, const TmIntegerKernels *other)
{
  guint8 packed[48 * 96], turned[2][19 * 224];
  float scales[7 * 8], zeros[7 * 8], out[2][8][101];
  guint32 group[101];
  float *row[2][8];

  for (gsize i = 0; i < sizeof packed; i++)
    packed[i] = (guint8) draw (256);
  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    {
      scales[i] = (float) (gint) draw (2000) / 512 - 2;
      zeros[i] = (float) draw (16);
    }
  for (guint i = 0; i < 101; i++) /* some squares of one group, some of many */
    group[i] = i < 50 ? i / 17 : draw (7);
  for (guint k = 0; k < 8; k++)
    {
      row[0][k] = out[0][k];
      row[1][k] = out[1][k];
    }
  for (guint bits = 1; bits <= 8; bits++)
    for (guint first = 0; first < 40; first++)
      {
        const guint8 flip = (guint8) (first % 2 ? 1u << (bits - 1) : 0);
        const guint n = 101 - draw (20);

        memset (out, 0, sizeof out);
        one->scale_ribbon (packed, bits, first, n, flip, group, scales, zeros, 8, row[0]);
        other->scale_ribbon (packed, bits, first, n, flip, group, scales, zeros, 8, row[1]);
        g_assert_cmpmem (out[0], sizeof out[0], out[1], sizeof out[1]);
      }
  {
    static const guint8 awq[8] = { 0, 4, 1, 5, 2, 6, 3, 7 };

    memset (turned, 0, sizeof turned);
    one->turn_nibbles (packed, 96, 19, 48, awq, turned[0], 224);
    other->turn_nibbles (packed, 96, 19, 48, awq, turned[1], 224);
    g_assert_cmpmem (turned[0], sizeof turned[0], turned[1], sizeof turned[1]);
    for (guint r = 0; r < 48; r++)
      for (guint a = 0; a < 19 * 8; a++)
        {
          const guint8 byte = packed[r * 96 + a / 8 * 4 + awq[a % 8] / 2];
          const guint8 to = turned[0][a / 8 * 224 + r / 8 * 32 + a % 8 * 4 + r % 8 / 2];

          g_assert_cmpuint (byte >> (awq[a % 8] % 2 * 4) & 15, ==, to >> (r % 2 * 4) & 15);
        }
  }
}

static void
test_builds (void)
{
  check_builds (&tm_kernels_portable.integer, &tm_kernels_plain_c.integer);
  check_builds (&tm_kernels_portable.integer, &tm_kernels_get ()->integer);
}

int
main (int argc, char **argv)
{
  static const Case cases[] = {
    { "/ribbons/gptq-4", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 4, 61, 200, 24 },
    { "/ribbons/gptq-4-act-order", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 4, 61, 200, 24, 0, TRUE },
    { "/ribbons/gptq-2", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 2, 37, 160, 32 },
    { "/ribbons/gptq-3", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 3, 24, 352, 32 },
    { "/ribbons/gptq-5", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 5, 19, 128, 40, 16 },
    { "/ribbons/gptq-8", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 8, 40, 100, 24, 0x80 },
    { "/ribbons/planes-3", TM_WORDS_ALONG_ROWS, TM_ORDER_PLANES, 3, 24, 128, 32 },
    { "/ribbons/padded-3", TM_WORDS_ALONG_ROWS, TM_ORDER_PADDED, 3, 24, 128, 32 },
    { "/ribbons/one-row", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 4, 1, 64, 32 },
    { "/ribbons/awq", TM_WORDS_ALONG_COLUMNS, TM_ORDER_AWQ, 4, 72, 203, 24 },
    { "/ribbons/awq-act-order", TM_WORDS_ALONG_COLUMNS, TM_ORDER_AWQ, 4, 61, 203, 24, 0, TRUE },
    { "/ribbons/across", TM_WORDS_ALONG_COLUMNS, TM_ORDER_STREAM, 4, 136, 100, 100 },
    { "/ribbons/long-rows", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 4, 43, 9000, 128, 0, TRUE },
    { "/ribbons/narrow", TM_WORDS_ALONG_ROWS, TM_ORDER_STREAM, 4, 600000, 1, 1 },
    { "/ribbons/awq-narrow", TM_WORDS_ALONG_COLUMNS, TM_ORDER_AWQ, 4, 600000, 2, 1 },
    { "/ribbons/awq-long-rows", TM_WORDS_ALONG_COLUMNS, TM_ORDER_AWQ, 4, 48, 9000, 128 },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_test_add_data_func (cases[i].path, &cases[i], check);
  g_test_add_func ("/ribbons/builds", test_builds);
  return g_test_run ();
}
