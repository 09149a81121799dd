// Understand: a prompt -> the steps it asks for, all of them or none.
import { doubtfulSentence, isChange, unaccounted } from "./accounting.ts";
import { asTyped, type Clause, clausesOf, contentSentence, wantsBareAnswer } from "./clauses.ts";
import { isCommandText, isReadingCommand } from "./commands.ts";
import { contentOf } from "./content.ts";
import { fileQuestion } from "./file-questions.ts";
import { find, list } from "./finding.ts";
import { simpleOrder, wholeOrder } from "./grammar/index.ts";
import { asksForResult, isRemark } from "./grammar/remarks.ts";
import { isGreeting, talk } from "./grammar/talk.ts";
import { move } from "./moving.ts";
import { takeFile } from "./phrases.ts";
import { withoutPoliteness, withoutTail } from "./politeness.ts";
import { literalOf, type Masked, mask } from "./quotes.ts";
import { read, readQuestion } from "./reading.ts";
import { replace } from "./replacing.ts";
import { callTool, callWith, fetchPage, run, sum } from "./running.ts";
import { refusal, say } from "./saying.ts";
import { search } from "./searching.ts";
import { sparedFiles, spares } from "./sparing.ts";
import type { Content, Intent, ParsedSteps, PromptContext, Step } from "./steps.ts";
import { isHarmless, isStory, type Story } from "./stories.ts";
import { afterCall, todo } from "./todos.ts";
import { type Verb, verbAt } from "./verbs.ts";
import { append, naming, remove, write } from "./writing.ts";

/** `bare`: the answer is wanted without words around it. */
export type Plan = { steps: Step[]; bare: boolean } | { refused: string };

const intents: Record<string, Intent> = {
  todo,
  recall: (rest, scene, verb) => talk(`${verb} ${rest}`.trim(), scene),
  talk: (rest, scene, verb) => talk(`${verb} ${rest}`.trim(), scene),
  read,
  list,
  find,
  search,
  write,
  append,
  replace,
  delete: remove,
  move,
  naming,
  run,
  fetch: fetchPage,
  call: callTool,
  say,
  sum: (rest, _scene, verb) => sum(`${verb} ${rest}`),
  question: (rest, scene) => question(rest.replace(/^(?:me|us|if|whether)\s+/i, ""), scene),
  tools: (rest, scene, verb) => talk(`${verb} ${rest}`, scene),
};

export function understand(prompt: string, known: Omit<PromptContext, "masked" | "steps">): Plan {
  const typed = mask(prompt);
  // Quoted text may be long; an instruction is not, and the grammar is no match for a book.
  if (typed.text.length > 8_000) return { refused: refusal({ part: prompt.trim(), several: false }) };
  const figures = sum(typed.text);
  if (figures) return { steps: figures, bare: false };
  const { masked, clauses } = clausesOf(typed);
  const scene: PromptContext = { ...known, masked, steps: [] };
  const orders = clauses.filter((clause, index) => !isAside(clause, index, clauses));
  let previous: Verb | undefined;
  const kept: string[] = [];
  const stories: Story[] = [];
  for (const [index, clause] of orders.entries()) {
    const changed = scene.steps.at(-1);
    if (asksForResult(clause.words) && changed && changed.do !== "run" && isChange(changed) && "path" in changed) {
      scene.steps.push({ do: "read", path: changed.path! });
      continue;
    }
    const spared = orders.length > 1 ? sparedFiles(clause.words, scene) : undefined;
    if (spared) {
      kept.push(...spared);
      continue;
    }
    // Steps may be withdrawn by a later clause that completes them: "create a file … and call it a.txt".
    const words = clause.words;
    const continues =
      clause.joined !== "start" &&
      /^(?:run|execute|exec)$/.test(previous?.verb ?? "") &&
      isCommandText(withoutPoliteness(words));
    const understood =
      (continues ? run(withoutTail(withoutPoliteness(words)), scene, "run") : undefined) ??
      understandClause(words, scene) ??
      (clause.joined === "start" ? undefined : inherited(words, scene, previous));
    // What a command or a search shows is shown anyway.
    if (!understood && asksForResult(words) && scene.steps.length > 0) continue;
    // A story behind a change may take it back.
    if (!understood && isStory(words) && !scene.steps.some(isChange)) {
      stories.push({ words, isEnded: orders[index + 1]?.joined === "then" });
      continue;
    }
    if (!understood) return { refused: refusal({ part: asTyped(masked, words), several: orders.length > 1 }) };
    const unused = unaccounted(clause, understood, masked);
    if (unused !== undefined) return { refused: refusal({ part: unused, several: orders.length > 1 }) };
    for (const step of understood) {
      if (isSaidAgain(step, scene.steps.at(-1))) continue;
      if (step.do === "write" && isCreation(words)) step.isNew = true;
      if (step.do === "write" && isReplacement(words) && isGiven(step.content, masked)) step.replaces = true;
      if (step.do === "run") step.directory ??= scene.directory;
      if (step.do === "todos") scene.todos = afterCall(scene.todos, step);
      scene.steps.push(step);
    }
    scene.lastPath = lastPathOf(understood) ?? scene.lastPath;
    scene.lastFolder = lastFolderOf(understood) ?? scene.lastFolder;
    if (index < orders.length - 1) previous = verbAt(withoutPoliteness(words)) ?? previous;
  }
  if (scene.steps.length === 0) return { refused: refusal({ part: prompt.trim(), several: false }) };
  const doubtful = scene.steps.some(isChange)
    ? (doubtfulSentence(masked) ??
      kept.find((path) => !spares(scene.steps, path)) ??
      stories.find((story) => !isHarmless(story))?.words)
    : undefined;
  if (doubtful !== undefined)
    return { refused: refusal({ part: asTyped(masked, doubtful), several: orders.length > 1 }) };
  return { steps: scene.steps, bare: wantsBareAnswer(masked.text) };
}

function isCreation(words: string): boolean {
  return /\b(?:create|make|generate|new|add|touch|produce|start|prepare|creating|making|want|need)\b/i.test(words);
}

/** What takes the place of a file's text must stand there as it is: quoted, or shown before. */
function isGiven(content: Content, masked: Masked): boolean {
  if (typeof content !== "string" || content === "") return true;
  return masked.literals.some((literal) => content.includes(literal.text.replaceAll("\\n", "\n")));
}

/** Words that ask for the end of what a file holds. */
function isReplacement(words: string): boolean {
  return /\b(?:overwrite|overwriting|replace|replacing|rewrite|clear|empty|wipe|reset|erase|change|update|modify|edit|set|instead|even if it (?:already )?exists|if it (?:already )?exists)\b/i.test(
    words.replace(/\b(?:an?|new|the)\s+(?:(?:new|text)\s+)*empty\b/gi, ""),
  );
}

/** "open a.txt and show me its contents" reads once. */
function isSaidAgain(step: Step, last: Step | undefined): boolean {
  return (
    step.do === "read" &&
    last?.do === "read" &&
    step.path === last.path &&
    JSON.stringify(step.lines) === JSON.stringify(last.lines)
  );
}

/** Remarks ("be brief") and a greeting before an order ask for nothing. */
function isAside(clause: Clause, index: number, clauses: Clause[]): boolean {
  if (clauses.length === 1) return false;
  return (
    (isRemark(clause.words) && !asksForResult(clause.words)) ||
    (index === 0 && isGreeting(clause.words)) ||
    (index > 0 && /^(?:thanks|thank you)\b/i.test(clause.words))
  );
}

/** "make a folder lib and move a.txt into it". */
function inNewFolder(words: string, scene: PromptContext): string {
  const folder = scene.lastFolder;
  if (folder === undefined || !/^[\w./-]+$/.test(folder) || scene.steps.at(-1)?.do !== "run") return words;
  return words.replace(
    /(?:\b(in|into|inside|to)\s+(?:it|there|that folder|the folder|the new folder)|(?<=\w\s)there)(?=[\s.!]*$)/i,
    (_, preposition: string | undefined) => `${preposition ?? "into"} the folder ${folder}`,
  );
}

const SHELL_PROMPT = () =>
  /^(?:[$!>]\s*|(?:(?:use|with|in)\s+)?(?:the\s+)?(?:shell|bash|sh|cmd|terminal|command|run|exec|execute)\s*:\s*)(?=\S)/i;

function understandClause(given: string, scene: PromptContext): ParsedSteps {
  const words = inNewFolder(given, scene);
  const typed = /^[$!>]|:/.test(words) ? SHELL_PROMPT().exec(words) : null;
  if (typed) return run(`command: ${words.slice(typed[0].length)}`, scene, "run");
  const last = scene.steps.at(-1);
  const filling = last?.do === "write" && last.content === "" ? contentSentence(words) : undefined;
  if (filling !== undefined && last?.do === "write") {
    // "It should contain a list of names" describes; "it should say a word" does not.
    const before = words.trim().slice(0, -filling.length);
    const content = contentOf(filling, scene, { marked: !/\b(?:be|contain|have|hold|include)\s*$/i.test(before) });
    if (content === undefined) return undefined;
    scene.steps.pop();
    return [{ ...last, content }];
  }
  const spoken = simpleOrder(words, scene) ?? talk(words, scene);
  if (spoken) return spoken;
  const polite = withoutPoliteness(words);
  const trimmed = withoutTail(polite);
  // Words to be said are taken as they are: "say thank you".
  const intents = verbAt(polite)?.intents;
  const isSaid = intents?.[0] === "recall" && intents.at(-1) === "say";
  for (const form of new Set(isSaid ? [polite, trimmed] : [trimmed, polite])) {
    const found = form === words ? instruction(form, scene) : oneForm(form, scene);
    if (found) return /^(?:is|are|does|do)\s/i.test(polite) && !found.some(isChange) ? found.map(asked) : found;
  }
  return undefined;
}

/** "does a.txt exist?" is answered with yes or no first. */
function asked(step: Step): Step {
  return step.do === "find" || step.do === "search" ? { ...step, asks: true } : step;
}

function oneForm(words: string, scene: PromptContext): ParsedSteps {
  return talk(words, scene) ?? instruction(words, scene);
}

function instruction(words: string, scene: PromptContext): ParsedSteps {
  const whole = wholeOrder(words, scene);
  if (whole) return whole;
  const figures = sum(words);
  if (figures) return figures;
  const hoisted = placeLast(words, scene);
  const turned = hoisted === undefined ? undefined : wholeOrder(hoisted, scene);
  if (turned) return turned;
  for (const form of hoisted === undefined ? [words] : [words, hoisted]) {
    const verb = verbAt(form);
    if (/^ls\s+-|\s(?:\||&&)\s/.test(form) && isReadingCommand(form)) return run(form, scene, "run");
    const asks = mayAsk(form);
    const asked = asks ? question(form, scene) : undefined;
    if (asked) return asked;
    for (const name of verb?.intents ?? []) {
      // "in a.js say x instead of y" is about the file.
      if (name === "say" && hoisted !== undefined) continue;
      const found = intents[name]!(verb!.rest, scene, verb!.verb);
      if (found) return found;
    }
    if (isReadingCommand(form)) return run(form, scene, "run");
    const named = /^[\w.-]+[-_][\w.-]+|^the tool\b/i.test(form) ? callTool(form, scene, "call") : undefined;
    if (named) return named;
    const by = verb && /\b(?:with|using|via|through)\b/i.test(form) ? callWith(form, scene) : undefined;
    if (by) return by;
  }
  return statement(words, scene);
}

/** A cheap look before the many patterns of questions. */
function mayAsk(words: string): boolean {
  return /^(?:what|which|where|how|is|are|do|does|did|in\s+(?:which|what))(?![\w-])|^(?:whats|wheres)\b/i.test(words);
}

const PLACE_FIRST = () =>
  /^(?:(?:in|inside|within|under|from)\s+|(at|to)\s+(?:the\s+)?(?:(?:end|bottom|top|start|beginning)\s+of\s+)?)/i;

/** "in a.txt, replace x with y" -> "replace x with y in a.txt". */
function placeLast(words: string, scene: PromptContext): string | undefined {
  const titled = /^(?:(?:the )?file\s+)?([\w./~-]+\.\w+|[\uE000-\uF8FF]):\s+(?=\S)/i.exec(words);
  if (titled && verbAt(words.slice(titled[0].length))) {
    const order = words.slice(titled[0].length);
    const file = /\bit\b/i.test(order) ? takeFile(titled[1]!, scene) : undefined;
    if (!file) return `${order} in ${titled[1]}`;
    scene.lastPath = file.path;
    return order;
  }
  const start = PLACE_FIRST().exec(words);
  if (!start) return undefined;
  const file = takeFile(words.slice(start[0].length), scene, { bare: true });
  const order = file && /^\s*[,:]?\s*(?:please\s+|then\s+)?(?=\S)/i.exec(file.rest);
  if (!file || !order) return undefined;
  const rest = file.rest.slice(order[0].length);
  if (!verbAt(rest)) return undefined;
  return `${rest} ${words.slice(0, words.length - file.rest.length).trim()}`;
}

const WHAT_IS_LEFT = () =>
  /^what (?:else )?(?:do i|should i|is|'s) (?:still )?(?:(?:have|need|got) to do|left(?: to do)?|to do|to be done)(?: next)?[\s?.!]*$/i;
const WHAT_PAGE_SAYS = () =>
  /^what does\s+(.*[\uE000-\uF8FF])\s+(?:say|contain|return|show|have|look like|hold|serve|give)[\s?.!]*$/i;

function question(words: string, scene: PromptContext): ParsedSteps {
  if (scene.todos.length > 0 && WHAT_IS_LEFT().test(words)) return [{ do: "show todos" }];
  const what = /^(?:what(?=\W|s\b)|which(?= (?:text|contents?|data)\b))(.*)$/is.exec(words);
  const found = what && (todo(what[1]!.replace(/^(?:'s|s)?\s+/, ""), scene, "what") ?? readQuestion(what[1]!, scene));
  if (found) return found;
  const things = /^what(?:'s|s| is| are)\s+((?:all\s+|the\s+|names\s+of\s+)+.+)$/i.exec(words);
  const shown = things && (list(things[1]!, scene, "show") ?? find(things[1]!, scene, "show"));
  if (shown) return shown;
  const web = /^what(?:'s|s| is)\s+(?:at|on|behind)\s+(.+)$/i.exec(words) ?? WHAT_PAGE_SAYS().exec(words);
  if (web) return fetchPage(web[1]!, scene);
  const look = /^how (?:does|do)\s+(.+?)\s+look(?: like)?[\s?.!]*$/i.exec(words);
  if (look) return read(look[1]!, scene, "read");
  return fileQuestion(words, scene);
}

const THERE_IS = () =>
  /^(?:there(?:'s| is)|i have|we have|i've got|consider|take|given|edit|modify|update|change|open|use|work on|go to|do you see|do you know|you see|i (?:don't|dont|do not|no longer) (?:need|want))\s+(.+)$/i;

/** "a new file a.txt with 'x'", "TODO in src" say nothing of what to do; "there is a file a.txt" only names it. */
function statement(words: string, scene: PromptContext): ParsedSteps {
  const there = THERE_IS().exec(words);
  const file = there && takeFile(there[1]!, scene);
  if (file && /^(?:\s*any ?(?:more|longer))?[\s.,?]*$/i.test(file.rest)) {
    scene.lastPath = file.path;
    return [];
  }
  const spent =
    /^(\S+)\s+(?:can go|(?:is|are) (?:no longer|not) (?:needed|used|required)(?: any ?more)?|is (?:useless|obsolete|outdated))[\s.!]*$/i.exec(
      words,
    );
  const named = spent && takeFile(spent[1]!, scene);
  if (named && named.rest.trim() === "") {
    scene.lastPath = named.path;
    return [];
  }
  const todos = /^(?:my\s+|new\s+)?(?:to-?dos?|to do)(?:\s+list)?\s*:\s*/i.exec(words);
  if (/^(?:an?|my|the|new)\s+(?:\w+\s+)?(?:to-?do|to do|task)[- ]?list\s+(?:with|of|containing|for)\s/i.test(words))
    return todo(words, scene, "make");
  if (todos) return todo(`a todo list: ${words.slice(todos[0].length)}`, scene, "make");
  const state = scene.todos.length > 0 ? todoState(words) : undefined;
  const kept = state === undefined ? undefined : todo(state, scene, "mark");
  if (kept?.[0]?.do === "todos") return kept;
  if (/^open (?:a|the|your|up a) (?:new )?(?:terminal|shell|console)$/i.test(words)) return [];
  const code = literalOf(scene.masked, words);
  if (code?.kind === "code" && isCommandText(code.text)) return run(words, scene, "run");
  // A thing without a verb is shown: "the contents of a.txt", "all markdown files", "files containing x".
  const thing = verbAt(words) || /^(?:it|this|that|its|the file)\b/i.test(words) ? undefined : shownThing(words, scene);
  if (thing) return thing;
  if (verbAt(words.replace(/^[^:]*:\s*/, ""))) return undefined;
  return /^(?:an?\s+)?(?:(?:new|empty|blank|text)\s+)*file,?\s+(?:called|named|with|\S+\.\w+)/i.test(words)
    ? write(words, scene, "create")
    : undefined;
}

const IS_DONE = () =>
  /^(.+?)\s+(?:is|are|has been|was)\s+(?:now\s+|already\s+)?(done|completed?|finished|started|in progress|cancell?ed)[\s.!]*$/i;
const HAVE_DONE = () =>
  /^(?:i|we)(?:'ve| have)?\s+(?:just\s+|already\s+)?(?:finished|completed|done|did)\s+(?:with\s+)?(.+?)[\s.!]*$/i;

/** "the second one is done", "I have finished the docs" -> "the docs as done". */
function todoState(words: string): string | undefined {
  const is = IS_DONE().exec(words);
  if (is) return `${is[1]} as ${is[2]}`;
  const did = HAVE_DONE().exec(words);
  return did ? `${did[1]} as done` : undefined;
}

function shownThing(words: string, scene: PromptContext): ParsedSteps {
  return (
    fetchPage(words, scene) ??
    (/^(?:any |all |the )?files (?:called|named)\s/i.test(words) ? find(words, scene, "find") : undefined) ??
    read(words, scene, "read") ??
    list(words, scene, "show") ??
    find(words, scene, "show") ??
    search(words, scene, "show")
  );
}

/** "read a.txt, then b.txt": the verb of the clause before. */
function inherited(words: string, scene: PromptContext, previous: Verb | undefined): ParsedSteps {
  if (!previous || verbAt(withoutPoliteness(words))) return undefined;
  return oneForm(`${previous.verb} ${withoutTail(withoutPoliteness(words))}`, scene);
}

const NEW_FOLDER = () => /^Created the folder (.+)\.$/;

function lastFolderOf(steps: Step[]): string | undefined {
  const made = steps.findLast((step) => step.do === "run" && NEW_FOLDER().test(step.done ?? ""));
  return made?.do === "run" ? NEW_FOLDER().exec(made.done ?? "")?.[1] : undefined;
}

function lastPathOf(steps: Step[]): string | undefined {
  for (const step of steps.toReversed()) {
    if (
      /^(?:read|write|append|replace|lines|value|entry|measure)$/.test(step.do) &&
      "path" in step &&
      step.path !== undefined
    )
      return step.path;
    if (step.do === "find" && !/[*?{]/.test(step.pattern.replace(/^\*\*\//, "")))
      return step.pattern.replace(/^\*\*\//, "");
    if (step.do === "run" && step.done !== undefined) return / to (.+)\.$/.exec(step.done)?.[1];
  }
  return undefined;
}
