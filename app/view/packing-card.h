/* How one scalar is packed, ready to be drawn: the bytes that hold it in each stored tensor, what field each belongs to,
 * which bits are the scalar's own, and the words that say so. Reads the bytes: make it on a worker. */
#pragma once

#include "model/tensor.h"

G_BEGIN_DECLS

/* Fields of one name in one stored tensor: a colour and a legend entry. */
typedef struct
{
  const char *name, *meaning; /* static */
  TmPackRole role;
  const TmStored *stored;
  guint64 byte, bits;         /* from its first byte, all of them together */
  guint color;                /* 0, 1, 2 …: as different as colours can be */
  gboolean own;               /* some of the scalar's own bits are in it */
} TmPackingLegend;

#define TM_NO_LEGEND G_MAXUINT16

typedef struct
{
  guint8 value;
  guint8 own;      /* mask of the scalar's own bits */
  guint16 legend;  /* index into the card's legend; TM_NO_LEGEND between fields */
  guint32 at;      /* how many bytes into its legend entry */
} TmPackingByte;

/* Bytes that follow each other in one stored tensor. */
typedef struct
{
  const TmStored *stored;
  guint64 first;     /* of the stored tensor */
  char *title;       /* "qweight · 0x1A40"; with the file where there are several; escaped */
  TmPackingByte *byte;
  guint n;
  gboolean cut_before, cut_after; /* the run is longer than what is shown */
} TmPackingRun;

/* Immutable and reference counted; it borrows the stored tensors of its model. */
typedef struct
{
  char *title;       /* "Q6_K: super-block of 256 elements in 210 bytes" */
  char *place;       /* "block 2 of row 37 · file 0x2A510B4"; NULL where it says nothing */
  char *order;       /* how codes follow each other, or NULL */
  GArray *legend;    /* TmPackingLegend */
  GPtrArray *runs;   /* TmPackingRun * */
  char *bits;        /* "Bits of this value": lines, escaped */
  char *description; /* all of it as one text, for who cannot see it */
} TmPackingCard;

#define TM_PACKING_RUN_MAX 1024u /* bytes of one run that are shown */

/* scalar: the same element's record. */
TmPackingCard *tm_packing_card_new (const TmTensor *tensor, const TmScalar *scalar, GError **error);
TmPackingCard *tm_packing_card_ref (TmPackingCard *card);
void tm_packing_card_unref (TmPackingCard *card);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmPackingCard, tm_packing_card_unref)

/* "ql[2] · byte 2 of 128 · file 0x2A510B6 · 0x49 = 01001001₂\nlow four bits of the codes" (transfer full) */
char *tm_packing_card_describe_byte (const TmPackingCard *card, const TmPackingRun *run, guint i);

G_END_DECLS
