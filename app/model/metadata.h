/* Metadata: key and typed value as the container has them, in file order, duplicates included. Long arrays are not
 * read when a file opens: the entry keeps where they are, and tm_metadata_read_items() fetches a few of them. */
#pragma once

#include "io/source.h"

G_BEGIN_DECLS

typedef enum
{
  TM_META_U8, TM_META_I8, TM_META_U16, TM_META_I16, TM_META_U32, TM_META_I32, TM_META_F32, TM_META_BOOL,
  TM_META_STRING, TM_META_ARRAY, TM_META_U64, TM_META_I64, TM_META_F64,
  TM_META_JSON, /* a nested JSON value, kept as its text in string (safetensors, config.json) */
} TmMetaType; /* the first thirteen have GGUF's numbers */

typedef struct
{
  char *key;             /* as stored; may hold any byte, NUL-terminated copy of key_length bytes */
  gsize key_length;
  TmMetaType type;
  union { guint64 u; gint64 i; double f; gboolean b; } as; /* F32 and F64 in f, signed in i, unsigned in u */
  guint8 raw_bool;       /* the byte of a BOOL */
  char *string;          /* STRING, JSON: bytes as stored plus a NUL; string_length counts embedded NULs */
  gsize string_length;
  TmMetaType item_type;  /* ARRAY */
  guint64 n_items;       /* ARRAY */
  TmSource *source;      /* ARRAY: where its items are, own reference */
  guint64 offset, size;  /* ARRAY: file range of the items (not of their count) */
  guint version;         /* ARRAY: GGUF version, for the width of lengths inside */
  gboolean big_endian;   /* ARRAY */
} TmMetadata;

void tm_metadata_free (TmMetadata *entry);

/* Name of a type in records: "u32", "string", "array"; "json". */
const char *tm_meta_type_get_name (TmMetaType type);

/* The first max items of an array, each as an entry without a key (nested arrays are ARRAY entries again).
 * (transfer full) (element-type TmMetadata). Iterative, bounds-checked. */
GPtrArray *tm_metadata_read_items (const TmMetadata *entry, guint64 max, GError **error);

/* One line of text for people: strings escaped, arrays cut after max_items with their length told. (transfer full) */
char *tm_metadata_format (const TmMetadata *entry, guint64 max_items);

G_END_DECLS
