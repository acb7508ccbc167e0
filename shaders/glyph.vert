// Glyphs: an instance is one image of the atlas, copied pixel by pixel.

layout (location = 0) in ivec4 a_rect;
layout (location = 1) in ivec2 a_atlas; // upper left corner in the atlas
layout (location = 2) in uint a_color;

flat out ivec2 v_offset; // from pixel to texel
flat out uint v_color;

void main ()
{
  v_offset = a_atlas - a_rect.xy;
  v_color = a_color;
  gl_Position = place_corner (a_rect);
}
