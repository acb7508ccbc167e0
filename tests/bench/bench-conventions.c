/* Decode speed of the conventions inside safetensors, through the same call as everybody's: a ratio to copying as many
 * floats, beside Q4_0 of the same run. Printed, never asserted.
 *
 *   bench-conventions [NAME…] */
#include <stdlib.h>
#include <string.h>

#include "quant/aqlm.h"
#include "quant/codecs.h"
#include "quant/grouped.h"
#include "bench/convention.h"

static void
finish (TmTensor *tensor, TmGrouped *grouped, guint64 block_rows, guint64 block_columns)
{
  grouped->rows = ROWS;
  grouped->columns = COLUMNS;
  grouped->block_rows = block_rows;
  grouped->block_columns = block_columns;
  grouped->grid_rows = ROWS / block_rows;
  grouped->grid_columns = COLUMNS / block_columns;
  tm_codec_attach_grouped (tensor, grouped);
}

int
main (void)
{
  TmStored *bytes = STORE (U8, ROWS, COLUMNS), *pairs = STORE (U8, ROWS, COLUMNS / 2);
  TmStored *words = STORE (U32, ROWS, COLUMNS / 4), *byte_scales = STORE (F8_E8M0, ROWS, COLUMNS / 32);
  TmStored *e4m3_scales = STORE (F8_E4M3, ROWS, COLUMNS / 16), *half = STORE (F16, ROWS, COLUMNS / 32);
  TmStored *half2 = STORE (F16, ROWS, COLUMNS / 32), *single = STORE (F32, N / 64), *map = STORE (F32, 16);
  TmStored *one = STORE (F32, 1), *absmax8 = STORE (U8, N / 64), *nested = STORE (F32, N / 64 / 256);
  TmStored *map256 = STORE (F32, 256), *rows = STORE (F32, ROWS), *q4_0 = STORE (Q4_0, ROWS, COLUMNS);
  double q4 = 0;

  g_print ("%-28s %8s %10s %10s\n", "scheme", "Ge/s", "x memcpy", "x Q4_0");
  {
    TmTensor *tensor = tensor_new (q4_0);

    tm_codec_attach_simple (tensor);
    report ("ggml Q4_0", tensor, &q4);
  }
#define CASE(name, block_rows, block_columns, ...)                                                                     \
  {                                                                                                                    \
    TmTensor *tensor = tensor_new (bytes);                                                                             \
    TmGrouped g = { 0 };                                                                                               \
    __VA_ARGS__                                                                                                        \
    finish (tensor, &g, block_rows, block_columns);                                                                    \
    report (name, tensor, &q4);                                                                                        \
    tm_tensor_free (tensor);                                                                                           \
  }
  CASE ("mxfp4", 1, 32, tm_grouped_set_float4 (&g, pairs, FALSE);
        tm_grouped_set_scale (&g, byte_scales, TM_DTYPE_F8_E8M0);)
  CASE ("nvfp4, divisor", 1, 16, tm_grouped_set_float4 (&g, pairs, FALSE);
        tm_grouped_set_scale (&g, e4m3_scales, TM_DTYPE_F8_E4M3); tm_grouped_set_global (&g, one, TM_GLOBAL_DIVISOR);)
  CASE ("bitsandbytes nf4", 1, 64, tm_grouped_set_bitsandbytes (&g, pairs, map, single, TRUE);)
  CASE ("bitsandbytes nf4 nested", 1, 64, tm_grouped_set_bitsandbytes (&g, pairs, map, absmax8, TRUE);
        tm_grouped_set_nested (&g, nested, map256, 256, 0.1f);)
  CASE ("mlx affine 4, group 64", 1, 64, tm_grouped_set_affine (&g, pairs, 4, half);
        tm_grouped_set_scale (&g, half2, TM_DTYPE_F16);)
  CASE ("mlx affine 4, group 32", 1, 32, tm_grouped_set_affine (&g, pairs, 4, half);
        tm_grouped_set_scale (&g, half2, TM_DTYPE_F16);)
  CASE ("mlx affine 3, group 64", 1, 64, tm_grouped_set_affine (&g, words, 3, half);
        tm_grouped_set_scale (&g, half2, TM_DTYPE_F16);)
  CASE ("mlx affine 6, group 64", 1, 64, tm_grouped_set_affine (&g, words, 6, half);
        tm_grouped_set_scale (&g, half2, TM_DTYPE_F16);)
  CASE ("hqq 4, group 64", 1, 64, tm_grouped_set_hqq (&g, pairs, 4, 2, 1, N / 2, half); g.scale = half2;
        g.scale_as = TM_DTYPE_F16; g.scale_term = "scale";)
  CASE ("quanto int4, group 64", 1, 64, tm_grouped_set_quanto (&g, pairs, 4, N / 2, single); g.scale = single;
        g.scale_as = TM_DTYPE_F32; g.scale_term = "scale";)
  CASE ("float8 per channel", 1, COLUMNS, tm_grouped_set_float8 (&g, bytes, TM_DTYPE_F8_E4M3);
        tm_grouped_set_scale (&g, rows, TM_DTYPE_F32);)
  CASE ("float8, blocks of 128 x 128", 128, 128, tm_grouped_set_float8 (&g, bytes, TM_DTYPE_F8_E4M3);
        tm_grouped_set_scale (&g, rows, TM_DTYPE_F32);)
  CASE ("bitsandbytes int8", 1, COLUMNS, tm_grouped_set_row_max (&g, bytes, rows);)
  {
    TmTensor *tensor = tensor_new (bytes);
    TmAqlm aqlm = { .codes = STORE (I8, ROWS, COLUMNS / 8, 2),
                    .codebooks = STORE (F16, 2, 256, 1, 8),
                    .scales = STORE (F16, ROWS, 1, 1, 1),
                    .n_books = 2,
                    .n_entries = 256,
                    .out_group = 1,
                    .in_group = 8,
                    .columns = COLUMNS };

    tm_codec_attach_aqlm (tensor, &aqlm);
    report ("aqlm 2x8", tensor, &q4);
  }
  return EXIT_SUCCESS;
}
