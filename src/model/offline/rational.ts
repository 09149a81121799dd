// Rational: numbers that stay exact as long as they can be, so that 0.1 + 0.2 is 0.3.

export type Rational = { exact: true; over: bigint; under: bigint } | { exact: false; number: number };

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
  if (!left.exact || !right.exact) return inexact(numberOf(left) + numberOf(right));
  return ratio(left.over * right.under + right.over * left.under, left.under * right.under);
}

export function negate(value: Rational): Rational {
  return value.exact ? { ...value, over: -value.over } : inexact(-value.number);
}

export function multiply(left: Rational, right: Rational): Rational {
  if (!left.exact || !right.exact) return inexact(numberOf(left) * numberOf(right));
  return ratio(left.over * right.over, left.under * right.under);
}

export function divide(left: Rational, right: Rational): Rational {
  if (isZero(right)) throw new ArithmeticError("division by zero");
  if (!left.exact || !right.exact) return inexact(numberOf(left) / numberOf(right));
  return ratio(left.over * right.under, left.under * right.over);
}

/** The remainder has the sign of the dividend, as in most programming languages. */
export function remainder(left: Rational, right: Rational): Rational {
  if (isZero(right)) throw new ArithmeticError("division by zero");
  if (!left.exact || !right.exact) return inexact(numberOf(left) % numberOf(right));
  return ratio((left.over * right.under) % (right.over * left.under), left.under * right.under);
}

export function power(base: Rational, exponent: Rational): Rational {
  if (!base.exact || !exponent.exact || exponent.under !== 1n) {
    if (numberOf(base) < 0) throw new ArithmeticError("a root of a negative number is not real");
    return inexact(numberOf(base) ** numberOf(exponent));
  }
  if (exponent.over < 0n) return divide(ratio(1n, 1n), power(base, negate(exponent)));
  if (isZero(base) || (base.under === 1n && (base.over === 1n || base.over === -1n))) {
    if (isZero(base)) return exponent.over === 0n ? ratio(1n, 1n) : base;
    return ratio(exponent.over % 2n === 0n ? 1n : base.over, 1n);
  }
  const bits = Math.max(base.over.toString(2).length, base.under.toString(2).length);
  if (exponent.over > BigInt(Math.floor(MOST_BITS / bits))) throw new ArithmeticError("the number is too large");
  return ratio(base.over ** exponent.over, base.under ** exponent.over);
}

export function squareRoot(value: Rational): Rational {
  const number = numberOf(value);
  if (number < 0) throw new ArithmeticError("the square root of a negative number is not real");
  const over = value.exact ? wholeRoot(value.over) : undefined;
  const under = value.exact ? wholeRoot(value.under) : undefined;
  return over !== undefined && under !== undefined ? ratio(over, under) : inexact(Math.sqrt(number));
}

export function factorial(value: Rational): Rational {
  if (!value.exact || value.under !== 1n || value.over < 0n) {
    throw new ArithmeticError("a factorial needs a whole number that is not negative");
  }
  if (value.over > 400n) throw new ArithmeticError("the number is too large");
  let product = 1n;
  for (let factor = 2n; factor <= value.over; factor += 1n) product *= factor;
  return ratio(product, 1n);
}

/** `rounded`: the digits are not the whole truth. */
export function format(value: Rational): { digits: string; rounded: boolean } {
  if (!value.exact) {
    if (!Number.isFinite(value.number)) throw new ArithmeticError("the number is too large");
    return { digits: String(Number(value.number.toPrecision(12))), rounded: true };
  }
  const negative = value.over < 0n;
  const over = negative ? -value.over : value.over;
  const whole = over / value.under;
  const places = Math.max(10, 20 - whole.toString().length);
  const scale = 10n ** BigInt(places);
  const scaled = (over % value.under) * scale;
  const rounded = scaled % value.under !== 0n;
  // Ten places of an endless fraction say enough; a fraction that ends is shown whole where it fits.
  const kept = rounded ? 10 : places;
  const unit = 10n ** BigInt(kept);
  let fraction = ((over % value.under) * unit * 2n + value.under) / (value.under * 2n);
  let shownWhole = whole;
  if (fraction === unit) {
    shownWhole += 1n;
    fraction = 0n;
  }
  const tail = fraction.toString().padStart(kept, "0").replace(/0+$/, "");
  return { digits: (negative ? "-" : "") + shownWhole.toString() + (tail ? "." + tail : ""), rounded };
}

function ratio(over: bigint, under: bigint): Rational {
  const sign = under < 0n ? -1n : 1n;
  const divisor = greatestDivisor(over < 0n ? -over : over, under * sign) || 1n;
  return { exact: true, over: (over * sign) / divisor, under: (under * sign) / divisor };
}

function greatestDivisor(first: bigint, second: bigint): bigint {
  let [left, right] = [first, second];
  while (right !== 0n) [left, right] = [right, left % right];
  return left;
}

function wholeRoot(square: bigint): bigint | undefined {
  const root = Math.round(Math.sqrt(Number(square)));
  if (!Number.isFinite(root)) return undefined;
  const near = BigInt(root);
  return near * near === square ? near : undefined;
}

function inexact(number: number): Rational {
  return { exact: false, number };
}

function isZero(value: Rational): boolean {
  return value.exact ? value.over === 0n : value.number === 0;
}

function numberOf(value: Rational): number {
  return value.exact ? Number(value.over) / Number(value.under) : value.number;
}
