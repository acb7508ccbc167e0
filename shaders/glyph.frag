uniform int u_height;
uniform sampler2D u_atlas;

flat in ivec2 v_offset;
flat in uint v_color;

out vec4 o_color;

void main ()
{
  ivec2 p = ivec2 (int (gl_FragCoord.x), u_height - 1 - int (gl_FragCoord.y));
  float coverage = floor (texelFetch (u_atlas, p + v_offset, 0).r * 255.0 + 0.5);
  o_color = premultiply (v_color, coverage);
}
