// Parses and evaluates arithmetic in figures or with operators as words: "2 + 2 = 4". Evaluates nothing as code.

const WORDS: readonly [RegExp, string][] = [
  [/\bplus\b/gi, "+"],
  [/\bminus\b|[−–]/gi, "-"],
  [/\btimes\b|\bmultiplied by\b|(?<=[\d)]\s*)x(?=\s*[\d(])|[×·]/gi, "*"],
  [/\bdivided by\b|\bover\b|÷/gi, "/"],
  [/\*\*/g, "^"],
];

/** Returns undefined if the text is not a sum; a number alone is not. */
export function readSum(words: string): string | undefined {
  const figures = WORDS.reduce((text, [word, sign]) => text.replace(word, sign), words).replace(/\s*=?\s*$/, "");
  if (figures.length > 500 || !/^[-+*/^%().\d\s]+$/.test(figures)) return undefined;
  const tokens = figures.match(/\d+(?:\.\d+)?|\.\d+|[-+*/^%()]/g) ?? [];
  if (!/[\d)]\s*[-+*/^%]/.test(figures) || tokens.join("") !== figures.replace(/\s/g, "")) return undefined;
  const value = evaluate(tokens);
  if (value === undefined) return undefined;
  const sumText = shownSum(tokens);
  if (!Number.isFinite(value)) return `${sumText} cannot be calculated.`;
  const rounded = Number(value.toPrecision(12));
  const isExact = String(rounded).replace(/\D/g, "").length < 12 || (Number.isSafeInteger(value) && rounded === value);
  return `${sumText} ${isExact ? "=" : "≈"} ${rounded}`;
}

/** Writes spaces around binary operators, none after a sign. */
function shownSum(tokens: readonly string[]): string {
  const isBetween = (index: number): boolean =>
    /[-+*/^%]/.test(tokens[index]!) && /[\d)]$/.test(tokens[index - 1] ?? "");
  return tokens.map((token, index) => (isBetween(index) ? ` ${token} ` : token)).join("");
}

/**
 * Usual precedence; `^` is right-associative, and binds tighter than a
 * minus before it. Returns undefined if a number or bracket is missing.
 */
function evaluate(tokens: readonly string[]): number | undefined {
  let at = 0;
  const take = (signs: string): string | undefined =>
    at < tokens.length && signs.includes(tokens[at]!) ? tokens[at++] : undefined;
  const sum = (): number => {
    let value = product();
    for (let sign = take("+-"); sign; sign = take("+-")) value += (sign === "+" ? 1 : -1) * product();
    return value;
  };
  const product = (): number => {
    let value = power();
    for (let sign = take("*/%"); sign; sign = take("*/%")) {
      const right = power();
      value = sign === "*" ? value * right : sign === "/" ? value / right : value % right;
    }
    return value;
  };
  const power = (): number => {
    const sign = take("+-");
    if (sign) return (sign === "+" ? 1 : -1) * power();
    const base = single();
    return take("^") ? base ** power() : base;
  };
  const single = (): number => {
    if (!take("(")) return at < tokens.length && /\d/.test(tokens[at]!) ? Number(tokens[at++]) : Number.NaN;
    const value = sum();
    return take(")") ? value : Number.NaN;
  };
  const value = sum();
  return at < tokens.length || Number.isNaN(value) ? undefined : value;
}
