#include "ui/support-map.h"

#include <string.h>

struct _TmSupportMap
{
  TmModel *model;
  gint backend;
  guint8 *state; /* by tensor; NULL until it is there */
  guint count[TM_N_SUPPORT_STATES];
  GCancellable *looking;
  TmTensorMark *marks;
  void (*changed) (gpointer);
  gpointer data;
};

G_STATIC_ASSERT (TM_N_SUPPORTS == (int) TM_N_SUPPORT_STATES);

/* --- On a worker ------------------------------------------------------------------------------------------------- */

typedef struct
{
  TmModel *model;
  gint backend;
  guint8 *state;
} Looking;

static void
looking_free (gpointer data)
{
  Looking *looking = data;

  g_object_unref (looking->model);
  g_free (looking->state);
  g_free (looking);
}

/* A model has few schemes, but roles differ, so that all tensors are looked at; of huge models a part says as much. */
#define LOOK_AT 4096u

static gint
choose_backend (TmModel *model)
{
  const guint n = tm_backends_get_n (), step = model->tensors->len / LOOK_AT + 1;
  g_autofree TmSupport *support = g_new0 (TmSupport, n + 1);
  g_autofree guint *known = g_new0 (guint, n + 1);
  gint best = -1;

  for (guint i = 0; i < model->tensors->len; i += step)
    {
      tm_tensor_get_all_support (model, tm_model_tensor (model, i), support);
      for (guint b = 0; b < n; b++)
        known[b] += support[b].state != TM_SUPPORT_UNKNOWN;
    }
  for (guint b = 0; b < n; b++)
    if (strstr (tm_backends_get (b)->family, "cpu") == NULL && (best < 0 || known[b] > known[best]))
      best = (gint) b;
  return best;
}

static void
look_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Looking *looking = data;
  const guint n = looking->model->tensors->len;

  if (looking->backend < 0)
    looking->backend = choose_backend (looking->model);
  looking->state = g_new (guint8, n + 1);
  for (guint i = 0; i < n && !g_cancellable_is_cancelled (cancellable); i++)
    looking->state[i] = looking->backend < 0
                            ? TM_SUPPORT_UNKNOWN
                            : (guint8) tm_tensor_get_support (looking->model, tm_model_tensor (looking->model, i),
                                                              (guint) looking->backend).state;
  g_task_return_boolean (task, TRUE);
}

static void
look_done (GObject *source, GAsyncResult *result, gpointer data)
{
  TmSupportMap *map = data;
  Looking *looking = g_task_get_task_data (G_TASK (result));

  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    return; /* the map is gone */
  g_clear_object (&map->looking);
  map->backend = looking->backend;
  map->state = g_steal_pointer (&looking->state);
  for (guint i = 0; i < map->model->tensors->len; i++)
    map->count[map->state[i]]++;
  map->changed (map->data);
}

TmSupportMap *
tm_support_map_new (TmModel *model, gint backend, void (*changed) (gpointer), gpointer data)
{
  TmSupportMap *map = g_new0 (TmSupportMap, 1);
  Looking *looking = g_new0 (Looking, 1);
  g_autoptr (GTask) task = NULL;

  map->model = g_object_ref (model);
  map->backend = backend;
  map->changed = changed;
  map->data = data;
  looking->model = g_object_ref (model);
  looking->backend = backend;
  map->looking = g_cancellable_new ();
  task = g_task_new (NULL, map->looking, look_done, map);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, looking, looking_free);
  g_task_run_in_thread (task, look_run);
  return map;
}

void
tm_support_map_free (TmSupportMap *map)
{
  if (!map)
    return;
  if (map->looking)
    g_cancellable_cancel (map->looking);
  g_clear_object (&map->looking);
  g_object_unref (map->model);
  g_free (map->state);
  g_free (map->marks);
  g_free (map);
}

const guint *
tm_support_map_get_counts (const TmSupportMap *map)
{
  return map->count;
}

gint
tm_support_map_get_backend (const TmSupportMap *map)
{
  return map->backend;
}

/* --- Marks ------------------------------------------------------------------------------------------------------- */

/* Of a stack: from good to bad; what is not known is better than what is known to be bad. */
static guint
get_badness (guint8 state)
{
  static const guint badness[TM_N_SUPPORT_STATES] = { 0, 2, 3, 4, 1 };

  return badness[state];
}

const TmTensorMark *
tm_support_map_get_marks (TmSupportMap *map, const TmLayout *layout, const TmTheme *theme)
{
  const guint n = map->model->tensors->len;
  g_autofree guint8 *worst = NULL;

  if (map->marks || !map->state || layout->model != map->model)
    return map->marks;
  worst = g_memdup2 (map->state, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const guint drawn = layout->drawn_of_tensor[i];

      if (drawn < n && get_badness (map->state[i]) > get_badness (worst[drawn]))
        worst[drawn] = map->state[i];
    }
  map->marks = g_new0 (TmTensorMark, n + 1);
  for (guint i = 0; i < n; i++)
    {
      map->marks[i].fill = theme->support[worst[i]];
      g_strlcpy (map->marks[i].text, tm_support_state_get_title ((TmSupportState) worst[i]), sizeof map->marks[i].text);
    }
  return map->marks;
}

void
tm_support_map_forget_marks (TmSupportMap *map)
{
  g_clear_pointer (&map->marks, g_free);
}

/* --- Words ------------------------------------------------------------------------------------------------------- */

const char *
tm_support_state_get_title (TmSupportState state)
{
  static const char *const titles[TM_N_SUPPORT_STATES] = { "native", "by conversion", "fallback", "not supported", "unknown" };

  return titles[MIN ((guint) state, (guint) TM_SUPPORT_UNKNOWN)];
}

const char *
tm_support_state_get_tooltip (TmSupportState state)
{
  static const char *const tooltips[TM_N_SUPPORT_STATES] = {
    "A kernel reads the stored codes",
    "The weights are expanded as a whole to floats, then a float kernel runs",
    "The backend declines; the processor runs it",
    "The backend declines, and the source names no other way",
    "The sources that were read do not say",
  };

  return tooltips[MIN ((guint) state, (guint) TM_SUPPORT_UNKNOWN)];
}

guint
tm_support_map_list_legend (const TmSupportMap *map, const TmTheme *theme, TmLegendEntry entries[TM_LEGEND_ENTRIES])
{
  guint n = 0;

  for (guint state = 0; map->state && state < TM_N_SUPPORT_STATES; state++)
    {
      if (map->count[state] == 0)
        continue;
      entries[n] = (TmLegendEntry) { .color = theme->support[state],
                                     .tooltip = tm_support_state_get_tooltip ((TmSupportState) state) };
      g_snprintf (entries[n].text, sizeof entries[n].text, "%s %u", tm_support_state_get_title ((TmSupportState) state),
                  map->count[state]);
      n++;
    }
  return n;
}

static const char *
get_family_title (const char *family)
{
  static const char *const titles[][2] = {
    { "ggml-cpu", "llama.cpp on processors" }, { "ggml", "llama.cpp" }, { "vllm", "vLLM" }, { "bitsandbytes", "bitsandbytes" },
    { "mlx", "MLX" }, { "onnxruntime", "ONNX Runtime" }, { "tflite", "LiteRT" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    if (strcmp (titles[i][0], family) == 0)
      return titles[i][1];
  return family;
}

GMenuModel *
tm_backend_menu_new (void)
{
  GMenu *menu = g_menu_new (), *sub = NULL;
  const char *family = "";

  for (guint i = 0; i < tm_backends_get_n (); i++)
    {
      const TmBackend *backend = tm_backends_get (i);
      g_autoptr (GMenuItem) item = g_menu_item_new (backend->name, NULL);

      if (strcmp (family, backend->family) != 0)
        {
          family = backend->family;
          sub = g_menu_new ();
          g_menu_append_submenu (menu, get_family_title (family), G_MENU_MODEL (sub));
          g_object_unref (sub); /* the menu has it */
        }
      g_menu_item_set_action_and_target (item, "win.backend", "s", backend->id);
      g_menu_append_item (sub, item);
    }
  return G_MENU_MODEL (menu);
}
