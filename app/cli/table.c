#include "cli/table.h"

#include "cli/cli.h"

#include <string.h>

#define WIDEST 72 /* a cell longer than this pushes its own row, not every other */

typedef struct
{
  char *text;
  const char *style;
} Cell;

struct _CliTable
{
  guint n_columns;
  char *alignments;
  gsize *widths;
  GArray *cells;
};

static void
clear_cell (gpointer cell)
{
  g_free (((Cell *)cell)->text);
}

static gsize
get_width (const char *text)
{
  gsize width = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    {
      gunichar letter = g_utf8_get_char (text);
      if (!g_unichar_iszerowidth (letter))
        width += g_unichar_iswide (letter) ? 2 : 1;
    }
  return width;
}

CliTable *
cli_table_new (const char *alignments)
{
  CliTable *table = g_new0 (CliTable, 1);

  table->n_columns = (guint)strlen (alignments);
  table->alignments = g_strdup (alignments);
  table->widths = g_new0 (gsize, table->n_columns);
  table->cells = g_array_new (FALSE, FALSE, sizeof (Cell));
  g_array_set_clear_func (table->cells, clear_cell);
  return table;
}

void
cli_table_free (CliTable *table)
{
  g_free (table->alignments);
  g_free (table->widths);
  g_array_unref (table->cells);
  g_free (table);
}

void
cli_table_add (CliTable *table, char *text, const char *style)
{
  Cell cell = { text, style };
  guint column = table->cells->len % table->n_columns;

  table->widths[column] = MAX (table->widths[column], MIN (get_width (text), WIDEST));
  g_array_append_val (table->cells, cell);
}

guint
cli_table_get_n_rows (const CliTable *table)
{
  return table->cells->len / table->n_columns;
}

static void
append_spaces (GString *out, gsize n)
{
  for (; n > 0; n--)
    g_string_append_c (out, ' ');
}

void
cli_table_append_row (const CliTable *table, guint row, const char *indent, GString *out)
{
  gsize owed = 0; /* spaces that only the next cell asks for: no line ends in blanks */

  g_string_append (out, indent);
  for (guint column = 0; column < table->n_columns; column++)
    {
      const Cell *cell = &g_array_index (table->cells, Cell, row * table->n_columns + column);
      gsize width = get_width (cell->text), pad = table->widths[column] > width ? table->widths[column] - width : 0;
      gboolean right = table->alignments[column] == 'r';

      if (cell->text[0] != '\0')
        {
          append_spaces (out, owed + (right ? pad : 0));
          owed = 0;
          g_string_append (out, cell->style);
          g_string_append (out, cell->text);
          if (cell->style[0] != '\0')
            g_string_append (out, cli_style_end ());
          owed = right ? 2 : pad + 2;
        }
      else
        owed += pad + 2;
    }
  g_string_append_c (out, '\n');
}
