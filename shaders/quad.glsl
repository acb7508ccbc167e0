// The corner of an instance's rectangle (device pixels, y downwards) that belongs to this vertex of a strip of four.

uniform ivec2 u_size; // viewport

vec4 place_corner (ivec4 rect)
{
  ivec2 corner = rect.xy + rect.zw * ivec2 (gl_VertexID & 1, gl_VertexID >> 1);
  vec2 unit = vec2 (corner) * 2.0 / vec2 (u_size);
  return vec4 (unit.x - 1.0, 1.0 - unit.y, 0.0, 1.0);
}
