#include "cli/cli.h"

#include "io/error.h"
#include "io/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

gboolean
cli_write (gconstpointer bytes, gsize count, GError **error)
{
  const char *at = bytes;

  while (count > 0)
    {
      gssize written = write (STDOUT_FILENO, at, count);

      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        {
          int code = errno;

          if (code == EPIPE)
            g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE, "closed pipe");
          else
            g_set_error (error, TM_ERROR, TM_ERROR_IO, "cannot write to standard output: %s", g_strerror (code));
          return FALSE;
        }
      at += written;
      count -= (gsize)written;
    }
  return TRUE;
}

gboolean
cli_flush (GString *text, gsize at_least, GError **error)
{
  gboolean ok = TRUE;

  if (text->len > 0 && text->len >= at_least)
    {
      ok = cli_write (text->str, text->len, error);
      g_string_truncate (text, 0);
    }
  return ok;
}

static void
complain (const char *line)
{
  g_autofree char *whole = g_strdup_printf ("tensormorph-cli: %s\n", line);
  gssize ignored = write (STDERR_FILENO, whole, strlen (whole));

  (void)ignored; /* there is nowhere left to say it */
}

int
cli_fail (const char *file, GError *error)
{
  g_autofree char *name = tm_text_escape (file, -1);
  g_autofree char *message = tm_text_escape (error->message, -1);
  g_autofree char *line = g_strdup_printf ("%s: %s", name, message);
  gboolean quiet = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);

  g_error_free (error);
  if (quiet)
    return CLI_OK;
  complain (line);
  return CLI_FAILED;
}

int
cli_usage (const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL, *escaped = NULL, *line = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  escaped = tm_text_escape (message, -1);
  line = g_strdup_printf ("%s (see tensormorph-cli --help)", escaped);
  complain (line);
  return CLI_USAGE;
}

/* --- Colour ------------------------------------------------------------------------------------------------------- */

static const char *
style (const char *sequence)
{
  static int wanted = -1;

  if (wanted < 0)
    {
      const char *no_color = g_getenv ("NO_COLOR"), *terminal = g_getenv ("TERM");
      wanted = isatty (STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0')
               && (terminal == NULL || strcmp (terminal, "dumb") != 0);
    }
  return wanted ? sequence : "";
}

const char *
cli_style_heading (void)
{
  return style ("\033[1m");
}

const char *
cli_style_dim (void)
{
  return style ("\033[2m");
}

const char *
cli_style_end (void)
{
  return style ("\033[0m");
}

/* The hues of the window's families, nearest of the 256. */
const char *
cli_style_dtype (TmDtype dtype)
{
  static const char *const hues[TM_N_FAMILIES] = {
    [TM_FAMILY_FLOAT] = "\033[38;5;245m",   [TM_FAMILY_HALF] = "\033[38;5;67m",
    [TM_FAMILY_FLOAT8] = "\033[38;5;30m",   [TM_FAMILY_BITS_8] = "\033[38;5;35m",
    [TM_FAMILY_BITS_6_7] = "\033[38;5;38m", [TM_FAMILY_BITS_5] = "\033[38;5;133m",
    [TM_FAMILY_BITS_4] = "\033[38;5;98m",   [TM_FAMILY_BITS_3] = "\033[38;5;167m",
    [TM_FAMILY_BITS_2] = "\033[38;5;172m",  [TM_FAMILY_BITS_1] = "\033[38;5;130m",
    [TM_FAMILY_FLOAT4] = "\033[38;5;62m",   [TM_FAMILY_PLAIN] = "\033[38;5;101m",
  };
  TmFamily family = tm_dtype_get_info (dtype)->family;

  return style ((guint)family < TM_N_FAMILIES ? hues[family] : "");
}

const char *
cli_style_severity (TmSeverity severity)
{
  return style (severity == TM_SEVERITY_ERROR ? "\033[31m" : severity == TM_SEVERITY_WARNING ? "\033[33m" : "");
}
