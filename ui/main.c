/* tensormorph: the command line. Everything that needs no display is answered before GTK is initialised. */
#include <stdlib.h>
#include <string.h>

#include "analysis/work.h"
#include "io/number.h"
#include "io/text.h"
#include "recognise/recognise.h"
#include "ui/application.h"
#include "ui/paint/picture.h"
#include "view/tiles.h"

#define ENDING_MS 5000

typedef struct
{
  TmRenderer renderer;
  gboolean version, new_instance, dark;
  char *picture, *address, *size;
  char **files;
} Options;

static gboolean
parse_renderer (const char *option, const char *value, gpointer data, GError **error)
{
  Options *options = data;

  if (g_str_equal (value, "gl"))
    options->renderer = TM_RENDERER_GL;
  else if (g_str_equal (value, "cpu"))
    options->renderer = TM_RENDERER_CPU;
  else
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--renderer is gl or cpu, not “%s”", value);
      return FALSE;
    }
  return TRUE;
}

static gboolean
parse (Options *options, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "version", 0, 0, G_OPTION_ARG_NONE, &options->version, "Print the version", NULL },
    { "renderer", 0, 0, G_OPTION_ARG_CALLBACK, parse_renderer, "Paint the canvas with OpenGL or the CPU", "gl|cpu" },
    { "new-instance", 0, 0, G_OPTION_ARG_NONE, &options->new_instance, "Start a process of its own", NULL },
    { "picture", 0, 0, G_OPTION_ARG_FILENAME, &options->picture, "Write a picture of MODEL, without a display", "OUT.png" },
    { "address", 0, 0, G_OPTION_ARG_STRING, &options->address, "What the picture shows: module, tensor, scalar", "ADDRESS" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &options->size, "Size of the picture in pixels (1600x1000)", "WxH" },
    { "dark", 0, 0, G_OPTION_ARG_NONE, &options->dark, "Dark colours in the picture", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->files, NULL, "[FILE…]" },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  GOptionGroup *group = g_option_group_new ("main", NULL, NULL, options, NULL);

  g_option_group_add_entries (group, entries);
  g_option_context_set_main_group (context, group);
  g_option_context_set_summary (context, "See a model's architecture, its tensors, and every number in them.\n"
                                         "FILE is a GGUF or safetensors file, one shard of a set, or a model's folder.");
  return g_option_context_parse (context, argc, argv, error);
}

static void
options_clear (Options *options)
{
  g_free (options->picture);
  g_free (options->address);
  g_free (options->size);
  g_strfreev (options->files);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static int
fail (const char *message)
{
  g_autofree char *text = tm_text_escape (message, -1);

  g_printerr ("tensormorph: %s\n", text);
  return EXIT_FAILURE;
}

/* "1600x1000" */
static gboolean
parse_size (const char *text, int *width, int *height)
{
  const char *x = strchr (text, 'x');
  guint64 w, h;

  if (!x || !tm_parse_u64 (text, x - text, &w) || !tm_parse_u64 (x + 1, -1, &h))
    return FALSE;
  if (MIN (w, h) < TM_PICTURE_MIN_SIDE || MAX (w, h) > TM_PICTURE_MAX_SIDE)
    return FALSE;
  *width = (int) w;
  *height = (int) h;
  return TRUE;
}

static int
write_picture (const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) model = NULL;
  int width = 1600, height = 1000;

  if (!options->files || !options->files[0] || options->files[1])
    return fail ("--picture takes one MODEL");
  if (options->size && !parse_size (options->size, &width, &height))
    {
      g_autofree char *message = g_strdup_printf ("--size is WxH, each from %d to %d, not “%s”", TM_PICTURE_MIN_SIDE,
                                                  TM_PICTURE_MAX_SIDE, options->size);
      return fail (message);
    }
  model = tm_open_model (options->files[0], NULL, &error);
  if (!model)
    {
      g_prefix_error (&error, "%s: ", options->files[0]);
      return fail (error->message);
    }
  if (!tm_picture_write (model, options->address, width, height, options->dark, options->picture, &error))
    return fail (error->message);
  return EXIT_SUCCESS;
}

/* A process that is just ending still has the name, but answers no more: its end is waited for. */
static void
join_or_lead (GApplication *application)
{
  const gint64 end = g_get_monotonic_time () + ENDING_MS * 1000;
  g_autoptr (GError) error = NULL;

  while (!g_application_register (application, NULL, &error))
    {
      if (g_get_monotonic_time () > end)
        {
          g_application_set_flags (application, g_application_get_flags (application) | G_APPLICATION_NON_UNIQUE);
          return;
        }
      g_clear_error (&error);
      g_usleep (100 * 1000);
    }
}

static int
run_window (const char *program, const Options *options)
{
  g_autoptr (TmApplication) application = NULL;
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();

  if (!gtk_init_check ())
    {
      g_printerr ("tensormorph: there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY leads to one).\n"
                  "Start it in a desktop session, or look at the model without one:\n"
                  "  tensormorph --picture OUT.png MODEL\n"
                  "  tensormorph-cli info MODEL\n");
      return EXIT_FAILURE;
    }

  tm_work_set_busy (tm_tiles_are_waited_for, NULL);
  application = tm_application_new (options->renderer, options->new_instance);
  g_ptr_array_add (arguments, (gpointer) program);
  g_ptr_array_add (arguments, (gpointer) "--"); /* what follows are files, whatever they are called */
  for (char **file = options->files; file && *file; file++)
    g_ptr_array_add (arguments, *file);
  join_or_lead (G_APPLICATION (application));
  return g_application_run (G_APPLICATION (application), (int) arguments->len, (char **) arguments->pdata);
}

int
main (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  g_autoptr (GError) error = NULL;

  g_set_prgname ("tensormorph");
  g_set_application_name ("Tensormorph");
  if (!parse (&options, &argc, &argv, &error))
    return fail (error->message);
  if (options.version)
    {
      g_print ("tensormorph " TM_VERSION "\n");
      return EXIT_SUCCESS;
    }
  if (options.picture)
    return write_picture (&options);
  if (options.address || options.size || options.dark)
    return fail ("--address, --size and --dark go with --picture");
  return run_window (argv[0], &options);
}
