/* Steps: where an arrow key, a boundary key or a marked rectangle leads on a sheet. No widgets: arithmetic on flat indices. */
#pragma once

#include "architecture/sheet.h"
#include "model/address.h"

G_BEGIN_DECLS

/* The neighbour of an element on its sheet, one of dx, dy being ±1. FALSE at the pane's edge. */
gboolean tm_step_scalar (const TmSheet *sheet, guint64 flat, int dx, int dy, guint64 *result);

/* The start of the next group in a direction, or of this group (of the one before where flat is at a start already).
 * Without a granularity, or where the group fills the axis: the pane's edge. FALSE where there is nowhere to go. */
gboolean tm_step_boundary (const TmTensor *tensor, const TmSheet *sheet, guint64 flat, int dx, int dy, guint64 *result);

/* The first element of the group (finest level) that holds flat; flat itself without a granularity. */
guint64 tm_step_group_start (const TmTensor *tensor, guint64 flat);

/* The same place in the next or previous slice of the leading axis. FALSE below rank 3 and at the ends. */
gboolean tm_step_slice (const TmTensor *tensor, guint64 flat, int by, guint64 *result);

/* Moves a cell of the sheet into the pane that holds flat. */
void tm_step_clamp_to_pane (const TmSheet *sheet, guint64 flat, gint64 *x, gint64 *y);

/* The smallest region of the tensor that holds both elements and has a form that an address can say: a box over the
 * tensor's axes. tensor's index is set by the caller. (clear with tm_address_clear) */
void tm_step_region (const TmTensor *tensor, const TmSheet *sheet, guint64 a, guint64 b, TmAddress *address);

G_END_DECLS
