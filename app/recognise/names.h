/* Facts about tensor names (data/names.json, as a table) and what they tell: a finer role, the architecture. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

/* Sorted by name; block and expert numbers are 0. key: the GGUF name, the same for all names of one thing. */
typedef struct { const char *name, *role, *key; } TmNameRow;
typedef struct { const char *pattern, *role; } TmRolePattern; /* POSIX ERE on the lower-case name, first match wins */
typedef struct { const char *architecture, *all[3], *none; } TmDetectRow;

extern const TmNameRow tm_name_rows[];
extern const guint tm_n_name_rows;
extern const TmRolePattern tm_role_patterns[];
extern const guint tm_n_role_patterns;
extern const TmDetectRow tm_detect_rows[];
extern const guint tm_n_detect_rows;
extern const char *const tm_list_words[]; /* sorted */
extern const guint tm_n_list_words;

/* "layers", "blk", "h" …: a number after it opens a repeated block. length −1: NUL-terminated. */
gboolean tm_is_list_word (const char *word, gssize length);
/* Decimal digits only, at most 18 of them; −1 otherwise. */
gint64 tm_parse_number (const char *text, gssize length);

/* The row of exactly this name, numbers of blocks and experts 0 already; NULL if none. */
const TmNameRow *tm_name_row_find (const char *name);
/* The name within its container ("model.", "language_model."), which may hide a listed name; NULL where there is none. */
const char *tm_name_skip_container (const char *name);

/* Looks names up. Names that differ in block numbers only are looked up once; after MAX_KINDS different ones, unknown names
 * get no role, so a file cannot make it slow. */
typedef struct _TmNames TmNames;

TmNames *tm_names_new (void);
void tm_names_free (TmNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmNames, tm_names_free)

/* "attn.q", "mlp.gate", "norm" …; NULL if nothing is known. name without its ".weight" or ".bias". Static. */
const char *tm_names_find_role (TmNames *names, const char *name);
TmModuleRole tm_role_get_module_role (const char *role);
/* What a container's own last segment says: "self_attn", "mlp", "experts". */
TmModuleRole tm_segment_get_module_role (const char *segment);

/* What the names alone tell; NULL if nothing. Static. */
const char *tm_detect_architecture (const TmModule *root, const GPtrArray *tensors);

G_END_DECLS
