#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static GCancellable *work;
static volatile sig_atomic_t interrupted;
static int shown = -1; /* per cent on the screen */

static void
note_interrupt (int signal_number)
{
  if (interrupted) /* once more: at once */
    _exit (130);
  interrupted = 1;
}

/* A handler may not cancel, so that a thread looks. */
static gpointer
watch_interrupt (gpointer cancellable)
{
  while (!interrupted)
    g_usleep (50000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

GCancellable *
cli_start_work (void)
{
  struct sigaction action = { .sa_handler = note_interrupt };

  if (work == NULL)
    {
      work = g_cancellable_new ();
      sigemptyset (&action.sa_mask);
      sigaction (SIGINT, &action, NULL);
      g_thread_unref (g_thread_new ("interrupt", watch_interrupt, work));
    }
  return work;
}

static void
put (const char *text)
{
  gssize ignored = write (STDERR_FILENO, text, strlen (text));

  (void) ignored;
}

void
cli_progress (double fraction, const char *text, gpointer data)
{
  static int terminal = -1;
  int percent = (int) (fraction * 100);
  g_autofree char *line = NULL;

  if (terminal < 0)
    terminal = isatty (STDERR_FILENO);
  if (!terminal || percent == shown)
    return;
  shown = percent;
  line = g_strdup_printf ("\r%s %3d %%\033[K", (const char *) data, percent);
  put (line);
}

void
cli_end_progress (void)
{
  if (shown >= 0)
    put ("\r\033[K");
  shown = -1;
}
