/* The picture of a block: for every block type fields cover every byte once, own bits are those of the record's places. */
#include "view/packing-card.h"

#include <string.h>

#include "quant/stored.h"

#define ROWS 3
#define AT 5

static TmTensor *
random_tensor (TmDtype dtype, TmStored **stored, GRand *rand)
{
  const TmDtypeInfo *info = tm_dtype_get_info (dtype);
  guint64 shape[2] = { ROWS, 2 * info->block_elements };
  gsize n = ROWS * 2 * info->block_bytes;
  g_autofree guint8 *bytes = g_malloc (n);

  for (gsize i = 0; i < n; i++)
    bytes[i] = (guint8) g_rand_int_range (rand, 0, 256);
  return make_tensor (dtype, 2, shape, bytes, n, AT, FALSE, stored);
}

static void
check_card (TmDtype dtype, const TmTensor *tensor, const TmStored *stored, const guint64 *index)
{
  const TmDtypeInfo *info = tm_dtype_get_info (dtype);
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (TmPackingCard) card = NULL;
  g_autofree guint *seen = NULL;
  guint64 block = index[0] * 2 + index[1] / info->block_elements, covered = 0;

  g_assert_true (tm_tensor_explain (tensor, index, &scalar, &error));
  card = tm_packing_card_new (tensor, &scalar, &error);
  g_assert_no_error (error);
  g_assert_nonnull (card);
  g_assert_true (g_str_has_prefix (card->title, info->name));

  /* one run: the block, and nothing but the block */
  g_assert_cmpuint (card->runs->len, ==, 1);
  const TmPackingRun *run = g_ptr_array_index (card->runs, 0);
  g_assert_true (run->stored == stored);
  g_assert_cmpuint (run->first, ==, block * info->block_bytes);
  g_assert_cmpuint (run->n, ==, info->block_bytes);
  g_assert_false (run->cut_before || run->cut_after);

  /* legend entries are the fields: together the block, each byte in exactly one */
  seen = g_new0 (guint, card->legend->len);
  for (guint i = 0; i < run->n; i++)
    {
      guint8 byte;
      g_assert_cmpuint (run->byte[i].legend, <, card->legend->len);
      const TmPackingLegend *entry = &g_array_index (card->legend, TmPackingLegend, run->byte[i].legend);
      g_assert_cmpuint (entry->byte + run->byte[i].at, ==, run->first + i);
      seen[run->byte[i].legend]++;
      g_assert_true (tm_source_read (stored->source, stored->offset + run->first + i, &byte, 1, NULL));
      g_assert_cmpuint (run->byte[i].value, ==, byte);
    }
  for (guint f = 0; f < card->legend->len; f++)
    {
      const TmPackingLegend *entry = &g_array_index (card->legend, TmPackingLegend, f);
      g_assert_cmpuint (entry->bits, ==, 8 * (guint64) seen[f]);
      covered += entry->bits;
    }
  g_assert_cmpuint (covered, ==, 8 * (guint64) info->block_bytes);

  /* every place of the record is marked as the value's own */
  for (guint l = 0; l < scalar.n_locations; l++)
    {
      const TmLocation *at = &scalar.location[l];
      guint64 byte = at->byte - stored->offset - run->first;
      g_assert_cmpuint (byte, <, run->n);
      g_assert_cmpuint (run->byte[byte].own >> at->bit & ((1u << at->bits) - 1), ==, (1u << at->bits) - 1);
      g_autofree char *text = tm_packing_card_describe_byte (card, run, (guint) byte);
      g_assert_nonnull (strstr (text, "own"));
    }
  g_autofree char *raw = g_strdup_printf ("= %" G_GINT64_FORMAT, scalar.raw);
  if (scalar.has_raw)
    g_assert_nonnull (strstr (card->bits, raw));
  g_assert_true (g_utf8_validate (card->description, -1, NULL));
}

static void
test_block (gconstpointer data)
{
  TmDtype dtype = (TmDtype) GPOINTER_TO_UINT (data);
  const TmDtypeInfo *info = tm_dtype_get_info (dtype);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7 + dtype);
  TmStored *stored;
  TmTensor *tensor = random_tensor (dtype, &stored, rand);

  for (guint64 column = 0; column < info->block_elements; column++)
    {
      guint64 first[2] = { 0, column }, last[2] = { ROWS - 1, info->block_elements + column };
      check_card (dtype, tensor, stored, first);
      check_card (dtype, tensor, stored, last);
    }
  free_tensor (tensor, stored);
}

/* The mock-up's scalar: column 514 of a Q6_K row is element 2 of block 2; its bits are in ql[2] and qh[2]. */
static void
test_words (void)
{
  guint64 shape[2] = { 1, 768 }, index[2] = { 0, 514 };
  g_autofree guint8 *bytes = g_malloc0 (3 * 210);
  guint8 *block = bytes + 2 * 210;
  g_auto (TmScalar) scalar = TM_SCALAR_INIT;
  g_autoptr (GError) error = NULL;
  TmStored *stored;

  block[2] = 0x49;
  block[128 + 2] = 0xCA;
  block[192] = 0x2E;
  block[208] = 0x0C;
  block[209] = 0x02;
  TmTensor *tensor = make_tensor (TM_DTYPE_Q6_K, 2, shape, bytes, 3 * 210, 0, FALSE, &stored);
  g_assert_true (tm_tensor_explain (tensor, index, &scalar, &error));
  g_autoptr (TmPackingCard) card = tm_packing_card_new (tensor, &scalar, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (card->place, ==, "block 2 of row 0 · file 0x1A4");
  g_assert_cmpstr (card->bits, ==,
                   "qh[2] bits 0-1  10 of 0xCA\nql[2] bits 0-3  1001 of 0x49\nraw = 10 1001₂ = 41\n"
                   "sc: scales[0] = 0x2E = 46\nd = 0x020C = 3.1232834e-05");
  g_clear_pointer (&card, tm_packing_card_unref);

  /* an ordinary tensor has no such picture, and says so */
  guint64 plain_shape[1] = { 4 }, zero[1] = { 0 };
  TmStored *plain_stored;
  TmTensor *plain = make_tensor (TM_DTYPE_F32, 1, plain_shape, bytes, 16, 0, FALSE, &plain_stored);
  g_auto (TmScalar) ordinary = TM_SCALAR_INIT;
  g_assert_true (tm_tensor_explain (plain, zero, &ordinary, &error));
  g_assert_null (tm_packing_card_new (plain, &ordinary, &error));
  g_assert_nonnull (error);
  free_tensor (plain, plain_stored);
  free_tensor (tensor, stored);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint dtype = 0; dtype < TM_N_DTYPES; dtype++)
    {
      const TmDtypeInfo *info = tm_dtype_get_info ((TmDtype) dtype);
      if (!info->quantized || tm_block_codec_get ((TmDtype) dtype) == NULL)
        continue;
      g_autofree char *path = g_strdup_printf ("/packing/%s", info->name);
      g_test_add_data_func (path, GUINT_TO_POINTER (dtype), test_block);
    }
  g_test_add_func ("/packing/words", test_words);
  return g_test_run ();
}
