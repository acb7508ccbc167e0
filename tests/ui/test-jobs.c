/* Jobs: shown after 200 ms, oldest first, cancelled on request. */
#include "ui/jobs.h"

static void
count (TmJobs *jobs, guint *n)
{
  ++*n;
}

static gboolean
stop (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static void
wait_ms (guint ms)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  g_timeout_add (ms, stop, loop);
  g_main_loop_run (loop);
}

static void
quick (void)
{
  g_autoptr (TmJobs) jobs = tm_jobs_new ();
  guint changes = 0;
  const char *label;
  double fraction;
  gboolean can_cancel;
  TmJob *job;

  g_signal_connect (jobs, "changed", G_CALLBACK (count), &changes);
  job = tm_jobs_start (jobs, "quick", NULL);
  g_assert_false (tm_jobs_get_shown (jobs, &label, &fraction, &can_cancel));
  tm_jobs_end (jobs, job);
  wait_ms (300);
  g_assert_cmpuint (changes, ==, 0);
}

static void
slow (void)
{
  g_autoptr (TmJobs) jobs = tm_jobs_new ();
  g_autoptr (GCancellable) first = g_cancellable_new (), second = g_cancellable_new ();
  guint changes = 0;
  const char *label;
  double fraction;
  gboolean can_cancel;
  TmJob *a, *b;

  g_signal_connect (jobs, "changed", G_CALLBACK (count), &changes);
  a = tm_jobs_start (jobs, "first", first);
  b = tm_jobs_start (jobs, "second", second);
  wait_ms (300);
  g_assert_cmpuint (changes, ==, 2);
  g_assert_true (tm_jobs_get_shown (jobs, &label, &fraction, &can_cancel));
  g_assert_cmpstr (label, ==, "first");
  g_assert_cmpfloat (fraction, <, 0);
  g_assert_true (can_cancel);
  tm_jobs_set_progress (jobs, a, 0.5);
  g_assert_true (tm_jobs_get_shown (jobs, &label, &fraction, &can_cancel));
  g_assert_cmpfloat (fraction, ==, 0.5);
  tm_jobs_cancel_shown (jobs);
  g_assert_true (g_cancellable_is_cancelled (first));
  g_assert_false (g_cancellable_is_cancelled (second));
  tm_jobs_end (jobs, a);
  g_assert_true (tm_jobs_get_shown (jobs, &label, &fraction, &can_cancel));
  g_assert_cmpstr (label, ==, "second");
  tm_jobs_cancel_all (jobs);
  g_assert_true (g_cancellable_is_cancelled (second));
  tm_jobs_end (jobs, b);
  g_assert_false (tm_jobs_get_shown (jobs, &label, &fraction, &can_cancel));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/jobs/quick", quick);
  g_test_add_func ("/jobs/slow", slow);
  return g_test_run ();
}
