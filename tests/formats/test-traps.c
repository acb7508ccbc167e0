/* Inputs that made other tools go wrong, named after their rows in testing/known-traps.md (sections A, C and H). */
#include <fcntl.h>
#include <unistd.h>

#include "formats-test.h"
#include "gguf-builder.h"
#include "io/text.h"

#define SCRATCH char *folder = make_folder ()
#define DONE remove_folder (folder)

static const float one_to_eight[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static void
assert_floats (const TmStored *stored, const float *expected, guint n)
{
  g_autofree guint8 *bytes = g_malloc (stored->bytes);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (stored->bytes, ==, 4 * n);
  g_assert_true (tm_source_read (stored->source, stored->offset, bytes, stored->bytes, &error));
  for (guint i = 0; i < n; i++)
    {
      guint32 bits, wanted;

      memcpy (&bits, bytes + 4 * i, 4);
      bits = stored->big_endian ? GUINT32_FROM_BE (bits) : GUINT32_FROM_LE (bits);
      memcpy (&wanted, &expected[i], 4);
      g_assert_cmphex (bits, ==, wanted);
    }
}

/* F32 tensor ne = [4, 2] with 1 … 8; alignment 0: no such key. */
static char *
write_simple (const char *folder, guint version, gboolean big_endian, guint alignment)
{
  Gguf gguf;

  gguf_begin (&gguf, version, big_endian, 1, alignment > 0 ? 1 : 0);
  if (alignment > 0)
    gguf_key_u32 (&gguf, "general.alignment", alignment);
  gguf_info (&gguf, "w", 2, (guint64[]){ 4, 2 }, 0, 0);
  gguf_pad (&gguf, alignment > 0 ? alignment : 32);
  gguf_floats (&gguf, one_to_eight, 8);
  gguf_pad (&gguf, alignment > 0 ? alignment : 32);
  return gguf_save (&gguf, folder, "simple.gguf");
}

static void
check_simple (const char *path, guint n_problems)
{
  g_autoptr (TmModel) model = open_model (path);
  const TmStored *w = find_stored (model, "w");

  g_assert_cmpuint (model->problems->len, ==, n_problems);
  g_assert_cmpuint (w->rank, ==, 2);
  g_assert_cmpuint (w->shape[0], ==, 2);
  g_assert_cmpuint (w->shape[1], ==, 4);
  g_assert_cmpint (w->stride[0], ==, 4);
  g_assert_cmpint (w->stride[1], ==, 1);
  assert_floats (w, one_to_eight, 8);
}

/* B001, B002: the dimension list is fastest first; 2 × 4, row 0 is 1 2 3 4. B020: offset 0 is valid. */
static void
test_dimension_order (void)
{
  SCRATCH;
  g_autofree char *path = write_simple (folder, 3, FALSE, 0);

  check_simple (path, 0);
  DONE;
}

/* B003: the key may be there, with 32 or with 64. */
static void
test_alignment_key (void)
{
  for (guint alignment = 32; alignment <= 64; alignment *= 2)
    {
      SCRATCH;
      g_autofree char *path = write_simple (folder, 3, FALSE, alignment);

      check_simple (path, 0);
      DONE;
    }
}

/* B004: another integer type is an error that names key and type. B006: 0, 3, 2^31, and i32 are refused. */
static void
test_alignment_wrong (void)
{
  static const struct { TmMetaType type; guint64 value; guint size; const char *says; } rows[] = {
    { TM_META_U64, 32, 8, "must be u32 but is u64" }, { TM_META_U16, 32, 2, "must be u32 but is u16" },
    { TM_META_I32, 32, 4, "must be u32 but is i32" }, { TM_META_U32, 0, 4, "not a power of two" },
    { TM_META_U32, 3, 4, "not a power of two" },      { TM_META_U32, 1u << 31, 4, "over the limit" },
    { TM_META_U32, 1u << 19, 4, "larger than the file" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SCRATCH;
      g_autofree char *path = NULL;
      g_autofree char *message = NULL;
      Gguf gguf;

      gguf_begin (&gguf, 3, FALSE, 0, 1);
      gguf_key (&gguf, "general.alignment", rows[i].type);
      gguf_uint (&gguf, rows[i].value, rows[i].size);
      path = gguf_save (&gguf, folder, "a.gguf");
      message = refuse (path, TM_ERROR_FORMAT);
      g_assert_nonnull (strstr (message, "general.alignment"));
      g_assert_nonnull (strstr (message, rows[i].says));
      DONE;
    }
}

/* B008, B009: told by the version field; header and data swapped. */
static void
test_big_endian (void)
{
  SCRATCH;
  g_autofree char *path = write_simple (folder, 3, TRUE, 0);
  g_autoptr (TmModel) model = open_model (path);

  g_assert_cmpstr (model->byte_order, ==, "big");
  g_assert_true (tm_model_stored (model, 0)->big_endian);
  check_simple (path, 1);
  DONE;
}

/* Block types without a settled byte order decode to nothing there, and say so; plain ones and those with fp16 alone do. */
static void
test_big_endian_blocks (void)
{
  static const struct { guint type; guint64 row; gboolean fault; } rows[] = {
    { 2, 32, FALSE },  { 3, 32, FALSE },  { 6, 32, TRUE },   { 7, 32, TRUE },   { 8, 32, FALSE },  { 12, 256, FALSE },
    { 14, 256, FALSE }, { 16, 256, TRUE }, { 17, 256, TRUE }, { 18, 256, TRUE }, { 19, 256, TRUE }, { 29, 256, TRUE },
    { 23, 256, TRUE },  { 39, 32, FALSE }, { 30, 32, FALSE }, { 15, 256, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SCRATCH;
      g_autofree char *path = NULL;
      g_autoptr (TmModel) model = NULL;
      Gguf gguf;

      gguf_begin (&gguf, 3, TRUE, 1, 0);
      gguf_info (&gguf, "w", 1, &rows[i].row, rows[i].type, 0);
      gguf_pad (&gguf, 32);
      for (guint k = 0; k < 16; k++)
        gguf_raw (&gguf, "                                ", 32);
      path = gguf_save (&gguf, folder, "b.gguf");
      model = open_model (path);
      g_assert_cmpint (tm_model_stored (model, 0)->fault != NULL, ==, rows[i].fault);
      if (rows[i].fault)
        {
          assert_problem (model, "byte-order", "w", TM_SEVERITY_ERROR);
          g_assert_nonnull (strstr (tm_model_stored (model, 0)->fault, "no byte-order convention"));
        }
      DONE;
    }
}

/* B011, B012: version 1 with one tensor is read. B013: version 2 and 3 give the same. */
static void
test_versions (void)
{
  for (guint version = 1; version <= 3; version++)
    {
      SCRATCH;
      g_autofree char *path = write_simple (folder, version, FALSE, 0);

      check_simple (path, version == 1 ? 1 : 0);
      DONE;
    }
}

/* B014: split.no counts from 0, names from 1; either part gives the whole. B016: presence is decided over the set.
 * B015 is /sets/split/metadata-only-first and /sets/split/missing-part. */
static void
test_split (void)
{
  SCRATCH;

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("m-%05u-of-00002.gguf", i + 1);
      Gguf gguf;

      gguf_begin (&gguf, 3, FALSE, 1, i == 0 ? 4 : 3);
      if (i == 0)
        gguf_key_string (&gguf, "general.architecture", "llama");
      gguf_key (&gguf, "split.no", TM_META_U16);
      gguf_uint (&gguf, i, 2);
      gguf_key (&gguf, "split.count", TM_META_U16);
      gguf_uint (&gguf, 2, 2);
      gguf_key (&gguf, "split.tensors.count", TM_META_I32);
      gguf_uint (&gguf, 2, 4);
      gguf_info (&gguf, i == 0 ? "token_embd.weight" : "output.weight", 1, (guint64[]){ 8 }, 0, 0);
      gguf_pad (&gguf, 32);
      gguf_floats (&gguf, one_to_eight, 8);
      g_free (gguf_save (&gguf, folder, name));
    }
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("m-%05u-of-00002.gguf", i + 1);
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (TmModel) model = open_model (path);

      g_assert_cmpuint (model->problems->len, ==, 0);
      g_assert_cmpuint (model->stored->len, ==, 2);
      g_assert_cmpstr (model->architecture, ==, "llama");
      assert_floats (find_stored (model, "output.weight"), one_to_eight, 8);
    }
  DONE;
}

/* B017, B018: both tensors of one name are listed, and it is said. */
static void
test_duplicate_tensor (void)
{
  SCRATCH;
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 2, 0);
  gguf_info (&gguf, "w", 1, (guint64[]){ 4 }, 0, 0);
  gguf_info (&gguf, "w", 1, (guint64[]){ 4 }, 0, 32);
  gguf_pad (&gguf, 32);
  gguf_floats (&gguf, one_to_eight, 4);
  gguf_pad (&gguf, 32);
  gguf_floats (&gguf, one_to_eight + 4, 4);
  gguf_pad (&gguf, 32);
  path = gguf_save (&gguf, folder, "d.gguf");
  model = open_model (path);
  assert_problem (model, "duplicate-name", "w", TM_SEVERITY_WARNING);
  g_assert_cmpuint (model->stored->len, ==, 2);
  assert_floats (find_stored (model, "w"), one_to_eight, 4);
  assert_floats (find_stored (model, "w#1"), one_to_eight, 4);
  assert_floats (find_stored (model, "w#2"), one_to_eight + 4, 4);
  DONE;
}

/* B019: a dimension of 0 is an empty tensor, and the next one may share its offset. */
static void
test_empty_tensor (void)
{
  SCRATCH;
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 3, 0);
  gguf_info (&gguf, "e", 2, (guint64[]){ 4, 0 }, 0, 0);
  gguf_info (&gguf, "z", 1, (guint64[]){ 0 }, 0, 0);
  gguf_info (&gguf, "w", 1, (guint64[]){ 8 }, 0, 0);
  gguf_pad (&gguf, 32);
  gguf_floats (&gguf, one_to_eight, 8);
  path = gguf_save (&gguf, folder, "e.gguf");
  model = open_model (path);
  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpuint (find_stored (model, "e")->n_elements, ==, 0);
  g_assert_cmpuint (find_stored (model, "e")->bytes, ==, 0);
  g_assert_cmpuint (find_stored (model, "z")->rank, ==, 1);
  assert_floats (find_stored (model, "w"), one_to_eight, 8);
  DONE;
}

/* B021: 5 dimensions are shown, 9 and 2^32 − 1 refused. */
static void
test_many_dimensions (void)
{
  static const guint counts[] = { 5, 8, 9, G_MAXUINT32 };
  static const guint64 ne[9] = { 2, 1, 1, 1, 4, 1, 1, 1, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      SCRATCH;
      g_autofree char *path = NULL;
      Gguf gguf;

      gguf_begin (&gguf, 3, FALSE, 1, 0);
      gguf_string (&gguf, "w");
      gguf_uint (&gguf, counts[i], 4);
      for (guint k = 0; k < MIN (counts[i], 9); k++)
        gguf_uint (&gguf, ne[k], 8);
      gguf_uint (&gguf, 0, 4);
      gguf_uint (&gguf, 0, 8);
      gguf_pad (&gguf, 32);
      gguf_floats (&gguf, one_to_eight, 8);
      path = gguf_save (&gguf, folder, "d.gguf");
      if (counts[i] > 8)
        g_free (refuse (path, TM_ERROR_FORMAT));
      else
        {
          g_autoptr (TmModel) model = open_model (path);

          assert_problem (model, "many-dimensions", "w", TM_SEVERITY_WARNING);
          g_assert_cmpuint (find_stored (model, "w")->rank, ==, counts[i]);
          assert_floats (find_stored (model, "w"), one_to_eight, 8);
        }
      DONE;
    }
}

/* B023: products that wrap. B024: size plus padding that wraps. The tensor is at fault, the rest is usable. */
static void
test_wrapping_shapes (void)
{
  static const struct { guint n; guint64 ne[4]; } rows[] = {
    { 4, { G_MAXUINT64, 2, 1, 1 } },
    { 2, { 1152, ((guint64) 1 << 42) + 1 } },
    { 1, { G_MAXUINT64 / 4 } },
    { 2, { (guint64) 1 << 33, (guint64) 1 << 31 } },
    { 2, { (guint64) 1 << 32, (guint64) 1 << 31 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SCRATCH;
      g_autofree char *path = NULL;
      g_autoptr (TmModel) model = NULL;
      Gguf gguf;

      gguf_begin (&gguf, 3, FALSE, 2, 0);
      gguf_info (&gguf, "good", 1, (guint64[]){ 8 }, 0, 0);
      gguf_info (&gguf, "bad", rows[i].n, rows[i].ne, 0, 32);
      gguf_pad (&gguf, 32);
      gguf_floats (&gguf, one_to_eight, 8);
      gguf_floats (&gguf, one_to_eight, 8);
      path = gguf_save (&gguf, folder, "w.gguf");
      model = open_model (path);
      g_assert_cmpuint (tm_model_count_problems (model, TM_SEVERITY_ERROR), ==, 1);
      g_assert_nonnull (find_stored (model, "bad")->fault);
      g_assert_null (find_stored (model, "good")->fault);
      assert_floats (find_stored (model, "good"), one_to_eight, 8);
      DONE;
    }
}

/* B025: counts and lengths are bounded by the bytes left. The speed is /scale/vocabulary. */
static void
test_counts (void)
{
  for (guint i = 0; i < 3; i++)
    {
      SCRATCH;
      g_autofree char *path = NULL;
      g_autofree char *message G_GNUC_UNUSED = NULL;
      g_autoptr (TmModel) model = NULL;
      g_autoptr (GError) error = NULL;
      Gguf gguf;

      gguf_begin (&gguf, 3, FALSE, 0, i == 0 ? (guint64) 1 << 60 : 1);
      if (i == 1)
        {
          gguf_key (&gguf, "k", TM_META_STRING);
          gguf_uint (&gguf, (guint64) 1 << 40, 8);
        }
      if (i == 2)
        {
          gguf_key (&gguf, "k", TM_META_ARRAY);
          gguf_uint (&gguf, TM_META_STRING, 4);
          gguf_uint (&gguf, 2, 8);
          gguf_string (&gguf, "fits");
          gguf_uint (&gguf, (guint64) 1 << 40, 8);
        }
      gguf_pad (&gguf, 32);
      path = gguf_save (&gguf, folder, "c.gguf");
      model = tm_model_new (path);
      g_assert_false (tm_formats_read (path, model, NULL, &error));
      g_assert_nonnull (strstr (error->message, "byte"));
      DONE;
    }
}

/* B027: an array of arrays opens and its items can be had; nesting has a limit. */
static void
test_nested_array (void)
{
  for (guint depth = 2; depth <= 10; depth++)
    {
      SCRATCH;
      g_autofree char *path = NULL;
      Gguf gguf;

      gguf_begin (&gguf, 3, FALSE, 0, 1);
      gguf_key (&gguf, "k", TM_META_ARRAY);
      for (guint i = 1; i < depth; i++)
        {
          gguf_uint (&gguf, TM_META_ARRAY, 4);
          gguf_uint (&gguf, 1, 8);
        }
      gguf_uint (&gguf, TM_META_U32, 4);
      gguf_uint (&gguf, 3, 8);
      for (guint i = 7; i < 10; i++)
        gguf_uint (&gguf, i, 4);
      gguf_pad (&gguf, 32);
      path = gguf_save (&gguf, folder, "n.gguf");
      if (depth > 8)
        g_free (refuse (path, TM_ERROR_FORMAT));
      else
        {
          g_autoptr (TmModel) model = open_model (path);
          g_autoptr (GString) expected = g_string_new (NULL);
          g_autofree char *text = tm_metadata_format (g_ptr_array_index (model->metadata, 0), 16);

          for (guint i = 0; i < depth; i++)
            g_string_append_c (expected, '[');
          g_string_append (expected, "7, 8, 9");
          for (guint i = 0; i < depth; i++)
            g_string_append_c (expected, ']');
          g_assert_cmpstr (text, ==, expected->str);
        }
      DONE;
    }
}

/* B028: UTF-8 stays UTF-8. B029: control characters in names are data; what is shown is escaped. */
static void
test_text (void)
{
  static const char name[] = "na\xc3\xafve \xe6\xa8\xa1\xe5\x9e\x8b";
  SCRATCH;
  g_autofree char *path = NULL;
  g_autofree char *shown = NULL;
  g_autofree char *escaped = NULL;
  g_autoptr (TmModel) model = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 1, 2);
  gguf_key_string (&gguf, "general.name", name);
  gguf_key_string (&gguf, "bad", "\xff\x1b[31m");
  gguf_info (&gguf, "a\x1b[31m\nb", 1, (guint64[]){ 8 }, 0, 0);
  gguf_pad (&gguf, 32);
  gguf_floats (&gguf, one_to_eight, 8);
  path = gguf_save (&gguf, folder, "t.gguf");
  model = open_model (path);
  g_assert_cmpstr (model->name, ==, name);
  shown = tm_metadata_format (tm_model_find_metadata (model, "bad"), 4);
  g_assert_true (g_utf8_validate (shown, -1, NULL));
  g_assert_null (strchr (shown, '\x1b'));
  g_assert_cmpstr (tm_model_stored (model, 0)->name, ==, "a\x1b[31m\nb");
  escaped = tm_text_escape (tm_model_stored (model, 0)->name, -1);
  g_assert_null (strpbrk (escaped, "\x1b\n"));
  DONE;
}

/* B031: general.file_type is a number of its own and says nothing about tensors. */
static void
test_file_type (void)
{
  SCRATCH;
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 2, 1);
  gguf_key_u32 (&gguf, "general.file_type", 15);
  gguf_info (&gguf, "q", 1, (guint64[]){ 256 }, 12, 0);
  gguf_info (&gguf, "f", 1, (guint64[]){ 8 }, 0, 160);
  gguf_pad (&gguf, 32);
  for (guint i = 0; i < 6; i++)
    gguf_raw (&gguf, "................................", 32);
  path = gguf_save (&gguf, folder, "f.gguf");
  model = open_model (path);
  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpuint (tm_model_find_metadata (model, "general.file_type")->as.u, ==, 15);
  g_assert_cmpint (find_stored (model, "q")->dtype, ==, TM_DTYPE_Q4_K);
  g_assert_cmpint (find_stored (model, "f")->dtype, ==, TM_DTYPE_F32);
  DONE;
}

/* B034: a row that is no whole number of blocks; and a truncated tail: what is there stays readable. */
static void
test_row_and_tail (void)
{
  SCRATCH;
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 3, 0);
  gguf_info (&gguf, "row", 1, (guint64[]){ 896 }, 14, 0);
  gguf_info (&gguf, "here", 1, (guint64[]){ 8 }, 0, 32);
  gguf_info (&gguf, "cut", 2, (guint64[]){ 8, 4 }, 0, 64);
  gguf_pad (&gguf, 32);
  gguf_raw (&gguf, "................................", 32);
  gguf_floats (&gguf, one_to_eight, 8);
  gguf_floats (&gguf, one_to_eight, 8);
  path = gguf_save (&gguf, folder, "r.gguf");
  model = open_model (path);
  assert_problem (model, "row-not-blocks", "row", TM_SEVERITY_ERROR);
  g_assert_nonnull (strstr (find_stored (model, "row")->fault, "row of 896 elements is not a multiple of Q6_K's block of 256"));
  assert_problem (model, "past-end", "cut", TM_SEVERITY_ERROR);
  assert_floats (find_stored (model, "here"), one_to_eight, 8);
  DONE;
}

/* B035, B053: a type of a fork: named, its bytes reach to the next tensor, the others are fine. */
static void
test_fork_type (void)
{
  SCRATCH;
  g_autofree char *path = NULL;
  g_autoptr (TmModel) model = NULL;
  const TmStored *fork;
  Gguf gguf;

  gguf_begin (&gguf, 3, FALSE, 3, 0);
  gguf_info (&gguf, "fork", 2, (guint64[]){ 64, 2 }, 137, 0);
  gguf_info (&gguf, "f", 1, (guint64[]){ 8 }, 0, 96);
  gguf_info (&gguf, "old", 1, (guint64[]){ 64 }, 4, 128);
  gguf_pad (&gguf, 32);
  for (guint i = 0; i < 3; i++)
    gguf_raw (&gguf, "................................", 32);
  gguf_floats (&gguf, one_to_eight, 8);
  gguf_raw (&gguf, "................................", 32);
  path = gguf_save (&gguf, folder, "f.gguf");
  model = open_model (path);
  fork = find_stored (model, "fork");
  g_assert_cmpint (fork->dtype, ==, TM_DTYPE_UNKNOWN);
  g_assert_cmpstr (fork->type_label, ==, "type 137");
  g_assert_cmpuint (fork->bytes, ==, 96);
  g_assert_cmpuint (fork->n_elements, ==, 128);
  g_assert_nonnull (fork->fault);
  assert_problem (model, "unknown-dtype", "fork", TM_SEVERITY_ERROR);
  g_assert_cmpstr (find_stored (model, "old")->type_label, ==, "type 4 (removed)");
  g_assert_cmpuint (find_stored (model, "old")->bytes, ==, 32);
  assert_problem (model, "removed-dtype", "old", TM_SEVERITY_ERROR);
  assert_floats (find_stored (model, "f"), one_to_eight, 8);
  DONE;
}

/* --- safetensors ------------------------------------------------------------------------------------------------------ */

static char *
write_safetensors (const char *folder, const char *header, const void *data, gsize data_bytes)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint64 length = GUINT64_TO_LE ((guint64) strlen (header));

  g_byte_array_append (bytes, (const guint8 *) &length, 8);
  g_byte_array_append (bytes, (const guint8 *) header, (guint) strlen (header));
  g_byte_array_append (bytes, data, (guint) data_bytes);
  return write_file (folder, "m.safetensors", bytes->data, bytes->len);
}

/* B060: the data begin right after the header, whatever its length. */
static void
test_header_length (void)
{
  static const char entry[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]}}";

  for (guint spaces = 0; spaces < 8; spaces++)
    {
      SCRATCH;
      g_autofree char *header = g_strdup_printf ("%s%*s", entry, (int) spaces, "");
      g_autofree char *path = write_safetensors (folder, header, one_to_eight, 32);
      g_autoptr (TmModel) model = open_model (path);

      g_assert_cmpuint (model->problems->len, ==, 0);
      g_assert_cmpuint (tm_model_stored (model, 0)->offset, ==, 8 + strlen (header));
      assert_floats (tm_model_stored (model, 0), one_to_eight, 8);
      DONE;
    }
}

/* B061: a shape larger than the byte range. */
static void
test_size_mismatch (void)
{
  SCRATCH;
  g_autofree char *path = write_safetensors (folder, "{\"big\":{\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,4]},"
                                                     "\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", one_to_eight, 8);
  g_autoptr (TmModel) model = open_model (path);

  assert_problem (model, "size-mismatch", "big", TM_SEVERITY_ERROR);
  g_assert_nonnull (find_stored (model, "big")->fault);
  assert_floats (find_stored (model, "w"), one_to_eight + 1, 1);
  DONE;
}

/* B063: a hole of 4 bytes. B064: 16 trailing bytes. */
static void
test_hole_and_tail (void)
{
  SCRATCH;
  g_autofree char *path = write_safetensors (folder, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                                                     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}", one_to_eight, 28);
  g_autoptr (TmModel) model = open_model (path);

  assert_problem (model, "hole", NULL, TM_SEVERITY_WARNING);
  g_assert_nonnull (strstr (find_problem (model, "hole", NULL)->message, "hole of 4 bytes"));
  assert_problem (model, "trailing-bytes", NULL, TM_SEVERITY_WARNING);
  g_assert_nonnull (strstr (find_problem (model, "trailing-bytes", NULL)->message, "16 bytes"));
  assert_floats (find_stored (model, "b"), one_to_eight + 2, 1);
  DONE;
}

/* B065: a name twice: said by name, both listed. */
static void
test_duplicate_name (void)
{
  SCRATCH;
  g_autofree char *path = write_safetensors (folder, "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                                                     "\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", one_to_eight, 8);
  g_autoptr (TmModel) model = open_model (path);

  assert_problem (model, "duplicate-name", "w", TM_SEVERITY_WARNING);
  g_assert_nonnull (strstr (find_problem (model, "duplicate-name", "w")->message, "\"w\""));
  assert_floats (find_stored (model, "w"), one_to_eight, 1);
  assert_floats (find_stored (model, "w#2"), one_to_eight + 1, 1);
  DONE;
}

/* B067: metadata and no tensor. */
static void
test_metadata_only (void)
{
  SCRATCH;
  g_autofree char *path = write_safetensors (folder, "{\"__metadata__\":{\"format\":\"pt\"}}", "", 0);
  g_autoptr (TmModel) model = open_model (path);

  g_assert_cmpuint (model->stored->len, ==, 0);
  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpstr (tm_model_find_metadata (model, "format")->string, ==, "pt");
  DONE;
}

/* B068: the length is never an allocation size. */
static void
test_lengths (void)
{
  static const guint64 lengths[] = { G_MAXUINT64, (guint64) 1 << 63, 100000001, 1000, 0, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      SCRATCH;
      guint64 le[2] = { GUINT64_TO_LE (lengths[i]), 0x20207d7b };
      g_autofree char *path = write_file (folder, "l.safetensors", le, 16);
      g_autoptr (TmModel) model = tm_model_new (path);
      g_autoptr (GError) error = NULL;

      g_assert_false (tm_formats_read (path, model, NULL, &error));
      g_assert_cmpint (error->domain, ==, TM_ERROR);
      DONE;
    }
}

/* B069: reversed, negative, fractional and textual offsets: that tensor's error. A header that is an array: refused. */
static void
test_offsets (void)
{
  static const char *const offsets[] = { "[8,0]", "[-1,4]", "[0.0,4]", "[\"0\",\"4\"]" };
  SCRATCH;
  g_autofree char *array = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    {
      g_autofree char *header = g_strdup_printf ("{\"bad\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":%s},"
                                                 "\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", offsets[i]);
      g_autofree char *path = write_safetensors (folder, header, one_to_eight, 4);
      g_autoptr (TmModel) model = open_model (path);

      assert_problem (model, "offsets", "bad", TM_SEVERITY_ERROR);
      assert_floats (find_stored (model, "w"), one_to_eight, 1);
    }
  array = write_safetensors (folder, "[{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}]", one_to_eight, 4);
  g_free (refuse (array, TM_ERROR_FORMAT));
  DONE;
}

/* B070: empty tensors and scalars. */
static void
test_empty_and_scalar (void)
{
  SCRATCH;
  g_autofree char *path = write_safetensors (folder, "{\"e\":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[0,0]},"
                                                     "\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", one_to_eight, 4);
  g_autoptr (TmModel) model = open_model (path);

  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpuint (find_stored (model, "e")->n_elements, ==, 0);
  g_assert_cmpuint (find_stored (model, "s")->rank, ==, 0);
  g_assert_cmpuint (find_stored (model, "s")->n_elements, ==, 1);
  DONE;
}

/* B071: every dtype of the format; an unknown one keeps its byte range and leaves the others alone. */
static void
test_dtypes (void)
{
  static const struct { const char *name; TmDtype dtype; guint n, bytes; } rows[] = {
    { "F4", TM_DTYPE_F4, 4, 2 }, { "F6_E2M3", TM_DTYPE_F6_E2M3, 4, 3 }, { "F6_E3M2", TM_DTYPE_F6_E3M2, 4, 3 },
    { "F8_E8M0", TM_DTYPE_F8_E8M0, 4, 4 }, { "F8_E4M3FNUZ", TM_DTYPE_F8_E4M3FNUZ, 4, 4 },
    { "F8_E5M2FNUZ", TM_DTYPE_F8_E5M2FNUZ, 4, 4 }, { "C64", TM_DTYPE_C64, 4, 32 }, { "Q4_K", TM_DTYPE_UNKNOWN, 256, 144 },
    { "F9_NEW", TM_DTYPE_UNKNOWN, 4, 5 },
  };
  guint8 data[256] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SCRATCH;
      g_autofree char *header = g_strdup_printf ("{\"w\":{\"dtype\":\"%s\",\"shape\":[%u],\"data_offsets\":[0,%u]},"
                                                 "\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%u]}}",
                                                 rows[i].name, rows[i].n, rows[i].bytes, rows[i].bytes, rows[i].bytes + 1);
      g_autofree char *path = write_safetensors (folder, header, data, rows[i].bytes + 1);
      g_autoptr (TmModel) model = open_model (path);
      const TmStored *w = find_stored (model, "w");

      g_assert_cmpint (w->dtype, ==, rows[i].dtype);
      g_assert_cmpuint (w->bytes, ==, rows[i].bytes);
      g_assert_cmpuint (w->n_elements, ==, rows[i].n);
      g_assert_null (find_stored (model, "u")->fault);
      if (rows[i].dtype == TM_DTYPE_UNKNOWN)
        {
          assert_problem (model, "unknown-dtype", "w", TM_SEVERITY_ERROR);
          g_assert_cmpstr (w->type_label, ==, rows[i].name);
        }
      else
        g_assert_cmpuint (model->problems->len, ==, 0);
      DONE;
    }
}

/* B073: bits that do not fill a byte are not rounded. */
static void
test_sub_byte (void)
{
  static const char *const dtypes[] = { "F4", "F6_E2M3" };

  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      SCRATCH;
      g_autofree char *header = g_strdup_printf ("{\"w\":{\"dtype\":\"%s\",\"shape\":[3],\"data_offsets\":[0,%u]}}", dtypes[i], i + 2);
      g_autofree char *path = write_safetensors (folder, header, "....", i + 2);
      g_autoptr (TmModel) model = open_model (path);

      assert_problem (model, "sub-byte", "w", TM_SEVERITY_ERROR);
      g_assert_nonnull (strstr (find_stored (model, "w")->fault, "not byte-aligned"));
      DONE;
    }
}

/* B078, as far as stored tensors tell: what the file holds is listed as it is, packed words included. */
static void
test_packed_words (void)
{
  SCRATCH;
  guint8 data[8 * 32 * 4 + 32 * 2] = { 0 };
  g_autofree char *path = write_safetensors (folder, "{\"qweight\":{\"dtype\":\"I32\",\"shape\":[8,32],\"data_offsets\":[0,1024]},"
                                                     "\"scales\":{\"dtype\":\"F16\",\"shape\":[1,32],\"data_offsets\":[1024,1088]}}",
                                             data, sizeof data);
  g_autoptr (TmModel) model = open_model (path);

  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpuint (find_stored (model, "qweight")->n_elements, ==, 256);
  g_assert_cmpuint (find_stored (model, "qweight")->bytes, ==, 1024);
  g_assert_cmpuint (find_stored (model, "scales")->n_elements, ==, 32);
  DONE;
}

/* B079: shard names that leave the folder are refused and shown escaped. */
static void
test_shard_names (void)
{
  static const char *const names[] = { "../x.safetensors", "/etc/passwd", "a/b.safetensors", "..", "" };
  SCRATCH;

  g_free (write_safetensors (folder, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", one_to_eight, 4));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *index = g_strdup_printf ("{\"weight_map\":{\"a\":\"m.safetensors\",\"b\":\"%s\",\"c\":\"\\u001b[31m/\"}}", names[i]);
      g_autofree char *path = write_file (folder, "model.safetensors.index.json", index, strlen (index));
      g_autoptr (TmModel) model = open_model (path);

      g_assert_cmpuint (model->files->len, ==, 1);
      assert_problem (model, "unsafe-shard-name", NULL, TM_SEVERITY_ERROR);
      g_assert_nonnull (strstr (find_stored (model, "b")->fault, names[i]));
      g_assert_null (strchr (find_stored (model, "c")->fault, '\x1b'));
      g_assert_null (find_stored (model, "a")->fault);
    }
  DONE;
}

/* B180: 262144 × 8960 elements: the byte range of the last row is past 2^32. B144's kin: a sparse file, nothing is touched. */
static void
test_large_index (void)
{
  const guint64 rows = 262144, columns = 8960, bytes = rows * columns * 4;
  SCRATCH;
  g_autofree char *header = g_strdup_printf ("{\"w\":{\"dtype\":\"F32\",\"shape\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT
                                             "],\"data_offsets\":[0,%" G_GUINT64_FORMAT "]}}", rows, columns, bytes);
  g_autofree char *path = write_safetensors (folder, header, "", 0);
  guint64 at = 8 + strlen (header) + (239674 * columns + 1) * 4;
  g_autoptr (TmModel) model = NULL;
  g_autoptr (GError) error = NULL;
  const TmStored *w;
  float value = 0;
  int fd = g_open (path, O_WRONLY | O_CLOEXEC, 0);

  if (ftruncate (fd, (off_t) (8 + strlen (header) + bytes)) != 0)
    {
      g_test_fail_printf ("no sparse files here");
      close (fd);
      DONE;
      return;
    }
  g_assert_cmpint (pwrite (fd, one_to_eight, 4, (off_t) at), ==, 4);
  close (fd);
  model = open_model (path);
  w = find_stored (model, "w");
  g_assert_cmpuint (model->problems->len, ==, 0);
  g_assert_cmpuint (w->n_elements, ==, rows * columns);
  g_assert_true (tm_source_read (w->source, w->offset + (239674 * (guint64) w->stride[0] + 1) * 4, &value, 4, &error));
  g_assert_true (value == 1.0f);
  DONE;
}

int
main (int argc, char *argv[])
{
  static const struct { const char *rows; void (*test) (void); } tests[] = {
    { "B001", test_dimension_order }, { "B002", test_dimension_order }, { "B003", test_alignment_key }, { "B004", test_alignment_wrong },
    { "B006", test_alignment_wrong }, { "B008", test_big_endian }, { "B009", test_big_endian }, { "big-endian-blocks", test_big_endian_blocks },
    { "B011", test_versions }, { "B012", test_versions }, { "B013", test_versions }, { "B014", test_split }, { "B016", test_split },
    { "B017", test_duplicate_tensor }, { "B018", test_duplicate_tensor }, { "B019", test_empty_tensor }, { "B020", test_dimension_order },
    { "B021", test_many_dimensions }, { "B023", test_wrapping_shapes }, { "B024", test_wrapping_shapes }, { "B025", test_counts },
    { "B027", test_nested_array }, { "B028", test_text }, { "B029", test_text }, { "B031", test_file_type }, { "B034", test_row_and_tail },
    { "B035", test_fork_type }, { "B053", test_fork_type }, { "B060", test_header_length }, { "B061", test_size_mismatch },
    { "B063", test_hole_and_tail }, { "B064", test_hole_and_tail }, { "B065", test_duplicate_name }, { "B067", test_metadata_only },
    { "B068", test_lengths }, { "B069", test_offsets }, { "B070", test_empty_and_scalar }, { "B071", test_dtypes }, { "B073", test_sub_byte },
    { "B078", test_packed_words }, { "B079", test_shard_names }, { "B180", test_large_index },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strconcat ("/traps/", tests[i].rows, NULL);

      g_test_add_func (path, tests[i].test);
    }
  return g_test_run ();
}
