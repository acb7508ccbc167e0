// A pane of values with its quantization boundaries. Rulers say which element is under a pixel and how strong line and halo
// are there; this shader does no arithmetic on coordinates, so distance from the origin cannot hurt it.
//
//   FLAT_LEVELS  blocks run on across row ends: one more pair of rulers a level
//   MASKS        writes strengths of line and halo and "outside" instead of a colour (tests)

#define OUTSIDE (1 << 16)
#define NEAR (1 << 17)
#define NO_TILE 0xffffu
#define FAILED_TILE 0xfffeu
#define DIVERGING 0
#define MAGNITUDE 2

uniform int u_height;
uniform isampler2D u_rulers;     // RGBA32I, entries one after the other in rows of 2048
uniform usampler2D u_pages;      // R32UI, likewise: layer + levels above · 2^16
uniform sampler2DArray u_tiles;  // R32F, 256 × 256 a layer
uniform usampler2D u_palette;    // RGBA8UI: row 0 diverging, row 1 sequential
uniform uvec4 u_colors;          // line, halo, NaN, hatch

flat in ivec4 v_place, v_page, v_cells;
flat in ivec2 v_corner;
flat in uvec4 v_color;
flat in vec2 v_scale;
#ifdef FLAT_LEVELS
flat in ivec4 v_flat, v_block;
#endif

out vec4 o_color;

ivec4 get_ruler (int i)
{
  return texelFetch (u_rulers, ivec2 (i & 2047, i >> 11), 0);
}

// (c · (255 − k) + with · k + 127) div 255 for whole numbers below 65536
uvec3 blend (uvec3 c, uvec3 with, uint k)
{
  return ((c * (255u - k) + with * k + 127u) * 32897u) >> 23;
}

bool is_middle (int fraction)
{
  return fraction >= 5033165 && fraction <= 11744051;
}

int get_index (float v, int palette)
{
  uint magnitude = floatBitsToUint (v) & 0x7fffffffu;
  bool negative = (floatBitsToUint (v) >> 31) != 0u;
  if (magnitude == 0x7f800000u)
    return !negative || palette == MAGNITUDE ? 255 : palette == DIVERGING ? 1 : 0;
  if (v_scale.y == 0.0)
    return palette == DIVERGING ? 128 : 0;
  if (magnitude < 0x00800000u)
    v = 0.0;
  if (palette == DIVERGING)
    return 128 + int (clamp (floor (v * v_scale.y * 127.0 + 0.5), -127.0, 127.0));
  if (palette == MAGNITUDE)
    v = abs (v);
  return int (clamp (floor ((v - v_scale.x) * v_scale.y * 255.0 + 0.5), 0.0, 255.0));
}

uvec3 get_value (ivec4 column, ivec4 row, ivec2 place)
{
  if (row.x >= v_cells.x && (row.x > v_cells.x || column.x >= v_cells.y))
    return unpack_rgb (v_color.x);
  ivec2 t = ivec2 (column.x, row.x) >> v_page.z;
  ivec2 page = (t >> 8) - v_page.xy;
  int i = v_place.z + page.y * v_place.w + page.x;
  uint entry = texelFetch (u_pages, ivec2 (i & 2047, i >> 11), 0).r;
  uint layer = entry & 0xffffu;
  if (layer == NO_TILE)
    return unpack_rgb (v_color.y);
  if (layer == FAILED_TILE)
    return unpack_rgb (is_stripe (place) ? u_colors.w : v_color.x);
  float v = texelFetch (u_tiles, ivec3 ((t >> int (entry >> 16)) & 255, int (layer)), 0).r;
  uint magnitude = floatBitsToUint (v) & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return unpack_rgb (u_colors.z);
  if (magnitude == 0x7f800000u && v_page.w >= 4 && is_middle (column.z) && is_middle (row.z))
    return unpack_rgb (u_colors.x);
  int palette = v_page.w & 3;
  return texelFetch (u_palette, ivec2 (get_index (v, palette), palette == DIVERGING ? 0 : 1), 0).rgb;
}

#ifdef FLAT_LEVELS
void add_flat (int level, ivec2 p, inout int line, inout int halo)
{
  ivec4 x = get_ruler (v_cells.z + level * v_flat.y + p.x);
  ivec4 y = get_ruler (v_cells.w + level * v_flat.z + p.y);
  int block = v_block[level];
  ivec2 m = x.xz + y.xz;
  m.x -= m.x >= block ? block : 0;
  m.y -= m.y >= block ? block : 0;
  ivec2 last = m + x.yw + y.yw;
  if (last.x >= block)
    line = max (line, int (v_color.z >> (8 * level) & 255u));
  if (last.y >= block)
    halo = max (halo, int (v_color.w >> (8 * level) & 255u));
}
#endif

void main ()
{
  ivec2 p = ivec2 (gl_FragCoord.xy);
  ivec4 column = get_ruler (v_place.x + p.x), row = get_ruler (v_place.y + p.y);
  bool outside_x = (column.y & OUTSIDE) != 0, outside_y = (row.y & OUTSIDE) != 0;
  if ((column.y & (OUTSIDE | NEAR)) == OUTSIDE || (row.y & (OUTSIDE | NEAR)) == OUTSIDE)
    {
#ifdef MASKS
      o_color = vec4 (0.0, 0.0, 1.0, 1.0);
      return;
#else
      discard;
#endif
    }

  ivec2 of_column = ivec2 (column.y, column.y >> 8) & 255, of_row = ivec2 (row.y, row.y >> 8) & 255;
  ivec2 ink = max (of_column, of_row); // line, halo
  if (outside_x && outside_y)
    ink = min (of_column, of_row); // or a corner would get a stray dot
  else if (outside_x)
    ink = of_column;
  else if (outside_y)
    ink = of_row;
#ifdef FLAT_LEVELS
  if (!outside_x && !outside_y)
    for (int level = 0; level < v_flat.x; level++)
      add_flat (level, p, ink.x, ink.y);
#endif

#ifdef MASKS
  o_color = vec4 (vec2 (ink) * (1.0 / 255.0), outside_x || outside_y ? 1.0 : 0.0, 1.0);
#else
  uvec3 c;
  if (outside_x || outside_y)
    c = unpack_rgb (v_color.x);
  else
    c = get_value (column, row, ivec2 (p.x, u_height - 1 - p.y) - v_corner);
  if (ink.x > 0 || ink.y > 0)
    {
      c = blend (c, unpack_rgb (u_colors.y), uint (ink.y * 3) >> 2);
      c = blend (c, unpack_rgb (u_colors.x), uint (ink.x));
    }
  o_color = vec4 (vec3 (c) * (1.0 / 255.0), 1.0);
#endif
}
