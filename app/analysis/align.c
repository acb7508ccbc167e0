#include "analysis/align.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "analysis/transforms.h"
#include "recognise/names.h"

#define AGREES 0.9         /* correlation that confirms a guess */
#define NOTHING_COMMON 0.3 /* correlation below which names are not believed */

static void
free_pair (gpointer data)
{
  TmAlignedPair *pair = data;

  g_array_unref (pair->references);
  tm_reading_free (pair->reading);
  g_free (pair);
}

TmAlignment *
tm_alignment_ref (TmAlignment *alignment)
{
  g_atomic_int_inc (&alignment->ref_count);
  return alignment;
}

void
tm_alignment_unref (TmAlignment *alignment)
{
  if (alignment == NULL || !g_atomic_int_dec_and_test (&alignment->ref_count))
    return;
  g_ptr_array_unref (alignment->pairs);
  g_array_unref (alignment->candidate_left);
  g_array_unref (alignment->reference_left);
  g_object_unref (alignment->candidate);
  g_object_unref (alignment->reference);
  g_free (alignment);
}

const TmAlignedPair *
tm_alignment_find (const TmAlignment *alignment, guint candidate)
{
  guint low = 0, high = alignment->pairs->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (tm_alignment_pair (alignment, middle)->candidate < candidate)
        low = middle + 1;
      else
        high = middle;
    }
  return low < alignment->pairs->len && tm_alignment_pair (alignment, low)->candidate == candidate
             ? tm_alignment_pair (alignment, low)
             : NULL;
}

char *
tm_alignment_format_references (const TmAlignment *alignment, const TmAlignedPair *pair)
{
  const GArray *references = pair->references;
  GString *text = g_string_new (NULL);
  gboolean few = references->len <= 3;

  for (guint i = 0; i < references->len; i++)
    {
      const TmTensor *tensor = tm_model_tensor (alignment->reference, g_array_index (references, guint, i));

      if (!few && i > 0 && i + 1 < references->len)
        continue;
      g_string_append (text, i == 0 ? "" : few ? " + " : " … ");
      g_string_append (text, tensor->name);
      if (tensor->ordinal > 0)
        g_string_append_printf (text, "#%u", tensor->ordinal);
    }
  if (!few)
    g_string_append_printf (text, " (%u)", references->len);
  return g_string_free (text, FALSE);
}

/* --- Names of one side -------------------------------------------------------------------------------------------- */

typedef struct
{
  TmModel *model;
  TmNameKey *key;     /* of each tensor */
  GHashTable *by_key; /* key → GArray of guint, in file order */
} Side;

static void
init_side (Side *side, TmModel *model)
{
  gboolean has_pre_norm = FALSE;

  side->model = model;
  side->key = g_new0 (TmNameKey, model->tensors->len + 1);
  side->by_key = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);
  for (guint i = 0; i < model->tensors->len; i++)
    {
      tm_name_key_init (&side->key[i], tm_model_tensor (model, i)->name);
      has_pre_norm = has_pre_norm || strstr (tm_model_tensor (model, i)->name, "pre_feedforward_layernorm") != NULL;
    }
  for (guint i = 0; i < model->tensors->len; i++)
    {
      GArray *all;

      if (has_pre_norm && side->key[i].post_norm)
        tm_name_key_set_post_norm (&side->key[i]);
      all = g_hash_table_lookup (side->by_key, side->key[i].key);
      if (all == NULL)
        {
          all = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (side->by_key, side->key[i].key, all);
        }
      g_array_append_val (all, i);
    }
}

static void
clear_side (Side *side)
{
  g_hash_table_unref (side->by_key);
  for (guint i = 0; i < side->model->tensors->len; i++)
    tm_name_key_clear (&side->key[i]);
  g_free (side->key);
}

/* --- Pairing ------------------------------------------------------------------------------------------------------ */

typedef struct
{
  TmTransforms transforms;
  Side candidate, reference;
  guint *tensors; /* the candidate's, asked for */
  guint n_tensors;
  TmAlignedPair **found; /* one of each of tensors, or NULL */
  GMutex lock;
  TmProgressFunc progress;
  gpointer progress_data;
  guint n_done;
  GCancellable *cancellable;
} Aligner;

/* The tensor of a key: of one expert, or (−1) without an expert number. */
static gboolean
find_one (const Aligner *aligner, const char *key, gint64 expert, guint *found)
{
  const GArray *all = g_hash_table_lookup (aligner->reference.by_key, key);

  for (guint i = 0; all != NULL && i < all->len; i++)
    {
      *found = g_array_index (all, guint, i);
      if (aligner->reference.key[*found].expert == expert)
        return TRUE;
    }
  return FALSE;
}

static gboolean
find_sibling (const Aligner *aligner, const TmNameKey *key, const char *kind, guint *found)
{
  g_autofree char *name = tm_name_key_sibling (key, kind);

  return find_one (aligner, name, key->expert, found);
}

static void
add_stacked (const Aligner *aligner, const TmNameKey *key, const TmTensor *candidate, GArray *hypotheses)
{
  const GArray *all = g_hash_table_lookup (aligner->reference.by_key, key->key);
  g_autofree guint *stack = NULL;
  guint n = 0;

  if (all == NULL || candidate->rank == 0 || candidate->shape[0] > all->len)
    return;
  stack = g_new (guint, all->len);
  memset (stack, 0xff, all->len * sizeof *stack);
  for (guint i = 0; i < all->len; i++)
    {
      guint index = g_array_index (all, guint, i);
      gint64 expert = aligner->reference.key[index].expert;

      if (expert < 0 || (guint64) expert >= candidate->shape[0] || stack[expert] != G_MAXUINT)
        continue;
      stack[expert] = index;
      n++;
    }
  if (n == candidate->shape[0])
    tm_transforms_add_stack (&aligner->transforms, candidate, stack, n, hypotheses);
}

/* One against several: fused and split attention, gate and up, latent attention. */
static void
add_split_and_joined (const Aligner *aligner, const TmNameKey *key, const TmTensor *candidate, GArray *hypotheses)
{
  static const char *const qkv[] = { "attn_q", "attn_k", "attn_v" }, *const latent[] = { "attn_k_b", "attn_v_b" },
                           *const linear[] = { "attn_qkv", "attn_gate" };
  static const char *const gate_up[][3] = { { "ffn_gate", "ffn_up", "ffn_up" },
                                            { "ffn_gate_exps", "ffn_up_exps", "ffn_gate_up_exps" },
                                            { "ffn_gate_shexp", "ffn_up_shexp", "ffn_up_shexp" } };
  const TmTransforms *transforms = &aligner->transforms;
  guint other[3];

  if (key->kind == NULL)
    return;
  for (guint i = 0; i < 3; i++)
    if (strcmp (key->kind, qkv[i]) == 0 && find_sibling (aligner, key, "attn_qkv", other))
      tm_transforms_add_qkv_part (transforms, candidate, other[0], i, hypotheses);
  if (strcmp (key->kind, "attn_qkv") == 0 && find_sibling (aligner, key, qkv[0], &other[0])
      && find_sibling (aligner, key, qkv[1], &other[1]) && find_sibling (aligner, key, qkv[2], &other[2]))
    tm_transforms_add_qkv_join (transforms, candidate, other, hypotheses);

  for (guint i = 0; i < G_N_ELEMENTS (gate_up); i++)
    {
      for (guint which = 0; which < 2; which++)
        if (strcmp (key->kind, gate_up[i][which]) == 0 && find_sibling (aligner, key, gate_up[i][2], &other[0]))
          tm_transforms_add_gate_up_part (transforms, candidate, other[0], which, hypotheses);
      if (strcmp (key->kind, gate_up[i][2]) == 0 && find_sibling (aligner, key, gate_up[i][0], &other[0])
          && find_sibling (aligner, key, gate_up[i][1], &other[1]))
        tm_transforms_add_gate_up_join (transforms, candidate, other[0], other[1], hypotheses);
    }

  for (guint i = 0; i < 2; i++)
    if (strcmp (key->kind, linear[i]) == 0 && find_sibling (aligner, key, "ssm_in", other))
      tm_transforms_add_qkvz_part (transforms, candidate, other[0], i, hypotheses);
  if (strcmp (key->kind, "ssm_in") == 0 && find_sibling (aligner, key, linear[0], &other[0])
      && find_sibling (aligner, key, linear[1], &other[1]))
    tm_transforms_add_qkvz_join (transforms, candidate, other[0], other[1], hypotheses);

  for (guint i = 0; i < 2; i++)
    if (strcmp (key->kind, latent[i]) == 0 && find_sibling (aligner, key, "attn_kv_b", other))
      tm_transforms_add_latent_part (transforms, candidate, other[0], i, hypotheses);
  if (strcmp (key->kind, "attn_kv_b") == 0 && find_sibling (aligner, key, latent[0], &other[0])
      && find_sibling (aligner, key, latent[1], &other[1]))
    tm_transforms_add_latent_join (transforms, candidate, other[0], other[1], hypotheses);
}

static gboolean
find_same_name (const Aligner *aligner, const TmTensor *candidate, guint *found)
{
  g_autofree char *numbered
      = candidate->ordinal > 1 ? g_strdup_printf ("%s#%u", candidate->name, candidate->ordinal) : NULL;
  gint64 index = tm_model_find_tensor (aligner->reference.model, numbered != NULL ? numbered : candidate->name);

  *found = (guint) MAX (index, 0);
  return index >= 0;
}

/* Everything that names offer for one tensor; the first that fits the shapes wins over later kinds. */
static void
add_hypotheses (const Aligner *aligner, guint index, GArray *hypotheses)
{
  const TmTensor *candidate = tm_model_tensor (aligner->candidate.model, index);
  const TmNameKey *key = &aligner->candidate.key[index];
  guint other;

  if (find_same_name (aligner, candidate, &other))
    tm_transforms_add_single (&aligner->transforms, key, candidate, other, hypotheses);
  if (hypotheses->len == 0 && find_one (aligner, key->key, key->expert, &other))
    tm_transforms_add_single (&aligner->transforms, key, candidate, other, hypotheses);
  if (hypotheses->len == 0 && key->expert < 0)
    add_stacked (aligner, key, candidate, hypotheses);
  if (hypotheses->len == 0 && key->expert >= 0 && find_one (aligner, key->key, -1, &other))
    tm_transforms_add_expert (&aligner->transforms, candidate, other, (guint64) key->expert, hypotheses);
  if (hypotheses->len == 0)
    add_split_and_joined (aligner, key, candidate, hypotheses);
}

static TmAlignedPair *
make_pair (guint candidate, TmReading *reading)
{
  TmAlignedPair *pair = g_new0 (TmAlignedPair, 1);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  pair->candidate = candidate;
  pair->reading = reading;
  pair->references = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < reading->parts->len; i++)
    {
      guint index = g_array_index (reading->parts, TmReadingPart, i).index;

      if (g_hash_table_add (seen, GUINT_TO_POINTER (index)))
        g_array_append_val (pair->references, index);
    }
  return pair;
}

/* Damaged values leave the pair as its names say; comparing it will say what is wrong. */
static gboolean
decide (GArray *hypotheses, const TmTensor *candidate, TmReading **reading, TmFit *fit, GCancellable *cancellable,
        GError **error)
{
  g_autoptr (GError) unread = NULL;

  *fit = (TmFit) { 0 };
  *reading = tm_hypotheses_decide (hypotheses, candidate, fit, cancellable, &unread);
  if (*reading == NULL && unread != NULL)
    {
      if (g_error_matches (unread, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          g_propagate_error (error, g_steal_pointer (&unread));
          return FALSE;
        }
      *reading = g_array_index (hypotheses, TmHypothesis, 0).reading;
      g_array_index (hypotheses, TmHypothesis, 0).reading = NULL;
      fit->correlation = 1;
    }
  return TRUE;
}

static gboolean
pair_one (guint64 item, guint thread, gpointer data, GError **error)
{
  Aligner *aligner = data;
  guint index = aligner->tensors[item];
  const TmTensor *candidate = tm_model_tensor (aligner->candidate.model, index);
  g_autoptr (GArray) hypotheses = tm_hypotheses_new ();
  TmReading *reading;
  TmFit fit;

  add_hypotheses (aligner, index, hypotheses);
  if (!decide (hypotheses, candidate, &reading, &fit, aligner->cancellable, error))
    return FALSE;
  if (reading != NULL)
    {
      aligner->found[item] = make_pair (index, reading);
      /* Vectors are too alike, and too short, to be judged. */
      aligner->found[item]->doubtful = candidate->rank > 1 && fit.n >= 1024 && fabs (fit.correlation) < NOTHING_COMMON
                                       && fit.error > 0.5 * fit.power && fit.error > 0;
    }
  g_mutex_lock (&aligner->lock);
  aligner->n_done++;
  if (aligner->progress != NULL)
    aligner->progress ((double) aligner->n_done / aligner->n_tensors, candidate->name, aligner->progress_data);
  g_mutex_unlock (&aligner->lock);
  return TRUE;
}

/* --- What names leave over ---------------------------------------------------------------------------------------- */

/* A head that is not stored is the embedding. */
static gboolean
try_tied_head (Aligner *aligner, guint item, GError **error)
{
  guint index = aligner->tensors[item], other;
  const TmTensor *candidate = tm_model_tensor (aligner->candidate.model, index);
  const TmNameKey *key = &aligner->candidate.key[index];
  g_autoptr (GArray) hypotheses = NULL;
  g_autofree char *words = NULL;
  TmReading *reading;
  TmFit fit;

  if (aligner->found[item] != NULL || key->kind == NULL || key->bias || strcmp (key->kind, "output") != 0
      || !find_one (aligner, "token_embd.weight", -1, &other))
    return TRUE;
  hypotheses = tm_hypotheses_new ();
  tm_transforms_add_single (&aligner->transforms, key, candidate, other, hypotheses);
  if (!decide (hypotheses, candidate, &reading, &fit, aligner->cancellable, error))
    return FALSE;
  if (reading == NULL || fit.correlation < AGREES)
    {
      tm_reading_free (reading);
      return TRUE;
    }
  words = reading->words;
  reading->words
      = strcmp (words, "identity") == 0 ? g_strdup ("tied-embedding") : g_strconcat ("tied-embedding + ", words, NULL);
  aligner->found[item] = make_pair (index, reading);
  return TRUE;
}

/* What two tensors must have in common to be offered to each other. */
static char *
describe_for_guess (TmNames *names, const TmTensor *tensor)
{
  const char *dot = strrchr (tensor->name, '.');
  g_autofree char *stem
      = dot != NULL ? g_strndup (tensor->name, (gsize) (dot - tensor->name)) : g_strdup (tensor->name);
  const char *role = tm_names_find_role (names, stem);
  GString *text = g_string_new (role != NULL ? role : "");

  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "/%" G_GUINT64_FORMAT, tensor->shape[i]);
  return g_string_free (text, FALSE);
}

#define SURE_OF_IT 0.05 /* of the squared values: a guess that good needs no other to be looked at */

/* The reading of one offer, where its values agree, and how well: error of the values. NULL: they do not. */
static gboolean
try_guess (Aligner *aligner, guint item, guint other, TmReading **found, double *misfit, GError **error)
{
  guint index = aligner->tensors[item];
  const TmTensor *candidate = tm_model_tensor (aligner->candidate.model, index);
  g_autoptr (GArray) hypotheses = tm_hypotheses_new ();
  TmReading *reading;
  TmFit fit;

  tm_transforms_add_single (&aligner->transforms, &aligner->candidate.key[index], candidate, other, hypotheses);
  if (!decide (hypotheses, candidate, &reading, &fit, aligner->cancellable, error))
    return FALSE;
  *found = NULL;
  if (reading == NULL || fit.n == 0 || fit.correlation < AGREES)
    {
      tm_reading_free (reading);
      return TRUE;
    }
  *found = reading;
  *misfit = fit.error / MAX (fit.power, DBL_MIN);
  return TRUE;
}

static void
mark_used (const Aligner *aligner, gboolean *used)
{
  for (guint i = 0; i < aligner->n_tensors; i++)
    for (guint k = 0; aligner->found[i] != NULL && k < aligner->found[i]->references->len; k++)
      used[g_array_index (aligner->found[i]->references, guint, k)] = TRUE;
}

/* By shape, role and order: each is offered the next few left over on the other side that are alike. */
#define OFFERS 4
#define MAX_OFFERS 4000 /* in all: each reads a sample of both sides */
static gboolean
guess_rest (Aligner *aligner, GError **error)
{
  TmModel *reference = aligner->reference.model;
  g_autofree gboolean *used = g_new0 (gboolean, reference->tensors->len + 1);
  g_autoptr (GHashTable) alike = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_queue_free);
  g_autoptr (TmNames) names = tm_names_new ();
  guint n_offers = 0;

  mark_used (aligner, used);
  for (guint i = 0; i < reference->tensors->len; i++)
    {
      char *description;
      GQueue *queue;

      if (used[i])
        continue;
      description = describe_for_guess (names, tm_model_tensor (reference, i));
      queue = g_hash_table_lookup (alike, description);
      if (queue == NULL)
        g_hash_table_insert (alike, g_strdup (description), queue = g_queue_new ());
      g_queue_push_tail (queue, GUINT_TO_POINTER (i));
      g_free (description);
    }
  for (guint item = 0; item < aligner->n_tensors; item++)
    {
      g_autofree char *description = NULL;
      g_autoptr (TmReading) best = NULL;
      GList *best_link = NULL;
      double least = (double) INFINITY;
      GQueue *queue;

      if (aligner->found[item] != NULL)
        continue;
      description = describe_for_guess (names, tm_model_tensor (aligner->candidate.model, aligner->tensors[item]));
      queue = g_hash_table_lookup (alike, description);
      for (guint offer = 0; queue != NULL && offer < OFFERS && n_offers < MAX_OFFERS && least > SURE_OF_IT; offer++)
        {
          GList *link = g_queue_peek_nth_link (queue, offer);
          TmReading *reading;
          double misfit;

          if (link == NULL)
            break;
          n_offers++;
          if (!try_guess (aligner, item, GPOINTER_TO_UINT (link->data), &reading, &misfit, error))
            return FALSE;
          if (reading == NULL || misfit >= least)
            {
              tm_reading_free (reading);
              continue;
            }
          tm_reading_free (best);
          best = reading;
          best_link = link;
          least = misfit;
        }
      if (best == NULL)
        continue;
      aligner->found[item] = make_pair (aligner->tensors[item], g_steal_pointer (&best));
      aligner->found[item]->guess = TRUE;
      g_queue_delete_link (queue, best_link);
    }
  return TRUE;
}

/* --- All together ------------------------------------------------------------------------------------------------- */

static gboolean
pair_all (Aligner *aligner, GError **error)
{
  if (!tm_work_run (aligner->n_tensors, pair_one, aligner, aligner->cancellable, error))
    return FALSE;
  for (guint item = 0; item < aligner->n_tensors; item++)
    if (!try_tied_head (aligner, item, error))
      return FALSE;
  return guess_rest (aligner, error);
}

/* Nothing on both sides, under one name: there is nothing to compare, and nothing is missing either. */
static gboolean
is_empty_on_both (const Side *side, const Side *other, guint index)
{
  const TmTensor *tensor = tm_model_tensor (side->model, index);
  const GArray *all = tensor->n_elements == 0 ? g_hash_table_lookup (other->by_key, side->key[index].key) : NULL;

  return all != NULL && tm_model_tensor (other->model, g_array_index (all, guint, 0))->n_elements == 0;
}

static TmAlignment *
collect (Aligner *aligner, gboolean whole)
{
  TmAlignment *alignment = g_new0 (TmAlignment, 1);
  TmModel *reference = aligner->reference.model;
  g_autofree gboolean *used = g_new0 (gboolean, reference->tensors->len + 1);

  alignment->ref_count = 1;
  alignment->candidate = g_object_ref (aligner->candidate.model);
  alignment->reference = g_object_ref (reference);
  alignment->pairs = g_ptr_array_new_with_free_func (free_pair);
  alignment->candidate_left = g_array_new (FALSE, FALSE, sizeof (guint));
  alignment->reference_left = g_array_new (FALSE, FALSE, sizeof (guint));
  mark_used (aligner, used);
  for (guint item = 0; item < aligner->n_tensors; item++)
    if (aligner->found[item] != NULL)
      g_ptr_array_add (alignment->pairs, g_steal_pointer (&aligner->found[item]));
    else if (!is_empty_on_both (&aligner->candidate, &aligner->reference, aligner->tensors[item]))
      g_array_append_val (alignment->candidate_left, aligner->tensors[item]);
  for (guint i = 0; whole && i < reference->tensors->len; i++)
    if (!used[i] && !is_empty_on_both (&aligner->reference, &aligner->candidate, i))
      g_array_append_val (alignment->reference_left, i);
  return alignment;
}

static int
compare_indices (gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *) a, y = *(const guint *) b;

  return (x > y) - (x < y);
}

TmAlignment *
tm_align (TmModel *candidate, TmModel *reference, const guint *tensors, guint n, TmProgressFunc progress, gpointer data,
          GCancellable *cancellable, GError **error)
{
  Aligner aligner = { .progress = progress, .progress_data = data, .cancellable = cancellable };
  TmAlignment *alignment = NULL;

  tm_transforms_init (&aligner.transforms, candidate, reference);
  init_side (&aligner.candidate, candidate);
  init_side (&aligner.reference, reference);
  aligner.n_tensors = tensors != NULL ? n : candidate->tensors->len;
  aligner.tensors = g_new (guint, aligner.n_tensors + 1);
  for (guint i = 0; i < aligner.n_tensors; i++)
    aligner.tensors[i] = tensors != NULL ? tensors[i] : i;
  qsort (aligner.tensors, aligner.n_tensors, sizeof *aligner.tensors, compare_indices);
  aligner.found = g_new0 (TmAlignedPair *, aligner.n_tensors + 1);
  g_mutex_init (&aligner.lock);

  if (pair_all (&aligner, error))
    alignment = collect (&aligner, tensors == NULL);

  for (guint i = 0; i < aligner.n_tensors; i++)
    if (aligner.found[i] != NULL)
      free_pair (aligner.found[i]);
  g_free (aligner.found);
  g_free (aligner.tensors);
  g_mutex_clear (&aligner.lock);
  clear_side (&aligner.candidate);
  clear_side (&aligner.reference);
  return alignment;
}
