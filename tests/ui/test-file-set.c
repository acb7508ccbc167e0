/* Which of several files are one model. */
#include "ui/file-set.h"

static void
check (const char *given, const char *expected)
{
  g_auto (GStrv) in = g_strsplit (given, " ", -1);
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autoptr (GPtrArray) models = NULL;
  g_autoptr (GString) got = g_string_new (NULL);

  for (char **path = in; *path; path++)
    if (**path)
      g_ptr_array_add (paths, *path);
  models = tm_file_set_group (paths);
  for (guint i = 0; i < models->len; i++)
    g_string_append_printf (got, "%s%s", i ? " " : "", (char *) g_ptr_array_index (models, i));
  g_assert_cmpstr (got->str, ==, expected);
}

static void
shards (void)
{
  check ("/a/m-00002-of-00003.gguf /a/m-00001-of-00003.gguf /a/m-00003-of-00003.gguf", "/a/m-00002-of-00003.gguf");
  check ("/a/m-00001-of-00002.safetensors /a/m-00002-of-00002.safetensors", "/a/m-00001-of-00002.safetensors");
  /* other stem, other total, other folder, other kind: another model */
  check ("/a/m-00001-of-00002.gguf /a/n-00002-of-00002.gguf", "/a/m-00001-of-00002.gguf /a/n-00002-of-00002.gguf");
  check ("/a/m-00001-of-00002.gguf /a/m-00002-of-00003.gguf", "/a/m-00001-of-00002.gguf /a/m-00002-of-00003.gguf");
  check ("/a/m-00001-of-00002.gguf /b/m-00002-of-00002.gguf", "/a/m-00001-of-00002.gguf /b/m-00002-of-00002.gguf");
  check ("/a/m-00001-of-00002.gguf /a/m-00002-of-00002.safetensors",
         "/a/m-00001-of-00002.gguf /a/m-00002-of-00002.safetensors");
  /* nearly a shard's name */
  check ("/a/m-0001-of-0002.gguf /a/m-0002-of-0002.gguf", "/a/m-0001-of-0002.gguf /a/m-0002-of-0002.gguf");
  check ("-00001-of-00002.gguf -00002-of-00002.gguf", "-00001-of-00002.gguf");
}

static void
index_and_shards (void)
{
  check ("/a/model.safetensors.index.json /a/model-00001-of-00002.safetensors /a/model-00002-of-00002.safetensors",
         "/a/model.safetensors.index.json");
  check ("/a/model-00001-of-00002.safetensors /a/model.safetensors.index.json", "/a/model.safetensors.index.json");
  check ("/a/model.safetensors.index.json /a/other.safetensors", "/a/model.safetensors.index.json /a/other.safetensors");
  check ("/a/model.safetensors.index.json /a/model/x.safetensors",
         "/a/model.safetensors.index.json /a/model/x.safetensors");
}

static void
others (void)
{
  check ("", "");
  check ("/a/x.gguf /a/y.gguf", "/a/x.gguf /a/y.gguf");
  check ("/a/x.gguf /a/x.gguf", "/a/x.gguf");
  check ("/a/folder /a/.gguf /a/noending", "/a/folder /a/.gguf /a/noending");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file-set/shards", shards);
  g_test_add_func ("/file-set/index", index_and_shards);
  g_test_add_func ("/file-set/others", others);
  return g_test_run ();
}
