/* The cache and the scheduler on a main loop of the test's own, with a codec that can be made to wait. */
#include "view/tiles.h"
#include "analysis/work.h"
#include "fake-model.h"
#include "seeded.h"

#include <math.h>

#define MIB (1024 * 1024)

static float
index_value (guint64 flat)
{
  return (float) (flat % 16777216);
}

typedef struct
{
  TmModel *model;
  TmTensor *tensor;
  TmSheet sheet;
  TmTiles *tiles;
  guint changes;
} Fixture;

static void
on_changed (gpointer data)
{
  ((Fixture *) data)->changes++;
}

static void
fixture_init (Fixture *fixture, guint rank, const guint64 *shape, gsize max_bytes)
{
  *fixture = (Fixture) { .tensor = fake_tensor_new (rank, shape, index_value) };
  fixture->model = fake_model_new (fixture->tensor);
  tm_sheet_init (&fixture->sheet, fixture->tensor);
  fixture->tiles = tm_tiles_new (fixture->model, max_bytes, on_changed, fixture);
}

static void
fixture_clear (Fixture *fixture)
{
  g_clear_pointer (&fixture->tiles, tm_tiles_free);
  g_object_add_weak_pointer (G_OBJECT (fixture->model), (gpointer *) &fixture->model);
  g_object_unref (fixture->model);
  /* Workers give their references back; nothing else keeps the model. */
  for (int i = 0; i < 4000 && g_atomic_pointer_get (&fixture->model); i++)
    g_usleep (2000);
  g_assert_null (fixture->model);
}

static void
on_timeout_abort (void)
{
  g_error ("nothing arrived for 20 s");
}

static gboolean
abort_loop (gpointer data)
{
  on_timeout_abort ();
  return G_SOURCE_REMOVE;
}

static void
iterate_until_idle (Fixture *fixture)
{
  guint guard = g_timeout_add_seconds (20, abort_loop, NULL);

  while (tm_tiles_count_pending (fixture->tiles))
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (guard);
}

static void
iterate_until_change (Fixture *fixture)
{
  guint guard = g_timeout_add_seconds (20, abort_loop, NULL), before = fixture->changes;

  while (fixture->changes == before)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (guard);
}

static const TmTile *
want_in_frame (Fixture *fixture, TmTileKey key)
{
  const TmTile *tile;

  tm_tiles_begin (fixture->tiles);
  tile = tm_tiles_want (fixture->tiles, &key, &fixture->sheet, 0);
  tm_tiles_end (fixture->tiles);
  return tile;
}

#define SHAPE(...) (guint) (sizeof ((guint64[]) { __VA_ARGS__ }) / sizeof (guint64)), (guint64[]) { __VA_ARGS__ }

/* --- One tile ------------------------------------------------------------------------------------------------------- */

static void
test_small_is_exact_at_once (void)
{
  TmTileKey key = { 0 };
  const TmTile *tile;
  Fixture f;

  fixture_init (&f, SHAPE (100, 300), 8 * MIB);
  g_assert_null (want_in_frame (&f, key));
  iterate_until_idle (&f);
  g_assert_cmpuint (f.changes, >=, 1);
  tile = want_in_frame (&f, key);
  g_assert_nonnull (tile);
  g_assert_cmpint (tile->state, ==, TM_TILE_EXACT);
  g_assert_cmpuint (tile->width, ==, 256);
  g_assert_cmpuint (tile->height, ==, 100);
  g_assert_cmpfloat (tile->texels[99 * TM_TILE + 255], ==, 99 * 300 + 255);
  g_assert_cmpuint (tm_tiles_count_pending (f.tiles), ==, 0);
  g_assert_cmpfloat (tm_tiles_get_last_ms (f.tiles), >=, 0);
  fixture_clear (&f);
}

static void
test_sampled_then_exact (void)
{
  TmTileKey key = { .level = 5 };
  const TmTile *tile;
  guint serial;
  Fixture f;

  fixture_init (&f, SHAPE (8192, 8192), 8 * MIB);
  want_in_frame (&f, key);
  iterate_until_change (&f);
  tile = want_in_frame (&f, key);
  g_assert_nonnull (tile);
  g_assert_cmpint (tile->state, ==, TM_TILE_SAMPLED);
  serial = tile->serial;
  iterate_until_idle (&f);
  /* The same tile in place: painters' pointers stay good until the next frame begins. */
  g_assert_cmpint (tile->state, ==, TM_TILE_EXACT);
  g_assert_cmpuint (tile->serial, !=, serial);
  g_assert_cmpfloat (tile->texels[0], ==, 31 * 8192 + 31);
  g_assert_true (want_in_frame (&f, key) == tile);
  g_assert_cmpuint (tm_tiles_count_pending (f.tiles), ==, 0);
  fixture_clear (&f);
}

/* Samples of everything on the screen come before any long exact pass goes on, even with one thread busy on one. */
static void
test_samples_pass_exact (void)
{
  TmTileKey first = { .level = 5 }, second = { .level = 5, .column = 1 };
  const TmTile *tile;
  Fixture f;

  fixture_init (&f, SHAPE (8192, 16384), 32 * MIB);
  want_in_frame (&f, first);
  iterate_until_change (&f); /* its sample is there, its exact pass has begun */
  tm_tiles_begin (f.tiles);
  tm_tiles_want (f.tiles, &first, &f.sheet, 0);
  tm_tiles_want (f.tiles, &second, &f.sheet, 5);
  tm_tiles_end (f.tiles);
  for (;;)
    {
      tm_tiles_begin (f.tiles);
      tile = tm_tiles_want (f.tiles, &second, &f.sheet, 5);
      if (tile && tile->key.level == 5)
        break;
      tm_tiles_want (f.tiles, &first, &f.sheet, 0);
      tm_tiles_end (f.tiles);
      g_main_context_iteration (NULL, TRUE);
    }
  tile = tm_tiles_want (f.tiles, &first, &f.sheet, 0);
  tm_tiles_end (f.tiles);
  /* 67 million elements were not decoded meanwhile. */
  g_mutex_lock (&fake_lock);
  g_assert_true (tile->state == TM_TILE_SAMPLED || FAKE (f.tensor)->decoded >= 8192 * 8192);
  g_mutex_unlock (&fake_lock);
  fixture_clear (&f);
}

/* --- (g) A tile's corner with tiles missing --------------------------------------------------------------------------- */

static void
test_corner_with_missing_tiles (void)
{
  Fixture f;
  TmTileKey key = { .level = 1, .column = 1, .row = 1 }, top = { .level = 4 };
  const TmTile *tile;

  fixture_init (&f, SHAPE (4096, 4096), 32 * MIB);
  want_in_frame (&f, top);
  iterate_until_idle (&f);
  want_in_frame (&f, key);
  iterate_until_idle (&f);
  for (int missing = 0; missing < 2; missing++)
    for (int py = -1; py <= 0; py++)
      for (int px = -1; px <= 0; px++)
        {
          gint64 x = 512 + px * 2, y = 512 + py * 2; /* elements at both sides of the corner of four tiles of level 1 */
          TmTileKey own = { .level = 1, .column = (guint32) (x >> 9), .row = (guint32) (y >> 9) };
          guint up;

          tm_tiles_begin (f.tiles);
          tile = tm_tiles_want (f.tiles, &own, &f.sheet, 0);
          g_assert_nonnull (tile);
          up = tile->key.level - 1u;
          g_assert_cmpuint (tile->key.column, ==, own.column >> up);
          g_assert_cmpuint (tile->key.row, ==, own.row >> up);
          if (own.column == 1 && own.row == 1)
            g_assert_cmpuint (up, ==, 0);
          else if (!missing)
            g_assert_cmpuint (up, ==, 3);
          /* Values grow with the index: the largest of a square is its last element. */
          {
            gint64 side = (gint64) 1 << tile->key.level;
            gint64 last = (y / side * side + side - 1) * 4096 + x / side * side + side - 1;

            g_assert_cmpfloat (tile->texels[(y >> tile->key.level & 255) * TM_TILE + (x >> tile->key.level & 255)], ==,
                               (float) last);
          }
          tm_tiles_end (f.tiles);
          if (missing)
            iterate_until_idle (&f);
        }
  fixture_clear (&f);
}

/* Nothing there at all: the whole pane's sample is asked for first and fills every hole. */
static void
test_top_fills_holes (void)
{
  TmTileKey key = { .level = 0, .column = 9, .row = 9 };
  const TmTile *tile;
  Fixture f;

  fixture_init (&f, SHAPE (65536, 16384), 32 * MIB);
  FAKE (f.tensor)->blocked = TRUE;
  g_assert_null (want_in_frame (&f, key));
  g_assert_cmpuint (tm_tiles_count_pending (f.tiles), ==, 2);
  fake_block (FAKE (f.tensor), FALSE);
  iterate_until_idle (&f);
  key.column = 10;
  tile = want_in_frame (&f, key);
  g_assert_nonnull (tile);
  g_assert_cmpuint (tile->key.level, ==, 8);
  g_assert_cmpint (tile->state, ==, TM_TILE_SAMPLED);
  fixture_clear (&f);
}

/* --- Cancelling -------------------------------------------------------------------------------------------------------- */

static void
test_cancelled_never_arrives (void)
{
  TmTileKey key = { .level = 2 };
  Fixture f;

  fixture_init (&f, SHAPE (1024, 1024), 8 * MIB);
  FAKE (f.tensor)->blocked = TRUE;
  want_in_frame (&f, key);
  fake_wait (FAKE (f.tensor), &FAKE (f.tensor)->started, 1);
  tm_tiles_begin (f.tiles);
  tm_tiles_end (f.tiles); /* nothing is wanted any more */
  g_assert_cmpuint (tm_tiles_count_pending (f.tiles), ==, 0);
  fake_block (FAKE (f.tensor), FALSE);
  g_usleep (50000);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (f.changes, ==, 0);
  g_assert_cmpuint (tm_tiles_get_bytes (f.tiles), ==, 0);
  /* Wanted again, it is made again. */
  want_in_frame (&f, key);
  iterate_until_idle (&f);
  g_assert_cmpint (want_in_frame (&f, key)->state, ==, TM_TILE_EXACT);
  fixture_clear (&f);
}

static void
test_waiting_jobs_are_dropped (void)
{
  Fixture f;

  fixture_init (&f, SHAPE (16384, 16384), 64 * MIB);
  FAKE (f.tensor)->blocked = TRUE;
  tm_tiles_begin (f.tiles);
  for (guint32 i = 0; i < 64; i++)
    {
      TmTileKey key = { .column = i };

      tm_tiles_want (f.tiles, &key, &f.sheet, (int) i);
    }
  tm_tiles_end (f.tiles);
  fake_wait (FAKE (f.tensor), &FAKE (f.tensor)->started, 1);
  tm_tiles_begin (f.tiles);
  tm_tiles_end (f.tiles);
  fake_block (FAKE (f.tensor), FALSE);
  g_usleep (100000);
  g_mutex_lock (&fake_lock);
  /* Only what threads had begun was decoded, one call each; the other jobs never started. */
  g_assert_cmpint (FAKE (f.tensor)->started, <=, (gint) g_get_num_processors () + 1);
  g_mutex_unlock (&fake_lock);
  fixture_clear (&f);
}

/* The window closes while a decode hangs: freeing waits for nothing, and the worker touches nothing afterwards. */
static void
test_free_does_not_wait (void)
{
  TmTileKey key = { .level = 5 };
  FakeTensor *fake;
  gint64 start;
  Fixture f;

  fixture_init (&f, SHAPE (8192, 8192), 8 * MIB);
  fake = FAKE (f.tensor);
  fake->blocked = TRUE;
  want_in_frame (&f, key);
  fake_wait (fake, &fake->started, 1);
  start = g_get_monotonic_time ();
  g_clear_pointer (&f.tiles, tm_tiles_free);
  g_assert_cmpint (g_get_monotonic_time () - start, <, G_TIME_SPAN_SECOND);
  fake_block (fake, FALSE);
  fixture_clear (&f);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (f.changes, ==, 0);
}

static void
free_in_callback (gpointer data)
{
  Fixture *f = data;

  f->changes++;
  g_clear_pointer (&f->tiles, tm_tiles_free);
}

static void
test_free_in_callback (void)
{
  TmTileKey key = { 0 };
  Fixture f;

  fixture_init (&f, SHAPE (700, 700), 8 * MIB);
  tm_tiles_free (f.tiles);
  f.tiles = tm_tiles_new (f.model, 8 * MIB, free_in_callback, &f);
  want_in_frame (&f, key);
  iterate_until_change (&f);
  g_assert_null (f.tiles);
  fixture_clear (&f);
}

/* --- Whoever else works ---------------------------------------------------------------------------------------------- */

/* The shortest of some: a busy machine only makes one longer. */
static gint64
time_pause (void)
{
  gint64 shortest = G_MAXINT64;

  for (guint i = 0; i < 5; i++)
    {
      const gint64 start = g_get_monotonic_time ();

      g_assert_true (tm_work_pause (NULL, NULL));
      shortest = MIN (shortest, g_get_monotonic_time () - start);
    }
  return shortest;
}

/* Analysis stands aside while a picture waits, and not while only its exact tiles of much data are being made. */
static void
test_analysis_stands_aside (void)
{
  TmTileKey quick = { .level = 0 }, top = { .level = 5 };
  FakeTensor *fake;
  Fixture f;

  tm_work_set_busy (tm_tiles_are_waited_for, NULL);
  g_assert_false (tm_tiles_are_waited_for (NULL));
  fixture_init (&f, SHAPE (8192, 8192), 8 * MIB);
  fake = FAKE (f.tensor);
  fake->blocked = TRUE;
  want_in_frame (&f, quick);
  fake_wait (fake, &fake->started, 1);
  g_assert_true (tm_tiles_are_waited_for (NULL));
  g_assert_cmpint (time_pause (), >=, 40000);

  want_in_frame (&f, top); /* what is no longer wanted is not waited for; the new sample is */
  g_assert_true (tm_tiles_are_waited_for (NULL));
  fake_block (fake, FALSE);
  while (tm_tiles_are_waited_for (NULL))
    g_main_context_iteration (NULL, FALSE);
  want_in_frame (&f, top);
  iterate_until_idle (&f);
  g_assert_false (tm_tiles_are_waited_for (NULL));
  g_assert_cmpint (time_pause (), <, 40000);

  fake_block (fake, TRUE);
  quick.row = 7;
  want_in_frame (&f, quick);
  g_assert_true (tm_tiles_are_waited_for (NULL));
  g_clear_pointer (&f.tiles, tm_tiles_free); /* the window closes */
  g_assert_false (tm_tiles_are_waited_for (NULL));
  fake_block (fake, FALSE);
  fixture_clear (&f);
  g_assert_false (tm_tiles_are_waited_for (NULL));
  tm_work_set_busy (NULL, NULL);
}

/* --- Bounds ---------------------------------------------------------------------------------------------------------- */

static void
test_cache_is_bounded (void)
{
  const gsize max = 3 * MIB;
  Fixture f;

  fixture_init (&f, SHAPE (16384, 16384), max);
  for (guint i = 0; i < 60; i++)
    {
      tm_tiles_begin (f.tiles);
      for (guint32 j = 0; j < 6; j++)
        {
          TmTileKey key = { .column = i, .row = j };

          tm_tiles_want (f.tiles, &key, &f.sheet, 0);
        }
      tm_tiles_end (f.tiles);
      iterate_until_idle (&f);
      g_assert_cmpuint (tm_tiles_get_bytes (f.tiles), <=, max);
    }
  /* The last frame's tiles are there, the first's are not; the top level never left. */
  for (guint32 j = 0; j < 6; j++)
    {
      TmTileKey last = { .column = 59, .row = j }, early = { .column = 0, .row = j };

      tm_tiles_begin (f.tiles);
      g_assert_cmpuint (tm_tiles_want (f.tiles, &last, &f.sheet, 0)->key.level, ==, 0);
      g_assert_cmpuint (tm_tiles_want (f.tiles, &early, &f.sheet, 0)->key.level, ==, 6);
      tm_tiles_end (f.tiles);
    }
  fixture_clear (&f);
}

/* More on the screen than fits: the bound holds, and it does not go round in circles. */
static void
test_more_than_fits (void)
{
  const gsize max = 1 * MIB;
  gint calls = 0;
  Fixture f;

  fixture_init (&f, SHAPE (4096, 4096), max);
  for (guint i = 0; i < 6; i++)
    {
      tm_tiles_begin (f.tiles);
      for (guint32 j = 0; j < 100; j++)
        {
          TmTileKey key = { .column = j % 10, .row = j / 10 };

          tm_tiles_want (f.tiles, &key, &f.sheet, (int) j);
        }
      tm_tiles_end (f.tiles);
      iterate_until_idle (&f);
      g_assert_cmpuint (tm_tiles_get_bytes (f.tiles), <=, max);
      if (i == 3)
        calls = FAKE (f.tensor)->started;
    }
  g_assert_cmpint (FAKE (f.tensor)->started, ==, calls);
  fixture_clear (&f);
}

static void
test_small_tiles_are_small (void)
{
  TmTileKey key = { 0 };
  Fixture f;

  fixture_init (&f, SHAPE (4096), 8 * MIB); /* a norm: 64 × 64 */
  want_in_frame (&f, key);
  iterate_until_idle (&f);
  g_assert_cmpuint (want_in_frame (&f, key)->height, ==, 64);
  g_assert_cmpuint (tm_tiles_get_bytes (f.tiles), <, 80 * 1024);
  fixture_clear (&f);
}

/* --- Failures -------------------------------------------------------------------------------------------------------- */

static void
test_failed_is_kept (void)
{
  TmTileKey key = { 0 };
  const TmTile *tile;
  Fixture f;
  gint calls;

  fixture_init (&f, SHAPE (1000, 1000), 8 * MIB);
  FAKE (f.tensor)->fail_from = 100;
  want_in_frame (&f, key);
  iterate_until_idle (&f);
  tile = want_in_frame (&f, key);
  g_assert_cmpint (tile->state, ==, TM_TILE_FAILED);
  g_assert_null (tile->texels);
  g_assert_cmpstr (tile->message, ==, "bytes that were there are not");
  calls = FAKE (f.tensor)->started;
  for (int i = 0; i < 20; i++)
    {
      g_assert_true (want_in_frame (&f, key) == tile);
      g_assert_cmpuint (tm_tiles_count_pending (f.tiles), ==, 0);
    }
  g_assert_cmpint (FAKE (f.tensor)->started, ==, calls);
  fixture_clear (&f);
}

static void
test_fault_fails_at_once (void)
{
  TmTileKey key = { 0 };
  const TmTile *tile;
  Fixture f;

  fixture_init (&f, SHAPE (1000, 1000), 8 * MIB);
  f.tensor->fault = g_strdup ("data ends before the tensor does");
  tile = want_in_frame (&f, key);
  g_assert_nonnull (tile);
  g_assert_cmpint (tile->state, ==, TM_TILE_FAILED);
  g_assert_cmpstr (tile->message, ==, f.tensor->fault);
  g_assert_cmpuint (tm_tiles_count_pending (f.tiles), ==, 0);
  fixture_clear (&f);
}

static void
test_bad_keys (void)
{
  static const TmTileKey bad[] = { { .tensor = 1 }, { .quantity = TM_N_QUANTITIES }, { .pane = 1 }, { .column = 4 },
                                   { .row = 4 }, { .level = 41 }, { .tensor = G_MAXUINT } };
  Fixture f;

  fixture_init (&f, SHAPE (1000, 1000), 8 * MIB);
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_null (want_in_frame (&f, bad[i]));
  g_assert_cmpuint (tm_tiles_count_pending (f.tiles), ==, 0);
  fixture_clear (&f);
}

/* --- Every kind of sheet --------------------------------------------------------------------------------------------- */

static void
check_shape (guint rank, const guint64 *shape)
{
  Fixture f;

  fixture_init (&f, rank, shape, 16 * MIB);
  for (guint i = 0; i < 30; i++)
    {
      gint64 x = pick_int (0, (gint) f.sheet.width), y = pick_int (0, (gint) f.sheet.height), px, py;
      guint64 flat, pane, c, r;
      const TmTile *tile;
      TmTileKey key = { 0 };

      if (!tm_sheet_pick (&f.sheet, x, y, &flat))
        continue;
      pane = flat / (f.sheet.rows * f.sheet.columns);
      tm_sheet_get_pane_origin (&f.sheet, pane, &px, &py);
      c = (guint64) (x - px);
      r = (guint64) (y - py);
      key.pane = pane;
      key.column = (guint32) (c >> 8);
      key.row = (guint32) (r >> 8);
      want_in_frame (&f, key);
      iterate_until_idle (&f);
      tile = want_in_frame (&f, key);
      g_assert_cmpuint (tile->key.level, ==, 0);
      g_assert_cmpfloat (tile->texels[(r & 255) * TM_TILE + (c & 255)], ==, (float) flat);
    }
  fixture_clear (&f);
}

static void
test_sheets (void)
{
  check_shape (SHAPE (100003));
  check_shape (SHAPE (1, 100003));
  check_shape (SHAPE (0x7f, 0x101));
  check_shape (SHAPE (64, 32, 3, 3));
  check_shape (SHAPE (7, 300, 400));
  check_shape (SHAPE (2, 3, 300, 300));
  check_shape (0, (guint64[]) { 1 });
}

/* --- Merging on the way out ------------------------------------------------------------------------------------------- */

static void
test_zoom_out_reads_nothing (void)
{
  TmTileKey above = { .level = 4 };
  gint calls;
  Fixture f;

  fixture_init (&f, SHAPE (4096, 4096), 16 * MIB);
  tm_tiles_begin (f.tiles);
  for (guint32 i = 0; i < 4; i++)
    {
      TmTileKey key = { .level = 3, .column = i % 2, .row = i / 2 };

      tm_tiles_want (f.tiles, &key, &f.sheet, 0);
    }
  tm_tiles_end (f.tiles);
  iterate_until_idle (&f);
  calls = FAKE (f.tensor)->started;
  want_in_frame (&f, above);
  iterate_until_idle (&f);
  g_assert_cmpint (want_in_frame (&f, above)->state, ==, TM_TILE_EXACT);
  g_assert_cmpfloat (want_in_frame (&f, above)->texels[255 * TM_TILE + 255], ==, 4096 * 4096 - 1);
  /* Only the pane's own sample may have been read meanwhile. */
  g_assert_cmpint (FAKE (f.tensor)->started, <=, calls);
  fixture_clear (&f);
}

/* --- Range ----------------------------------------------------------------------------------------------------------- */

static void
test_range (void)
{
  float range = -1;
  gint calls;
  Fixture f;

  fixture_init (&f, SHAPE (100, 100), 8 * MIB);
  g_assert_false (tm_tiles_get_range (f.tiles, 0, TM_QUANTITY_VALUE, &range));
  g_assert_false (tm_tiles_get_range (f.tiles, 0, TM_QUANTITY_RAW, &range));
  iterate_until_idle (&f);
  g_assert_true (tm_tiles_get_range (f.tiles, 0, TM_QUANTITY_VALUE, &range));
  g_assert_cmpfloat (range, ==, 9989);
  g_assert_true (tm_tiles_get_range (f.tiles, 0, TM_QUANTITY_RAW, &range)); /* there is none: asked once, not again */
  g_assert_cmpfloat (range, ==, 0);
  calls = FAKE (f.tensor)->started;
  tm_tiles_get_range (f.tiles, 0, TM_QUANTITY_VALUE, &range);
  g_assert_cmpint (FAKE (f.tensor)->started, ==, calls);
  g_assert_false (tm_tiles_get_range (f.tiles, 7, TM_QUANTITY_VALUE, &range));
  fixture_clear (&f);
}

/* --- Stress ---------------------------------------------------------------------------------------------------------- */

/* Frames at random places, cancelling most of what was begun, in two documents at once; ends with both closed mid-work. */
static void
test_stress (void)
{
  const gsize max = 6 * MIB;
  gint64 end = g_get_monotonic_time () + 3 * G_TIME_SPAN_SECOND;
  Fixture f[2];
  guint64 right = 0;

  fixture_init (&f[0], SHAPE (20000, 9000), max);
  fixture_init (&f[1], SHAPE (9, 3000, 2000), max);
  while (g_get_monotonic_time () < end)
    {
      Fixture *now = &f[pick_int (0, 2)];
      guint8 level = (guint8) pick_int (0, 8);
      guint32 columns = (guint32) ((now->sheet.columns - 1) >> level >> 8) + 1;
      guint32 rows = (guint32) ((now->sheet.rows - 1) >> level >> 8) + 1;
      guint32 x = (guint32) pick_int (0, (gint) columns), y = (guint32) pick_int (0, (gint) rows);

      tm_tiles_begin (now->tiles);
      for (guint32 j = y; j < MIN (y + 3, rows); j++)
        for (guint32 i = x; i < MIN (x + 3, columns); i++)
          {
            TmTileKey key = { .level = level, .column = i, .row = j, .pane = (guint64) pick_int (0, (gint) now->sheet.n_panes),
                              .reduce = (guint8) pick_int (0, 2) };
            const TmTile *tile = tm_tiles_want (now->tiles, &key, &now->sheet, (int) (i + j));

            if (tile && tile->state == TM_TILE_EXACT && tile->key.level == 0)
              {
                guint64 flat = (key.pane * now->sheet.rows + j * 256ull) * now->sheet.columns + i * 256ull;

                g_assert_cmpfloat (tile->texels[0], ==, index_value (flat));
                right++;
              }
          }
      tm_tiles_end (now->tiles);
      g_assert_cmpuint (tm_tiles_get_bytes (now->tiles), <=, max);
      for (int i = pick_int (0, 4); i > 0; i--)
        {
          g_usleep (500);
          g_main_context_iteration (NULL, FALSE);
        }
    }
  g_test_message ("%" G_GUINT64_FORMAT " tiles compared", right);
  for (int i = 0; i < 2; i++) /* after all that it still makes a tile */
    {
      TmTileKey key = { .column = 3, .row = 2 };

      want_in_frame (&f[i], key);
      iterate_until_idle (&f[i]);
      g_assert_cmpfloat (want_in_frame (&f[i], key)->texels[0], ==, index_value (512 * f[i].sheet.columns + 768));
      want_in_frame (&f[i], (TmTileKey) { .level = 3 }); /* closed while this is on its way */
    }
  fixture_clear (&f[0]);
  fixture_clear (&f[1]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tiles/small-is-exact-at-once", test_small_is_exact_at_once);
  g_test_add_func ("/tiles/sampled-then-exact", test_sampled_then_exact);
  g_test_add_func ("/tiles/samples-pass-exact", test_samples_pass_exact);
  g_test_add_func ("/tiles/g-corner-with-missing-tiles", test_corner_with_missing_tiles);
  g_test_add_func ("/tiles/top-fills-holes", test_top_fills_holes);
  g_test_add_func ("/tiles/cancelled-never-arrives", test_cancelled_never_arrives);
  g_test_add_func ("/tiles/waiting-jobs-are-dropped", test_waiting_jobs_are_dropped);
  g_test_add_func ("/tiles/free-does-not-wait", test_free_does_not_wait);
  g_test_add_func ("/tiles/free-in-callback", test_free_in_callback);
  g_test_add_func ("/tiles/analysis-stands-aside", test_analysis_stands_aside);
  g_test_add_func ("/tiles/cache-is-bounded", test_cache_is_bounded);
  g_test_add_func ("/tiles/more-than-fits", test_more_than_fits);
  g_test_add_func ("/tiles/small-tiles-are-small", test_small_tiles_are_small);
  g_test_add_func ("/tiles/failed-is-kept", test_failed_is_kept);
  g_test_add_func ("/tiles/fault-fails-at-once", test_fault_fails_at_once);
  g_test_add_func ("/tiles/bad-keys", test_bad_keys);
  g_test_add_func ("/tiles/sheets", test_sheets);
  g_test_add_func ("/tiles/zoom-out-reads-nothing", test_zoom_out_reads_nothing);
  g_test_add_func ("/tiles/range", test_range);
  g_test_add_func ("/tiles/stress", test_stress);
  return g_test_run ();
}
