// A rounded rectangle by its signed distance. The CPU painter does the same arithmetic (raster.c).

#define HATCHED 0xffffffffu

uniform int u_height;

flat in ivec4 v_rect;
flat in uvec4 v_style;

out vec4 o_color;

float cover (float d)
{
  return floor (clamp (0.5 - d, 0.0, 1.0) * 255.0 + 0.5);
}

void main ()
{
  ivec2 p = ivec2 (int (gl_FragCoord.x), u_height - 1 - int (gl_FragCoord.y)) - v_rect.xy;
  if (v_style.w == HATCHED)
    {
      o_color = premultiply (is_stripe (p) ? v_style.y : v_style.x, 255.0);
      return;
    }
  ivec2 depth = min (p, v_rect.zw - 1 - p); // whole pixels to the nearest edge
  if (min (depth.x, depth.y) >= int (max (v_style.z, v_style.w)))
    {
      o_color = premultiply (v_style.x, 255.0);
      return;
    }
  float radius = float (v_style.z);
  vec2 middle = vec2 (v_rect.zw) * 0.5;
  vec2 q = abs (vec2 (p) + 0.5 - middle) - (middle - radius);
  vec2 o = max (q, 0.0);
  float d = min (max (q.x, q.y), 0.0) + sqrt (o.x * o.x + o.y * o.y) - radius;
  float outer = cover (d);
  float inner = v_style.w > 0u ? cover (d + float (v_style.w)) : outer;
  o_color = premultiply (v_style.x, inner) + premultiply (v_style.y, outer - inner);
}
