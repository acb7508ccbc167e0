#include "model/name-table.h"

#include <string.h>

typedef struct
{
  const char *name;
  guint32 length, number;
} Entry;

/* Open addressing, one line of memory for most look-ups: the entry itself is only read where the hash is right. */
typedef struct
{
  guint32 hash;
  guint32 entry; /* + 1; 0: free */
} Slot;

struct _TmNameTable
{
  Slot *slots;
  Entry *entries;
  guint mask, n_entries, n_room;
};

/* Names come from files: without a secret, one could be made of which all fall together. */
static guint64
get_secret (void)
{
  static gsize secret;

  if (g_once_init_enter (&secret))
    g_once_init_leave (&secret, (((gsize) g_random_int () << 16) ^ (gsize) g_random_int ()) | 1);
  return secret;
}

__extension__ typedef unsigned __int128 Product;

/* Both halves of the product: in the lower one alone the top bit of a word stays where it is, whatever the secret, and the next
 * word can take it back. */
static guint64
mix (guint64 hash, guint64 word)
{
  const Product product = (Product) (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return (guint64) product ^ (guint64) (product >> 64);
}

static guint32
hash_name (const char *name, gsize length)
{
  guint64 hash = get_secret () ^ length, word = 0;

  for (; length >= sizeof word; name += sizeof word, length -= sizeof word)
    {
      memcpy (&word, name, sizeof word);
      hash = mix (hash, word);
    }
  word = 0;
  memcpy (&word, name, length);
  hash = mix (hash, word);
  return (guint32) hash;
}

static void
set_size (TmNameTable *table, guint n_slots)
{
  g_free (table->slots);
  table->slots = g_new0 (Slot, n_slots);
  table->mask = n_slots - 1;
}

TmNameTable *
tm_name_table_new (guint expected)
{
  TmNameTable *table = g_new0 (TmNameTable, 1);
  guint n_slots = 16;

  while (n_slots < 1u << 30 && n_slots / 8 * 5 < expected)
    n_slots *= 2;
  set_size (table, n_slots);
  table->n_room = MAX (expected, 8);
  table->entries = g_new (Entry, table->n_room);
  return table;
}

void
tm_name_table_free (TmNameTable *table)
{
  if (table == NULL)
    return;
  g_free (table->slots);
  g_free (table->entries);
  g_free (table);
}

/* The slot of a name, or the free one where it would be. */
static guint
find_slot (const TmNameTable *table, const char *name, gsize length, guint32 hash)
{
  for (guint at = hash & table->mask;; at = (at + 1) & table->mask)
    {
      const Slot *slot = &table->slots[at];

      if (slot->entry == 0)
        return at;
      if (slot->hash == hash)
        {
          const Entry *entry = &table->entries[slot->entry - 1];

          if (entry->length == length && memcmp (entry->name, name, length) == 0)
            return at;
        }
    }
}

static void
grow (TmNameTable *table)
{
  g_autofree Slot *before = g_steal_pointer (&table->slots);
  const guint n_before = table->mask + 1;

  set_size (table, 2 * n_before);
  for (guint i = 0; i < n_before; i++)
    if (before[i].entry != 0)
      {
        guint at = before[i].hash & table->mask;

        while (table->slots[at].entry != 0)
          at = (at + 1) & table->mask;
        table->slots[at] = before[i];
      }
}

static guint
add_hashed (TmNameTable *table, const char *name, gsize length, guint32 hash, guint number)
{
  guint at = find_slot (table, name, length, hash);

  if (table->slots[at].entry != 0)
    return table->entries[table->slots[at].entry - 1].number;
  if (table->n_entries >= (table->mask + 1) / 8 * 5)
    {
      grow (table);
      at = find_slot (table, name, length, hash);
    }
  if (table->n_entries == table->n_room)
    {
      table->n_room *= 2;
      table->entries = g_renew (Entry, table->entries, table->n_room);
    }
  table->entries[table->n_entries++] = (Entry) { name, (guint32) length, number };
  table->slots[at] = (Slot) { hash, table->n_entries };
  return TM_NO_NUMBER;
}

guint
tm_name_table_add (TmNameTable *table, const char *name, gsize length, guint number)
{
  return add_hashed (table, name, length, hash_name (name, length), number);
}

#define AHEAD 16u /* names whose slots are on their way from memory */

void
tm_name_table_add_all (TmNameTable *table, guint n, TmNameAt name_at, gconstpointer names, TmNameTold told, gpointer data)
{
  struct
  {
    const char *name;
    gsize length;
    guint32 hash;
  } coming[AHEAD];

  for (guint64 i = 0; i < (guint64) n + AHEAD; i++)
    {
      const guint at = (guint) (i % AHEAD);

      if (i >= AHEAD && i - AHEAD < n)
        {
          const guint number = (guint) (i - AHEAD);
          const guint known = add_hashed (table, coming[at].name, coming[at].length, coming[at].hash, number);

          if (known != TM_NO_NUMBER)
            told (number, known, data);
        }
      if (i < n)
        {
          coming[at].name = name_at (names, (guint) i);
          coming[at].length = strlen (coming[at].name);
          coming[at].hash = hash_name (coming[at].name, coming[at].length);
          __builtin_prefetch (&table->slots[coming[at].hash & table->mask], 1);
        }
    }
}

guint
tm_name_table_find (const TmNameTable *table, const char *name, gsize length)
{
  const Slot *slot = &table->slots[find_slot (table, name, length, hash_name (name, length))];

  return slot->entry != 0 ? table->entries[slot->entry - 1].number : TM_NO_NUMBER;
}

void
tm_name_table_set (TmNameTable *table, const char *name, gsize length, guint number)
{
  const Slot *slot = &table->slots[find_slot (table, name, length, hash_name (name, length))];

  if (slot->entry != 0)
    table->entries[slot->entry - 1].number = number;
}
