// Put in front of every other shader, after the dialect's prefix. Colours are 0xRRGGBBAA, straight alpha.

uvec3 unpack_rgb (uint color)
{
  return uvec3 (color >> 24, color >> 16 & 255u, color >> 8 & 255u);
}

// A colour at coverage 0 … 255 (a whole number), premultiplied and already rounded to what an 8-bit channel holds: the same
// operations in the same order as tm_raster_premultiply().
vec4 premultiply (uint color, float coverage)
{
  vec3 rgb = vec3 (unpack_rgb (color));
  float k = float (color & 255u) * coverage;
  return vec4 (floor (rgb * k * (1.0 / 65025.0) + 0.5), floor (255.0 * k * (1.0 / 65025.0) + 0.5)) * (1.0 / 255.0);
}

// Stripes of a hatch, by the pixel's place relative to the hatch's upper left corner.
bool is_stripe (ivec2 place)
{
  return ((place.x + place.y) & 7) < 2;
}
