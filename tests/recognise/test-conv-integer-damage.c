/* Companions that are missing, of the wrong shape, or hostile: a problem names the piece, the pieces stay visible as they
 * are stored, and nothing crashes. */
#include <string.h>

#include "recognise/conv-check.h"

typedef struct
{
  const char *name, *dtype, *shape;
  gsize bytes;
} Piece;

#define MAX_PIECES 6

typedef struct
{
  const char *what;
  Piece piece[MAX_PIECES];
  const char *code;  /* of the problem */
  const char *words; /* in its message; NULL: any */
} Damage;

#define GPTQ_GOOD                                                                                                      \
  { "l.qweight", "I32", "4,8", 128 }, { "l.qzeros", "I32", "4,1", 16 }, { "l.scales", "F16", "4,8", 64 }

static const Damage damages[] = {
  { "no-scales",
    { { "l.qweight", "I32", "4,8", 128 }, { "l.qzeros", "I32", "4,1", 16 } },
    "missing-companion",
    "scales" },
  { "no-zeros",
    { { "l.qweight", "I32", "4,8", 128 }, { "l.scales", "F16", "4,8", 64 } },
    "missing-companion",
    "qzeros" },
  { "alone", { { "l.qweight", "I32", "4,8", 128 } }, "missing-companion", "scales and qzeros" },
  { "rank-1",
    { { "l.qweight", "I32", "32", 128 }, { "l.qzeros", "I32", "4,1", 16 }, { "l.scales", "F16", "4,8", 64 } },
    "shape",
    "qweight" },
  { "group-0",
    { { "l.qweight", "I32", "4,8", 128 }, { "l.qzeros", "I32", "0,1", 0 }, { "l.scales", "F16", "0,8", 0 } },
    "shape",
    "scales" },
  { "zeros-of-other-groups",
    { { "l.qweight", "I32", "4,8", 128 }, { "l.qzeros", "I32", "3,1", 12 }, { "l.scales", "F16", "4,8", 64 } },
    "shape",
    "qzeros" },
  { "zeros-of-no-width",
    { { "l.qweight", "I32", "4,8", 128 }, { "l.qzeros", "I32", "4,5", 80 }, { "l.scales", "F16", "4,8", 64 } },
    "shape",
    "qzeros" },
  { "scales-too-wide",
    { { "l.qweight", "I32", "4,8", 128 }, { "l.qzeros", "I32", "4,1", 16 }, { "l.scales", "F16", "4,9", 72 } },
    "shape",
    NULL },
  { "scales-of-integers",
    { { "l.qweight", "I32", "4,8", 128 }, { "l.qzeros", "I32", "4,1", 16 }, { "l.scales", "I16", "4,8", 64 } },
    "shape",
    "scales" },
  { "more-groups-than-columns",
    { { "l.qweight", "I32", "1,8", 32 }, { "l.qzeros", "I32", "40,1", 160 }, { "l.scales", "F16", "40,8", 640 } },
    "shape",
    NULL },
  { "short-index", { GPTQ_GOOD, { "l.g_idx", "I32", "31", 124 } }, "group-index", "g_idx" },
  { "index-of-floats", { GPTQ_GOOD, { "l.g_idx", "F32", "32", 128 } }, "group-index", "g_idx" },
  { "fast-of-odd-tiles",
    { { "l.qweight", "I16", "2,60", 240 }, { "l.qzeros", "F16", "8,8", 128 }, { "l.scales", "F16", "8,8", 128 } },
    "shape",
    "qweight" },
  { "gemv-of-no-group",
    { { "l.qweight", "I32", "3,4", 48 }, { "l.qzeros", "I32", "3,9", 108 }, { "l.scales", "F16", "3,72", 432 } },
    "shape",
    NULL },
  { "ct-no-scale",
    { { "l.weight_packed", "I32", "2,1", 8 }, { "l.weight_shape", "I64", "2", 16 } },
    "missing-companion",
    "weight_scale" },
  { "ct-no-shape",
    { { "l.weight_packed", "I32", "2,1", 8 }, { "l.weight_scale", "F16", "2,1", 4 } },
    "missing-companion",
    "weight_shape" },
  { "ct-shape-of-zeros",
    { { "l.weight_packed", "I32", "2,1", 8 },
      { "l.weight_scale", "F16", "2,1", 4 },
      { "l.weight_shape", "I64", "2", 16 } },
    "shape",
    "weight_shape" },
  { "ct-bytes-of-odd-scales",
    { { "l.weight", "I8", "4,6", 24 }, { "l.weight_scale", "F32", "3,1", 12 } },
    "shape",
    "weight_scale" },
  { "ct-bytes-of-odd-zeros",
    { { "l.weight", "I8", "4,6", 24 },
      { "l.weight_scale", "F32", "4,1", 16 },
      { "l.weight_zero_point", "I8", "3,1", 3 } },
    "shape",
    "weight_zero_point" },
  { "ao-no-scale", { { "l._weight_qdata", "I8", "4,6", 24 } }, "missing-companion", "_weight_scale" },
  { "ao-odd-scale", { { "l._weight_qdata", "I8", "4,6", 24 }, { "l._weight_scale", "F32", "5", 20 } }, "shape", NULL },
  { "exl2-alone", { { "l.q_weight", "I32", "32,32", 4096 } }, "missing-companion", "q_groups" },
  { "exl2-groups-of-0-bits",
    { { "l.q_weight", "I32", "4,8", 128 },
      { "l.q_groups", "I16", "2", 4 },
      { "l.q_scale", "I32", "1,1", 4 },
      { "l.q_scale_max", "F16", "1", 2 },
      { "l.q_invperm", "I32", "32", 128 } },
    "groups",
    "q_groups" },
  { "exl2-shapes",
    { { "l.q_weight", "I32", "4,8", 128 },
      { "l.q_groups", "I16", "3", 6 },
      { "l.q_scale", "I32", "1,1", 4 },
      { "l.q_scale_max", "F16", "1", 2 },
      { "l.q_invperm", "I32", "32", 128 } },
    "shape",
    NULL },
  { "modelopt-groups",
    { { "l.weight", "U8", "2,10", 20 }, { "l.weight_scale", "F32", "4,3", 48 } },
    "shape",
    "groups" },
  { "marlin",
    { { "l.B", "I32", "4,8", 128 }, { "l.s", "F16", "1,8", 16 }, { "l.workspace", "I32", "4", 16 } },
    "values-not-defined",
    "Marlin" },
};

static const TmProblem *
need_problem (TmModel *model, const char *code)
{
  for (guint i = 0; i < model->problems->len; i++)
    {
      const TmProblem *problem = g_ptr_array_index (model->problems, i);

      if (strcmp (problem->code, code) == 0)
        return problem;
    }
  for (guint i = 0; i < model->problems->len; i++)
    g_test_message ("%s", ((const TmProblem *) g_ptr_array_index (model->problems, i))->message);
  g_error ("no problem %s", code);
}

static void
test_damage (gconstpointer data)
{
  const Damage *damage = data;
  char *folder = make_folder ();
  Build build;

  build_init (&build);
  for (guint i = 0; i < MAX_PIECES && damage->piece[i].name; i++)
    build_add (&build, damage->piece[i].name, damage->piece[i].dtype, damage->piece[i].shape, NULL,
               damage->piece[i].bytes);
  build_write (&build, folder, "model.safetensors");
  {
    g_autoptr (TmModel) model = open_with (folder, NULL);
    const TmProblem *problem = need_problem (model, damage->code);

    if (damage->words)
      g_assert_nonnull (strstr (problem->message, damage->words));
    g_assert_cmpuint (model->tensors->len, ==, model->stored->len);
    for (guint i = 0; i < model->stored->len; i++)
      g_assert_cmpint (tm_model_find_tensor (model, tm_model_stored (model, i)->name), >=, 0);
  }
  remove_folder (folder);
}

/* A group index beyond the groups, and one below 0. */
static void
test_index_out_of_range (void)
{
  static const gint32 wrong[] = { 4, -1, G_MAXINT32, G_MININT32 };

  for (guint w = 0; w < G_N_ELEMENTS (wrong); w++)
    {
      gint32 g_idx[32];
      char *folder = make_folder ();
      Build build;

      for (gint32 i = 0; i < 32; i++)
        g_idx[i] = i / 8;
      g_idx[17] = wrong[w];
      build_init (&build);
      build_add (&build, "l.qweight", "I32", "4,8", NULL, 128);
      build_add (&build, "l.qzeros", "I32", "4,1", NULL, 16);
      build_add (&build, "l.scales", "F16", "4,8", NULL, 64);
      build_add (&build, "l.g_idx", "I32", "32", g_idx, 128);
      build_write (&build, folder, "model.safetensors");
      {
        g_autoptr (TmModel) model = open_with (folder, NULL);

        g_assert_nonnull (strstr (need_problem (model, "group-index")->message, "column 17"));
        g_assert_cmpuint (model->tensors->len, ==, 4);
      }
      remove_folder (folder);
    }
}

/* Shapes that no file can hold: the container's own problem, and no allocation by what they say. */
static void
test_hostile (void)
{
  static const char *const shapes[] = { "4294967296,4294967296", "1152921504606846976,8", "4611686018427387904,1" };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      char *folder = make_folder ();
      Build build;

      build_init (&build);
      build_add (&build, "l.qweight", "I32", shapes[i], NULL, 128);
      build_add (&build, "l.qzeros", "I32", shapes[i], NULL, 16);
      build_add (&build, "l.scales", "F16", shapes[i], NULL, 64);
      build_add (&build, "m.weight_packed", "I32", shapes[i], NULL, 64);
      build_add (&build, "m.weight_scale", "F16", shapes[i], NULL, 64);
      build_add (&build, "m.weight_shape", "I64", "2", NULL, 16);
      build_add (&build, "n.weight", "I8", shapes[i], NULL, 64);
      build_add (&build, "n.weight_scale", "F32", "", NULL, 4);
      build_add (&build, "o.q_weight", "I32", shapes[i], NULL, 64);
      build_add (&build, "o.q_invperm", "I32", shapes[i], NULL, 64);
      build_add (&build, "o.q_groups", "I16", shapes[i], NULL, 64);
      build_add (&build, "o.q_scale", "I32", shapes[i], NULL, 64);
      build_add (&build, "o.q_scale_max", "F16", shapes[i], NULL, 64);
      build_write (&build, folder, "model.safetensors");
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (TmModel) model = tm_open_model (folder, NULL, &error);

        g_assert_true (model != NULL || error != NULL);
        for (guint t = 0; model != NULL && t < model->tensors->len; t++)
          {
            const TmTensor *tensor = tm_model_tensor (model, t);
            float value;

            if (tensor->n_elements > 0 && tensor->quantized)
              g_assert_false (tm_tensor_decode (tensor, TM_QUANTITY_VALUE, 0, 1, &value, NULL, NULL));
          }
      }
      remove_folder (folder);
    }
}

/* Every piece of every golden set in turn left out, cut short, or given another dtype: it opens, and says something. */
static void
test_mutations (void)
{
  static const char *const dtypes[] = { "U8", "F16", "I64", "F32" };
  static const Piece whole[] = { { "l.qweight", "I32", "4,8", 128 },         { "l.qzeros", "I32", "4,1", 16 },
                                 { "l.scales", "F16", "4,8", 64 },           { "l.g_idx", "I32", "32", 128 },
                                 { "m.weight_packed", "I32", "2,1", 8 },     { "m.weight_scale", "F16", "2,1", 4 },
                                 { "m.weight_zero_point", "I32", "1,1", 4 }, { "m.weight_shape", "I64", "2", 16 } };

  for (guint change = 0; change < G_N_ELEMENTS (whole); change++)
    for (guint d = 0; d < G_N_ELEMENTS (dtypes); d++)
      {
        char *folder = make_folder ();
        Build build;
        static const guint sizes[] = { 1, 2, 8, 4 };

        build_init (&build);
        for (guint i = 0; i < G_N_ELEMENTS (whole); i++)
          if (i == change)
            {
              g_autofree char *shape = g_strdup_printf ("%zu", whole[i].bytes / sizes[d]);

              build_add (&build, whole[i].name, dtypes[d], shape, NULL, whole[i].bytes / sizes[d] * sizes[d]);
            }
          else
            build_add (&build, whole[i].name, whole[i].dtype, whole[i].shape, NULL, whole[i].bytes);
        build_write (&build, folder, "model.safetensors");
        {
          g_autoptr (TmModel) model = open_with (folder, NULL);

          for (guint t = 0; t < model->tensors->len; t++)
            {
              const TmTensor *tensor = tm_model_tensor (model, t);

              if (tensor->quantized && tensor->fault == NULL)
                check_agrees (tensor, 3);
            }
        }
        remove_folder (folder);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (damages); i++)
    {
      g_autofree char *path = g_strconcat ("/damage/", damages[i].what, NULL);

      g_test_add_data_func (path, &damages[i], test_damage);
    }
  g_test_add_func ("/damage/index-out-of-range", test_index_out_of_range);
  g_test_add_func ("/damage/hostile", test_hostile);
  g_test_add_func ("/damage/mutations", test_mutations);
  return g_test_run ();
}
