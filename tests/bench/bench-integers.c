/* Decode speed of integer codes in packed words, through the same call as everybody's: a ratio to copying as many floats,
 * beside Q4_0 of the same run. Whole rows in order, as scans read them; and tiles of 256 × 256. Printed, never asserted.
 *
 *   bench-integers [NAME] */
#include <stdlib.h>

#include "bench/convention.h"
#include "quant/packed-integer.h"

#define GROUP 128u
#define GROUPS (COLUMNS / GROUP)

static double q4;
static const char *only; /* the beginning of a name */

/* As another tensor: no stripe of the pass before is its own. */
static void
forget (TmTensor *tensor)
{
  ((TmPackedInteger *) tensor->codec_data)->owner = tm_stripe_owner_new ();
}

static void
report_tiles (TmTensor *tensor)
{
  float *out = g_malloc (65536 * sizeof *out);
  double best = 1e9;

  for (guint repeat = 0; repeat < 8; repeat++)
    {
      gint64 start;

      forget (tensor);
      start = g_get_monotonic_time ();
      for (gsize r = 0; r < ROWS; r += 256)
        for (gsize c = 0; c < COLUMNS; c += 256)
          if (!tm_tensor_decode_rectangle (tensor, TM_QUANTITY_VALUE, r * COLUMNS + c, 256, 256, out, NULL, NULL))
            g_error ("cannot be decoded");
      best = MIN (best, (double) (g_get_monotonic_time () - start));
    }
  g_print ("%-28s %8.2f Ge/s\n", "  tiles of 256 x 256", (double) N / best / 1e3);
  g_free (out);
}

static void
measure (const char *name, TmPackedInteger data, const TmStored *words)
{
  TmTensor *tensor;

  if (only && !g_str_has_prefix (name, only))
    return;
  tensor = tensor_new (words);
  data.words = words;
  data.n_slices = 1;
  data.n_rows = ROWS;
  data.n_columns = COLUMNS;
  data.n_groups = GROUPS;
  data.group_size = GROUP;
  data.formula = "scale × (q − zero)";
  tm_packed_integer_attach (tensor, g_memdup2 (&data, sizeof data));
  bench_before = forget;
  report (name, tensor, &q4);
  report_tiles (tensor);
  tm_tensor_free (tensor);
}

int
main (int argc, char **argv)
{
  TmStored *q4_0 = STORE (Q4_0, ROWS, COLUMNS), *scales = STORE (F16, GROUPS, ROWS),
           *row_scales = STORE (F16, ROWS, GROUPS);
  TmStored *gptq = STORE (I32, COLUMNS / 8, ROWS), *gptq3 = STORE (I32, COLUMNS * 3 / 32, ROWS);
  TmStored *gptq8 = STORE (I32, COLUMNS / 4, ROWS), *zeros = STORE (I32, GROUPS, ROWS / 8),
           *zeros8 = STORE (I32, GROUPS, ROWS / 4);
  TmStored *awq = STORE (I32, COLUMNS, ROWS / 8), *rows = STORE (I32, ROWS, COLUMNS / 8),
           *tiles = STORE (I16, ROWS / 4, COLUMNS);
  TmStored *rows3 = STORE (I32, ROWS, COLUMNS * 3 / 32), *pairs = STORE (U8, ROWS / 2, COLUMNS),
           *bytes = STORE (I8, ROWS, COLUMNS);
  TmStored *row_zeros = STORE (I32, ROWS, 4), *fast_zeros = STORE (F16, GROUPS, ROWS);
  const TmGroupParameter down = { .kind = TM_PARAMETER_ELEMENTS, .stored = scales, .row_step = 1, .group_step = ROWS };
  const TmGroupParameter across
      = { .kind = TM_PARAMETER_ELEMENTS, .stored = row_scales, .row_step = GROUPS, .group_step = 1 };
  const TmGroupParameter packed = { .kind = TM_PARAMETER_CODES,
                                    .stored = zeros,
                                    .lines_are_groups = TRUE,
                                    .add = 1,
                                    .layout = { TM_ORDER_STREAM, 4, FALSE, ROWS / 2, 0 } };
  TmGroupParameter packed8 = packed, awq_zeros = packed, middle = { .kind = TM_PARAMETER_CONSTANT, .constant = 8 };
  guint32 *table = g_new (guint32, COLUMNS);

  only = argc > 1 ? argv[1] : NULL;
  packed8.stored = zeros8;
  packed8.layout = (TmCodeLayout) { TM_ORDER_STREAM, 8, FALSE, ROWS, 0 };
  awq_zeros.layout.order = TM_ORDER_AWQ;
  awq_zeros.add = 0;
  for (guint i = 0; i < COLUMNS; i++)
    table[i] = i * 7919 % GROUPS;
  g_print ("%-28s %8s %10s %10s\n", "scheme", "Ge/s", "x memcpy", "x Q4_0");
  {
    TmTensor *tensor = tensor_new (q4_0);

    tm_codec_attach_simple (tensor);
    report ("ggml Q4_0", tensor, &q4);
  }
#define DATA(how, ...) ((TmPackedInteger) { .arrangement = TM_WORDS_##how, __VA_ARGS__ })
  measure ("gptq 4, group 128",
           DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 4, TRUE, ROWS, 0 }, .scale = down, .zero = packed), gptq);
  measure (
      "gptq 4, act-order",
      DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 4, TRUE, ROWS, 0 }, .scale = down, .zero = packed, .index = table),
      gptq);
  measure ("gptq 3", DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 3, TRUE, ROWS, 0 }, .scale = down, .zero = packed),
           gptq3);
  measure ("gptq 8", DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 8, TRUE, ROWS, 0 }, .scale = down, .zero = packed8),
           gptq8);
  measure ("awq gemm",
           DATA (ALONG_COLUMNS, .layout = { TM_ORDER_AWQ, 4, FALSE, ROWS / 2, 0 }, .scale = down, .zero = awq_zeros),
           awq);
  measure ("awq gemv",
           DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 4, FALSE, COLUMNS / 2, 0 }, .scale = across,
                 .zero
                 = { .kind = TM_PARAMETER_CODES, .stored = row_zeros, .layout = { TM_ORDER_STREAM, 4, FALSE, 16, 0 } }),
           rows);
  measure ("awq gemv-fast",
           DATA (TILES, .layout = { TM_ORDER_STREAM, 4, FALSE, COLUMNS * 2, 0 }, .scale = down, .zero_is_offset = TRUE,
                 .zero = { .kind = TM_PARAMETER_ELEMENTS, .stored = fast_zeros, .row_step = 1, .group_step = ROWS }),
           tiles);
  measure ("compressed-tensors int4",
           DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 4, FALSE, COLUMNS / 2, 0 }, .scale = across, .zero = middle),
           rows);
  measure (
      "compressed-tensors int3",
      DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 3, FALSE, COLUMNS * 3 / 8, 0 }, .scale = across, .zero = middle),
      rows3);
  measure ("modelopt int4",
           DATA (ROW_PAIRS, .layout = { TM_ORDER_STREAM, 4, FALSE, COLUMNS, 0 }, .scale = across, .flip = 8), pairs);
  measure ("int8",
           DATA (ALONG_ROWS, .layout = { TM_ORDER_STREAM, 8, FALSE, COLUMNS, 0 }, .scale = across, .flip = 0x80,
                 .is_signed = TRUE),
           bytes);
  return EXIT_SUCCESS;
}
