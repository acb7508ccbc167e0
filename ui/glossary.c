#include "ui/glossary.h"

#include "ui/accessible.h"

const TmGlossaryEntry tm_glossary[] = {
  { "address", "Where something is in the model: a module, a tensor, or a tensor with an index or region, as in "
               "blk.0.attn_v.weight[37,530]. Indices count from 0, outermost axis first." },
  { "backend", "A program or library that computes with the model on some hardware: llama.cpp on CUDA, ONNX Runtime on a CPU." },
  { "bits per weight", "Stored bits divided by elements, scales and all other parameters of the quantization included." },
  { "block", "A run of elements that is stored as one piece. Also: a repeated layer of the model, as in blk.0." },
  { "boundary", "The line between two neighbours that do not share one set of quantization parameters. Heavy lines: the "
                "coarse level; thin lines: the fine level." },
  { "channel", "One index of an axis, all other axes whole; in a weight matrix a row is one output channel." },
  { "dequantized", "The real value that the stored integer stands for, computed from it with scale and zero point or "
                   "offset. What the model calculates with." },
  { "device", "Where a tensor lived when it was saved, if the file records it." },
  { "dtype", "How one element, or one block of elements, is stored: F32, BF16, Q4_K …" },
  { "granularity", "Which elements share one set of quantization parameters: the whole tensor, a channel, a group, a "
                   "block; or several levels of these, one inside the other." },
  { "group", "A run of elements along one axis that share one scale (and zero point or offset)." },
  { "layout", "How the elements lie in the file: row-major, or packed in blocks." },
  { "N:M pattern", "Of every M neighbours along the input axis at most N are kept, the others are zero: 2:4 is what some GPUs compute "
                   "twice as fast." },
  { "offset", "What is added after scaling: value = scale × raw + offset." },
  { "operand", "A stored tensor that a logical tensor is computed from: its packed values, its scales, its zero points." },
  { "pruned", "Zero on purpose before quantization: zero in the reference already. Zeros that quantization made are rounded to "
              "zero; what was zero and no longer is, is revived." },
  { "quantized", "Stored as small integers (or codes) that only approximate the real values once combined with a scale. "
                 "An ordinary dtype's stored value is the value." },
  { "rank", "The number of axes of a shape." },
  { "raw", "What is stored: the integer (or code) as it is in the file, before anything is taken away or multiplied." },
  { "region", "A box of elements inside a tensor, written as half-open ranges: [0:4,0:32]." },
  { "scalar", "One number of a tensor." },
  { "scale", "The factor between raw integers and values; where there are several levels, their product." },
  { "shape", "The lengths of a tensor's axes, outermost first: rows before columns." },
  { "shard", "One of several files that together hold a model." },
  { "sheet", "The grid of a tensor's elements on the canvas. One element is one unit of area on every sheet, so area is "
             "exactly parameters." },
  { "stored tensor", "Bytes in a file with a plain dtype and a shape, as the file lists them." },
  { "stride", "How many elements (or bytes) lie between two neighbours along an axis." },
  { "super-block", "A block that holds several groups with their scales, which are themselves quantized by a common "
                   "scale: 256 elements in the K dtypes." },
  { "tensor", "An array of numbers with a name, a shape and a dtype; a logical tensor is what a person means by "
              "“the weight”, however many stored tensors it is made of." },
  { "zero point", "The raw integer that stands for 0: value = scale × (raw − zero point)." },
  { NULL, NULL },
};

const char *
tm_glossary_get (const char *term)
{
  for (const TmGlossaryEntry *entry = tm_glossary; entry->term; entry++)
    if (g_ascii_strcasecmp (entry->term, term) == 0)
      return entry->definition;
  return NULL;
}

static void
on_search (GtkSearchEntry *search, GtkWidget *list)
{
  gtk_list_box_invalidate_filter (GTK_LIST_BOX (list));
}

static gboolean
row_matches (GtkListBoxRow *row, gpointer data)
{
  g_autofree char *needle = g_utf8_casefold (gtk_editable_get_text (data), -1);
  const TmGlossaryEntry *entry = &tm_glossary[gtk_list_box_row_get_index (row)];
  g_autofree char *term = g_utf8_casefold (entry->term, -1);
  g_autofree char *definition = g_utf8_casefold (entry->definition, -1);

  return strstr (term, needle) || strstr (definition, needle);
}

static GtkWidget *
label_new (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_widget_add_css_class (label, css_class);
  return label;
}

GtkWidget *
tm_glossary_window_new (GtkWindow *parent)
{
  GtkWidget *window = gtk_window_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *search = gtk_search_entry_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *list = gtk_list_box_new ();
  GtkWidget *nothing = label_new ("No term has this text.", "dim-label");

  gtk_window_set_title (GTK_WINDOW (window), "Glossary");
  gtk_window_set_titlebar (GTK_WINDOW (window), gtk_header_bar_new ());
  gtk_window_set_transient_for (GTK_WINDOW (window), parent);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (window), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (window), 520, 640);
  gtk_widget_add_css_class (window, "tm-glossary");

  gtk_accessible_update_property (GTK_ACCESSIBLE (search), GTK_ACCESSIBLE_PROPERTY_LABEL, "Search the glossary", -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, "Terms", -1);
  gtk_widget_set_margin_start (search, 12);
  gtk_widget_set_margin_end (search, 12);
  gtk_widget_set_margin_top (search, 12);
  gtk_widget_set_margin_bottom (search, 6);
  for (const TmGlossaryEntry *entry = tm_glossary; entry->term; entry++)
    {
      GtkWidget *cell = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
      GtkWidget *row = gtk_list_box_row_new ();

      gtk_box_append (GTK_BOX (cell), label_new (entry->term, "heading"));
      gtk_box_append (GTK_BOX (cell), label_new (entry->definition, "body"));
      gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), cell);
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
      gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, entry->term,
                                      GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, entry->definition, -1);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  gtk_widget_set_margin_top (nothing, 24);
  gtk_widget_set_halign (nothing, GTK_ALIGN_CENTER);
  gtk_list_box_set_placeholder (GTK_LIST_BOX (list), nothing);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_list_box_set_filter_func (GTK_LIST_BOX (list), row_matches, search, NULL);
  g_signal_connect_object (search, "search-changed", G_CALLBACK (on_search), list, 0);
  g_signal_connect_object (search, "stop-search", G_CALLBACK (gtk_window_close), window, G_CONNECT_SWAPPED);

  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), list);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (box), search);
  gtk_box_append (GTK_BOX (box), scroller);
  gtk_window_set_child (GTK_WINDOW (window), box);
  tm_accessible_name_parts (window);
  return window;
}
