#include "model/name-table.h"

#include <string.h>

/* Against a plain hash table, over names that share beginnings, are parts of each other, empty, or stand again. */
static void
test_against_hash (void)
{
  g_autoptr (TmNameTable) table = tm_name_table_new (0);
  g_autoptr (GHashTable) plain = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < 20000; i++)
    g_ptr_array_add (names, i % 7 == 6   ? g_strdup (g_ptr_array_index (names, i / 2))
                            : i % 7 == 5 ? g_strnfill (i % 100, 'x')
                                         : g_strdup_printf ("model.layers.%u.mlp.experts.%u.weight", i % 61, i));
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      gpointer known = NULL;

      if (g_hash_table_lookup_extended (plain, name, NULL, &known))
        g_assert_cmpuint (tm_name_table_add (table, name, strlen (name), i), ==, GPOINTER_TO_UINT (known));
      else
        {
          g_assert_cmpuint (tm_name_table_find (table, name, strlen (name)), ==, TM_NO_NUMBER);
          g_assert_cmpuint (tm_name_table_add (table, name, strlen (name), i), ==, TM_NO_NUMBER);
          g_hash_table_insert (plain, (gpointer) name, GUINT_TO_POINTER (i));
        }
    }
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);

      g_assert_cmpuint (tm_name_table_find (table, name, strlen (name)), ==, GPOINTER_TO_UINT (g_hash_table_lookup (plain, name)));
    }
  g_assert_cmpuint (tm_name_table_find (table, "model.layers.0.mlp", 18), ==, TM_NO_NUMBER);
}

/* A name ends where its length says. */
static void
test_parts (void)
{
  static const char name[] = "a.b.c";
  g_autoptr (TmNameTable) table = tm_name_table_new (4);

  for (guint length = 0; length <= 5; length++)
    g_assert_cmpuint (tm_name_table_add (table, name, length, 10 + length), ==, TM_NO_NUMBER);
  for (guint length = 0; length <= 5; length++)
    g_assert_cmpuint (tm_name_table_find (table, name, length), ==, 10 + length);
  tm_name_table_set (table, "a.b", 3, 99);
  g_assert_cmpuint (tm_name_table_find (table, name, 3), ==, 99);
  tm_name_table_set (table, "none", 4, 1);
  g_assert_cmpuint (tm_name_table_find (table, "none", 4), ==, TM_NO_NUMBER);
}

static const char *
name_at (gconstpointer names, guint i)
{
  return ((const char *const *) names)[i];
}

static void
note (guint i, guint number, gpointer data)
{
  g_string_append_printf (data, "%u=%u ", i, number);
}

/* All at once is the same as one by one, for any number of names. */
static void
test_all (void)
{
  static const char *const few[] = { "a", "b", "a", "a", "c", "b", "", "" };

  for (guint n = 0; n <= 100; n++)
    {
      g_autoptr (TmNameTable) table = tm_name_table_new (n), one = tm_name_table_new (0);
      g_autoptr (GString) told = g_string_new (""), expected = g_string_new ("");
      const char *names[100];

      for (guint i = 0; i < n; i++)
        {
          guint known;

          names[i] = few[(i * i + i / 9) % G_N_ELEMENTS (few)];
          known = tm_name_table_add (one, names[i], strlen (names[i]), i);
          if (known != TM_NO_NUMBER)
            note (i, known, expected);
        }
      tm_name_table_add_all (table, n, name_at, names, note, told);
      g_assert_cmpstr (told->str, ==, expected->str);
    }
}

/* Names made against the hash: in each pair of words the second takes back what the top bit of the first changes, so that with
 * one half of the product alone all of them fell together, whatever the secret: 65 536 took a quarter of a minute. */
static void
test_made_to_collide (void)
{
  enum { PAIRS = 16, NAMES = 1 << PAIRS, LENGTH = 16 * PAIRS };
  g_autofree char *names = g_malloc (NAMES * LENGTH);
  g_autoptr (TmNameTable) table = tm_name_table_new (0);
  const gint64 start = g_get_monotonic_time ();

  memset (names, 'a', NAMES * LENGTH);
  for (guint i = 0; i < NAMES; i++)
    {
      char *name = names + i * LENGTH;

      for (guint pair = 0; pair < PAIRS; pair++)
        if (i >> pair & 1)
          name[16 * pair + 7] = name[16 * pair + 11] = name[16 * pair + 15] = (char) ('a' ^ 0x80);
      g_assert_cmpuint (tm_name_table_add (table, name, LENGTH, i), ==, TM_NO_NUMBER);
    }
  g_assert_cmpint (g_get_monotonic_time () - start, <, 6 * G_USEC_PER_SEC);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/name-table/against-hash", test_against_hash);
  g_test_add_func ("/name-table/parts", test_parts);
  g_test_add_func ("/name-table/all", test_all);
  g_test_add_func ("/name-table/made-to-collide", test_made_to_collide);
  return g_test_run ();
}
