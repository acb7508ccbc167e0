/* What a model's quantization comes to: schemes, what is left in full precision, companions, size against bfloat16. */
#pragma once

#include "model/model.h"

G_BEGIN_DECLS

typedef struct
{
  guint tensors;
  guint64 parameters, bytes;
} TmQuantizationPart;

typedef struct
{
  GArray *schemes;                /* of TmSchemeCount, largest first */
  TmQuantizationPart quantized;
  TmQuantizationPart matrices;    /* two axes or more, of floating point: could have been quantized and were not */
  guint matrices_excluded;        /* of these the config file says so */
  TmQuantizationPart small;       /* norms, biases, integers, scalars */
  TmQuantizationPart companions;  /* stored tensors behind the first of a folded weight: scales, zero points … */
  TmQuantizationPart bookkeeping; /* companions that do not enter the values; not among the above */
  guint conflicts;                /* tensors that the config file describes otherwise */
  guint64 bfloat16_bytes;         /* all parameters at two bytes; saturates */
} TmQuantizationSummary;

void tm_model_summarise_quantization (TmModel *model, TmQuantizationSummary *summary);
void tm_quantization_summary_clear (TmQuantizationSummary *summary);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TmQuantizationSummary, tm_quantization_summary_clear)

/* "agrees", "differs", or "absent" where no config file speaks of quantization. */
const char *tm_scheme_count_get_config (TmModel *model, const TmSchemeCount *count);

/* "values", "scale", "zero_point" … */
const char *tm_operand_role_get_name (TmOperandRole role);

/* The logical tensor that a stored one is an operand of, −1 if none. */
gint64 tm_model_find_owner (TmModel *model, guint stored);

/* Assumptions that are alike in all but the tensor, as one: the first of them and how many there are. */
typedef struct
{
  const TmAssumption *first;
  guint tensors;
} TmAssumptionGroup;
/* In the order of their first. (transfer full) (element-type TmAssumptionGroup) */
GArray *tm_model_group_assumptions (TmModel *model);

G_END_DECLS
