// Ways to write a word so that bash reads it as the same word. Each returns text that stands for exactly one word.
import type { Random } from "../../protocol/random.ts";

/** A text that must stand before the command, and the word itself. */
export type Spelled = { before: string; word: string };

type Spelling = (word: string, random: Random) => Spelled;

export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Only what a plain word may hold. */
const isPlain = (word: string) => /^[\w./-]+$/.test(word);

const plain: Spelling = (word) => ({ before: "", word: isPlain(word) ? word : singleQuoted(word) });

const spell = (make: (word: string, random: Random) => string): Spelling => {
  return (word, random) => ({ before: "", word: make(word, random) });
};

/** The spellings that hide nothing from a reader who removes quotes. */
const quotings: readonly Spelling[] = [
  plain,
  spell(singleQuoted),
  spell((word) => `"${word}"`),
  spell((word, { below }) => {
    const at = below(word.length + 1);
    return `${word.slice(0, at)}''${word.slice(at)}`;
  }),
  spell((word, { below }) => {
    const at = below(word.length);
    return `${word.slice(0, at)}"${word[at]}"${word.slice(at + 1)}`;
  }),
  spell((word, { below }) => {
    const at = below(word.length);
    return `${word.slice(0, at)}\\${word.slice(at)}`;
  }),
  spell((word, { below }) => {
    const at = 1 + below(Math.max(1, word.length - 1));
    return `${word.slice(0, at)}\\\n${word.slice(at)}`;
  }),
  spell((word) => `$'${escapedBy(word, (code) => `\\x${code.toString(16).padStart(2, "0")}`)}'`),
  spell((word) => `$'${escapedBy(word, (code) => `\\${code.toString(8).padStart(3, "0")}`)}'`),
  spell((word) => `$'${escapedBy(word, (code) => `\\u${code.toString(16).padStart(4, "0")}`)}'`),
  spell((word) => `$"${word}"`),
  spell((word) => `'${word[0]}'$'${word.slice(1)}'`),
];

/** The spellings that only the shell can read. */
const expansions: readonly Spelling[] = [
  (word, { pick }) => ({ before: `V=${singleQuoted(word)}; `, word: pick(["$V", '"$V"', "${V}", '"${V}"']) }),
  (word) => ({ before: `V=${singleQuoted(`x${word}`)}; `, word: "${V#x}" }),
  (word) => ({ before: `V=${singleQuoted(`${word}x`)}; `, word: "${V%x}" }),
  (word) => ({ before: `V=${singleQuoted(`--${word}`)}; `, word: "${V:2}" }),
  (word) => ({
    before: `V=${singleQuoted(word.toUpperCase())}; `,
    word: word === word.toLowerCase() ? "${V,,}" : word,
  }),
  (word) => ({ before: `V=${singleQuoted(word)} W=V; `, word: "${!W}" }),
  (word) => ({ before: `V=(${singleQuoted(word)}); `, word: "${V[0]}" }),
  (word) => ({ before: `printf -v V %s ${singleQuoted(word)}; `, word: "$V" }),
  (word) => ({ before: `read -r V <<< ${singleQuoted(word)}; `, word: "$V" }),
  (word) => ({ before: `set -- ${singleQuoted(word)}; `, word: '"$1"' }),
  (word) => ({ before: `echo ${singleQuoted(word)} > /dev/null; `, word: "$_" }),
  (word) => ({ before: `declare V=${singleQuoted(word)}; `, word: "$V" }),
  spell((word) => `\${NOPE:-${word}}`),
  spell((word) => `\${NOPE-${word}}`),
  spell((word) => `\${NOPE:=${word}}`),
  spell((word) => `\${HOME:+${word}}`),
  spell((word) => `$(echo ${word})`),
  spell((word) => `"$(printf %s ${word})"`),
  spell((word) => `\`echo ${word}\``),
  spell((word) => `$(echo ${[...word].reverse().join("")} | rev)`),
  spell((word) => `$(echo ${Buffer.from(word).toString("base64")} | base64 -d)`),
  spell((word) => `$(tr a-z b-za <<< ${[...word].map(before).join("")})`),
  spell((word) => `$(cat <<< ${word})`),
  spell((word) => `$(<<<${word} cat)`),
];

/** The letter that `tr a-z b-za` turns into this one. */
function before(letter: string): string {
  if (!/[a-z]/.test(letter)) return letter;
  return letter === "a" ? "z" : String.fromCharCode(letter.charCodeAt(0) - 1);
}

function escapedBy(word: string, spellCode: (code: number) => string): string {
  return [...word].map((letter) => spellCode(letter.charCodeAt(0))).join("");
}

/** Mostly quotes; now and then an expansion. */
export function spelled(word: string, random: Random): Spelled {
  if (random.below(3) > 0) return random.pick(quotings)(word, random);
  return random.pick(expansions)(word, random);
}

/** One spelling that needs nothing before it. */
export function quoted(word: string, random: Random): string {
  return random.pick(quotings)(word, random).word;
}
