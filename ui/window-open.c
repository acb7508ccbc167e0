/* Opening: a worker reads the model, the window goes on; what cannot be opened is a banner and nothing else changes. */
#include "io/error.h"
#include "io/number.h"
#include "io/text.h"
#include "recognise/recognise.h"
#include "ui/file-set.h"
#include "ui/settings.h"
#include "ui/window-private.h"

typedef struct
{
  TmWindow *window;
  TmJob *job;
  char *path;
  TmAssume *assume; /* reload: with these readings; NULL otherwise */
  gboolean here;   /* into this window, else into a new one */
  gboolean reload;
} Opening;

/* The worker's side. */
typedef struct
{
  char *path;
  TmAssume *assume;
  double ms;
} Read;

static void
read_free (gpointer data)
{
  Read *read = data;

  g_free (read->path);
  tm_assume_free (read->assume);
  g_free (read);
}

static void
opening_free (Opening *opening)
{
  g_object_unref (opening->window);
  g_free (opening->path);
  tm_assume_free (opening->assume);
  g_free (opening);
}

static void
open_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  Read *read = data;
  const gint64 started = g_get_monotonic_time ();
  TmModel *model = tm_open_model_with (read->path, read->assume, cancellable, &error);

  read->ms = (double) (g_get_monotonic_time () - started) / 1000;
  if (model)
    g_task_return_pointer (task, model, g_object_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static char *
shown_name (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  return tm_text_escape (name, -1);
}

/* "636 MiB · Q4_K, Q6_K" */
static char *
describe_for_recent (TmModel *model)
{
  g_autoptr (GArray) dtypes = tm_model_count_dtypes (model);
  g_autofree char *size = tm_format_size (model->bytes);
  g_autoptr (GString) note = g_string_new (size);

  for (guint i = 0; i < MIN (dtypes->len, 3); i++)
    {
      g_autofree char *name = tm_text_escape (g_array_index (dtypes, TmDtypeCount, i).dtype, -1);

      g_string_append_printf (note, "%s%s", i ? ", " : " · ", name);
    }
  return g_strdup (note->str);
}

static void
take_model (TmWindow *self, Opening *opening, TmModel *model, double ms)
{
  g_autofree char *n = tm_format_count (model->tensors->len);
  g_autofree char *message = g_strdup_printf ("%s %s read in %.*f ms", n, model->tensors->len == 1 ? "tensor" : "tensors",
                                               ms < 10 ? 1 : 0, ms);

  if (opening->reload)
    tm_document_replace_model (self->document, model, opening->assume);
  else
    tm_document_set_model (self->document, model);
  tm_status_bar_set_message (self->status_bar, message);
  if (!opening->reload)
    gtk_widget_grab_focus (self->canvas);
}

static void
open_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Opening *opening = data;
  TmWindow *self = opening->window;
  g_autoptr (GError) error = NULL;
  g_autoptr (TmModel) model = g_task_propagate_pointer (G_TASK (result), &error);
  g_autofree char *name = shown_name (opening->path);

  tm_jobs_end (self->jobs, opening->job);
  if (opening->here)
    self->opening--;

  if (gtk_widget_in_destruction (GTK_WIDGET (self)) || !gtk_window_get_application (GTK_WINDOW (self)))
    ; /* closed meanwhile */
  else if (model)
    {
      TmWindow *into = self;

      if (!opening->here)
        {
          into = TM_WINDOW (tm_window_new (TM_APPLICATION (gtk_window_get_application (GTK_WINDOW (self)))));
          gtk_window_present (GTK_WINDOW (into));
        }
      take_model (into, opening, model, ((Read *) g_task_get_task_data (G_TASK (result)))->ms);
      if (!opening->reload && !g_str_has_prefix (opening->path, "resource:"))
        {
          g_autofree char *note = describe_for_recent (model);

          tm_recent_add (opening->path, note);
          tm_application_recent_changed (TM_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
        }
    }
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_autofree char *message = g_strdup_printf ("Opening %s was cancelled", name);

      tm_status_bar_set_message (self->status_bar, message);
    }
  else
    {
      g_autofree char *message = g_strdup_printf ("%s: %s", name, error->message);

      tm_window_show_problem (self, message);
    }
  opening_free (opening);
}

static void
start (TmWindow *self, const char *path, gboolean here, gboolean reload, const TmAssume *assume)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = NULL;
  g_autofree char *name = shown_name (path);
  g_autofree char *label = g_strdup_printf ("Opening %s", name);
  Opening *opening = g_new0 (Opening, 1);
  Read *read = g_new0 (Read, 1);

  opening->window = g_object_ref (self);
  opening->job = tm_jobs_start (self->jobs, label, cancellable);
  opening->path = g_strdup (path);
  opening->here = here;
  opening->reload = reload;
  if (here)
    self->opening++;
  opening->assume = assume ? tm_assume_copy (assume) : NULL;

  task = g_task_new (NULL, cancellable, open_done, opening);
  read->path = g_strdup (path);
  read->assume = assume ? tm_assume_copy (assume) : NULL;
  g_task_set_task_data (task, read, read_free);
  g_task_set_return_on_cancel (task, TRUE); /* a file system that hangs does not keep the job on the screen */
  g_task_run_in_thread (task, open_run);
}

gboolean
tm_window_is_free (TmWindow *self)
{
  return !tm_document_get_model (self->document) && self->opening == 0;
}

void
tm_window_open (TmWindow *self, const char *path)
{
  start (self, path, tm_window_is_free (self), FALSE, NULL);
}

void
tm_window_open_all (TmWindow *self, GPtrArray *paths)
{
  g_autoptr (GPtrArray) models = tm_file_set_group (paths);

  for (guint i = 0; i < models->len; i++)
    tm_window_open (self, g_ptr_array_index (models, i));
}

void
tm_window_reload (TmWindow *self)
{
  TmModel *model = tm_document_get_model (self->document);

  if (model && self->opening == 0)
    start (self, model->path, TRUE, TRUE, tm_document_get_assume (self->document));
}

void
tm_window_reopen (TmWindow *self, gpointer assume)
{
  TmModel *model = tm_document_get_model (self->document);

  if (model && self->opening == 0)
    start (self, model->path, TRUE, TRUE, assume);
}

/* The bundle that data/sample-bundle.S puts into the program. */
extern const guint8 tm_sample_bundle[], tm_sample_bundle_end[];

static gboolean
register_sample (GError **error)
{
  static GResource *resource;
  g_autoptr (GBytes) bytes = NULL;

  if (resource)
    return TRUE;
  bytes = g_bytes_new_static (tm_sample_bundle, (gsize) (tm_sample_bundle_end - tm_sample_bundle));
  resource = g_resource_new_from_data (bytes, error);
  if (resource)
    g_resources_register (resource);
  return resource != NULL;
}

/* Beside the program, in the build folder or where it is installed: then it can be found again and opened by others. Else the
 * one inside the program. */
void
tm_window_open_sample (TmWindow *self)
{
  static const char *const places[] = { "../data/sample.gguf", "../share/tensormorph/sample.gguf" };
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program ? g_path_get_dirname (program) : NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; folder && i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = g_canonicalize_filename (places[i], folder);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        {
          tm_window_open (self, path);
          return;
        }
    }
  if (register_sample (&error))
    tm_window_open (self, "resource://" TM_RESOURCES "sample.gguf");
  else
    tm_window_show_problem (self, error->message);
}
