/* Tiles in GL: one R32F array texture, a layer a tile, the least recently used layer given to the next tile. */
#include "ui/paint/gl-painter-private.h"

#include <string.h>

#define FIRST_LAYERS 32
#define MOST_LAYERS 512 /* 128 MiB */

typedef struct
{
  TmTileKey key;
  guint serial;
} LayerKey;

typedef struct
{
  LayerKey key;
  gboolean used;
  guint64 stamp;
} Layer;

struct _TmGlTiles
{
  GLuint texture;
  guint n_layers, limit;
  Layer *layer;
  GHashTable *by_key; /* LayerKey → index + 1 */
  guint64 stamp, begun;
};

static guint
layer_key_hash (gconstpointer data)
{
  const LayerKey *k = data;
  guint hash = k->serial * 2654435761u;
  hash = (hash ^ k->key.tensor) * 2246822519u;
  hash = (hash ^ k->key.column ^ k->key.row << 12 ^ (guint) k->key.level << 26) * 3266489917u;
  return hash ^ (guint) k->key.pane ^ (guint) k->key.quantity << 8 ^ (guint) k->key.reduce << 16;
}

static gboolean
layer_key_equal (gconstpointer a, gconstpointer b)
{
  const LayerKey *x = a, *y = b;
  return x->serial == y->serial && x->key.tensor == y->key.tensor && x->key.quantity == y->key.quantity
         && x->key.reduce == y->key.reduce && x->key.level == y->key.level && x->key.pane == y->key.pane
         && x->key.column == y->key.column && x->key.row == y->key.row;
}

static void
allocate (TmGlTiles *tiles, guint n)
{
  g_hash_table_remove_all (tiles->by_key);
  g_free (tiles->layer);
  tiles->n_layers = n;
  tiles->layer = g_new0 (Layer, n);
  glBindTexture (GL_TEXTURE_2D_ARRAY, tiles->texture);
  glTexImage3D (GL_TEXTURE_2D_ARRAY, 0, GL_R32F, TM_TILE, TM_TILE, (GLsizei) n, 0, GL_RED, GL_FLOAT, NULL);
  glTexParameteri (GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri (GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri (GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAX_LEVEL, 0);
}

TmGlTiles *
tm_gl_tiles_new (void)
{
  TmGlTiles *tiles = g_new0 (TmGlTiles, 1);
  GLint limit = 256;
  glGetIntegerv (GL_MAX_ARRAY_TEXTURE_LAYERS, &limit);
  tiles->limit = CLAMP ((guint) limit, FIRST_LAYERS, MOST_LAYERS);
  tiles->by_key = g_hash_table_new (layer_key_hash, layer_key_equal);
  glGenTextures (1, &tiles->texture);
  allocate (tiles, FIRST_LAYERS);
  return tiles;
}

void
tm_gl_tiles_free (TmGlTiles *tiles)
{
  glDeleteTextures (1, &tiles->texture);
  g_hash_table_unref (tiles->by_key);
  g_free (tiles->layer);
  g_free (tiles);
}

void
tm_gl_tiles_reserve (TmGlTiles *tiles, guint n)
{
  guint layers = tiles->n_layers;
  while (layers < n && layers < tiles->limit)
    layers = MIN (layers * 2, tiles->limit);
  if (layers > tiles->n_layers)
    allocate (tiles, layers);
}

void
tm_gl_tiles_begin (TmGlTiles *tiles)
{
  tiles->begun = ++tiles->stamp;
}

int
tm_gl_tiles_get (TmGlTiles *tiles, const TmTile *tile)
{
  LayerKey key;
  memset (&key, 0, sizeof key);
  key.key = tile->key;
  key.serial = tile->serial;
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (tiles->by_key, &key));
  if (found != 0)
    {
      tiles->layer[found - 1].stamp = ++tiles->stamp;
      return (int) found - 1;
    }
  guint oldest = 0;
  for (guint i = 0; i < tiles->n_layers; i++)
    if (tiles->layer[i].stamp < tiles->layer[oldest].stamp)
      oldest = i;
  Layer *layer = &tiles->layer[oldest];
  if (layer->used)
    {
      if (layer->stamp > tiles->begun)
        return -1;
      g_hash_table_remove (tiles->by_key, &layer->key);
    }
  layer->key = key;
  layer->used = TRUE;
  layer->stamp = ++tiles->stamp;
  g_hash_table_insert (tiles->by_key, &layer->key, GUINT_TO_POINTER (oldest + 1));
  glBindTexture (GL_TEXTURE_2D_ARRAY, tiles->texture);
  glTexSubImage3D (GL_TEXTURE_2D_ARRAY, 0, 0, 0, (GLint) oldest, TM_TILE, (GLsizei) MIN (tile->height, TM_TILE), 1,
                   GL_RED, GL_FLOAT, tile->texels);
  return (int) oldest;
}

GLuint
tm_gl_tiles_get_texture (TmGlTiles *tiles)
{
  return tiles->texture;
}
