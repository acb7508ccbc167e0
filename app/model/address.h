/* Addresses: one grammar for window, command line, history and links.
 *
 *   ADDRESS = NAME | NAME[INDEX] | NAME[REGION]
 *   NAME    = a module (blk.3), a fold (blk.3-20), a logical tensor (name, or name#n), a stored tensor (stored:NAME)
 *   INDEX   = 37,530           REGION = 0:4,0:32 (half-open, one range an axis, a missing bound is the edge)
 *
 * The exact whole name wins over taking its end for brackets. Addresses are always logical indices. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef enum { TM_ADDRESS_MODEL, TM_ADDRESS_MODULE, TM_ADDRESS_FOLD, TM_ADDRESS_TENSOR, TM_ADDRESS_STORED } TmAddressKind;
typedef enum { TM_WITHIN_WHOLE, TM_WITHIN_INDEX, TM_WITHIN_REGION } TmWithin;

typedef struct
{
  TmAddressKind kind;
  TmModule *module;     /* MODULE; FOLD: the parent of the folded siblings */
  guint fold;           /* FOLD: index into module->folds */
  guint tensor;         /* TENSOR, STORED: index into the model's array */
  TmWithin within;
  guint rank;
  guint64 *start, *end; /* INDEX: start only matters (end = start + 1); rank numbers each; owned */
} TmAddress;

#define TM_ADDRESS_INIT { 0 }
void tm_address_clear (TmAddress *address);
void tm_address_copy (const TmAddress *from, TmAddress *to); /* to is overwritten, not cleared first */
gboolean tm_address_equal (const TmAddress *a, const TmAddress *b);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmAddress, tm_address_clear)

/* Errors: TM_ERROR_ADDRESS, with the part that does not fit. "" is the model. */
gboolean tm_address_parse (TmModel *model, const char *text, TmAddress *address, GError **error);
char *tm_address_format (TmModel *model, const TmAddress *address); /* (transfer full) */

/* A logical or stored tensor by "name", "name#n" ("#1" also where the name is unique), or as the name is shown; −1: none. */
gint64 tm_address_find_name (TmModel *model, gboolean stored, const char *name);

/* "37,530" and "0:4,0:32" alone, against a shape. Numbers are plain decimal, 64 bits, no signs. start, end: rank numbers. */
gboolean tm_index_parse (const char *text, guint rank, const guint64 *shape, guint64 *index, GError **error);
gboolean tm_region_parse (const char *text, guint rank, const guint64 *shape, guint64 *start, guint64 *end, GError **error);

G_END_DECLS
