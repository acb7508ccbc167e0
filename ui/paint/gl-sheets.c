/* Sheets in GL: rulers and page tables of many panes in one upload, an instance a pane, a shader for each number of levels whose
 * blocks run on across row ends. */
#include "ui/paint/gl-painter-private.h"

#include <string.h>

#include "ui/paint/raster.h"
#include "view/colormap.h"

#define NO_TILE 0xffffu
#define FAILED_TILE 0xfffeu
#define FLAG_SEQUENTIAL 1
#define FLAG_MAGNITUDE 2
#define FLAG_MARKS 4
#define FLAG_KINDS 8
#define N_PROGRAMS 5 /* 0 … 4 flat levels */

/* As sheet.vert takes it. */
typedef struct
{
  GLint rect[4], place[4], page[4], cells[4];
  GLuint color[4];
  GLfloat scale[2];
  GLint map[4], flat[4], block[4];
} Instance;

typedef struct
{
  GLuint program;
  GLint size, height, colors;
} Program;

struct _TmGlSheets
{
  Program program[N_PROGRAMS]; /* by flat levels */
  GLuint vertex_array, buffer, palette;
  TmGlLinear rulers, pages, flat;
  TmGlTiles *tiles;
  GArray *instances; /* Instance, in paint order */
  GArray *entries;   /* Entry */
  GArray *flats;     /* TmFlatEntry */
  GArray *table;     /* GLuint */
  int width, height;
  TmTheme theme; /* colours that are on the GPU */
  gboolean has_theme;
};

/* A ruler's entry as the shader takes it: the fraction is needed for one question alone, and that is answered here. */
typedef struct
{
  gint32 element, flags;
} Entry;

#define FLAG_MIDDLE (1 << 18)

G_STATIC_ASSERT (sizeof (Entry) == 8 && sizeof (TmFlatEntry) == 16);

static gboolean
make_program (Program *program, const char *defines, GError **error)
{
  program->program = tm_gl_program_new ("sheet", defines, error);
  if (program->program == 0)
    return FALSE;
  static const char *const sampler[] = { "u_rulers", "u_pages", "u_tiles", "u_palette", "u_flat" };
  glUseProgram (program->program);
  for (int i = 0; i < 5; i++)
    glUniform1i (glGetUniformLocation (program->program, sampler[i]), i);
  program->size = glGetUniformLocation (program->program, "u_size");
  program->height = glGetUniformLocation (program->program, "u_height");
  program->colors = glGetUniformLocation (program->program, "u_colors");
  return TRUE;
}

TmGlSheets *
tm_gl_sheets_new (gboolean masks, GError **error)
{
  TmGlSheets *sheets = g_new0 (TmGlSheets, 1);
  sheets->instances = g_array_new (FALSE, TRUE, sizeof (Instance));
  sheets->entries = g_array_new (FALSE, TRUE, sizeof (Entry));
  sheets->flats = g_array_new (FALSE, TRUE, sizeof (TmFlatEntry));
  sheets->table = g_array_new (FALSE, TRUE, sizeof (GLuint));
  for (int i = 0; i < N_PROGRAMS; i++)
    {
      g_autofree char *defines = g_strdup_printf ("%s#define FLAT_LEVELS %d\n", masks ? "#define MASKS\n" : "", i);
      if (!make_program (&sheets->program[i], defines, error))
        {
          tm_gl_sheets_free (sheets);
          return NULL;
        }
    }
  glGenVertexArrays (1, &sheets->vertex_array);
  glGenBuffers (1, &sheets->buffer);
  glGenTextures (1, &sheets->palette);
  glActiveTexture (GL_TEXTURE0);
  tm_gl_linear_init (&sheets->rulers);
  tm_gl_linear_init (&sheets->pages);
  tm_gl_linear_init (&sheets->flat);
  sheets->tiles = tm_gl_tiles_new ();
  return sheets;
}

void
tm_gl_sheets_free (TmGlSheets *sheets)
{
  if (sheets == NULL)
    return;
  for (int i = 0; i < N_PROGRAMS; i++)
    if (sheets->program[i].program != 0)
      glDeleteProgram (sheets->program[i].program);
  if (sheets->tiles != NULL)
    {
      tm_gl_tiles_free (sheets->tiles);
      tm_gl_linear_clear (&sheets->rulers);
      tm_gl_linear_clear (&sheets->pages);
      tm_gl_linear_clear (&sheets->flat);
      glDeleteTextures (1, &sheets->palette);
      glDeleteBuffers (1, &sheets->buffer);
      glDeleteVertexArrays (1, &sheets->vertex_array);
    }
  g_array_unref (sheets->instances);
  g_array_unref (sheets->entries);
  g_array_unref (sheets->flats);
  g_array_unref (sheets->table);
  g_free (sheets);
}

static void
upload_palette (TmGlSheets *sheets, const TmTheme *theme)
{
  if (sheets->has_theme && memcmp (sheets->theme.diverging, theme->diverging, sizeof theme->diverging) == 0
      && memcmp (sheets->theme.sequential, theme->sequential, sizeof theme->sequential) == 0
      && memcmp (sheets->theme.kinds, theme->kinds, sizeof theme->kinds) == 0)
    {
      sheets->theme = *theme;
      return;
    }
  sheets->theme = *theme;
  sheets->has_theme = TRUE;
  GLuint texels[3][256];
  for (int i = 0; i < 256; i++)
    {
      texels[0][i] = theme->diverging[i] >> 8;
      texels[1][i] = theme->sequential[i] >> 8;
      texels[2][i] = theme->kinds[i] >> 8;
    }
  glBindTexture (GL_TEXTURE_2D, sheets->palette);
  glTexImage2D (GL_TEXTURE_2D, 0, GL_R32UI, 256, 3, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, texels);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
}

void
tm_gl_sheets_begin (TmGlSheets *sheets, int width, int height, const TmTheme *theme, guint n_tiles)
{
  sheets->width = width;
  sheets->height = height;
  g_array_set_size (sheets->instances, 0);
  g_array_set_size (sheets->entries, 0);
  g_array_set_size (sheets->flats, 0);
  g_array_set_size (sheets->table, 0);
  glActiveTexture (GL_TEXTURE0);
  upload_palette (sheets, theme);
  tm_gl_tiles_reserve (sheets->tiles, n_tiles);
  tm_gl_tiles_begin (sheets->tiles);
}

/* Entries first … first + n − 1; rows from the last to the first, because GL counts upwards. Returns the first's place. */
static int
append_entries (TmGlSheets *sheets, const TmRulerEntry *from, int first, int n, gboolean rows)
{
  int place = (int) sheets->entries->len;
  g_array_set_size (sheets->entries, (guint) (place + n));
  Entry *to = &g_array_index (sheets->entries, Entry, place);
  for (int i = 0; i < n; i++)
    {
      const TmRulerEntry *entry = &from[first + (rows ? n - 1 - i : i)];
      gboolean middle = entry->fraction >= TM_MARK_FIRST && entry->fraction <= TM_MARK_LAST;
      to[i] = (Entry) { entry->element, entry->strengths | (middle ? FLAG_MIDDLE : 0) };
    }
  return place;
}

static int
append_flat (TmGlSheets *sheets, const TmFlatEntry *from, int first, int n, gboolean rows)
{
  int place = (int) sheets->flats->len;
  g_array_set_size (sheets->flats, (guint) (place + n));
  TmFlatEntry *to = &g_array_index (sheets->flats, TmFlatEntry, place);
  for (int i = 0; i < n; i++)
    to[i] = from[first + (rows ? n - 1 - i : i)];
  return place;
}

static guint32
page_entry (TmGlSheets *sheets, const TmPage *page, gboolean *full)
{
  if (page->tile == NULL)
    return NO_TILE;
  if (page->tile->texels == NULL)
    return FAILED_TILE;
  int layer = tm_gl_tiles_get (sheets->tiles, page->tile);
  if (layer < 0)
    {
      *full = TRUE;
      return NO_TILE;
    }
  return (guint32) layer | MIN (page->up, 31u) << 16;
}

static gboolean
append_pages (TmGlSheets *sheets, const TmPrimSheet *sheet)
{
  gboolean full = FALSE;
  for (gsize i = 0; i < (gsize) sheet->n_pages_x * sheet->n_pages_y; i++)
    {
      guint32 entry = page_entry (sheets, &sheet->pages[i], &full);
      g_array_append_val (sheets->table, entry);
    }
  return !full;
}

void
tm_gl_sheets_add (TmGlSheets *sheets, const TmPrimSheet *sheet)
{
  const TmRulers *rulers = sheet->rulers;
  int left = MAX (MAX (sheet->x, rulers->first_x), 0), top = MAX (MAX (sheet->y, rulers->first_y), 0);
  int right = MIN (MIN (sheet->x + sheet->width, rulers->first_x + rulers->n_x), sheets->width);
  int bottom = MIN (MIN (sheet->y + sheet->height, rulers->first_y + rulers->n_y), sheets->height);
  if (left < right && top < bottom)
    {
      tm_rulers_trim (rulers->x, rulers->first_x, &left, &right);
      tm_rulers_trim (rulers->y, rulers->first_y, &top, &bottom);
    }
  if (left >= right || top >= bottom || sheet->n_pages_x == 0)
    return;
  int n_x = right - left, n_y = bottom - top, skip_x = left - rulers->first_x, skip_y = top - rulers->first_y;

  guint first_page = sheets->table->len;
  if (!append_pages (sheets, sheet))
    { /* every layer is in use: draw what there is, then this one has them all */
      g_array_set_size (sheets->table, first_page);
      tm_gl_sheets_flush (sheets);
      first_page = 0;
      append_pages (sheets, sheet);
    }

  int bottom_row = sheets->height - bottom; /* of the pane's last pixel row, counted from below */
  int x = append_entries (sheets, rulers->x, skip_x, n_x, FALSE) - left;
  int y = append_entries (sheets, rulers->y, skip_y, n_y, TRUE) - bottom_row;
  TmColormapScale scale;
  tm_colormap_scale_init (&scale, sheet->palette, sheet->low, sheet->range);
  guint64 cells = sheet->n_elements > sheet->base ? sheet->n_elements - sheet->base : 0;
  guint64 full_rows = sheet->columns > 0 ? cells / sheet->columns : 0;
  gboolean complete = full_rows >= G_MAXINT32, diverging = sheet->palette == TM_PALETTE_DIVERGING;
  Instance instance = {
    .rect = { left, top, n_x, n_y },
    .place = { x, y, (GLint) first_page, (GLint) sheet->n_pages_x },
    .page = { (GLint) sheet->page_x, (GLint) sheet->page_y, (GLint) MIN (sheet->level, 31u),
              (diverging ? 0 : FLAG_SEQUENTIAL) | (sheet->palette == TM_PALETTE_MAGNITUDE ? FLAG_MAGNITUDE : 0)
                  | (sheet->cell_px >= 8 ? FLAG_MARKS : 0) | (sheet->palette == TM_PALETTE_KINDS ? FLAG_KINDS : 0) },
    .cells = { complete ? G_MAXINT32 : (GLint) full_rows,
               complete || sheet->columns == 0 ? 0 : (GLint) (cells % sheet->columns), 0, 0 },
    .color = { sheet->under >> 8, sheet->blank >> 8, 0, 0 },
    .scale = { scale.low, scale.inverse },
    .map = { diverging ? 127 : 255, diverging ? -127 : 0, diverging ? 127 : 255, diverging ? 128 : 0 },
    .flat = { (GLint) rulers->n_flat, n_x, n_y, 0 },
  };
  for (guint l = 0; l < rulers->n_flat; l++)
    {
      int place = append_flat (sheets, rulers->flat_x[l], skip_x, n_x, FALSE) - left;
      instance.cells[2] = l == 0 ? place : instance.cells[2];
      instance.color[2] |= (guint32) rulers->flat_line[l] << (8 * l);
      instance.color[3] |= (guint32) rulers->flat_halo[l] << (8 * l);
      instance.block[l] = rulers->flat_block[l];
    }
  for (guint l = 0; l < rulers->n_flat; l++)
    {
      int place = append_flat (sheets, rulers->flat_y[l], skip_y, n_y, TRUE) - bottom_row;
      instance.cells[3] = l == 0 ? place : instance.cells[3];
    }
  g_array_append_val (sheets->instances, instance);
}

static void
point_at (guint first)
{
  const gsize base = first * sizeof (Instance); /* offsets into the bound buffer go as pointers */
  static const struct
  {
    gsize offset;
    int n;
    GLenum type;
  } attribute[] = {
    { G_STRUCT_OFFSET (Instance, rect), 4, GL_INT },
    { G_STRUCT_OFFSET (Instance, place), 4, GL_INT },
    { G_STRUCT_OFFSET (Instance, page), 4, GL_INT },
    { G_STRUCT_OFFSET (Instance, cells), 4, GL_INT },
    { G_STRUCT_OFFSET (Instance, color), 4, GL_UNSIGNED_INT },
    { G_STRUCT_OFFSET (Instance, scale), 2, GL_FLOAT },
    { G_STRUCT_OFFSET (Instance, map), 4, GL_INT },
    { G_STRUCT_OFFSET (Instance, flat), 4, GL_INT },
    { G_STRUCT_OFFSET (Instance, block), 4, GL_INT },
  };
  for (guint i = 0; i < G_N_ELEMENTS (attribute); i++)
    {
      glEnableVertexAttribArray (i);
      if (attribute[i].type == GL_FLOAT)
        glVertexAttribPointer (i, attribute[i].n, GL_FLOAT, GL_FALSE, sizeof (Instance),
                               GSIZE_TO_POINTER (base + attribute[i].offset));
      else
        glVertexAttribIPointer (i, attribute[i].n, attribute[i].type, sizeof (Instance),
                               GSIZE_TO_POINTER (base + attribute[i].offset));
      glVertexAttribDivisor (i, 1);
    }
}

void
tm_gl_sheets_flush (TmGlSheets *sheets)
{
  guint n = sheets->instances->len;
  if (n == 0)
    return;
  const Instance *instance = (const Instance *) (gpointer) sheets->instances->data;
  tm_gl_linear_upload (&sheets->rulers, sheets->entries);
  tm_gl_linear_upload (&sheets->pages, sheets->table);
  tm_gl_linear_upload (&sheets->flat, sheets->flats);
  const GLuint texture[] = { sheets->rulers.texture, sheets->pages.texture, 0, sheets->palette, sheets->flat.texture };
  for (guint i = 0; i < G_N_ELEMENTS (texture); i++)
    {
      glActiveTexture (GL_TEXTURE0 + i);
      if (i == 2)
        glBindTexture (GL_TEXTURE_2D_ARRAY, tm_gl_tiles_get_texture (sheets->tiles));
      else
        glBindTexture (GL_TEXTURE_2D, texture[i]);
    }
  glBindVertexArray (sheets->vertex_array);
  glBindBuffer (GL_ARRAY_BUFFER, sheets->buffer);
  glBufferData (GL_ARRAY_BUFFER, (GLsizeiptr) (n * sizeof (Instance)), instance, GL_STREAM_DRAW);
  glDisable (GL_BLEND);
  for (guint first = 0, end; first < n; first = end)
    {
      GLint levels = instance[first].flat[0];
      for (end = first + 1; end < n && instance[end].flat[0] == levels; end++)
        ;
      const Program *program = &sheets->program[levels];
      glUseProgram (program->program);
      glUniform2i (program->size, sheets->width, sheets->height);
      glUniform1i (program->height, sheets->height);
      glUniform4ui (program->colors, sheets->theme.line >> 8, sheets->theme.halo >> 8, sheets->theme.nan >> 8,
                    sheets->theme.hatch >> 8);
      point_at (first);
      glDrawArraysInstanced (GL_TRIANGLE_STRIP, 0, 4, (GLsizei) (end - first));
    }
  glActiveTexture (GL_TEXTURE0);
  g_array_set_size (sheets->instances, 0);
  g_array_set_size (sheets->entries, 0);
  g_array_set_size (sheets->flats, 0);
  g_array_set_size (sheets->table, 0);
  tm_gl_tiles_begin (sheets->tiles);
}
