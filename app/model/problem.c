#include "model/problem.h"

void
tm_problem_free (TmProblem *problem)
{
  if (problem == NULL)
    return;
  g_free (problem->code);
  g_free (problem->message);
  g_free (problem->file);
  g_free (problem->tensor);
  g_free (problem);
}

const char *
tm_severity_get_name (TmSeverity severity)
{
  switch (severity)
    {
    case TM_SEVERITY_ERROR:
      return "error";
    case TM_SEVERITY_WARNING:
      return "warning";
    case TM_SEVERITY_NOTE:
    default:
      return "note";
    }
}
