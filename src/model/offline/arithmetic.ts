// Arithmetic: a sum in figures or in words -> the sum written out, and its value. An own small parser; nothing is evaluated as code.

import type { Rational } from "./rational.ts";
import * as rational from "./rational.ts";

/** `shown`: "10 / 4". `digits` is absent when there is no answer, `problem` then says why. */
export type Sum = { shown: string; digits?: string; rounded?: boolean; problem?: string };

const SIGNS = () =>
  /[-+*/^%×÷√²³!(−]|\dx|\d x|plus|minus|times|divi|multipl|subtract|add|sum|total|product|differ|quotient|ratio|average|mean|remainder|root|sqrt|square|cube|power|raise|half|third|quarter|fourth|double|twice|triple|factorial|mod|percent|per cent|pct|over|less|more|how much|take|deduct|increas|decreas/i;

/** Undefined when the words are not a sum: a bare number is none either. */
export function readSum(words: string): Sum | undefined {
  if (
    words.length > 1_000 ||
    !/\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|twenty|zero/i.test(words)
  ) {
    return undefined;
  }
  // A sum has a sign, or one of the words that stand for it.
  if (!SIGNS().test(words)) return undefined;
  const figures =
    /^\s*(\d{1,3}!)\s*\??\s*$/.exec(words)?.[1] ??
    /^\s*(?:what(?:'s| is)\s+)?([\d\s.+\-*/^()]+?)\s*=?\s*\??\s*$/i.exec(words)?.[1];
  const tokens = tokensOf(figures?.trim().replaceAll("**", "^") ?? inFigures(words));
  if (!tokens?.some((token) => token.type !== "number" && token.type !== "(" && token.type !== ")")) return undefined;
  // "-5" alone is a number as well.
  if (tokens.length === 2 && tokens[0]!.type === "-") return undefined;
  const shown = show(tokens);
  try {
    return { shown, ...rational.format(evaluate(tokens)) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (error instanceof rational.ArithmeticError) return { shown, problem: error.message };
    throw error;
  }
}

export function sayings(sum: Sum): string {
  if (sum.digits === undefined) return `${sum.shown} cannot be calculated: ${sum.problem}.`;
  return `${sum.shown} ${sum.rounded ? "≈" : "="} ${sum.digits}`;
}

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen";
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety";

/** "twenty-one" -> "21", "two hundred and five" -> "205"; other words stay. */
export function numbersInFigures(text: string): string {
  if (!/[a-z]{3}/i.test(text)) return text;
  const small = SMALL.split(" ");
  const tens = TENS.split(" ");
  const unit = `(?:${small.join("|")}|(?:${tens.join("|")})(?:[- ](?:${small.slice(1, 10).join("|")}))?)`;
  const under = (words: string): number => {
    const [first = "", second] = words.split(/[- ]/);
    const index = small.indexOf(first);
    return index >= 0 ? index : (tens.indexOf(first) + 2) * 10 + (second ? small.indexOf(second) : 0);
  };
  return text.replace(
    new RegExp(`\\b(?:(${unit}|a|\\d+) (hundred|thousand|million)(?: (?:and )?(${unit}))?|(${unit}))\\b`, "gi"),
    (...match) => {
      const [, count, scale, rest, alone] = match as (string | undefined)[];
      if (alone !== undefined) return String(under(alone.toLowerCase()));
      const times = /^\d+$/.test(count!)
        ? Number(count)
        : count!.toLowerCase() === "a"
          ? 1
          : under(count!.toLowerCase());
      const size = { hundred: 100, thousand: 1_000, million: 1_000_000 }[scale!.toLowerCase()] ?? 1;
      return String(times * size + (rest ? under(rest.toLowerCase()) : 0));
    },
  );
}

/** English to the usual signs. What is left over in letters makes `tokensOf` give up. */
function inFigures(words: string): string {
  let text = numbersInFigures(words.toLowerCase().replace(/[’]/g, "'"))
    .replace(/[×·∗✕]/g, "*")
    .replace(/÷/g, "/")
    .replace(/[−–—]/g, "-")
    .replace(/\$(?=\d)/g, "")
    .replace(
      /\bto the (second|third|fourth|fifth) power/,
      (_, word) => `to the power of ${"second third fourth fifth".split(" ").indexOf(word) + 2}`,
    )
    .replace(/\btake ([\d.]+)(?: away)? from /, "subtract $1 from ");
  text = withoutFrame(text.replace(/^(how much (?:do|does|are|is) [\d.]+) and (?=[\d.]+)/, "$1 + "));
  text = orders(text);
  text = operators(text);
  return text.trim();
}

/** Takes off "what is … equal to?". */
function withoutFrame(text: string): string {
  const lead =
    /^(?:(?:so|and|hey|ok|okay|please|now|then|just|exactly|quickly|also|finally),?\s+|(?:what|how much|how many)(?:'s|s|\s+is|\s+are|\s+does|\s+(?:do|would|will) (?:you|i|we) get (?:if|when) (?:you|i|we)|\s+do|\s+would|\s+will)?\s+|(?:do you know|can you|could you|would you|i want to know|i need|let me know|if you|if i|when you|what you get if you)\s+|(?:calculate|calc|equals|quick (?:math|maths|question|calculation|one)|math (?:question|problem)|maths|compute|evaluate|solve|determine|work out|figure out|find out|find|tell me|give me|show me|get|do|say|print|answer|know|take|be|return|the math|do the math|math|sum up|start with)\b[:,]?\s*|(?:the )?(?:result|value|answer|outcome|solution|equation|expression|calculation|problem|following|math problem|math)(?:\s+(?:of|to|for|is|when))?[:,]?\s+|(?:the|of|for|me|for me|for:|this|with):?\s+(?=\S))/;
  const tail =
    /\s*(?:[?!.:]|=|\?|,?\s*(?:equal(?:s)?(?: to)?|is|are|make(?:s)?|come(?:s)? to|come out to|give(?:s)?(?: you| me| us)?|please|for me|in total|altogether|together|exactly|now|thanks|thank you|what|get|be|evaluate to|add up to|work out to))\s*$/;
  let before: string;
  let rest = text.trim();
  do {
    before = rest;
    rest = rest.replace(lead, "").replace(tail, "").trim();
  } while (rest !== before);
  return rest;
}

/** Verbs and nouns that stand before their numbers: "subtract 3 from 10", "the sum of 5, 6 and 7". */
function orders(text: string): string {
  const side = (part: string): string => {
    const inner = operators(orders(part.trim()));
    return /^-?[\d.,]+%?$/.test(inner) || /^[a-z]*\([^()]*\)$/.test(inner) ? inner : `(${inner})`;
  };
  const list = (part: string): string[] =>
    part.split(/,?\s+(?:and|to|with|by|plus|&)\s+|,\s+(?=[-(\d])|,(?=\d+(?:,|$))/).map(side);
  const patterns: [RegExp, (first: string, second: string) => string][] = [
    [/^(.+) less than (.+)$/, (first, second) => `${side(second)} - ${side(first)}`],
    [/^(.+) more than (.+)$/, (first, second) => `${side(second)} + ${side(first)}`],
    [/^subtract (.+) from (.+)$/, (first, second) => `${side(second)} - ${side(first)}`],
    [/^(?:take|deduct|remove) (.+?)(?: away)? from (.+)$/, (first, second) => `${side(second)} - ${side(first)}`],
    [/^divide (.+) (?:by|through) (.+)$/, (first, second) => `${side(first)} / ${side(second)}`],
    [/^divide (.+) into (.+)$/, (first, second) => `${side(second)} / ${side(first)}`],
    [/^multiply (.+) (?:by|with|and|times) (.+)$/, (first, second) => `${side(first)} * ${side(second)}`],
    [/^raise (.+) to (?:the power of )?(.+)$/, (first, second) => `${side(first)} ^ ${side(second)}`],
    [/^(?:add(?: up| together)?|sum of|total of|sum|addition of) (.+)()$/, (first) => list(first).join(" + ")],
    [/^(.+) added(?: together| up)?()$/, (first) => list(first).join(" + ")],
    [/^(.+) multiplied(?: together)?()$/, (first) => list(first).join(" * ")],
    [/^product of (.+)()$/, (first) => list(first).join(" * ")],
    [/^multiply (.+)()$/, (first) => list(first).join(" * ")],
    [/^(?:difference (?:between|of)) (.+)()$/, (first) => list(first).join(" - ")],
    [/^(?:quotient of|ratio of) (.+)()$/, (first) => list(first).join(" / ")],
    [/^(?:average|mean) of (.+)()$/, (first) => `(${list(first).join(" + ")}) / ${list(first).length}`],
    [
      /^remainder (?:of|when|if)(?: you divide| dividing)? (.+?) (?:is divided by|divided by|by|over|and) (.+)$/,
      (first, second) => `${side(first)} % ${side(second)}`,
    ],
    [/^(?:square root of|sqrt of|root of|sqrt) ([^(].*)()$/, (first) => `sqrt(${operators(orders(first))})`],
    [/^(?:square of|square) (.+)()$/, (first) => `${side(first)} ^ 2`],
    [/^(?:cube of|cube) (.+)()$/, (first) => `${side(first)} ^ 3`],
    [/^factorial of (.+)()$/, (first) => `${side(first)}!`],
    [/^(?:a |one )?half of (.+)()$/, (first) => `${side(first)} / 2`],
    [/^(?:a |1 )?(?:third) of (.+)()$/, (first) => `${side(first)} / 3`],
    [/^(?:a |1 )?(?:quarter|fourth) of (.+)()$/, (first) => `${side(first)} / 4`],
    [/^(?:double|twice) (.+)()$/, (first) => `2 * ${side(first)}`],
    [/^(?:triple) (.+)()$/, (first) => `3 * ${side(first)}`],
  ];
  const bare = text.replace(/^the /, "");
  for (const [pattern, write] of patterns) {
    const match = pattern.exec(bare);
    if (match) return write(match[1]!, match[2] ?? "");
  }
  return text;
}

function operators(text: string): string {
  return text
    .replace(/\b(?:to the power of|to the power|raised to the power of|raised to|to the)\b(?=\s*-?\d)/g, "^")
    .replace(/\^\s*(\d+)(?:st|nd|rd|th)?(?:\s+power)?\b/g, "^ $1")
    .replace(/\*\*/g, "^")
    .replace(/²/g, " ^ 2")
    .replace(/³/g, " ^ 3")
    .replace(/\bsquared\b/g, "^ 2")
    .replace(/\bcubed\b/g, "^ 3")
    .replace(/\bfactorial\b/g, "!")
    .replace(/\b(?:square root of|sqrt of|root of)\s+([\d.]+)/g, "sqrt($1)")
    .replace(/√\s*([\d.]+)/g, "sqrt($1)")
    .replace(/√\s*(?=\()/g, "sqrt")
    .replace(/\b(?:plus|added to|increased by|added with)\b/g, "+")
    .replace(/\b(?:minus|less|take away|subtracted by|decreased by|take)\b/g, "-")
    .replace(/\b(?:times|multiplied by|multiplied with)\b/g, "*")
    .replace(/(?<=[\d)]\s*)x(?=\s*[\d(.-])/g, "*")
    .replace(/\b(?:divided by|over|divided through)\b/g, "/")
    .replace(/\b(?:modulo|modulus|mod)\b/g, " mod ")
    .replace(/(?<=\d)\s*(?:percent|per cent|pct)\b/g, "%")
    .replace(/\bnegative\s+(?=\d)/g, "-")
    .replace(/\bpoint\s+(?=\d)/g, ".")
    .replace(/(\d)\s+\.(?=\d)/g, "$1.")
    .trim();
}

type Token = {
  type: "number" | "+" | "-" | "*" | "/" | "^" | "%" | "mod" | "percent" | "of" | "!" | "sqrt" | "(" | ")";
  text: string;
};

function tokensOf(text: string): Token[] | undefined {
  const pattern =
    /\s*(?:(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)|(mod|of|sqrt)\b|([-+*/^%!()]))\s*/y;
  const tokens: Token[] = [];
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (!match || tokens.length > 400) return undefined;
    const [, number, word, sign] = match;
    const last = tokens.at(-1);
    if (number !== undefined) tokens.push({ type: "number", text: number });
    else if (word !== undefined) tokens.push({ type: word as Token["type"], text: word });
    else if (sign === "(" && (last?.type === "number" || last?.type === ")")) {
      tokens.push({ type: "*", text: "*" }, { type: "(", text: "(" });
    } else tokens.push({ type: sign as Token["type"], text: sign! });
  }
  // "15 % of 80" and "200 + 10%" are percentages; "10 % 3" is a remainder.
  return tokens.map((token, index) => {
    if (token.type !== "%") return token;
    const next = tokens[index + 1];
    return next?.type === "number" || next?.type === "(" || next?.type === "sqrt"
      ? token
      : { type: "percent", text: "%" };
  });
}

function show(tokens: Token[]): string {
  let text = "";
  tokens.forEach((token, index) => {
    const before = tokens[index - 1]?.type;
    const unary =
      (token.type === "-" || token.type === "+") && (before === undefined || isOperator(before) || before === "(");
    if (unary) text += token.type === "-" ? "-" : "";
    else if (isOperator(token.type)) text += ` ${token.text} `;
    else text += token.text;
  });
  return text.replace(/(^|[^\d])\./g, "$10.");
}

function isOperator(type: Token["type"]): boolean {
  return ["+", "-", "*", "/", "^", "%", "mod", "of"].includes(type);
}

/** The usual precedence; `^` binds from the right and closer than a minus before it. Throws a SyntaxError where it is no sum. */
function evaluate(tokens: Token[]): Rational {
  let at = 0;
  const take = (...types: Token["type"][]): Token | undefined =>
    at < tokens.length && types.includes(tokens[at]!.type) ? tokens[at++] : undefined;

  function sum(): Rational {
    let value = product();
    for (let sign = take("+", "-"); sign; sign = take("+", "-")) {
      const right = product();
      value = rational.add(value, sign.type === "+" ? right : rational.negate(right));
    }
    return value;
  }
  function product(): Rational {
    let value = signed();
    for (let sign = take("*", "/", "%", "mod", "of"); sign; sign = take("*", "/", "%", "mod", "of")) {
      const right = signed();
      if (sign.type === "/") value = rational.divide(value, right);
      else if (sign.type === "*" || sign.type === "of") value = rational.multiply(value, right);
      else value = rational.remainder(value, right);
    }
    return value;
  }
  function signed(): Rational {
    if (take("-")) return rational.negate(signed());
    if (take("+")) return signed();
    const base = single();
    return take("^") ? rational.power(base, signed()) : base;
  }
  function single(): Rational {
    const isRoot = take("sqrt") !== undefined;
    const number = isRoot ? undefined : take("number");
    let value = number ? rational.parseNumber(number.text) : bracketed();
    if (isRoot) value = rational.squareRoot(value);
    for (let mark = take("!", "percent"); mark; mark = take("!", "percent")) {
      value = mark.type === "!" ? rational.factorial(value) : rational.divide(value, rational.parseNumber("100"));
    }
    return value;
  }
  function bracketed(): Rational {
    const value = take("(") && sum();
    if (!value || !take(")")) throw new SyntaxError("a number or a bracket is missing");
    return value;
  }

  const value = sum();
  if (at < tokens.length) throw new SyntaxError("something is left");
  return value;
}
