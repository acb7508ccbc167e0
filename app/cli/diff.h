/* The comparison of two models, shared by diff and report. */
#pragma once

#include "analysis/diff.h"
#include "cli/cli.h"

/* Aligns and compares with progress. tensors: of guint, the candidate's; NULL or empty for all. (transfer full) */
TmDiff *cli_make_diff (TmModel *candidate, TmModel *reference, const GArray *tensors, GError **error);
