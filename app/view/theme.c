#include "view/scene.h"

#include "view/colormap-table.h"

#include <math.h>
#include <string.h>

/* interaction.md's table, in the order of TmFamily. */
static const TmColor family_light[TM_N_FAMILIES] = {
  0x77767bff, 0x5e81acff, 0x1f7a8cff, 0x26a269ff, 0x2190a4ff, 0xc06cb4ff,
  0x8250c4ff, 0xd1603dff, 0xc98a12ff, 0x8a5a2bff, 0x5248c6ff, 0x6b705cff,
};
/* Evenly spaced, bad to good. */
static const TmColor judgement[] = { 0xb0432fff, 0xd97440ff, 0xe99746ff, 0xe8c878ff, 0xc9d29aff, 0x80b8a0ff, 0x569c96ff };
static const TmColor family_dark[TM_N_FAMILIES] = {
  0x9a9996ff, 0x81a1c1ff, 0x4fb3c6ff, 0x57c98fff, 0x56b9cbff, 0xd893ceff,
  0xa97fe0ff, 0xe5886bff, 0xe5b14cff, 0xb98654ff, 0x8a82eaff, 0x9aa08aff,
};

/* By TmZeroCause: not zero, pruned, rounded, forced, revived, plain zero, in a group without a scale. Chosen so that any two
 * are apart with normal sight and with each of the three kinds of colour blindness (a test holds them to it). */
static const TmColor kind_light[TM_N_KINDS] = { 0xececeeff, 0x173c8fff, 0xe8b010ff, 0xa52807ff, 0xd13ddcff, 0x95b9bdff, 0x16201eff };
static const TmColor kind_dark[TM_N_KINDS] = { 0x2c2c2eff, 0x567bf7ff, 0xeeb13bff, 0x944616ff, 0xe40d98ff, 0x97c3d0ff, 0xf4f6f5ff };
/* Native, dequantized, fallback, unsupported, unknown. */
static const TmColor support_light[TM_N_SUPPORTS] = { 0x2b9c86ff, 0x7db4eaff, 0xe6b422ff, 0x962f14ff, 0xe1e1e5ff };
static const TmColor support_dark[TM_N_SUPPORTS] = { 0x46b89fff, 0x3b7fd0ff, 0xebc04cff, 0xb8431fff, 0x434346ff };
#define LEAST_TINT 40   /* of 255: a single element of many is still seen */
#define TINT_POWER 0.65 /* below 1: small shares are what there is most of, and are to be told apart */

static void
set_kinds (TmTheme *theme, gboolean dark)
{
  memcpy (theme->kind, dark ? kind_dark : kind_light, sizeof theme->kind);
  memcpy (theme->support, dark ? support_dark : support_light, sizeof theme->support);
  for (guint i = 0; i < G_N_ELEMENTS (theme->kinds); i++)
    {
      const guint kind = MIN (i / TM_KIND_SHARES, TM_N_KINDS - 1), share = MIN (i % TM_KIND_SHARES, TM_KIND_SHARES - 1);

      theme->kinds[i] = kind == 0 || share == 0
                            ? theme->kind[0]
                            : tm_color_mix (theme->kind[0], theme->kind[kind],
                                            LEAST_TINT + (guint) ((255 - LEAST_TINT) * pow ((double) share / (TM_KIND_SHARES - 1), TINT_POWER) + 0.5));
    }
}

void
tm_theme_init (TmTheme *theme, gboolean dark, TmColor accent)
{
  memset (theme, 0, sizeof *theme);
  theme->dark = dark;
  theme->background = dark ? 0x1c1c1cff : 0xf7f7f8ff;
  theme->card = dark ? 0x252525ff : 0xfcfcfcff;
  theme->card_border = dark ? 0x444446ff : 0xd6d6d9ff;
  theme->text = dark ? 0xf0f0f0ff : 0x2e3436ff;
  theme->text_dim = dark ? 0xa6a6a8ff : 0x6a6a6fff;
  theme->accent = accent != 0 ? accent : 0x3584e4ff;
  theme->accent_soft = tm_color_with_alpha (theme->accent, dark ? 72 : 52);
  theme->line = dark ? 0xffffffff : 0x141414ff;
  theme->halo = dark ? 0x0a0a0aff : 0xffffffff;
  theme->hatch = dark ? 0x5a5a5cff : 0xc4c4c8ff;
  /* Pure black and white: of these two one has contrast 4.5 on every colour there is. */
  theme->cell_text = 0x000000ff;
  theme->cell_text_inverse = 0xffffffff;
  theme->nan = 0xff00ffff;
  for (guint i = 0; i < TM_N_FAMILIES; i++)
    {
      theme->family[i] = dark ? family_dark[i] : family_light[i];
      theme->family_fill[i] = tm_color_mix (theme->card, family_light[i], dark ? 112 : 72);
      theme->family_text[i] = tm_color_readable (theme->family[i], theme->card, 4.6);
    }
  memcpy (theme->diverging, tm_colormap_table[dark ? TM_COLORMAP_DIVERGING_DARK : TM_COLORMAP_DIVERGING_LIGHT],
          sizeof theme->diverging);
  memcpy (theme->sequential, tm_colormap_table[dark ? TM_COLORMAP_SEQUENTIAL_DARK : TM_COLORMAP_SEQUENTIAL_LIGHT],
          sizeof theme->sequential);
  set_kinds (theme, dark);
}

TmColor
tm_theme_kind_color (const TmTheme *theme, guint kind, double share)
{
  return theme->kinds[MIN (kind, TM_N_KINDS - 1) * TM_KIND_SHARES + (guint) ceil (CLAMP (share, 0, 1) * (TM_KIND_SHARES - 1))];
}

TmColor
tm_theme_judgement_color (const TmTheme *theme, double goodness)
{
  const double at = CLAMP (goodness, 0, 1) * (G_N_ELEMENTS (judgement) - 1);
  const guint below = MIN ((guint) at, (guint) G_N_ELEMENTS (judgement) - 2);
  TmColor color = tm_color_mix (judgement[below], judgement[below + 1], (guint) ((at - below) * 255 + 0.5));

  return theme->dark ? tm_color_mix (color, theme->card, 70) : color;
}
