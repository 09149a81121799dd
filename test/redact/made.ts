// Tokens made on the spot: no text of this repository is a secret, or looks like one to a scanner.
import { random } from "../protocol/random.ts";

const letters = "abcdefghijklmnopqrstuvwxyz";
const alphabets = {
  hex: "0123456789abcdef",
  upper: `${letters.toUpperCase()}0123456789`,
  alphanumeric: `${letters}${letters.toUpperCase()}0123456789`,
  word: `${letters}${letters.toUpperCase()}0123456789_-`,
  base64: `${letters}${letters.toUpperCase()}0123456789+/`,
};

export type Alphabet = keyof typeof alphabets;

/** The same for the same seed. It always holds a digit and a letter. */
export function made(alphabet: Alphabet, length: number, seed = length): string {
  const { pick } = random(seed * 7919 + alphabet.length);
  const all = [...alphabets[alphabet]];
  const body = Array.from({ length: length - 2 }, () => pick(all)).join("");
  const ends = alphabet === "upper" ? ["Q", "7"] : alphabet === "hex" ? ["f", "7"] : ["q", "7"];
  return `${ends[0]}${body}${ends[1]}`;
}
