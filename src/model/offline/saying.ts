// Saying: "say hello", "print 'x'", and what is said when nothing was understood.
import { programName } from "../../text/program-name.ts";
import { isProse } from "./commands.ts";
import { says } from "./grammar/talk.ts";
import { looksLikePath } from "./phrases.ts";
import { literalOf, restore } from "./quotes.ts";
import type { ParsedSteps, PromptContext } from "./steps.ts";

/** Two things to try instead, by the words that were not understood. */
const EXAMPLES: readonly [about: RegExp, examples: string][] = [
  [/\b(?:run|execute|start|npm|git|node|python|make|test|build)\b/i, "run npm test · run the tests"],
  [
    /\b(?:change|replace|edit|update|fix|rename|refactor|improve|rewrite)\b/i,
    "replace 'old' with 'new' in a.txt · rename a.txt to b.txt",
  ],
  [/\b(?:create|write|make|add|save|generate|put)\b/i, "create a.txt with text 'Hello' · append 'more' to a.txt"],
  [/\b(?:delete|remove|rm|clean|clear)\b/i, "delete a.txt · remove the line 'x' from a.txt"],
  [/\b(?:find|search|where|grep|list)\b/i, "search for 'word' in src · list all files"],
];

/** At most four short lines: what, why, what works, what to type for more. */
export function refusal(options: { part: string; several: boolean }): string {
  const part = options.part.replace(/\s+/g, " ");
  const quoted = `"${part.length > 60 ? `${part.slice(0, 57)}...` : part}"`;
  const examples =
    EXAMPLES.find(([about]) => about.test(part))?.[1] ?? "read notes.md · create a.txt with text 'Hello'";
  return [
    `The built-in offline model cannot do this: it did not understand ${quoted}.`,
    ...(options.several ? ["Nothing was done, since one part of the request is unclear."] : []),
    `It can, for example: ${examples}`,
    `To connect a real model: ${programName()} login`,
  ].join("\n");
}

const NO_PLAIN_WORDS = () =>
  /^(?:the|all|a|an|my|our|your|its|every|each|out|it|that|this|them|me|what|which|where|how|why|some|file|files|todo|numbers?)\b|\.\w+$|\b(?:of|from|in|to)\b/i;
const SHOWS_OR_WRITES = () =>
  /^(?:print|print out|output|type|type out|show|show me|display|dump|tell me|give me|write|write down|tell us|return|let me know|present|put|save|store|record|place|enter|log|jot down|note down|utter|state)$/;

/** "say hello", "reply with exactly: ok", "echo X". */
export function say(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  let words = rest.trim();
  const lead =
    /^(?:(?:back|to me|me|only|just|simply|with|exactly|in|out loud|out|verbatim|precisely|nothing but|by saying|and say|say|this|using|aloud|literally|a|an|the|one|single|following|short|simple|exact|two|word|words|phrase|text|string|letters?|sentence|message|line|answer|after me)(?:\s*[:,]+\s*|\s+))*/i;
  const match = lead.exec(words)![0];
  const quoted = /[\uE000-\uF8FF]/.test(words);
  // Words that lead to the text: only the marked ones may be taken off when the text is not quoted.
  const after = words.slice(match.length);
  const isMarked =
    /\b(?:with|exactly|only|just|word|words|phrase|text|string|message|sentence|after me|back|simply|line|verbatim)\b|:/i;
  if (after !== "" && (quoted || isMarked.test(match))) words = after;
  if (words === "") return undefined;
  words = words.replace(
    /[\s,]+(?:and nothing (?:else|more)|nothing else|only|verbatim|exactly|out loud|to me|back to me|back|please|without quotes|and that's it)[\s.!]*$/i,
    "",
  );
  const literal = literalOf(scene.masked, words.replace(/[.!?,;]+$/, ""));
  if (literal) return says(literal.text);
  if (SHOWS_OR_WRITES().test(verb) && words.split(/\s+/).some(looksLikePath)) return undefined;
  // "echo the words 'x' into a.txt" is to be written, not said.
  if (/\s(?:in)?to (?:the )?(?:file )?\S+\.\w+[\s.!]*$/i.test(words)) return undefined;
  const plainly =
    /^(?:print|print out|output|type|type out)$/.test(verb) &&
    /^[\w',!?.-]+(?: [\w',!?.-]+){0,7}$/.test(words) &&
    !NO_PLAIN_WORDS().test(words);
  if (
    !plainly &&
    SHOWS_OR_WRITES().test(verb) &&
    !/\b(?:exactly|only|the words?|the text|the string|the phrase)\b/i.test(match)
  )
    return undefined;
  if (isWish(words)) return undefined;
  // "echo chambers are bad" is a sentence, not an order.
  if (verb === "echo" && isProse(words)) return undefined;
  const text = restore(scene.masked, words)
    .trim()
    .replace(/(?<=\w)\.$/, "");
  return text === "" ? undefined : says(text);
}

const WISH = () =>
  /^(?:something|anything|a |an |my |your |the (?:question|following question|problem|answer)|how|why|what|whether|if|about|to my|in (?:english|french|german|spanish|italian|one|two|three|a )|for|as if|like|me|it|that|this|question)/i;
const IN_A_LANGUAGE = () =>
  /\bin (?:french|german|spanish|italian|japanese|chinese|latin|portuguese|dutch|russian|korean|another language|\w+ languages)\b/i;

/** "say something funny", "answer my question": only a real model could. */
function isWish(words: string): boolean {
  return WISH().test(words) || IN_A_LANGUAGE().test(words);
}
