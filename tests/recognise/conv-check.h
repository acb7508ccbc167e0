/* Folded weights held against golden vectors and against themselves. Shared by the tests of conventions. */
#pragma once

#include "recognise/recognise.h"
#include "cli/json-tree.h"

/* A safetensors file in the making; bytes are copied. */
typedef struct
{
  GString *header;
  GByteArray *data;
} Build;

void build_init (Build *build);
/* shape: "64,128"; "" for rank 0. bytes NULL: zeros. */
void build_add (Build *build, const char *name, const char *dtype, const char *shape, gconstpointer bytes,
                gsize n_bytes);
/* Writes FOLDER/name and forgets it. */
void build_write (Build *build, const char *folder, const char *name);

char *make_folder (void);
void remove_folder (char *folder); /* takes it */
void write_text (const char *folder, const char *name, const char *text);

/* Opens; the error, if any, is the test's end. key=value pairs, NULL-terminated, are choices for the whole model. */
TmModel *open_with (const char *path, ...) G_GNUC_NULL_TERMINATED;
const TmTensor *need_tensor (TmModel *model, const char *name);
gboolean has_problem (TmModel *model, const char *code);
const TmAssumption *find_assumption (TmModel *model, const char *key);

/* All of a golden folder's logical tensors: every value, every sample. only: a prefix of names, or NULL. */
void check_golden (TmModel *model, const char *golden_folder, const char *only);
/* explain() is what runs give, at random places; runs are what all of it gives; blocks can be described. */
void check_agrees (const TmTensor *tensor, guint n_places);

float value_at (const TmTensor *tensor, guint64 row, guint64 column);
