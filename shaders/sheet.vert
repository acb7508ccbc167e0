// Sheets: an instance is one pane of a tensor. Everything the fragment shader must know of it goes over flat.

layout (location = 0) in ivec4 a_rect;
layout (location = 1) in ivec4 a_place; // ruler entry of column 0, of row 0 (rows from below); first page, pages a row
layout (location = 2) in ivec4 a_page;  // wanted tile of the first page: column, row; level; flags: 1 sequential map,
                                        // 2 of the magnitude, 4 marks of infinities, 8 kinds
layout (location = 3) in ivec4 a_cells; // last row that has cells, and how many; flat entries of column 0, of row 0
layout (location = 4) in uvec4 a_color; // 0x00RRGGBB under, blank; line and halo strengths of four flat levels, a byte each
layout (location = 5) in vec2 a_scale;  // low, 1 / (range − low)
layout (location = 6) in ivec4 a_map;   // entries of the map's whole range; lowest, highest, added
#if FLAT_LEVELS > 0
layout (location = 7) in ivec4 a_flat;  // levels; entries a level: columns, rows
layout (location = 8) in ivec4 a_block; // elements a block, by level
#endif

flat out ivec4 v_place, v_page, v_cells;
flat out ivec2 v_corner;
flat out uvec4 v_color;
flat out vec2 v_scale;
flat out ivec4 v_map;
#if FLAT_LEVELS > 0
flat out ivec4 v_flat, v_block;
#endif

void main ()
{
  v_place = a_place;
  v_page = a_page;
  v_cells = a_cells;
  v_color = a_color;
  v_scale = a_scale;
  v_map = a_map;
  v_corner = a_rect.xy;
#if FLAT_LEVELS > 0
  v_flat = a_flat;
  v_block = a_block;
#endif
  gl_Position = place_corner (a_rect);
}
