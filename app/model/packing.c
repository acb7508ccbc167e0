#include "model/tensor.h"

void
tm_packing_clear (TmPacking *packing)
{
  g_clear_pointer (&packing->fields, g_array_unref);
  g_clear_pointer (&packing->own, g_array_unref);
  *packing = (TmPacking) TM_PACKING_INIT;
}

static TmPackField *
add (GArray **array, const TmStored *stored, const char *name, const char *meaning, TmPackRole role, guint64 byte,
     guint bit, guint64 bits)
{
  TmPackField field = { .name = name,
                        .meaning = meaning,
                        .role = role,
                        .stored = stored,
                        .byte = byte + bit / 8,
                        .bit = bit % 8,
                        .bits = bits,
                        .element = TM_NO_ELEMENT };

  if (*array == NULL)
    *array = g_array_new (FALSE, FALSE, sizeof (TmPackField));
  g_array_append_val (*array, field);
  return &g_array_index (*array, TmPackField, (*array)->len - 1);
}

TmPackField *
tm_packing_add_field (TmPacking *packing, const TmStored *stored, const char *name, const char *meaning, TmPackRole role,
                      guint64 byte, guint bit, guint64 bits)
{
  return add (&packing->fields, stored, name, meaning, role, byte, bit, bits);
}

TmPackField *
tm_packing_add_own (TmPacking *packing, const TmStored *stored, const char *name, const char *meaning, TmPackRole role,
                    guint64 byte, guint bit, guint64 bits, double number)
{
  TmPackField *field = add (&packing->own, stored, name, meaning, role, byte, bit, bits);

  field->has_number = TRUE;
  field->number = number;
  return field;
}
