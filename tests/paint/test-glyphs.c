/* Text into quads of the atlas: widths, alignment, ellipsis in the middle, hostile names, a full atlas. */
#include <string.h>

#include "ui/paint/painter.h"

static int
right_edge (const TmGlyphQuad *quads, guint n)
{
  int right = G_MININT;
  for (guint i = 0; i < n; i++)
    right = MAX (right, quads[i].x + quads[i].width);
  return right;
}

static int
left_edge (const TmGlyphQuad *quads, guint n)
{
  int left = G_MAXINT;
  for (guint i = 0; i < n; i++)
    left = MIN (left, quads[i].x);
  return left;
}

static void
test_measure (void)
{
  TmGlyphs *glyphs = tm_glyphs_new ();
  for (int font = 0; font < TM_N_FONTS; font++)
    {
      g_assert_cmpint (tm_glyphs_measure ((TmFont) font, 12, "", glyphs), ==, 0);
      int one = tm_glyphs_measure ((TmFont) font, 12, "0", glyphs),
          ten = tm_glyphs_measure ((TmFont) font, 12, "0000000000", glyphs);
      g_assert_cmpint (one, >, 4);
      g_assert_cmpint (ten, ==, one * 10);
      g_assert_cmpint (tm_glyphs_measure ((TmFont) font, 24, "0", glyphs), >, one);
    }
  g_assert_cmpint (tm_glyphs_measure (TM_FONT_MONO, 12, "iiii", glyphs), ==,
                   tm_glyphs_measure (TM_FONT_MONO, 12, "WWWW", glyphs));
  tm_glyphs_free (glyphs);
}

static void
test_alignment (void)
{
  TmGlyphs *glyphs = tm_glyphs_new ();
  for (int font = 0; font < TM_N_FONTS; font++)
    {
      TmPrimText text = { .font = (TmFont) font, .px = 14, .align = TM_ALIGN_LEFT, .text = "weight 12" };
      int width = tm_glyphs_measure (text.font, text.px, text.text, glyphs);
      guint n;
      const TmGlyphQuad *quads = tm_glyphs_layout (glyphs, &text, &n);
      g_assert_cmpuint (n, ==, 8); /* the space has no ink */
      int left = left_edge (quads, n), right = right_edge (quads, n);
      g_assert_cmpint (left, >=, -2);
      g_assert_cmpint (right, <=, width + 2);
      text.align = TM_ALIGN_RIGHT;
      quads = tm_glyphs_layout (glyphs, &text, &n);
      g_assert_cmpint (left_edge (quads, n), ==, left - width);
      text.align = TM_ALIGN_CENTRE;
      quads = tm_glyphs_layout (glyphs, &text, &n);
      g_assert_cmpint (left_edge (quads, n), ==, left - width / 2);
    }
  tm_glyphs_free (glyphs);
}

static void
test_ellipsis (void)
{
  TmGlyphs *glyphs = tm_glyphs_new ();
  const char *name = "model.layers.17.self_attn.rotary_embedding.inverse_frequencies.weight";
  for (int font = 0; font < TM_N_FONTS; font++)
    for (int room = 40; room < 300; room += 52)
      {
        TmPrimText text = { .font = (TmFont) font, .px = 12, .max_width = room, .text = name };
        guint n, all;
        const TmGlyphQuad *quads = tm_glyphs_layout (glyphs, &text, &n);
        g_assert_cmpint (right_edge (quads, n), <=, room + 2);
        g_assert_cmpuint (n, >, 2);
        g_assert_cmpint (quads[0].x, <, 4); /* it begins with its beginning */
        text.max_width = 0;
        tm_glyphs_layout (glyphs, &text, &all);
        g_assert_cmpuint (n, <, all);
      }
  tm_glyphs_free (glyphs);
}

static void
test_hostile (void)
{
  TmGlyphs *glyphs = tm_glyphs_new ();
  g_autofree char *long_name = g_strnfill (1 << 20, 'x');
  const char *const names[] = { "",
                                " ",
                                "\xff\xfe broken \xc3",
                                "line\nbreak\ttab",
                                "\xe2\x80\xae override",
                                "👩‍👩‍👧‍👧 重み ǎ̴̡̨",
                                long_name,
                                "<b>&amp;</b>" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (int font = 0; font < TM_N_FONTS; font++)
      {
        TmPrimText text = { .font = (TmFont) font, .px = 11, .max_width = i % 2 == 0 ? 90 : 0, .text = names[i] };
        guint n;
        tm_glyphs_layout (glyphs, &text, &n);
        g_assert_cmpuint (n, <=, 2048);
      }
  tm_glyphs_free (glyphs);
}

/* More glyphs than the atlas holds: frames go on, and a frame that fits again is drawn whole. */
static void
test_full_atlas (void)
{
  TmGlyphs *glyphs = tm_glyphs_new ();
  guint n, serial, before;
  int width, height;
  for (guint px = 8; px < 120; px++)
    {
      TmPrimText text = { .font = TM_FONT_SANS_BOLD,
                          .px = px,
                          .text = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" };
      tm_glyphs_begin (glyphs);
      const TmGlyphQuad *quads = tm_glyphs_layout (glyphs, &text, &n);
      tm_glyphs_get_atlas (glyphs, &width, &height, &serial);
      for (guint i = 0; i < n; i++)
        {
          g_assert_cmpint (quads[i].atlas_x + quads[i].width, <=, width);
          g_assert_cmpint (quads[i].atlas_y + quads[i].height, <=, height);
        }
    }
  g_assert_cmpint (height, <=, 2048);
  tm_glyphs_begin (glyphs);
  tm_glyphs_begin (glyphs);
  TmPrimText text = { .font = TM_FONT_MONO, .px = 10, .text = "0.01293" };
  tm_glyphs_layout (glyphs, &text, &n);
  g_assert_cmpuint (n, ==, 7);
  tm_glyphs_get_atlas (glyphs, &width, &height, &before);
  tm_glyphs_layout (glyphs, &text, &n);
  tm_glyphs_get_atlas (glyphs, &width, &height, &serial);
  g_assert_cmpuint (serial, ==, before); /* nothing new, nothing to upload */
  tm_glyphs_free (glyphs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/glyphs/measure", test_measure);
  g_test_add_func ("/glyphs/alignment", test_alignment);
  g_test_add_func ("/glyphs/ellipsis", test_ellipsis);
  g_test_add_func ("/glyphs/hostile", test_hostile);
  g_test_add_func ("/glyphs/full-atlas", test_full_atlas);
  return g_test_run ();
}
