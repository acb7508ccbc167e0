#include "analysis/report-html.h"

#include <string.h>

#include "analysis/backends.h"
#include "io/number.h"
#include "io/text.h"
#include "view/scene.h"

static const char style[]
    = "*{box-sizing:border-box}"
      "body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:76rem;background:var(--background);color:var(--text);"
      "font:15px/1.5 system-ui,'Cantarell','Noto Sans',sans-serif}"
      "h1{font-size:1.7rem;margin:0 0 .2rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2.4rem 0 .7rem}"
      "p{margin:.3rem 0}.dim,caption{color:var(--dim)}"
      ".facts{display:flex;flex-wrap:wrap;gap:.8rem;margin:1.4rem 0}"
      ".fact{background:var(--card);border:1px solid var(--border);border-radius:10px;padding:.6rem "
      "1rem;min-width:8rem}"
      ".fact b{display:block;font-size:1.25rem;font-variant-numeric:tabular-nums}"
      ".fact span{color:var(--dim);font-size:.85rem}"
      ".scroll{overflow-x:auto;background:var(--card);border:1px solid var(--border);border-radius:10px}"
      "table{border-collapse:collapse;width:100%;font-size:.88rem}"
      "caption{text-align:left;padding:.6rem .8rem 0;font-size:.85rem}"
      "th,td{text-align:left;padding:.32rem .8rem;white-space:nowrap;border-bottom:1px solid var(--border)}"
      "th{color:var(--dim);font-weight:600}tr:last-child td{border-bottom:0}"
      ".n{text-align:right;font-variant-numeric:tabular-nums}.w{white-space:normal;min-width:18rem}"
      ".bar{display:block;width:9rem;height:.7rem}.bar rect{fill:var(--accent)}.bar .of{fill:var(--border)}"
      ".chip{border-radius:6px;padding:.05rem .45rem;border:1px solid currentColor;font-size:.8rem}"
      ".histogram{display:block;width:100%;height:7rem}.histogram rect{fill:var(--accent)}.histogram "
      ".over{fill:var(--bad)}"
      ".histogram line{stroke:var(--dim);stroke-dasharray:3 3}"
      ".pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.8rem}"
      "figure{margin:0;background:var(--card);border:1px solid var(--border);border-radius:10px;padding:.7rem .9rem}"
      "figcaption{font-size:.82rem;overflow-wrap:anywhere}"
      ".q{width:.8rem;height:.8rem;display:inline-block;border-radius:3px;margin-right:.45rem;vertical-align:-1px}"
      "@media print{body{max-width:none}.scroll{overflow:visible}}";

/* --- Pieces ------------------------------------------------------------------------------------------------------- */

void
tm_html_append_text (GString *out, const char *text)
{
  g_autofree char *clean = tm_text_escape (text != NULL ? text : "", -1);
  g_autofree char *escaped = g_markup_escape_text (clean, -1);

  g_string_append (out, escaped);
}

void
tm_html_append_heading (GString *out, const char *heading)
{
  g_string_append (out, "<h2>");
  tm_html_append_text (out, heading);
  g_string_append (out, "</h2>\n");
}

void
tm_html_begin_table (GString *out, const char *label, const char *const *titles)
{
  g_string_append (out, "<div class=\"scroll\"><table><caption>");
  tm_html_append_text (out, label);
  g_string_append (out, "</caption><thead><tr>");
  for (; *titles != NULL; titles++)
    {
      gboolean number = **titles == '>';

      g_string_append (out, number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
      tm_html_append_text (out, *titles + (number ? 1 : 0));
      g_string_append (out, "</th>");
    }
  g_string_append (out, "</tr></thead><tbody>\n");
}

void
tm_html_end_table (GString *out)
{
  g_string_append (out, "</tbody></table></div>\n");
}

void
tm_html_take_cell (GString *out, char *text, gboolean number)
{
  g_string_append (out, number ? "<td class=\"n\">" : "<td>");
  tm_html_append_text (out, text);
  g_string_append (out, "</td>");
  g_free (text);
}

void
tm_html_append_bar (GString *out, double share, const char *css_class)
{
  char number[TM_NUMBER_SIZE];

  g_ascii_formatd (number, sizeof number, "%.2f", CLAMP (share, 0, 1) * 100);
  g_string_append_printf (out,
                          "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                          "<rect class=\"of\" width=\"100\" height=\"8\" rx=\"2\"/>"
                          "<rect class=\"%s\" width=\"%s\" height=\"8\" rx=\"2\"/></svg>",
                          css_class, number);
}

static void
append_chip (GString *out, const char *label, TmDtype dtype)
{
  g_string_append_printf (out, "<span class=\"chip\" style=\"color:var(--family-%u)\">",
                          MIN ((guint) tm_dtype_get_info (dtype)->family, TM_N_FAMILIES - 1));
  tm_html_append_text (out, label);
  g_string_append (out, "</span>");
}

void
tm_html_append_dtype (GString *out, const TmTensor *tensor)
{
  append_chip (out, tensor->dtype_label != NULL ? tensor->dtype_label : tm_dtype_get_name (tensor->dtype),
               tensor->dtype);
}

/* --- The head ----------------------------------------------------------------------------------------------------- */

static void
append_colors (GString *out, gboolean dark)
{
  g_autofree TmTheme *theme = g_new (TmTheme, 1);

  tm_theme_init (theme, dark, 0);
  g_string_append_printf (
      out,
      ":root{color-scheme:%s;--background:#%06x;--card:#%06x;--border:#%06x;--text:#%06x;--dim:#%06x;"
      "--accent:#%06x;--bad:%s",
      dark ? "dark" : "light", theme->background >> 8, theme->card >> 8, theme->card_border >> 8, theme->text >> 8,
      theme->text_dim >> 8, theme->accent >> 8, dark ? "#e5886b" : "#b4432b");
  for (guint i = 0; i < TM_N_FAMILIES; i++)
    g_string_append_printf (out, ";--family-%u:#%06x", i, theme->family_text[i] >> 8);
  g_string_append_c (out, '}');
}

static void
append_head (GString *out, TmModel *model)
{
  g_string_append (out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                        "<meta name=\"generator\" content=\"Tensormorph\"><title>");
  tm_html_append_text (out, model->title);
  g_string_append (out, "</title><style>");
  append_colors (out, FALSE);
  g_string_append (out, "@media (prefers-color-scheme:dark){");
  append_colors (out, TRUE);
  g_string_append_c (out, '}');
  g_string_append (out, style);
  g_string_append (out, "</style></head><body>\n");
}

static void
take_fact (GString *out, char *value, const char *name)
{
  g_string_append (out, "<div class=\"fact\"><b>");
  tm_html_append_text (out, value);
  g_string_append (out, "</b><span>");
  tm_html_append_text (out, name);
  g_string_append (out, "</span></div>\n");
  g_free (value);
}

static void
append_facts (GString *out, TmModel *model)
{
  g_string_append (out, "<div class=\"facts\">\n");
  take_fact (out, tm_format_parameters (model->parameters), "parameters");
  take_fact (out, tm_format_size (model->bytes), "of weights");
  if (model->parameters > 0)
    take_fact (out, g_strdup_printf ("%.2f", 8.0 * (double) model->bytes / (double) model->parameters),
               "bits a weight");
  take_fact (out, tm_format_count (model->tensors->len), "tensors");
  take_fact (out, tm_format_count (model->n_quantized), "of them quantized");
  take_fact (out, g_strdup (model->architecture != NULL ? model->architecture : "not told"), "architecture");
  take_fact (out, g_strjoin (" ", model->format != NULL ? model->format : "", model->version, NULL), "format");
  g_string_append (out, "</div>\n");
}

/* --- Sections ----------------------------------------------------------------------------------------------------- */

static void
append_dtypes (GString *out, TmModel *model)
{
  static const char *const titles[] = { "dtype", ">tensors", ">parameters", ">size", "share of the bytes", NULL };
  g_autoptr (GArray) dtypes = tm_model_count_dtypes (model);

  tm_html_append_heading (out, "Dtypes");
  tm_html_begin_table (out, "What the weights are stored as, largest first", titles);
  for (guint i = 0; i < dtypes->len; i++)
    {
      const TmDtypeCount *count = &g_array_index (dtypes, TmDtypeCount, i);

      g_string_append (out, "<tr><td>");
      append_chip (out, count->dtype, count->code);
      g_string_append (out, "</td>");
      tm_html_take_cell (out, tm_format_count (count->tensors), TRUE);
      tm_html_take_cell (out, tm_format_count (count->parameters), TRUE);
      tm_html_take_cell (out, tm_format_size (count->bytes), TRUE);
      g_string_append (out, "<td>");
      tm_html_append_bar (out, model->bytes > 0 ? (double) count->bytes / (double) model->bytes : 0, "part");
      g_string_append (out, "</td></tr>\n");
    }
  tm_html_end_table (out);
}

static void
append_granularities (GString *out, TmModel *model)
{
  static const char *const titles[] = { "granularity", "dtype", ">tensors", NULL };
  g_autoptr (GArray) counts = tm_model_count_granularities (model);

  tm_html_append_heading (out, "Granularity");
  tm_html_begin_table (out, "Which weights share one scale", titles);
  for (guint i = 0; i < counts->len; i++)
    {
      const TmGranularityCount *count = &g_array_index (counts, TmGranularityCount, i);

      g_string_append (out, "<tr>");
      tm_html_take_cell (out, tm_granularity_describe (count->granularity), FALSE);
      tm_html_take_cell (out, g_strdup (count->dtype), FALSE);
      tm_html_take_cell (out, tm_format_count (count->tensors), TRUE);
      g_string_append (out, "</tr>\n");
    }
  tm_html_end_table (out);
}

static void
append_backends (GString *out, TmModel *model)
{
  static const char *const titles[]
      = { "backend", ">native", ">dequantized", ">fallback", ">unsupported", ">unknown", "needs", NULL };
  TmBackendSummary *summaries = tm_backends_summarize (model);
  g_autofree char *label
      = g_strdup_printf ("Tensors, by how each backend runs their scheme; as of %s. Backends of which "
                         "nothing is known for this model are left out.",
                         tm_backends_get_as_of ());

  tm_html_append_heading (out, "Backends");
  tm_html_begin_table (out, label, titles);
  for (guint b = 0; b < tm_backends_get_n (); b++)
    {
      if (summaries[b].count[TM_SUPPORT_UNKNOWN] == model->tensors->len)
        continue;
      g_string_append (out, "<tr>");
      tm_html_take_cell (out, g_strdup (tm_backends_get (b)->name), FALSE);
      for (guint state = 0; state < TM_N_SUPPORT_STATES; state++)
        tm_html_take_cell (out, tm_format_count (summaries[b].count[state]), TRUE);
      g_string_append (out, "<td class=\"w\">");
      tm_html_append_text (out, summaries[b].needs);
      g_string_append (out, "</td></tr>\n");
    }
  tm_html_end_table (out);
  tm_backend_summaries_free (summaries);
}

static char *
format_shape (const TmTensor *tensor)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? " × " : "", tensor->shape[i]);
  return g_string_free (text, FALSE);
}

static void
append_tensors (GString *out, TmModel *model)
{
  static const char *const titles[] = { "tensor", "dtype", "shape", ">size", ">bits/w", "granularity", NULL };

  tm_html_append_heading (out, "Tensors");
  tm_html_begin_table (out, "In the order of the file", titles);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (model, i);

      g_string_append (out, "<tr>");
      tm_html_take_cell (out, g_strdup (tensor->name), FALSE);
      g_string_append (out, "<td>");
      tm_html_append_dtype (out, tensor);
      g_string_append (out, "</td>");
      tm_html_take_cell (out, format_shape (tensor), FALSE);
      tm_html_take_cell (out, tm_format_size (tensor->bytes), TRUE);
      tm_html_take_cell (out, g_strdup_printf ("%.2f", tm_tensor_get_bits_per_weight (tensor)), TRUE);
      tm_html_take_cell (out,
                         tensor->fault != NULL         ? g_strdup (tensor->fault)
                         : tensor->granularity != NULL ? tm_granularity_describe (tensor->granularity)
                                                       : g_strdup (""),
                         FALSE);
      g_string_append (out, "</tr>\n");
    }
  tm_html_end_table (out);
}

static void
append_problems (GString *out, TmModel *model)
{
  static const char *const titles[] = { "severity", "problem", NULL };

  if (model->problems->len == 0)
    return;
  tm_html_append_heading (out, "Problems");
  tm_html_begin_table (out, "What is wrong or odd in the file", titles);
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      g_string_append (out, "<tr>");
      tm_html_take_cell (out, g_strdup (tm_severity_get_name (problem->severity)), FALSE);
      g_string_append (out, "<td class=\"w\">");
      tm_html_append_text (out, problem->message);
      g_string_append (out, "</td></tr>\n");
    }
  tm_html_end_table (out);
}

void
tm_report_make_html (TmModel *model, const TmDiff *diff, GString *out)
{
  append_head (out, model);
  g_string_append (out, "<header><h1>");
  tm_html_append_text (out, model->title);
  g_string_append (out, "</h1>\n<p class=\"dim\">");
  if (diff != NULL)
    {
      g_string_append (out, "against ");
      tm_html_append_text (out, diff->alignment->reference->title);
    }
  else
    tm_html_append_text (out, model->name);
  g_string_append (out, "</p></header>\n<main>\n");
  append_facts (out, model);
  if (diff != NULL)
    tm_report_append_diff (diff, out);
  append_dtypes (out, model);
  append_granularities (out, model);
  append_backends (out, model);
  append_problems (out, model);
  append_tensors (out, model);
  g_string_append (out, "</main></body></html>\n");
}
