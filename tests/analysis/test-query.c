/* The filter language: what matches, where errors point, what has to be known. */
#include "planted.h"

#include <string.h>

#include "analysis/query.h"
#include "io/error.h"

static TmModel *
make_model (void)
{
  Planted planted;
  const float zeros[64] = { 0 };
  g_autofree float *noise = planted_noise (64 * 64, 1);
  gsize count;
  g_autofree guint8 *bytes = planted_q8_0 (noise, 64 * 64, &count);

  planted_begin (&planted, "GGUF", "llama");
  planted_bytes (&planted, "blk.0.ffn_up.weight", TM_DTYPE_Q8_0, 2, (guint64[]){ 64, 64 }, bytes, count);
  planted_bytes (&planted, "blk.0.attn_q.weight", TM_DTYPE_Q8_0, 2, (guint64[]){ 32, 128 }, bytes, count);
  planted_vector (&planted, "blk.0.ffn_norm.weight", 64, zeros);
  planted_matrix (&planted, "output.weight", 16, 64, noise);
  return planted_end (&planted);
}

/* Matching tensors as digits. */
static char *
find (TmModel *model, const char *text, TmStatisticsSet *set)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmQuery) query = tm_query_parse (text, NULL, &error);
  g_autoptr (GArray) found = NULL;
  GString *digits = g_string_new (NULL);

  g_assert_no_error (error);
  if (set != NULL)
    g_assert_true (tm_query_prepare (query, set, NULL, NULL, NULL, NULL));
  found = tm_query_run (query, model, set, NULL);
  for (guint i = 0; i < found->len; i++)
    g_string_append_printf (digits, "%u", g_array_index (found, guint, i));
  return g_string_free (digits, FALSE);
}

static void
test_matches (void)
{
  static const struct { const char *text, *found; } cases[] = {
    { "", "0123" }, { "  ", "0123" }, { "ffn", "02" }, { "FFN", "02" }, { "blk.0.attn_q.weight", "1" }, { "*.weight", "0123" },
    { "attn", "1" }, { "ffn*", "" }, { "*ffn_??.*", "0" }, { "\"ffn_up\"", "0" }, { "\"*\"", "" },
    { "dtype:Q8_0", "01" }, { "dtype:q8_0", "01" }, { "dtype:Q8", "" }, { "dtype:Q8*", "01" }, { "dtype!=Q8_0", "23" },
    { "module:*.ffn_*", "02" }, { "module:blk", "012" }, { "scheme:ggml", "01" }, { "is:quantized", "01" }, { "is:ordinary", "23" },
    { "is:matrix", "013" }, { "is:faulty", "" }, { "granularity:per-group", "01" },
    { "rows>32", "0" }, { "rows>=32", "01" }, { "rows < 32", "23" }, { "rows=16", "3" }, { "rows:16", "3" }, { "rows!=16", "012" },
    { "columns>64", "1" }, { "rank=1", "2" }, { "parameters>=4.096k", "01" }, { "parameters>4Ki", "" }, { "bytes<1KiB", "2" },
    { "bpw<10", "01" }, { "bits=8", "01" },
    { "ffn not norm", "0" }, { "ffn -norm", "0" }, { "ffn and not norm", "0" }, { "ffn !norm", "0" }, { "not (ffn or attn)", "3" },
    { "attn or ffn norm", "12" }, { "(attn or ffn) norm", "2" }, { "not not ffn", "02" }, { "attn OR norm", "12" },
    { "-(rows>32 or columns>64) dtype:F32", "23" }, { "((((attn))))", "1" }, { "order", "" }, { "or=1", NULL },
    { "zeros>50%", "2" }, { "zeros=64", "2" }, { "nan>0", "" }, { "nan=0 inf=0", "0123" }, { "absmax>0.5", "013" },
    { "min<-0.5", "013" }, { "codes>10", "01" }, { "codes<256 std>0.1", "01" }, { "absmax=0 or codes>10", "012" },
    /* What is not known matches neither way. */
    { "sqnr<20", "" }, { "not sqnr<20", "" }, { "sqnr<20 or attn", "1" }, { "bits<100", "01" }, { "not bits<100", "" },
  };
  g_autoptr (TmModel) model = make_model ();
  g_autoptr (TmStatisticsSet) set = tm_statistics_set_new (model);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    if (cases[i].found != NULL)
      {
        g_autofree char *found = find (model, cases[i].text, set);

        if (strcmp (found, cases[i].found) != 0)
          g_error ("\"%s\" finds %s, not %s", cases[i].text, found, cases[i].found);
      }
}

static void
test_errors (void)
{
  static const struct { const char *text; guint at; } cases[] = {
    { "(a", 0 }, { "a)", 1 }, { "a (b", 2 }, { "a and", 5 }, { "or a", 0 }, { "()", 1 }, { "foo:1", 0 }, { "a foo>1", 2 },
    { "rows>", 5 }, { "rows>x", 5 }, { "rows>12x", 7 }, { "rows>5%", 6 }, { "dtype>Q8", 5 }, { "dtype:", 6 }, { "is:big", 3 },
    { "\"a", 0 }, { ">5", 0 }, { "not", 3 }, { "über ( foo:1", 7 }, { "rows>1e999", 5 }, { "sqnr<nan", 5 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      guint at = G_MAXUINT;
      g_autofree char *place = g_strdup_printf ("at character %u", cases[i].at + 1);
      g_autoptr (TmQuery) query = tm_query_parse (cases[i].text, &at, &error);

      g_assert_null (query);
      g_assert_error (error, TM_ERROR, TM_ERROR_ADDRESS);
      if (at != cases[i].at)
        g_error ("\"%s\" fails at %u, not %u: %s", cases[i].text, at, cases[i].at, error->message);
      g_assert_true (g_str_has_suffix (error->message, place));
    }
}

static void
test_deep (void)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (TmQuery) query = NULL;

  for (guint i = 0; i < 100000; i++)
    g_string_append_c (text, '(');
  query = tm_query_parse (text->str, NULL, &error);
  g_assert_error (error, TM_ERROR, TM_ERROR_ADDRESS);
  g_string_assign (text, "a");
  for (guint i = 0; i < 100000; i++)
    g_string_append (text, " or a");
  g_clear_error (&error);
  query = tm_query_parse (text->str, NULL, &error);
  g_assert_no_error (error);
  g_string_free (text, TRUE);
}

static void
test_needs (void)
{
  static const struct { const char *text; TmQueryNeeds needs; } cases[] = {
    { "rows>3 a", 0 }, { "absmax>3", TM_QUERY_NEEDS_VALUES }, { "codes=3", TM_QUERY_NEEDS_CODES },
    { "sqnr<3 or (nan>0)", TM_QUERY_NEEDS_DIFF | TM_QUERY_NEEDS_VALUES },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (TmQuery) query = tm_query_parse (cases[i].text, NULL, NULL);

      g_assert_cmpint (tm_query_get_needs (query), ==, cases[i].needs);
    }
}

/* Without statistics nothing that needs them is claimed. */
static void
test_not_computed (void)
{
  g_autoptr (TmModel) model = make_model ();
  g_autofree char *found = find (model, "zeros>50%", NULL), *other = find (model, "not zeros>50%", NULL);

  g_assert_cmpstr (found, ==, "");
  g_assert_cmpstr (other, ==, "");
}

static void
test_compared (void)
{
  g_autoptr (TmModel) candidate = make_model (), reference = make_model ();
  g_autoptr (TmAlignment) alignment = tm_align (candidate, reference, NULL, 0, NULL, NULL, NULL, NULL);
  g_autoptr (TmDiff) diff = tm_diff_run (alignment, NULL, NULL, NULL, NULL);
  g_autoptr (TmQuery) exact = tm_query_parse ("sqnr>100 maxerror=0", NULL, NULL), poor = tm_query_parse ("sqnr<20", NULL, NULL);
  g_autoptr (GArray) all = tm_query_run (exact, candidate, NULL, diff), none = tm_query_run (poor, candidate, NULL, diff);

  g_assert_cmpuint (all->len, ==, diff->tensors->len);
  g_assert_cmpuint (all->len, >, 0);
  g_assert_cmpuint (none->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  tm_statistics_set_cache_folder (NULL);
  g_test_add_func ("/query/matches", test_matches);
  g_test_add_func ("/query/errors", test_errors);
  g_test_add_func ("/query/deep", test_deep);
  g_test_add_func ("/query/needs", test_needs);
  g_test_add_func ("/query/not-computed", test_not_computed);
  g_test_add_func ("/query/compared", test_compared);
  return g_test_run ();
}
