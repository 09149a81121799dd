// Talk: what is answered in words alone, from the conversation or from what the offline model is.
import { GREETING } from "./clauses.ts";
import { isProse } from "./commands.ts";
import { looksLikePath } from "./phrases.ts";
import { literalOf, matched, restore } from "./quotes.ts";
import type { ParsedSteps, PromptContext } from "./steps.ts";

const WHAT_IT_IS =
  "the offline model built into Courser: no language model, only a fixed grammar that carries out plain instructions";

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
    "To connect a real model: courser login",
  ].join("\n");
}

function says(text: string): ParsedSteps {
  return [{ do: "say", text }];
}

/** As it would be said: no capitals, no mark at the end. */
export function plainly(words: string): string {
  return words
    .toLowerCase()
    .replace(/[’]/g, "'")
    .replace(/[\s.,!?]+$/, "")
    .trim();
}

const SMALL_TALK: readonly [RegExp, answer: string][] = [
  [GREETING, `Hello! I am ${WHAT_IT_IS}. Say "help" to see what I can do.`],
  [
    /^(?:how are you(?: doing)?(?: today)?|how is it going|how's it going|what's up)$/,
    `I am fine, thank you. I am ${WHAT_IT_IS}.`,
  ],
  [/^(?:bye|goodbye|good bye|good night|see you(?: later)?|exit|quit)$/, "Goodbye!"],
  [
    /^(?:thanks?|thank you|thx|cheers|great|nice|ok|okay|cool|good job|well done|perfect)(?:\s+(?:a lot|so much|very much|you|job|work|all|model|for (?:that|your help)))*$/,
    "You are welcome.",
  ],
  [/^ping$/, "pong"],
  [
    /^(?:test|testing|test prompt|this is a test|just testing|are you (?:there|alive|working|awake|online|ready|ok)|do you work|does this work|is this (?:thing )?(?:on|working)|can you hear me|you there|anyone there)$/,
    `Yes, I am here. I am ${WHAT_IT_IS}.`,
  ],
];

const GO_ON =
  /^(?:continue|go on|proceed|carry on|keep going|resume|continue (?:the |our |this |with the |with our )?(?:conversation|chat|session|work|task)|resume (?:the |our |this )?(?:conversation|chat|session)|let's continue|next|go ahead)(?:\s+(?:please|where (?:we|you) left off|from (?:where we left off|there|here)))?$/;

/** Whole clauses that are small talk or ask about the model itself. */
export function talk(words: string, scene: PromptContext): ParsedSteps {
  const text = plainly(words);
  if (text.length > 120) return undefined;
  const small = SMALL_TALK.find(([pattern]) => pattern.test(text));
  if (small) return says(small[1]);
  if (isAboutAbilities(text)) return says(help(scene));
  if (isAboutIdentity(text))
    return says(
      `I am ${WHAT_IT_IS}. I run inside Courser, without a network and without an account. To use a real model, set a key such as ANTHROPIC_API_KEY or run 'courser login'.`,
    );
  if (GO_ON.test(text)) {
    const last = scene.asked.at(-1);
    return says(
      last === undefined
        ? "There is nothing to continue yet. Tell me what to do."
        : `Your last message was "${last}", and nothing of it is left to do. Tell me what to do next.`,
    );
  }
  return undefined;
}

function isAboutAbilities(text: string): boolean {
  return [
    /^(?:please )?(?:help|help me|help please|usage|commands|options|capabilities|show help|show me (?:the )?help|get help|i need help|\/help|\?)$/,
    /^(?:so )?what (?:can|could|do|are you able to|will|would|else can) (?:you|i|we|this|it)?\s*(?:do|ask|help|understand|support|offer|handle|know|tell you|say|type|use)?(?:\s+(?:for me|here|you|you to do|me with|with|right now|offline|to you|do|exactly|without a model))*$/,
    /^what (?:are|is) (?:your|the) (?:capabilit(?:y|ies)|skills?|abilities|features|functions?|tools|commands|limits|limitations|options)(?: you (?:have|support|understand))?$/,
    /^(?:which|what) (?:commands?|instructions?|things|requests|kinds? of (?:things|instructions)|prompts|tasks|sentences|tools|verbs) (?:do|can|are|could|will) (?:you|i|available|we)(?:\s+(?:understand|do|know|support|have|use|handle|follow|carry out|give|ask|available|run|access|to you))*(?:\s+(?:to|for))?$/,
    /^(?:list|show|show me|tell me|tell me about|describe|explain) (?:me )?(?:all )?(?:your|the|what) (?:capabilities|skills|abilities|features|tools|commands|functions|you can do|available tools|available commands|your tools|can you do)$/,
    /^how (?:can|could|do|will|would) you (?:help|help me|assist|assist me|work|be of help)(?: me)?$/,
    /^how (?:do|can|should) i use (?:you|this|it)$/,
  ].some((pattern) => pattern.test(text));
}

function isAboutIdentity(text: string): boolean {
  if (/\bversion\b/.test(text) && !/\b(?:you|your|model|courser|this)\b/.test(text)) return false;
  return [
    /^(?:who|what) (?:are|r) (?:you|u)(?: exactly| really)?$/,
    /^(?:who|what) am i (?:talking|speaking|chatting) (?:to|with)$/,
    /^(?:which|what) (?:ai |language |llm |kind of |type of |sort of )*(?:model|llm|ai|version|assistant|agent)(?: (?:are|is|am|do|have|does|powers?|runs?|answers?) ?(?:you|this|i|it|we|that|running|using|me|answering|here)?)?(?:\s+(?:use|using|running|talking to|speaking to|speaking with|talking with|on|powered by|chatting with|based on|have|here|right now|answering me|this|being used))*$/,
    /^(?:what's|what is|tell me|say) (?:your (?:name|model|version|model name)|the (?:current )?(?:model|name of (?:the|this|your) model)|this model)(?: called)?$/,
    /^(?:introduce yourself|identify yourself|tell me (?:about yourself|who you are|what you are|which model you are|what model you are|what model this is|something about yourself))$/,
    /^are you (?:an? |the )?(?:ai|real|human|bot|robot|person|llm|chatgpt|gpt|gpt-\d|claude|gemini|real model|language model|large language model|model|offline|offline model|online|cursor|courser|machine|real person|sonnet|opus|local model)(?: model)?$/,
    /^is this (?:an? |the )?(?:ai|real model|offline model|offline|llm|claude|gpt|chatgpt|cursor|courser|demo|mock)$/,
    /^do you have a name$/,
  ].some((pattern) => pattern.test(text));
}

function help(scene: PromptContext): string {
  const own = scene.tools.filter((tool) => /-/.test(tool.name)).map((tool) => tool.name);
  const lines = [
    "what is 12 * (3 + 4)?",
    "read notes.md; show the first 5 lines of notes.md",
    "create a file called a.txt with text 'Hello'; append 'x' to a.txt",
    "replace 'foo' with 'bar' in a.txt; delete a.txt",
    "list all files; find files named *.ts; search for 'word' in src",
    "run git status; fetch https://example.com",
    "make a todo list: one, two; mark 1 as done; show my todos",
    'call the tool NAME with {"key": "value"}',
    "what was my last question?",
  ];
  return (
    `I am ${WHAT_IT_IS}. I can do arithmetic; read, create, change, move and delete files; find files and text; run commands; keep a todo list; call a tool by name.\n\nFor example:\n${lines.map((line) => `- ${line}`).join("\n")}\n\n` +
    'Join several instructions with "then". Quote text that should stay together.' +
    (own.length > 0 ? ` Other tools here: ${own.slice(0, 20).join(", ")}.` : "") +
    " For anything else, set up a model (see docs/models.md)."
  );
}

const MAY_BE_RECALL =
  /ask|said|say|question|prompt|message|request|instruction|input|quer|wrote|typed|told|answer|repl|respon|talk|discuss|conversation|repeat|recall|remember/i;
const WHAT_DID_I_SAY =
  /^what (?:did|have|had|was it that|was) i (?:just |last |previously |already )?(ask|asked|say|said|type|typed|write|written|wrote|tell you|told you|request|requested|want|asking|saying)(?: you)?(?: to do)?(?:\s+(?:about|for))?(?:\s+(?:you))?(?:\s+(?:before|just now|last|previously|earlier|a moment ago|just|so far|until now|in my last (?:message|prompt)|the last time|last time|just before|first|at first|in the beginning|before (?:this|that|now)))*$/;
const WHAT_I_SAID =
  /^what (?:i|i've|i have) (?:just |last |previously )?(asked|said|told you|wrote|typed)(?: you)?(?:\s+(?:before|last|just now|previously|earlier|first|so far|to do))*$/;
const MY_QUESTIONS =
  /^(?:all (?:of )?)?(?:my|the) (?:previous |earlier |prior |last )?(?:questions|messages|prompts)(?: so far| again)?$/;
const WHAT_WE_DISCUSSED =
  /^what (?:have we|did we) (?:talked|talk|discussed|discuss|spoken|been talking)(?: about)?(?: so far| before| earlier)?$/;
const YOUR_LAST_ANSWER =
  /^(?:what(?:'s| was| is| were)?\s+)?(?:your|the)\s+(?:last|previous|prior|latest|most recent|earlier)\s+(?:answers?|repl(?:y|ies)|responses?|messages?|outputs?|results?|statement)(?:\s+(?:again|before|to me|you gave))*$/;
const WHAT_DID_YOU_SAY =
  /^what (?:did|have|had) you (?:just |previously )?(?:say|said|answer|answered|reply|replied|tell me|respond|write)(?:\s+(?:before|just now|last|previously|earlier|last time|to that))*$/;

/** "what was my last question?", "repeat your last answer". */
export function recall(words: string, scene: PromptContext): ParsedSteps {
  if (!MAY_BE_RECALL.test(words)) return undefined;
  const text = plainly(words).replace(
    /^(?:(?:can|could|do|would|will) you (?:still )?(?:please )?)?(?:(?:remember|recall|tell me|remind me(?: of)?|repeat|show me|show|say|know|give me|print|tell us|quote|restate|me)(?: again)?\s+)*/,
    "",
  );
  const noun =
    "(questions?|prompts?|messages?|requests?|instructions?|commands?|inputs?|query|queries|words?|tasks?|thing i (?:asked|said|wrote|typed))";
  const when = "(last|previous|prior|preceding|most recent|latest|earlier|first|initial|very first|original|former)";
  const mine =
    matched(
      `(?:(?:what|which)(?:'s| is| was| were|s)?\\s+)?(?:(?:my|the)\\s+${when}|my)\\s+${noun}(?:\\s+(?:i (?:asked|said|wrote|gave|sent|typed|had)(?: you)?|was|again|to you|before(?: this(?: one)?)?|in (?:this|our) (?:conversation|chat|session)))*`,
      text,
    ) ??
    matched(
      `(?:what(?:'s| was| is)?\\s+)(?:the\\s+)?${noun}(?:\\s+(?:that )?(?:i|did i)(?: just)? (?:asked|ask|said|say|gave|give|sent|send))(?:\\s+you)?\\s*(before|last|previously|earlier|first)?(?: this(?: one)?)?`,
      text,
    );
  if (mine) {
    const [, ...groups] = mine;
    const named = groups.find((group) => group !== undefined && new RegExp(`^${noun}$`).test(group)) ?? "question";
    return saidBefore(scene, { noun: named, first: /\b(?:first|initial|original)\b/.test(text) });
  }
  const asked = matched(
    `(?:what|which) ${noun} (?:did|have) i (?:just |last )?(?:ask|asked|say|give|given|send|sent|type|typed|write|wrote)(?: you)?(?:\\s+(?:last|before|first|earlier|previously|just now)(?: this(?: one)?| that)?)?`,
    text,
  );
  if (asked) return saidBefore(scene, { noun: asked[1]!, first: /\bfirst\b/.test(text) });
  const did = WHAT_DID_I_SAY.exec(text) ?? WHAT_I_SAID.exec(text);
  if (did) {
    if (/so far|until now|\bhave i\b/.test(text) && !/just|last|before/.test(text)) return everything(scene);
    return saidBefore(scene, {
      noun: /ask|request|want/.test(did[1]!) ? "question" : "message",
      first: /\bfirst\b|beginning/.test(text),
    });
  }
  if (
    MY_QUESTIONS.test(text) ||
    WHAT_WE_DISCUSSED.test(text) ||
    /^(?:our|the|this) conversation(?: so far| history)?$/.test(text)
  ) {
    return everything(scene);
  }
  if (
    YOUR_LAST_ANSWER.test(text) ||
    WHAT_DID_YOU_SAY.test(text) ||
    (/^(?:that|yourself|what you (?:just )?said)(?: again)?$/.test(text) && /repeat|again|say/.test(words))
  ) {
    const last = scene.answered.at(-1);
    return says(last === undefined ? "I have not answered anything before this." : `My last answer was "${last}"`);
  }
  return undefined;
}

const NOTHING_ASKED = "You have not asked anything before this: it is the first message of this conversation.";

function saidBefore(scene: PromptContext, which: { noun: string; first: boolean }): ParsedSteps {
  const text = which.first ? scene.asked[0] : scene.asked.at(-1);
  if (text === undefined) return says(NOTHING_ASKED);
  const noun = /^thing|^words?$/.test(which.noun) ? "message" : which.noun.replace(/ies$/, "y").replace(/s$/, "");
  return says(`Your ${which.first ? "first" : "last"} ${noun} was "${text}"`);
}

function everything(scene: PromptContext): ParsedSteps {
  if (scene.asked.length === 0) return says(NOTHING_ASKED);
  return says(`You have asked:\n${scene.asked.map((text, index) => `${index + 1}. ${text}`).join("\n")}`);
}

const NO_PLAIN_WORDS =
  /^(?:the|all|a|an|my|our|your|its|every|each|out|it|that|this|them|me|what|which|where|how|why|some|file|files|todo|numbers?)\b|\.\w+$|\b(?:of|from|in|to)\b/i;
const SHOWS_OR_WRITES =
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
  if (SHOWS_OR_WRITES.test(verb) && words.split(/\s+/).some(looksLikePath)) return undefined;
  // "echo the words 'x' into a.txt" is to be written, not said.
  if (/\s(?:in)?to (?:the )?(?:file )?\S+\.\w+[\s.!]*$/i.test(words)) return undefined;
  const plainly =
    /^(?:print|print out|output|type|type out)$/.test(verb) &&
    /^[\w',!?.-]+(?: [\w',!?.-]+){0,7}$/.test(words) &&
    !NO_PLAIN_WORDS.test(words);
  if (
    !plainly &&
    SHOWS_OR_WRITES.test(verb) &&
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

/** "print 'hello'": a quoted thing that names no file. */
export function quoted(rest: string, scene: PromptContext): ParsedSteps {
  const literal = literalOf(scene.masked, rest.replace(/[.!?,;]+$/, ""));
  return literal?.kind === "quote" && !looksLikePath(literal.text.replaceAll(" ", "_"))
    ? says(literal.text)
    : undefined;
}

const WISH =
  /^(?:something|anything|a |an |my |your |the (?:question|following question|problem|answer)|how|why|what|whether|if|about|to my|in (?:english|french|german|spanish|italian|one|two|three|a )|for|as if|like|me|it|that|this|question)/i;
const IN_A_LANGUAGE =
  /\bin (?:french|german|spanish|italian|japanese|chinese|latin|portuguese|dutch|russian|korean|another language|\w+ languages)\b/i;

/** "say something funny", "answer my question": only a real model could. */
function isWish(words: string): boolean {
  return WISH.test(words) || IN_A_LANGUAGE.test(words);
}
