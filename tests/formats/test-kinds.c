/* Other kinds of files, under whatever name: refused with what they are. And models under other names: opened. */
#include "formats-test.h"
#include "gguf-builder.h"

#define BYTES(text) text, sizeof text - 1

static const struct { const char *name; const char *bytes; gsize length; const char *says; } kinds[] = {
  { "m.gguf", BYTES ("version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 9\n"), "Git LFS pointer" },
  { "m.safetensors", BYTES ("<!DOCTYPE html><html><body>404</body></html>"), "HTML page" },
  { "m.safetensors", BYTES ("\xef\xbb\xbf \n<HTML><head>"), "HTML page" },
  { "m.gguf", BYTES ("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"), "XML" },
  { "m.safetensors", BYTES ("PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0"), "zip archive" },
  { "m.gguf", BYTES ("PK\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0"), "zip archive" },
  { "m.bin", BYTES ("\x80\x02}q\x00(X\x06\x00\x00\x00weight"), "pickle" },
  { "m.gguf", BYTES ("\x1f\x8b\x08\x00\x01\x02\x03\x04\x05\x06"), "gzip" },
  { "m.npy", BYTES ("\x93NUMPY\x01\x00v\x00{'descr'"), "NumPy" },
  { "m.h5", BYTES ("\x89HDF\r\n\x1a\n\0\0\0\0"), "HDF5" },
  { "m.tflite", BYTES ("\x1c\0\0\0TFL3\0\0\0\0"), "TensorFlow Lite" },
  { "m.bin", BYTES ("tjgg\x01\0\0\0\0\x7d\0\0"), "before GGUF" },
  { "m.safetensors", "", 0, "empty" },
};

static void
test_kinds (void)
{
  char *folder = make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = write_file (folder, kinds[i].name, kinds[i].bytes, kinds[i].length);
      g_autofree char *message = refuse (path, TM_ERROR_KIND);

      if (strstr (message, kinds[i].says) == NULL)
        g_error ("%s: \"%s\" does not say \"%s\"", kinds[i].name, message, kinds[i].says);
    }
  remove_folder (folder);
}

static void
test_tar (void)
{
  char *folder = make_folder ();
  char block[512] = "weights.safetensors";
  g_autofree char *path = NULL;
  g_autofree char *message = NULL;

  memcpy (block + 257, "ustar", 5);
  path = write_file (folder, "m.tar", block, sizeof block);
  message = refuse (path, TM_ERROR_KIND);
  g_assert_nonnull (strstr (message, "tar archive"));
  remove_folder (folder);
}

/* JSON that is no index, and text that is nothing. */
static void
test_text (void)
{
  static const struct { const char *name; const char *text; const char *says; } rows[] = {
    { "config.json", "{\"model_type\":\"llama\"}", "no weight_map" },
    { "x.safetensors", "{\"model_type\":\"llama\"}", "no weight_map" },
    { "x.index.json", "hello", "byte 0" },
    { "x.txt", "hello world, this is no model", "no GGUF magic at byte 0" },
  };
  char *folder = make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = write_file (folder, rows[i].name, rows[i].text, strlen (rows[i].text));
      g_autofree char *message = refuse (path, TM_ERROR_FORMAT);

      if (strstr (message, rows[i].says) == NULL)
        g_error ("%s: \"%s\" does not say \"%s\"", rows[i].name, message, rows[i].says);
    }
  remove_folder (folder);
}

/* The name does not matter to what is read. */
static void
test_other_names (void)
{
  static const char safetensors[] = "\x02\0\0\0\0\0\0\0{}";
  char *folder = make_folder ();
  g_autofree char *path = write_file (folder, "model.gguf", safetensors, sizeof safetensors - 1);
  g_autofree char *gguf_path = NULL;
  Gguf gguf;

  {
    g_autoptr (TmModel) model = open_model (path);

    g_assert_cmpstr (model->format, ==, "safetensors");
  }
  gguf_begin (&gguf, 3, FALSE, 0, 0);
  gguf_path = gguf_save (&gguf, folder, "0123456789abcdef");
  {
    g_autoptr (TmModel) model = open_model (gguf_path);

    g_assert_cmpstr (model->format, ==, "GGUF");
  }
  remove_folder (folder);
}

/* Lengths whose first bytes look like another kind. */
static void
test_lookalikes (void)
{
  static const guint lengths[] = { 0x0280, '{', 0x8b1f, 0x02045b };
  char *folder = make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      g_autofree char *bytes = g_malloc (8 + lengths[i]);
      g_autofree char *path = NULL;
      g_autoptr (TmModel) model = NULL;
      guint64 length = GUINT64_TO_LE ((guint64) lengths[i]);

      memset (bytes + 8, ' ', lengths[i]);
      memcpy (bytes, &length, 8);
      memcpy (bytes + 8, "{}", 2);
      path = write_file (folder, "l.safetensors", bytes, 8 + lengths[i]);
      model = open_model (path);
      g_assert_cmpuint (model->problems->len, ==, 0);
    }
  remove_folder (folder);
}

static void
test_no_such_file (void)
{
  g_free (refuse ("/nonexistent/model.gguf", TM_ERROR_IO));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kinds/others", test_kinds);
  g_test_add_func ("/kinds/tar", test_tar);
  g_test_add_func ("/kinds/text", test_text);
  g_test_add_func ("/kinds/other-names", test_other_names);
  g_test_add_func ("/kinds/lookalikes", test_lookalikes);
  g_test_add_func ("/kinds/no-such-file", test_no_such_file);
  return g_test_run ();
}
