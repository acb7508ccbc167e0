/* What the subcommands share: options, the ways to stdout and stderr, finding a tensor. */
#pragma once

#include "model/model.h"
#include "recognise/assume.h"

G_BEGIN_DECLS

enum
{
  CLI_OK = 0,
  CLI_FAILED = 1,
  CLI_USAGE = 2
};

/* --- Options ------------------------------------------------------------------------------------------------------ */

typedef enum
{
  CLI_OPTION_JSON = 1 << 0,
  CLI_OPTION_STRICT = 1 << 1,
  CLI_OPTION_FULL = 1 << 2,
  CLI_OPTION_STORED = 1 << 3,
  CLI_OPTION_REGION = 1 << 4,
  CLI_OPTION_QUANTITY = 1 << 5,
  CLI_OPTION_OUTPUT = 1 << 6,
  CLI_OPTION_ASSUME = 1 << 7,
  CLI_OPTION_REFERENCE = 1 << 8,
  CLI_OPTION_FILTER = 1 << 9,
} CliOptionFlags;

typedef struct
{
  CliOptionFlags given; /* which of the above were there */
  gboolean help;
  const char *region; /* text, borrowed from argv */
  TmQuantity quantity;
  const char *output;
  const char *reference; /* path */
  const char *filter;    /* a query */
  TmAssume *assume;     /* readings chosen by the person */
  GPtrArray *arguments; /* what is no option, borrowed from argv */
} CliOptions;

void cli_options_clear (CliOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliOptions, cli_options_clear)

/* Options may stand anywhere; "--" ends them; "-1,0" is an argument, not an option. FALSE: said on stderr. */
gboolean cli_options_parse (CliOptions *options, CliOptionFlags known, int argc, char **argv);
const char *cli_quantity_get_name (TmQuantity quantity);

typedef struct
{
  const char *name;
  const char *arguments; /* "FILE TENSOR INDEX…" */
  const char *summary;
  const char *details; /* for --help; may be NULL */
  CliOptionFlags options;
  guint min_arguments, max_arguments;
  int (*run) (const CliOptions *options);
} CliCommand;

int cli_info (const CliOptions *options);
int cli_tensors (const CliOptions *options);
int cli_scalar (const CliOptions *options);
int cli_values (const CliOptions *options);
int cli_diff (const CliOptions *options);
int cli_stats (const CliOptions *options);
int cli_sparsity (const CliOptions *options);
int cli_backends (const CliOptions *options);
int cli_report (const CliOptions *options);

/* --- Output ------------------------------------------------------------------------------------------------------- */

/* Writes to stdout. Errors: TM_ERROR_IO; a closed pipe is G_IO_ERROR_BROKEN_PIPE, which cli_fail() takes quietly. */
gboolean cli_write (gconstpointer bytes, gsize count, GError **error);
/* Writes text and empties it, once it has at_least bytes. */
gboolean cli_flush (GString *text, gsize at_least, GError **error);
#define CLI_FLUSH 65536

/* "tensormorph-cli: FILE: message" on one line of stderr; takes error. Returns the exit status. */
int cli_fail (const char *file, GError *error);
/* "tensormorph-cli: message" and where help is; printf-like. Returns the exit status. */
int cli_usage (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* "" unless stdout is a terminal that wants colours. */
const char *cli_style_heading (void);
const char *cli_style_dim (void);
const char *cli_style_dtype (TmDtype dtype);
const char *cli_style_severity (TmSeverity severity);
const char *cli_style_end (void);

/* --- Long work ---------------------------------------------------------------------------------------------------- */

/* Before long work: from now on an interrupt cancels, so that nothing is left half written. Owned by the program. */
GCancellable *cli_start_work (void);
/* A TmProgressFunc: a line on stderr, where that is a terminal. data: what is done, static text. */
void cli_progress (double fraction, const char *text, gpointer data);
void cli_end_progress (void);

/* --- Tensors ------------------------------------------------------------------------------------------------------ */

/* A model of the command line, with its --assume. It stays until the program ends: to take half a million tensors apart before
 * that takes time and helps nobody. (transfer full) */
TmModel *cli_open_model (const char *path, const CliOptions *options, GError **error);

/* TENSOR of the command line: a logical name, stored:NAME, or with --stored a stored name. *owned is what has to be
 * freed, or NULL. Errors: TM_ERROR_ADDRESS. */
const TmTensor *cli_find_tensor (TmModel *model, const char *name, gboolean stored, TmTensor **owned, GError **error);

/* Tensors named from argument first on, each once, as indices; every tensor where none is named. NULL: TM_ERROR_ADDRESS.
 * (transfer full) (element-type guint) */
GArray *cli_find_tensors (TmModel *model, const GPtrArray *arguments, guint first, GError **error);

/* "[256, 2048]" (transfer full) */
char *cli_format_shape (guint rank, const guint64 *shape);

G_END_DECLS
