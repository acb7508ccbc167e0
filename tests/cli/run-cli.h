/* Runs the built tensormorph-cli and keeps what it said. */
#pragma once

#include <glib.h>

typedef struct
{
  int status; /* exit status; −signal if a signal ended it */
  char *out;  /* NUL-terminated */
  char *err;
} CliRun;

/* After g_test_init(): the program's path is the first argument left. */
void cli_init (int argc, char **argv);
const char *cli_path (void);

CliRun *cli_run (const char *argument, ...) G_GNUC_NULL_TERMINATED;
CliRun *cli_run_argv (const char *const *arguments, gsize n);
void cli_run_free (CliRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliRun, cli_run_free)

/* It worked: exit 0 and nothing on stderr. Says the arguments' first words otherwise. */
void cli_assert_ok (const CliRun *run);
/* Exit status, nothing on stdout, and one line on stderr with the program's name in front. */
void cli_assert_refused (const CliRun *run, int status);

char *golden_path (const char *relative); /* tests/golden/… (transfer full) */
char *scratch_path (const char *name);    /* in a folder of this test's own, which cli_cleanup() removes */
void cli_cleanup (void);
/* Lines of a golden .tsv without its heading, each split at tabs. (transfer full) (element-type GStrv) */
GPtrArray *golden_read_tsv (const char *relative);
