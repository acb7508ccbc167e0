/* Colours: maps symmetric about zero, no boundary's colour in any of them, and every text readable on what it stands on. */
#include <math.h>

#include "view/colormap.h"

static TmTheme themes[2];

static double
lightness_distance (TmColor a, TmColor b)
{
  return fabs (tm_color_luminance (a) - tm_color_luminance (b));
}

static void
test_diverging (void)
{
  for (int dark = 0; dark < 2; dark++)
    {
      const TmTheme *theme = &themes[dark];
      /* Zero is what a card looks like, nearly. */
      g_assert_cmpfloat (tm_color_contrast (theme->diverging[128], theme->card), <, 1.1);
      for (int i = 1; i < 128; i++)
        {
          TmColor blue = theme->diverging[128 - i], orange = theme->diverging[128 + i];
          g_assert_cmpfloat (lightness_distance (blue, orange), <, 0.12);
          if (i > 12)
            {
              g_assert_cmpuint (TM_COLOR_BLUE (blue), >, TM_COLOR_RED (blue));
              g_assert_cmpuint (TM_COLOR_RED (orange), >, TM_COLOR_BLUE (orange));
            }
          if (i > 1) /* away from zero is away from the ground, without a step back that one could see */
            g_assert_cmpfloat (tm_color_contrast (blue, theme->diverging[128]), >=,
                               tm_color_contrast (theme->diverging[129 - i], theme->diverging[128]) - 0.02);
        }
    }
}

static void
test_sequential (void)
{
  for (int dark = 0; dark < 2; dark++)
    for (int i = 1; i < 256; i++)
      {
        double before = tm_color_luminance (themes[dark].sequential[i - 1]),
               after = tm_color_luminance (themes[dark].sequential[i]);
        if (dark)
          g_assert_cmpfloat (after, >=, before - 0.004);
        else
          g_assert_cmpfloat (after, <=, before + 0.004);
      }
}

/* --- Sight ---------------------------------------------------------------------------------------------------------- */

/* Machado, Oliveira, Fernandes 2009: linear RGB as seen without one kind of cone. The first is normal sight. */
static const double sight[4][3][3] = {
  { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
  { { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 }, { -0.003882, -0.048116, 1.051998 } },
  { { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 }, { -0.011820, 0.042940, 0.968881 } },
  { { 1.255528, -0.076749, -0.178779 }, { -0.078411, 0.930809, 0.147602 }, { 0.004733, 0.691367, 0.303900 } },
};

static void
to_oklab (TmColor color, const double eye[3][3], double lab[3])
{
  double linear[3], seen[3], cone[3];

  for (guint i = 0; i < 3; i++)
    {
      double c = (double) (color >> (24 - 8 * i) & 255) / 255;

      linear[i] = c <= 0.04045 ? c / 12.92 : pow ((c + 0.055) / 1.055, 2.4);
    }
  for (guint i = 0; i < 3; i++)
    seen[i] = CLAMP (eye[i][0] * linear[0] + eye[i][1] * linear[1] + eye[i][2] * linear[2], 0, 1);
  cone[0] = cbrt (0.4122214708 * seen[0] + 0.5363325363 * seen[1] + 0.0514459929 * seen[2]);
  cone[1] = cbrt (0.2119034982 * seen[0] + 0.6806995451 * seen[1] + 0.1073969566 * seen[2]);
  cone[2] = cbrt (0.0883024619 * seen[0] + 0.2817188376 * seen[1] + 0.6299787005 * seen[2]);
  lab[0] = 0.2104542553 * cone[0] + 0.7936177850 * cone[1] - 0.0040720468 * cone[2];
  lab[1] = 1.9779984951 * cone[0] - 2.4285922050 * cone[1] + 0.4505937099 * cone[2];
  lab[2] = 0.0259040371 * cone[0] + 0.7827717662 * cone[1] - 0.8086757660 * cone[2];
}

/* Any two are apart for every kind of sight; 0.02 is about what one can just tell. */
static void
check_apart (const TmColor *colors, guint n, double least)
{
  for (guint eye = 0; eye < G_N_ELEMENTS (sight); eye++)
    for (guint i = 0; i < n; i++)
      for (guint j = 0; j < i; j++)
        {
          double a[3], b[3], distance;

          to_oklab (colors[i], sight[eye], a);
          to_oklab (colors[j], sight[eye], b);
          distance = sqrt ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
          if (distance < least)
            g_error ("sight %u: colours %u and %u are %.3f apart", eye, i, j, distance);
        }
}

static void
test_kinds (void)
{
  for (int dark = 0; dark < 2; dark++)
    {
      const TmTheme *theme = &themes[dark];

      check_apart (theme->kind, TM_N_KINDS, 0.15);
      check_apart (theme->support, TM_N_SUPPORTS, 0.11);
      for (guint kind = 1; kind < TM_N_KINDS; kind++)
        {
          double before = 0;

          g_assert_cmphex (tm_theme_kind_color (theme, kind, 1), ==, theme->kind[kind]);
          g_assert_cmphex (tm_theme_kind_color (theme, kind, 0), ==, theme->kind[0]);
          for (guint share = 1; share < TM_KIND_SHARES; share++)
            {
              TmColor color = theme->kinds[kind * TM_KIND_SHARES + share];
              double a[3], b[3], distance;

              to_oklab (color, sight[0], a);
              to_oklab (theme->kind[0], sight[0], b);
              distance = sqrt ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
              g_assert_cmpfloat (distance, >, before); /* stronger with every step */
              before = distance;
              if (share == 1)
                g_assert_cmpfloat (distance, >, 0.02); /* the least is seen */
              g_assert_cmpfloat (MAX (tm_color_contrast (theme->line, color), tm_color_contrast (theme->halo, color)), >=, 3);
            }
        }
      for (guint i = 0; i < TM_N_SUPPORTS; i++)
        g_assert_cmpfloat (MAX (tm_color_contrast (theme->line, theme->support[i]), tm_color_contrast (theme->halo, theme->support[i])),
                           >=, 3);
    }
}

static void
test_lines_stand_out (void)
{
  for (int dark = 0; dark < 2; dark++)
    {
      const TmTheme *theme = &themes[dark];
      g_assert_cmpfloat (tm_color_contrast (theme->line, theme->halo), >, 15);
      for (int i = 0; i < 256; i++)
        {
          /* The line's own colour is no value's; on every value the line or its halo has 3 : 1. */
          g_assert_cmpfloat (tm_color_contrast (theme->line, theme->diverging[i]), >, 1.4);
          g_assert_cmpfloat (tm_color_contrast (theme->line, theme->sequential[i]), >, 1.2);
          g_assert_cmpfloat (MAX (tm_color_contrast (theme->line, theme->diverging[i]),
                                  tm_color_contrast (theme->halo, theme->diverging[i])),
                             >=, 3);
          g_assert_cmpfloat (MAX (tm_color_contrast (theme->line, theme->sequential[i]),
                                  tm_color_contrast (theme->halo, theme->sequential[i])),
                             >=, 3);
        }
    }
}

static void
check_text (const TmTheme *theme, TmColor ground)
{
  g_assert_cmpfloat (
      MAX (tm_color_contrast (theme->cell_text, ground), tm_color_contrast (theme->cell_text_inverse, ground)), >=,
      4.5);
}

static void
test_text_contrast (void)
{
  for (int dark = 0; dark < 2; dark++)
    {
      const TmTheme *theme = &themes[dark];
      g_assert_cmpfloat (tm_color_contrast (theme->text, theme->card), >=, 4.5);
      g_assert_cmpfloat (tm_color_contrast (theme->text_dim, theme->card), >=, 4.5);
      g_assert_cmpfloat (tm_color_contrast (theme->text_dim, theme->background), >=, 4.5);
      for (int i = 0; i < TM_N_FAMILIES; i++)
        {
          g_assert_cmpfloat (tm_color_contrast (theme->family_text[i], theme->card), >=, 4.5);
          g_assert_cmpfloat (
              tm_color_contrast (tm_color_readable (theme->text, theme->family_fill[i], 4.5), theme->family_fill[i]),
              >=, 4.5);
          check_text (theme, theme->family_fill[i]);
          check_text (theme, theme->family[i]);
        }
      for (int i = 0; i < 256; i++)
        {
          check_text (theme, theme->diverging[i]);
          check_text (theme, theme->sequential[i]);
        }
      check_text (theme, theme->nan);
    }
}

static void
test_accent (void)
{
  TmTheme theme;
  tm_theme_init (&theme, FALSE, 0);
  g_assert_cmphex (theme.accent, ==, 0x3584e4ff);
  tm_theme_init (&theme, TRUE, 0xe62d42ff);
  g_assert_cmphex (theme.accent, ==, 0xe62d42ff);
  g_assert_true (theme.dark);
}

static int
index_of (TmPalette palette, float low, float range, float value)
{
  TmColormapScale scale;
  tm_colormap_scale_init (&scale, palette, low, range);
  return tm_colormap_index (&scale, value);
}

static void
test_index (void)
{
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, 0.0f), ==, 128);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, -0.0f), ==, 128);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, 2.0f), ==, 255);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, -2.0f), ==, 1);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, 1e38f), ==, 255);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, -INFINITY), ==, 1);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, INFINITY), ==, 255);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 2, NAN), ==, TM_COLORMAP_NAN);
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 0, 5.0f), ==, 128); /* nothing but zero was seen */
  g_assert_cmpint (index_of (TM_PALETTE_DIVERGING, 0, 1e-45f, 1.0f), ==, 128);
  g_assert_cmpint (index_of (TM_PALETTE_SEQUENTIAL, 0, 15, 0), ==, 0);
  g_assert_cmpint (index_of (TM_PALETTE_SEQUENTIAL, 0, 15, 15), ==, 255);
  g_assert_cmpint (index_of (TM_PALETTE_SEQUENTIAL, -128, 127, -128), ==, 0);
  g_assert_cmpint (index_of (TM_PALETTE_SEQUENTIAL, -128, 127, -INFINITY), ==, 0);
  g_assert_cmpint (index_of (TM_PALETTE_MAGNITUDE, 0, 2, -2.0f), ==, 255);
  g_assert_cmpint (index_of (TM_PALETTE_MAGNITUDE, 0, 2, -INFINITY), ==, 255);
  for (float v = 0; v < 2; v += 0.0137f) /* both sides alike */
    {
      int above = index_of (TM_PALETTE_DIVERGING, 0, 1.7f, v) - 128,
          below = 128 - index_of (TM_PALETTE_DIVERGING, 0, 1.7f, -v);
      g_assert_cmpint (ABS (above - below), <=, 1); /* a tie may fall to either entry */
    }
}

static void
test_mix (void)
{
  g_assert_cmphex (tm_color_mix (0x10203040, 0xffffffff, 0), ==, 0x102030ff);
  g_assert_cmphex (tm_color_mix (0x10203040, 0xaabbccff, 255), ==, 0xaabbccff);
  g_assert_cmphex (tm_color_mix (0x000000ff, 0xffffffff, 128), ==, 0x808080ff);
  g_assert_cmpfloat_with_epsilon (tm_color_contrast (0x000000ff, 0xffffffff), 21, 1e-9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  tm_theme_init (&themes[0], FALSE, 0);
  tm_theme_init (&themes[1], TRUE, 0);
  g_test_add_func ("/theme/kinds", test_kinds);
  g_test_add_func ("/theme/diverging", test_diverging);
  g_test_add_func ("/theme/sequential", test_sequential);
  g_test_add_func ("/theme/lines-stand-out", test_lines_stand_out);
  g_test_add_func ("/theme/text-contrast", test_text_contrast);
  g_test_add_func ("/theme/accent", test_accent);
  g_test_add_func ("/theme/index", test_index);
  g_test_add_func ("/theme/mix", test_mix);
  return g_test_run ();
}
