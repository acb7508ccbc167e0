/* Every file of golden/safetensors-bad: refused where its header cannot be read, else opened with the fault named, and as
 * strict as the reference reader. */
#include "formats-test.h"
#include "io/json.h"

typedef struct
{
  const char *file;
  gboolean reference_accepts;
  int refused;      /* error code, or −1: it opens */
  const char *says; /* refused: part of the message; opens: "severity code" of a problem, NULL for none at all */
} Answer;

static const Answer answers[] = {
  { "empty-file.safetensors", FALSE, TM_ERROR_KIND, "empty" },
  { "seven-bytes.safetensors", FALSE, TM_ERROR_TRUNCATED, "ends at byte 7" },
  { "length-zero.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 8" },
  { "truncated-header.safetensors", FALSE, TM_ERROR_TRUNCATED, "reaches past the end" },
  { "length-one-past-end.safetensors", FALSE, TM_ERROR_TRUNCATED, "reaches past the end" },
  { "length-100000001.safetensors", FALSE, TM_ERROR_FORMAT, "it is 100000001" },
  { "length-100000000-short-file.safetensors", FALSE, TM_ERROR_TRUNCATED, "reaches past the end" },
  { "length-all-ones.safetensors", FALSE, TM_ERROR_FORMAT, "it is 18446744073709551615" },
  { "length-2pow63.safetensors", FALSE, TM_ERROR_FORMAT, "it is 9223372036854775808" },
  { "length-big-endian.safetensors", FALSE, TM_ERROR_FORMAT, "it is 576460752303423488" },
  { "git-lfs-pointer.safetensors", FALSE, TM_ERROR_KIND, "Git LFS pointer" },
  { "zip-pickle.safetensors", FALSE, TM_ERROR_KIND, "a zip archive" },
  { "gguf-renamed.safetensors", FALSE, TM_ERROR_KIND, "a GGUF file under" },
  { "not-json.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 8" },
  { "top-array.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 8" },
  { "top-null.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 8" },
  { "top-string.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 9" },
  { "non-utf8.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 10" },
  { "utf8-overlong.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 10" },
  { "utf8-surrogate.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 10" },
  { "bom.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 8" },
  { "text-after-object.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 10" },
  { "two-objects.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 11" },
  { "nul-padding.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 10" },
  { "truncated-json.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 32" },
  { "trailing-comma.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 62" },
  { "comment.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 9" },
  { "single-quotes.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 9" },
  { "raw-control-char-name.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 11" },
  { "raw-nul-in-name.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 11" },
  { "lone-surrogate-escape.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 11" },
  { "bad-escape.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 11" },
  { "deep-nesting-extra-field.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 190" },
  { "deep-nesting-tensor.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 643" },
  { "deep-nesting-unclosed.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 139" },
  { "metadata-number-value.safetensors", FALSE, -1, "warning metadata-type" },
  { "metadata-nested.safetensors", FALSE, -1, "warning metadata-type" },
  { "metadata-null-value.safetensors", FALSE, -1, "warning metadata-type" },
  { "metadata-array.safetensors", FALSE, -1, "warning metadata-type" },
  { "metadata-string.safetensors", FALSE, -1, "warning metadata-type" },
  { "metadata-is-tensor.safetensors", FALSE, -1, "warning metadata-type" },
  { "duplicate-metadata.safetensors", FALSE, -1, "warning duplicate-key" },
  { "duplicate-metadata-inner.safetensors", TRUE, -1, "warning duplicate-key" },
  { "duplicate-tensor-same.safetensors", TRUE, -1, "warning duplicate-name" },
  { "duplicate-tensor-different.safetensors", TRUE, -1, "warning duplicate-name" },
  { "duplicate-tensor-escaped.safetensors", TRUE, -1, "warning duplicate-name" },
  { "duplicate-tensor-two-ranges.safetensors", FALSE, -1, "warning duplicate-name" },
  { "duplicate-field.safetensors", FALSE, -1, "error duplicate-field" },
  { "missing-dtype.safetensors", FALSE, -1, "error tensor-field" },
  { "missing-shape.safetensors", FALSE, -1, "error tensor-field" },
  { "missing-offsets.safetensors", FALSE, -1, "error tensor-field" },
  { "entry-is-number.safetensors", FALSE, -1, "error tensor-field" },
  { "entry-is-null.safetensors", FALSE, -1, "error tensor-field" },
  { "dtype-unknown.safetensors", FALSE, -1, "error unknown-dtype" },
  { "dtype-lowercase.safetensors", FALSE, -1, "error unknown-dtype" },
  { "dtype-trailing-space.safetensors", FALSE, -1, "error unknown-dtype" },
  { "dtype-number.safetensors", FALSE, -1, "error dtype" },
  { "dtype-null.safetensors", FALSE, -1, "error dtype" },
  { "shape-negative.safetensors", FALSE, -1, "error shape" },
  { "shape-float.safetensors", FALSE, -1, "error shape" },
  { "shape-exponent.safetensors", FALSE, -1, "error shape" },
  { "shape-leading-zero.safetensors", FALSE, TM_ERROR_FORMAT, "at byte 37" },
  { "shape-minus-zero.safetensors", FALSE, -1, "error shape" },
  { "shape-string.safetensors", FALSE, -1, "error shape" },
  { "shape-number.safetensors", FALSE, -1, "error shape" },
  { "shape-null.safetensors", FALSE, -1, "error shape" },
  { "shape-nested.safetensors", FALSE, -1, "error shape" },
  { "shape-above-u64.safetensors", FALSE, -1, "error shape" },
  { "overflow-product.safetensors", FALSE, -1, "error shape-overflow" },
  { "overflow-bits.safetensors", FALSE, -1, "error shape-overflow" },
  { "overflow-wraps-to-size.safetensors", FALSE, -1, "error shape-overflow" },
  { "overflow-then-zero.safetensors", FALSE, -1, "error shape-overflow" },
  { "size-too-small.safetensors", FALSE, -1, "error size-mismatch" },
  { "size-too-large.safetensors", FALSE, -1, "error size-mismatch" },
  { "scalar-wrong-size.safetensors", FALSE, -1, "error size-mismatch" },
  { "f4-odd-count.safetensors", FALSE, -1, "error sub-byte" },
  { "f6-misaligned.safetensors", FALSE, -1, "error sub-byte" },
  { "f4-size-as-u8.safetensors", FALSE, -1, "error size-mismatch" },
  { "offsets-negative.safetensors", FALSE, -1, "error offsets" },
  { "offsets-float.safetensors", FALSE, -1, "error offsets" },
  { "offsets-one.safetensors", FALSE, -1, "error offsets" },
  { "offsets-three.safetensors", FALSE, -1, "error offsets" },
  { "offsets-object.safetensors", FALSE, -1, "error offsets" },
  { "offsets-reversed.safetensors", FALSE, -1, "error offsets" },
  { "offsets-past-end.safetensors", FALSE, -1, "error past-end" },
  { "offsets-huge.safetensors", FALSE, -1, "error shape-overflow" },
  { "offsets-end-wraps-file.safetensors", FALSE, -1, "error past-end" },
  { "hole-at-start.safetensors", FALSE, -1, "warning hole" },
  { "hole-between.safetensors", FALSE, -1, "warning hole" },
  { "overlap.safetensors", FALSE, -1, "warning overlap" },
  { "overlap-identical.safetensors", FALSE, -1, "warning overlap" },
  { "empty-inside-other.safetensors", FALSE, -1, "warning empty-range" },
  { "empty-at-far-offset.safetensors", FALSE, -1, "warning empty-range" },
  { "trailing-bytes.safetensors", FALSE, -1, "warning trailing-bytes" },
  { "data-truncated.safetensors", FALSE, -1, "error past-end" },
  { "data-missing.safetensors", FALSE, -1, "error past-end" },
  { "trailing-bytes-no-tensor.safetensors", FALSE, -1, "warning trailing-bytes" },
  { "ok-two-tensors.safetensors", TRUE, -1, NULL },
  { "ok-file-order-differs.safetensors", TRUE, -1, NULL },
  { "ok-no-tensors.safetensors", TRUE, -1, NULL },
  { "ok-metadata-only.safetensors", TRUE, -1, NULL },
  { "ok-metadata-null.safetensors", TRUE, -1, NULL },
  { "ok-scalar.safetensors", TRUE, -1, NULL },
  { "ok-zero-size.safetensors", TRUE, -1, NULL },
  { "ok-zero-then-huge.safetensors", TRUE, -1, NULL },
  { "ok-unaligned-header.safetensors", TRUE, -1, NULL },
  { "ok-misaligned-f64.safetensors", TRUE, -1, NULL },
  { "ok-whitespace-inside.safetensors", TRUE, -1, NULL },
  { "ok-name-empty.safetensors", TRUE, -1, NULL },
  { "ok-name-escaped-nul.safetensors", TRUE, -1, NULL },
  { "ok-name-path.safetensors", TRUE, -1, NULL },
  { "ok-name-astral-escape.safetensors", TRUE, -1, NULL },
  { "ok-name-long.safetensors", TRUE, -1, NULL },
  { "ok-extra-field.safetensors", TRUE, -1, NULL },
  { "ok-rank-70.safetensors", TRUE, -1, NULL },
  { "ok-f4.safetensors", TRUE, -1, NULL },
  { "odd-leading-space.safetensors", TRUE, -1, NULL },
  { "odd-entry-as-array.safetensors", TRUE, -1, "warning odd-entry" },
  { "odd-dtype-as-object.safetensors", TRUE, -1, "warning odd-entry" },
};

static void
test_answers (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    {
      const Answer *answer = &answers[i];
      g_autofree char *path = golden ("safetensors-bad", answer->file);
      g_autoptr (TmModel) model = NULL;
      g_auto (GStrv) words = NULL;

      g_test_message ("%s", answer->file);
      if (answer->refused >= 0)
        {
          g_autofree char *message = refuse (path, answer->refused);

          if (strstr (message, answer->says) == NULL)
            g_error ("%s: \"%s\" does not say \"%s\"", answer->file, message, answer->says);
          continue;
        }
      model = open_model (path);
      if (!answer->reference_accepts)
        g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), >, 0);
      if (answer->says == NULL)
        {
          g_assert_cmpuint (model->problems->len, ==, 0);
          continue;
        }
      words = g_strsplit (answer->says, " ", 2);
      assert_problem (model, words[1], NULL, strcmp (words[0], "error") == 0 ? TM_SEVERITY_ERROR : TM_SEVERITY_WARNING);
      /* An error about a tensor is its fault; a warning leaves its values alone. */
      for (guint j = 0; j < model->stored->len; j++)
        g_assert_cmpint (tm_model_stored (model, j)->fault != NULL, ==, strcmp (words[0], "error") == 0);
    }
}

/* The table above has every file of the manifest, with the reference's answer. */
static void
test_manifest (void)
{
  g_autofree char *path = golden ("safetensors-bad", "manifest.json");
  g_autofree char *text = NULL;
  g_auto (TmJson) json = { 0 };
  const Answer *answer = NULL;
  gsize length;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  tm_json_init (&json, text, length, 0);
  while (tm_json_next (&json) > TM_JSON_END)
    {
      gboolean file, reference;

      if (json.token != TM_JSON_KEY || json.depth != 3)
        continue;
      file = tm_json_string_equals (&json, "file");
      reference = tm_json_string_equals (&json, "reference");
      tm_json_next (&json);
      if (file)
        {
          g_autofree char *name = tm_json_dup_string (&json, NULL);

          n++;
          answer = NULL;
          for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
            if (strcmp (answers[i].file, name) == 0)
              answer = &answers[i];
          g_assert_nonnull (answer);
        }
      else if (reference)
        g_assert_cmpint (answer->reference_accepts, ==, tm_json_string_equals (&json, "accepts"));
    }
  g_assert_cmpint (json.token, ==, TM_JSON_END);
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (answers));
}

static void
test_names (void)
{
  static const struct { const char *file, *name; } rows[] = {
    { "ok-name-empty.safetensors", "" },
    { "ok-name-path.safetensors", "../../etc/passwd" },
    { "duplicate-tensor-escaped.safetensors", "a" },
  };
  g_autofree char *nul = golden ("safetensors-bad", "ok-name-escaped-nul.safetensors");
  g_autofree char *astral = golden ("safetensors-bad", "ok-name-astral-escape.safetensors");
  g_autofree char *duplicate = golden ("safetensors-bad", "duplicate-tensor-escaped.safetensors");
  g_autoptr (TmModel) model = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = golden ("safetensors-bad", rows[i].file);
      g_autoptr (TmModel) named = open_model (path);

      g_assert_cmpint (tm_model_find_stored (named, rows[i].name), ==, 0);
    }
  model = open_model (nul);
  g_assert_nonnull (strstr (tm_model_stored (model, 0)->name, "\xc0\x80"));
  g_set_object (&model, NULL);
  model = open_model (astral);
  g_assert_true (g_utf8_validate (tm_model_stored (model, 0)->name, -1, NULL));
  g_set_object (&model, NULL);
  model = open_model (duplicate);
  g_assert_cmpuint (model->stored->len, ==, 2);
  g_assert_cmpint (tm_model_find_stored (model, "a#1"), ==, 0);
  g_assert_cmpint (tm_model_find_stored (model, "a#2"), ==, 1);
}

/* Every dtype of the format. */
static void
test_plain_dtypes (void)
{
  g_autofree char *folder = golden ("quant", "plain-dtypes");
  g_autoptr (TmModel) model = open_model (folder);
  guint64 seen = 0;

  g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_WARNING), ==, 0);
  for (guint i = 0; i < model->stored->len; i++)
    {
      const TmStored *stored = tm_model_stored (model, i);

      g_assert_cmpint (stored->dtype, !=, TM_DTYPE_UNKNOWN);
      g_assert_null (stored->fault);
      seen |= (guint64) 1 << stored->dtype;
    }
  for (guint i = TM_DTYPE_F64; i <= TM_DTYPE_C64; i++)
    if (i != TM_DTYPE_I4 && i != TM_DTYPE_I2 && i != TM_DTYPE_U4 && i != TM_DTYPE_U2)
      g_assert_true ((seen >> i & 1) != 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/safetensors/answers", test_answers);
  g_test_add_func ("/safetensors/manifest", test_manifest);
  g_test_add_func ("/safetensors/names", test_names);
  g_test_add_func ("/safetensors/plain-dtypes", test_plain_dtypes);
  return g_test_run ();
}
