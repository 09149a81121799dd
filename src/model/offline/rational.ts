// Rational: numbers that stay exact as long as they can be, so that 0.1 + 0.2 is 0.3.

/** `rounded`: a root that does not come out even went into it. */
export type Rational = { over: bigint; under: bigint; rounded: boolean };

/** What arithmetic cannot answer; the message is said to the user. */
export class ArithmeticError extends Error {}

const MOST_BITS = 4_000;

export function parseNumber(digits: string): Rational {
  const [mantissa, exponent = "0"] = digits.replaceAll(",", "").toLowerCase().split("e");
  const [whole, fraction = ""] = mantissa!.split(".");
  const shift = Number(exponent) - fraction.length;
  if (Math.abs(shift) > 300) throw new ArithmeticError("the number is too large");
  const over = BigInt((whole || "0") + fraction);
  return shift >= 0 ? ratio(over * 10n ** BigInt(shift), 1n) : ratio(over, 10n ** BigInt(-shift));
}

export function add(left: Rational, right: Rational): Rational {
  const over = left.over * right.under + right.over * left.under;
  return ratio(over, left.under * right.under, left.rounded || right.rounded);
}

export function negate(value: Rational): Rational {
  return { ...value, over: -value.over };
}

export function multiply(left: Rational, right: Rational): Rational {
  return ratio(left.over * right.over, left.under * right.under, left.rounded || right.rounded);
}

export function divide(left: Rational, right: Rational): Rational {
  if (right.over === 0n) throw new ArithmeticError("division by zero");
  return multiply(left, ratio(right.under, right.over, right.rounded));
}

/** The remainder has the sign of the dividend, as in most programming languages. */
export function remainder(left: Rational, right: Rational): Rational {
  if (right.over === 0n) throw new ArithmeticError("division by zero");
  const over = (left.over * right.under) % (right.over * left.under);
  return ratio(over, left.under * right.under, left.rounded || right.rounded);
}

export function power(base: Rational, exponent: Rational): Rational {
  if (base.rounded || exponent.under !== 1n) {
    if (base.over < 0n) throw new ArithmeticError("a root of a negative number is not real");
    return nearest(numberOf(base) ** numberOf(exponent));
  }
  if (exponent.over < 0n) return divide(ratio(1n, 1n), power(base, negate(exponent)));
  const bits = Math.max(...[base.over, base.under].map((part) => part.toString(2).replace("-", "").length));
  // Powers of 0 and 1 never grow.
  if (bits > 1 && exponent.over > BigInt(Math.floor(MOST_BITS / bits)))
    throw new ArithmeticError("the number is too large");
  return ratio(base.over ** exponent.over, base.under ** exponent.over);
}

export function squareRoot(value: Rational): Rational {
  if (value.over < 0n) throw new ArithmeticError("the square root of a negative number is not real");
  const [over, under] = [wholeRoot(value.over), wholeRoot(value.under)];
  return over !== undefined && under !== undefined ? ratio(over, under) : nearest(Math.sqrt(numberOf(value)));
}

export function factorial(value: Rational): Rational {
  if (value.under !== 1n || value.over < 0n)
    throw new ArithmeticError("a factorial needs a whole number that is not negative");
  if (value.over > 400n) throw new ArithmeticError("the number is too large");
  let product = 1n;
  for (let factor = 2n; factor <= value.over; factor += 1n) product *= factor;
  return ratio(product, 1n);
}

/** `rounded`: the digits are not the whole truth. */
export function format(value: Rational): { digits: string; rounded: boolean } {
  if (value.rounded) return { digits: String(Number(finite(numberOf(value)).toPrecision(12))), rounded: true };
  const { under } = value;
  const over = value.over < 0n ? -value.over : value.over;
  const places = Math.max(10, 20 - (over / under).toString().length);
  const rounded = (over * 10n ** BigInt(places)) % under !== 0n;
  // Ten places of an endless fraction say enough; a fraction that ends is shown whole where it fits.
  const kept = rounded ? 10 : places;
  const digits = ((over * 10n ** BigInt(kept) * 2n + under) / (under * 2n)).toString().padStart(kept + 1, "0");
  const shown = `${digits.slice(0, -kept)}.${digits.slice(-kept)}`.replace(/\.?0+$/, "");
  return { digits: value.over < 0n ? `-${shown}` : shown, rounded };
}

function ratio(over: bigint, under: bigint, rounded = false): Rational {
  let [divisor, rest] = [over, under];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  // Of the sign of `under`, which is never left negative.
  if (divisor < 0n !== under < 0n) divisor = -divisor;
  return { over: over / divisor, under: under / divisor, rounded };
}

function wholeRoot(square: bigint): bigint | undefined {
  const root = Math.round(Math.sqrt(Number(square)));
  return Number.isFinite(root) && BigInt(root) ** 2n === square ? BigInt(root) : undefined;
}

function nearest(number: number): Rational {
  return { ...parseNumber(String(finite(number))), rounded: true };
}

function finite(number: number): number {
  if (Number.isFinite(number)) return number;
  throw new ArithmeticError("the number is too large");
}

function numberOf({ over, under }: Rational): number {
  return Number(over) / Number(under);
}
