/* tensormorph-cli: the engine for terminals, scripts and machines without a display. */
#include "cli/cli.h"
#include "cli/table.h"

#include "analysis/statistics.h"

#include <locale.h>
#include <signal.h>
#include <string.h>

static const CliCommand commands[] = {
  { .name = "info",
    .arguments = "FILE",
    .summary = "What the model is: format, size, dtypes, granularity, metadata, problems",
    .details = "Metadata arrays are cut after 16 entries; their length is told.\n",
    .options = CLI_OPTION_JSON | CLI_OPTION_FULL | CLI_OPTION_STRICT | CLI_OPTION_ASSUME,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cli_info },
  { .name = "tensors",
    .arguments = "FILE",
    .summary = "One row a tensor",
    .details = "QUERY: attn_q  dtype:Q6_K  module:*.ffn_*  rows>4096  bpw<5  absmax>8  nan>0  zeros>50%  sqnr<20, joined by\n"
               "and, or, not and parentheses. Words without a field are looked for in names; * and ? make a pattern.\n"
               "Statistics that it asks for are found first; sqnr, cosine, mse, maxerror, overstep and clipped need --reference.\n",
    .options = CLI_OPTION_JSON | CLI_OPTION_STORED | CLI_OPTION_FILTER | CLI_OPTION_REFERENCE | CLI_OPTION_ASSUME,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cli_tensors },
  { .name = "scalar",
    .arguments = "FILE TENSOR INDEX…",
    .summary = "Raw integer, parameters, formula, value and place of single scalars",
    .details = "INDEX is 37,530: one number an axis, rows first; '' for a tensor without axes.\n",
    .options = CLI_OPTION_JSON | CLI_OPTION_STORED | CLI_OPTION_ASSUME,
    .min_arguments = 3,
    .max_arguments = G_MAXUINT,
    .run = cli_scalar },
  { .name = "values",
    .arguments = "FILE TENSOR",
    .summary = "The numbers of a tensor or of a region of it",
    .details = "Rows of the last axis stand on a line each; a tensor with one axis has one number a line.\n"
               "F ends in .npy or .csv.\n",
    .options = CLI_OPTION_JSON | CLI_OPTION_STORED | CLI_OPTION_REGION | CLI_OPTION_QUANTITY | CLI_OPTION_OUTPUT
               | CLI_OPTION_ASSUME,
    .min_arguments = 2,
    .max_arguments = 2,
    .run = cli_values },
  { .name = "diff",
    .arguments = "CANDIDATE REFERENCE [TENSOR…]",
    .summary = "What quantization changed: error of each tensor, worst first",
    .details = "Tensors are aligned by name across formats. What a converter did is undone where that makes the error clearly\n"
               "smaller: rotary row order, transposes, stacked experts, fused attention, norm + 1.\n"
               "TENSOR is a name of the candidate; none: all of them. Of those named also how many groups clip. With --json\n"
               "--full: also worst groups and modules.\n",
    .options = CLI_OPTION_JSON | CLI_OPTION_FULL | CLI_OPTION_ASSUME,
    .min_arguments = 2,
    .max_arguments = G_MAXUINT,
    .run = cli_diff },
  { .name = "backends",
    .arguments = "FILE",
    .summary = "Which backends run the dtypes in it, and how",
    .details = "Counts are tensors: of matrix multiplication, of row look-up for embeddings. Native: a kernel reads the codes;\n"
               "dequantized: weights are expanded first; fallback: the processor runs it.\n",
    .options = CLI_OPTION_JSON | CLI_OPTION_ASSUME,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cli_backends },
  { .name = "report",
    .arguments = "FILE",
    .summary = "One model, or a comparison, as a page or as JSON",
    .details = "F ends in .html (one file that needs nothing else) or .json.\n",
    .options = CLI_OPTION_REFERENCE | CLI_OPTION_OUTPUT | CLI_OPTION_ASSUME,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = cli_report },
  { .name = "stats",
    .arguments = "FILE [TENSOR|MODULE…]",
    .summary = "Statistics of values, raw codes and scales",
    .details = "Count, minimum, maximum, mean, standard deviation, zeros, NaN, infinities, percentiles, histogram, code usage.\n"
               "NaN and infinities are counted and left out of the rest. TENSOR: in detail; MODULE: all tensors below it\n"
               "together; none: a row for each tensor. With --json --full: also of scales.\n"
               "What was found is kept below the user's cache folder, so that a file that did not change is not read twice.\n"
               TM_PERCENTILE_METHOD,
    .options = CLI_OPTION_JSON | CLI_OPTION_FULL | CLI_OPTION_ASSUME,
    .min_arguments = 1,
    .max_arguments = G_MAXUINT,
    .run = cli_stats },
  { .name = "sparsity",
    .arguments = "FILE [TENSOR…]",
    .summary = "Zeros by cause: pruned, rounded to zero, revived",
    .details = "With --reference the causes are exact. Without, they are estimated from the codes next to the one for zero,\n"
               "as an interval, where that says something. Certain in both cases: groups, rows and columns of zeros, and N:M\n"
               "patterns against chance.\n",
    .options = CLI_OPTION_JSON | CLI_OPTION_FULL | CLI_OPTION_REFERENCE | CLI_OPTION_ASSUME,
    .min_arguments = 1,
    .max_arguments = G_MAXUINT,
    .run = cli_sparsity },
};

static const struct
{
  CliOptionFlags flag;
  const char *name, *meaning;
} option_help[] = {
  { CLI_OPTION_JSON, "--json", "stable output for programs" },
  { CLI_OPTION_FULL, "--full", "all there is: metadata arrays whole; in --json also scales, lists, modules" },
  { CLI_OPTION_STRICT, "--strict", "exit 1 when there is an error or a warning" },
  { CLI_OPTION_STORED, "--stored", "tensors as the files have them, packed words included" },
  { CLI_OPTION_REGION, "--region R", "0:4,0:32: half-open, one range an axis; a missing bound is the edge" },
  { CLI_OPTION_QUANTITY, "--quantity Q", "value (default), raw, scale, zero-point or offset" },
  { CLI_OPTION_OUTPUT, "-o F", "write to F; its ending says how" },
  { CLI_OPTION_REFERENCE, "--reference REF", "the model it is compared with" },
  { CLI_OPTION_FILTER, "--filter QUERY", "only tensors that match" },
  { CLI_OPTION_ASSUME, "--assume KEY=VALUE", "decide a reading that the file leaves open; may be repeated" },
};

static int
print (GString *text)
{
  GError *error = NULL;
  gboolean ok = cli_flush (text, 0, &error);

  g_string_free (text, TRUE);
  return ok ? CLI_OK : cli_fail ("standard output", error);
}

static void
add_table (GString *text, const CliTable *table)
{
  for (guint row = 0; row < cli_table_get_n_rows (table); row++)
    cli_table_append_row (table, row, "  ", text);
}

static int
print_help (void)
{
  g_autoptr (CliTable) table = cli_table_new ("lll");
  GString *text = g_string_new ("Usage: tensormorph-cli COMMAND [OPTIONS] FILE …\n\n"
                                "Looks into GGUF and safetensors models: a file, one shard, an index, or a folder.\n\n"
                                "Commands:\n");

  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      cli_table_add (table, g_strdup (commands[i].name), "");
      cli_table_add (table, g_strdup (commands[i].arguments), "");
      cli_table_add (table, g_strdup (commands[i].summary), "");
    }
  add_table (text, table);
  g_string_append (text, "\n'tensormorph-cli COMMAND --help' lists a command's options; --version tells the version.\n"
                         "Exit status: 0 it worked, 1 it cannot be read or written, 2 wrong usage.\n");
  return print (text);
}

static int
print_command_help (const CliCommand *command)
{
  g_autoptr (CliTable) table = cli_table_new ("ll");
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "Usage: tensormorph-cli %s [OPTIONS] %s\n\n%s.\n%s\nOptions:\n", command->name,
                          command->arguments, command->summary, command->details ? command->details : "");
  for (gsize i = 0; i < G_N_ELEMENTS (option_help); i++)
    if (command->options & option_help[i].flag)
      {
        cli_table_add (table, g_strdup (option_help[i].name), "");
        cli_table_add (table, g_strdup (option_help[i].meaning), "");
      }
  add_table (text, table);
  return print (text);
}

static int
run_command (const CliCommand *command, int argc, char **argv)
{
  g_auto (CliOptions) options = { 0 };

  if (!cli_options_parse (&options, command->options, argc, argv))
    return CLI_USAGE;
  if (options.help)
    return print_command_help (command);
  if (options.arguments->len < command->min_arguments || options.arguments->len > command->max_arguments)
    return cli_usage ("usage: tensormorph-cli %s [OPTIONS] %s", command->name, command->arguments);
  return command->run (&options);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  signal (SIGPIPE, SIG_IGN); /* a closed pipe is an error of write(), which ends the program quietly */

  if (argc < 2)
    return cli_usage ("no command");
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0)
    return print_help ();
  if (strcmp (argv[1], "--version") == 0)
    return print (g_string_new ("tensormorph-cli " TM_VERSION "\n"));
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i].name, argv[1]) == 0)
      return run_command (&commands[i], argc - 2, argv + 2);
  return cli_usage ("unknown %s '%s'", argv[1][0] == '-' ? "option" : "command", argv[1]);
}
