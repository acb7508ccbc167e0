/* Problems: what the file is at fault for, or what is worth knowing, while the rest stays usable (bad-input.md). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  TM_SEVERITY_NOTE,
  TM_SEVERITY_WARNING,
  TM_SEVERITY_ERROR,
} TmSeverity;

#define TM_NO_OFFSET G_MAXUINT64

typedef struct
{
  TmSeverity severity;
  char *code;     /* short, stable, kebab-case: "past-end", "unknown-dtype", "duplicate-name" */
  char *message;  /* one line: what and where, the tensor's name included; not yet escaped for a screen */
  char *file;     /* last component of the file's name, or NULL */
  char *tensor;   /* name of the tensor at fault, or NULL */
  guint64 offset; /* byte offset in file, or TM_NO_OFFSET */
} TmProblem;

void tm_problem_free (TmProblem *problem);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TmProblem, tm_problem_free)

const char *tm_severity_get_name (TmSeverity severity); /* "note", "warning", "error" */

G_END_DECLS
