/* What chance gives, and what the codes next to zero tell of the zeros there were before quantization. */
#include "analysis/sparsity.h"

#include <math.h>

/* Densities even about zero with one peak give two predictions of how many elements round to zero: a smooth peak, and a cusp.
 * Real weights lie between, nearly; by what is missed (of all elements), and from where on the lower end is more than a shape
 * could feign. By bits of a code: Laplace weights in groups of 32 to 4096. */
static const struct { double missed, feigned; } shape[] = {
  [3] = { 0.04, 0.10 }, [4] = { 0.007, 0.02 }, [5] = { 0.003, 0.01 }, [6] = { 0.001, 0.003 }, [7] = { 0.0005, 0.001 },
  [8] = { 0.0005, 0.0005 },
};

#define FEIGNED_OF_ZEROS (1.0 / 6) /* of the zeros: trained weights may have a sharper peak than any of these shapes */
#define FEWEST_BITS 3
#define FEWEST_CODES 5
#define WIDEST 0.10 /* of all elements */

double
tm_sparsity_get_chance (guint n, guint m, double p)
{
  double share = 0, ways = 1;

  for (guint zeros = 0; zeros <= m; zeros++)
    {
      if (zeros + n >= m)
        share += ways * pow (p, zeros) * pow (1 - p, m - zeros);
      ways = ways * (m - zeros) / (zeros + 1);
    }
  return share;
}

/* More than the scatter of counts: the weights are not centred, or zero is at the end of the codes. */
static gboolean
is_lopsided (guint64 a, guint64 b)
{
  double most = (double) MAX (a, b), least = (double) MIN (a, b);

  return most > 1.5 * least + 5 * sqrt (most + 1);
}

static gboolean
predict (double n1, double n2, double *smooth, double *cusp)
{
  double root = n1 > 0 ? sqrt (MIN (n2 / n1, 1)) : 1;

  *smooth = (4 * n1 - n2) / 3;
  *cusp = n1 > 0 ? 2 * n1 / (root * (1 + root)) : 0;
  return isfinite (*cusp);
}

void
tm_sparsity_estimate (guint64 of, guint64 zero, const guint64 above[2], const guint64 below[2], guint code_bits,
                      guint codes_used, TmSparsityEstimate *estimate)
{
  double n = (double) of, n0 = (double) zero / n;
  const guint64 *other = below != NULL ? below : above;
  double n1 = (double) (above[0] + other[0]) / 2 / n, n2 = (double) (above[1] + other[1]) / 2 / n;
  double smooth, cusp, low, high, sigma = sqrt ((n0 * (1 - n0) + 8.0 / 9 * n1) / n);
  guint bits = MIN (code_bits, 8);

  *estimate = (TmSparsityEstimate){ .verdict = TM_ESTIMATE_UNTOLD, .in_zero_code = zero, .of = of };
  if (of == 0)
    estimate->why = "no element has a scale";
  else if (code_bits < FEWEST_BITS)
    estimate->why = "codes of two bits or fewer say too little";
  else if (codes_used < FEWEST_CODES)
    estimate->why = "fewer than five codes are in use";
  else if (is_lopsided (above[0], other[0]))
    estimate->why = "weights are not centred on zero";
  else if (!predict (n1, n2, &smooth, &cusp))
    estimate->why = "codes farther from zero are not in use";
  if (estimate->why != NULL)
    return;

  if (below == NULL)
    {
      /* Weights of one sign fill half of zero's cell; a group with some of the other sign, more. */
      smooth = MIN (smooth, cusp) / 2;
      cusp = MAX (2 * smooth, cusp);
    }
  low = MIN (n0 - cusp, n0 - smooth);
  /* Fewer next to zero than farther off is a hole: small weights were pruned, and those that rounding made are among them. */
  high = n2 > n1 + 3 * sqrt (n1 / n + 1 / (n * n)) ? n0 : MAX (n0 - cusp, n0 - smooth);
  if (low - 4 * sigma > 0 && low > MAX (shape[bits].feigned, FEIGNED_OF_ZEROS * n0))
    estimate->verdict = TM_ESTIMATE_PRUNED;
  low = CLAMP (low - 3 * sigma - shape[bits].missed, 0, n0);
  high = CLAMP (high + 3 * sigma, 0, n0);
  if (estimate->verdict != TM_ESTIMATE_PRUNED)
    low = 0;
  if (high - low > WIDEST)
    {
      estimate->verdict = TM_ESTIMATE_UNTOLD;
      estimate->why = "it would be between limits too far apart";
      return;
    }
  if (estimate->verdict != TM_ESTIMATE_PRUNED)
    estimate->verdict = TM_ESTIMATE_ROUNDING;
  estimate->pruned_low = low * n;
  estimate->pruned_high = high * n;
}
