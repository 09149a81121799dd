// Sums in figures and in words.
import { expect, test } from "vitest";
import { readSum, sayings } from "../../src/model/offline/arithmetic.ts";

const say = (words: string): string | undefined => {
  const sum = readSum(words);
  return sum && sayings(sum);
};

test.each([
  ["what is 2+2?", "2 + 2 = 4"],
  ["calculate 12 * (3 + 4)", "12 * (3 + 4) = 84"],
  ["how much is 10 divided by 4", "10 / 4 = 2.5"],
  ["add 5 and 6", "5 + 6 = 11"],
  ["what's 2 to the power of 8", "2 ^ 8 = 256"],
  ["15% of 80", "15% of 80 = 12"],
  ["2 + 3 * 4 - 1", "2 + 3 * 4 - 1 = 13"],
  ["2 ^ 3 ^ 2", "2 ^ 3 ^ 2 = 512"],
  ["-2 ^ 2", "-2 ^ 2 = -4"],
  ["(-2) ^ 2", "(-2) ^ 2 = 4"],
  ["3 - -2", "3 - -2 = 5"],
  ["0.1 + 0.2", "0.1 + 0.2 = 0.3"],
  [".5 * 4", "0.5 * 4 = 2"],
  ["1,000 + 1", "1,000 + 1 = 1001"],
  ["1/3 + 1/3 + 1/3", "1 / 3 + 1 / 3 + 1 / 3 = 1"],
  ["10 / 3", "10 / 3 ≈ 3.3333333333"],
  ["2 / 3", "2 / 3 ≈ 0.6666666667"],
  ["10 % 3", "10 % 3 = 1"],
  ["-7 % 3", "-7 % 3 = -1"],
  ["2 ^ -2", "2 ^ -2 = 0.25"],
  ["2**100", "2 ^ 100 = 1267650600228229401496703205376"],
  ["1e3 + 1", "1e3 + 1 = 1001"],
  ["factorial of 5", "5! = 120"],
  ["sqrt(16) + 1", "sqrt(16) + 1 = 5"],
  ["twenty-one times two", "21 * 2 = 42"],
  ["two hundred and five minus five", "205 - 5 = 200"],
  ["subtract 3 from 10", "10 - 3 = 7"],
  ["What is the sum of 5, 6 and 7?", "5 + 6 + 7 = 18"],
  ["the average of 1, 2 and 6", "(1 + 2 + 6) / 3 = 3"],
  ["8 / 0", "8 / 0 cannot be calculated: division by zero."],
  ["8 % 0", "8 % 0 cannot be calculated: division by zero."],
  ["9 ^ 9 ^ 9", "9 ^ 9 ^ 9 cannot be calculated: the number is too large."],
  ["sqrt(-1)", "sqrt(-1) cannot be calculated: the square root of a negative number is not real."],
])("%s", (words, answer) => {
  expect(say(words)).toBe(answer);
});

test.each([
  "",
  "5",
  "-5",
  "what is 5?",
  "2 +",
  "(2 + 3",
  "2 + 3)",
  "* 3",
  "2 apples + 3",
  "process.exit(1)",
  "2 + alert(1)",
  "1..2 + 3",
  "list 2 files",
])("%j is not a sum", (words) => {
  expect(readSum(words)).toBeUndefined();
});

test("agrees with the arithmetic of the machine where that is exact", () => {
  let seed = 7;
  const below = (limit: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % limit;
  };
  for (let round = 0; round < 500; round += 1) {
    const [a, b, c] = [below(2_000) - 1_000, below(2_000) - 1_000, below(50) + 1];
    expect(readSum(`(${a} + ${b}) * ${c} - ${a} * ${b}`)?.digits).toBe(String((a + b) * c - a * b));
  }
});
