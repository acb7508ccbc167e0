// Rectangles with border and round corners, and hatched ones: an instance each.

layout (location = 0) in ivec4 a_rect;
layout (location = 1) in uvec4 a_style; // fill, stroke, radius, border

flat out ivec4 v_rect;
flat out uvec4 v_style;

void main ()
{
  v_rect = a_rect;
  v_style = a_style;
  gl_Position = place_corner (a_rect);
}
