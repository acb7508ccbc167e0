/* Dtype chip: a pill in the family's colour that says the dtype's name, so that hue never stands alone. */
#include "ui/widgets.h"

#include "io/text.h"

/* CSS class of each family; style.css has one rule a class and theme. */
static const char *const family_class[TM_N_FAMILIES] = {
  [TM_FAMILY_FLOAT] = "family-float",       [TM_FAMILY_HALF] = "family-half",     [TM_FAMILY_FLOAT8] = "family-float8",
  [TM_FAMILY_BITS_8] = "family-bits-8",     [TM_FAMILY_BITS_6_7] = "family-bits-6-7", [TM_FAMILY_BITS_5] = "family-bits-5",
  [TM_FAMILY_BITS_4] = "family-bits-4",     [TM_FAMILY_BITS_3] = "family-bits-3", [TM_FAMILY_BITS_2] = "family-bits-2",
  [TM_FAMILY_BITS_1] = "family-bits-1",     [TM_FAMILY_FLOAT4] = "family-float4", [TM_FAMILY_PLAIN] = "family-plain",
};

void
tm_chip_set (GtkWidget *chip, TmDtype dtype, const char *label)
{
  const TmDtypeInfo *info = tm_dtype_get_info (dtype);
  for (guint i = 0; i < TM_N_FAMILIES; i++)
    gtk_widget_remove_css_class (chip, family_class[i]);
  gtk_widget_add_css_class (chip, family_class[info->family]);

  g_autofree char *text = tm_text_escape (label != NULL ? label : info->name, -1);
  gtk_label_set_text (GTK_LABEL (chip), text);
  gtk_widget_set_tooltip_text (chip, info->quantized ? "quantized" : "ordinary dtype: the stored value is the value");
}

GtkWidget *
tm_chip_new (TmDtype dtype, const char *label)
{
  GtkWidget *chip = gtk_label_new (NULL);
  gtk_widget_add_css_class (chip, "chip");
  gtk_widget_set_valign (chip, GTK_ALIGN_CENTER);
  gtk_label_set_ellipsize (GTK_LABEL (chip), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (chip), 14);
  tm_chip_set (chip, dtype, label);
  return chip;
}
