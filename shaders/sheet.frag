// A pane of values with its quantization boundaries. Rulers say which element is under a pixel and how strong line and halo
// are there; this shader does no arithmetic on coordinates, so distance from the origin cannot hurt it. The rectangle is cut
// to the pixels that belong to the pane, its outline and the outline's halo: nothing needs to be discarded.
//
//   FLAT_LEVELS  0 … 4: levels whose blocks run on across row ends; one more pair of rulers each
//   MASKS        writes strengths of line and halo and "outside" instead of a colour (tests)
//
// Colours are 0x00RRGGBB in one number. Everything is written for machines that run both sides of a branch.

#define OUTSIDE (1 << 16)
#define MIDDLE (1 << 18) // of the cell: where an infinity has its mark
#define NO_TILE 0xffffu
#define FAILED_TILE 0xfffeu
#define MISSING 0x7fffffffu      // TM_TEXEL_MISSING_BITS

uniform int u_height;
uniform isampler2D u_rulers;     // RG32I, entries one after the other in rows of 2048: element, strengths and flags
uniform isampler2D u_flat;       // RGBA32I, likewise
uniform usampler2D u_pages;      // R32UI, likewise: layer + levels above · 2^16
uniform sampler2DArray u_tiles;  // R32F, 256 × 256 a layer
uniform usampler2D u_palette;    // R32UI: row 0 diverging, row 1 sequential, row 2 kinds
uniform uvec4 u_colors;          // line, halo, NaN, hatch

flat in ivec4 v_place, v_page, v_cells;
flat in ivec2 v_corner;
flat in uvec4 v_color;
flat in vec2 v_scale;
flat in ivec4 v_map;
#if FLAT_LEVELS > 0
flat in ivec4 v_flat, v_block;
#endif

out vec4 o_color;

ivec2 get_ruler (int i)
{
  return texelFetch (u_rulers, ivec2 (i & 2047, i >> 11), 0).xy;
}

// (c · (255 − k) + with · k + 127) div 255 in each channel. Red and blue go together: a channel's sum is at most
// 65152 and stays within 16 bits, where x div 255 = (x + 1 + (x >> 8)) >> 8.
uint blend (uint c, uint with, uint k)
{
  uint rb = (c & 0xff00ffu) * (255u - k) + (with & 0xff00ffu) * k + 0x7f007fu;
  uint g = (c >> 8 & 255u) * (255u - k) + (with >> 8 & 255u) * k + 127u;
  rb = (rb + 0x10001u + (rb >> 8 & 0xff00ffu)) >> 8 & 0xff00ffu;
  g = (g + 1u + (g >> 8)) >> 8;
  return rb | g << 8;
}

uint get_value (ivec2 column, ivec2 row, ivec2 place)
{
  ivec2 t = ivec2 (column.x, row.x) >> v_page.z;
  ivec2 page = (t >> 8) - v_page.xy;
  int i = v_place.z + page.y * v_place.w + page.x;
  uint entry = texelFetch (u_pages, ivec2 (i & 2047, i >> 11), 0).r;
  uint layer = entry & 0xffffu;
  bool present = layer < FAILED_TILE;
  float v = texelFetch (u_tiles, ivec3 ((t >> int (entry >> 16)) & 255, present ? int (layer) : 0), 0).r;

  // tm_colormap_index() does the same in the same order.
  uint bits = floatBitsToUint (v), magnitude = bits & 0x7fffffffu;
  bool infinite = magnitude == 0x7f800000u;
  v = magnitude < 0x00800000u ? 0.0 : (v_page.w & 2) != 0 ? abs (v) : v;
  int index = int (clamp (floor ((v - v_scale.x) * v_scale.y * float (v_map.x) + 0.5), float (v_map.y), float (v_map.z)));
  index = infinite ? ((bits >> 31) != 0u && (v_page.w & 2) == 0 ? v_map.y : v_map.z) : index;
  uint c = texelFetch (u_palette, ivec2 ((index + v_map.w) & 255, (v_page.w & 8) != 0 ? 2 : v_page.w & 1), 0).r;

  c = infinite && (v_page.w & 4) != 0 && (column.y & row.y & MIDDLE) != 0 ? u_colors.x : c;
  c = magnitude > 0x7f800000u ? u_colors.z : c;
  uint hatch = is_stripe (place) ? u_colors.w : v_color.x;
  c = bits == MISSING ? hatch : c;
  c = present ? c : layer == NO_TILE ? v_color.y : hatch;
  return row.x >= v_cells.x && (row.x > v_cells.x || column.x >= v_cells.y) ? v_color.x : c;
}

#if FLAT_LEVELS > 0
ivec4 get_flat_entry (int i)
{
  return texelFetch (u_flat, ivec2 (i & 2047, i >> 11), 0);
}

ivec2 get_flat (int level, ivec2 p, int line, int halo)
{
  ivec4 x = get_flat_entry (v_cells.z + level * v_flat.y + p.x);
  ivec4 y = get_flat_entry (v_cells.w + level * v_flat.z + p.y);
  int block = v_block[level];
  ivec2 m = x.xz + y.xz;
  m -= ivec2 (m.x >= block ? block : 0, m.y >= block ? block : 0);
  ivec2 last = m + x.yw + y.yw;
  return ivec2 (last.x >= block ? line : 0, last.y >= block ? halo : 0);
}
#endif

void main ()
{
  ivec2 p = ivec2 (gl_FragCoord.xy);
  ivec2 column = get_ruler (v_place.x + p.x), row = get_ruler (v_place.y + p.y);
  bool outside_x = (column.y & OUTSIDE) != 0, outside_y = (row.y & OUTSIDE) != 0;
  ivec2 of_column = ivec2 (column.y, column.y >> 8) & 255, of_row = ivec2 (row.y, row.y >> 8) & 255;
  ivec2 ink = max (of_column, of_row); // line, halo
#if FLAT_LEVELS > 0
  ink = max (ink, get_flat (0, p, int (v_color.z & 255u), int (v_color.w & 255u)));
#endif
#if FLAT_LEVELS > 1
  ink = max (ink, get_flat (1, p, int (v_color.z >> 8 & 255u), int (v_color.w >> 8 & 255u)));
#endif
#if FLAT_LEVELS > 2
  ink = max (ink, get_flat (2, p, int (v_color.z >> 16 & 255u), int (v_color.w >> 16 & 255u)));
#endif
#if FLAT_LEVELS > 3
  ink = max (ink, get_flat (3, p, int (v_color.z >> 24), int (v_color.w >> 24)));
#endif
  // Outside on one axis: that axis alone. On both: the smaller, or a corner would get a stray dot.
  ink = outside_x ? outside_y ? min (of_column, of_row) : of_column : outside_y ? of_row : ink;

#ifdef MASKS
  o_color = vec4 (vec2 (ink) * (1.0 / 255.0), outside_x || outside_y ? 1.0 : 0.0, 1.0);
#else
  uint c = get_value (column, row, ivec2 (p.x, u_height - 1 - p.y) - v_corner);
  c = outside_x || outside_y ? v_color.x : c;
  c = blend (c, u_colors.y, uint (ink.y * 3) >> 2);
  c = blend (c, u_colors.x, uint (ink.x));
  o_color = vec4 (vec3 (uvec3 (c >> 16, c >> 8, c) & 255u) * (1.0 / 255.0), 1.0);
#endif
}
