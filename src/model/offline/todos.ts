// Todos: "make a todo list: a, b, c", "mark 2 as done", "show my todos".
import type { Message } from "../../protocol/message.ts";
import { numbersInFigures } from "./arithmetic.ts";
import { looksLikePath } from "./phrases.ts";
import { literalOf, matched, unquote } from "./quotes.ts";
import type { ParsedSteps, PromptContext, Todo } from "./steps.ts";

const LIST = "(?:to-?dos?|to do|task)(?:[- ]?lists?)?(?:s)?(?:\\s+(?:items?|entries|entry))?";

export function todo(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  if (
    scene.todos.length === 0 &&
    !/to-?do|to do|task|item|done|complete|finish|progress|pending|started|cancel|\boff\b/i.test(`${verb} ${rest}`)
  )
    return undefined;
  return (
    marked(rest, scene, verb) ??
    shown(rest, verb) ??
    made(rest, scene, verb) ??
    added(rest, scene, verb) ??
    removed(rest, scene, verb)
  );
}

function shown(rest: string, verb: string): ParsedSteps {
  if (
    !/^(?:show|show me|display|print|print out|list|list out|give me|tell me|output|what|type|present|ls)$/.test(verb)
  )
    return undefined;
  const list = `(?:(?:me|us|all|of|out|the|my|our|your|current|open|remaining|what(?:'s| is| are)|is|are|on|left|still|open|full|whole|status of|in)\\s+)*${LIST}(?:\\s+(?:look like|again|now|contain|so far|status|left))*[\\s.!?]*`;
  return matched(list, rest) ? [{ do: "show todos" }] : undefined;
}

const MAKES_LIST = () =>
  /^(?:create|make|write|write down|start|set up|build|generate|new|give me|prepare|put|produce|keep|keep track of|track|maintain)$/;

function made(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  if (!MAKES_LIST().test(verb)) return undefined;
  const match = new RegExp(
    `^(?:(?:me|us|up|a|an|the|these|those|this|my|our|new|short|simple|small|together|two|three|four|five|\\d+|following|for me)[\\s-]+)*(?:item\\s+)?${LIST}(?:\\s+(?:list|for me|named \\S+))?(?:\\s*(?:[:,-]|with|containing|of|from|for|that (?:has|contains|includes)|consisting of|including)\\s*(?:(?:the|these|three|two|four|following|my|\\d+)\\s+)*(?:(?:items?|tasks?|entries|things|steps|to-?dos)\\s*)?[:,-]?\\s*)`,
    "i",
  ).exec(rest);
  // "new todo: x" adds one; a list begins anew.
  if (!match || !/list|todos|to-dos|tasks|items/i.test(match[0])) return undefined;
  const items = itemsOf(rest.slice(match[0].length), scene);
  // "a todo list for the release" is to be thought up.
  const told = /[\uE000-\uF8FF]|[:,-]\s*$/.test(`${rest.slice(match[0].length)}\n${match[0]}`);
  if (items.length === 0 || (items.length === 1 && !told && /\b(?:from|for|of)\s/i.test(match[0]))) return undefined;
  return [{ do: "todos", merge: false, todos: numbered(items, 1) }];
}

const ADDS_ITEM = () =>
  /^(?:add|put|append|insert|write|write down|note down|jot down|create|make|new|place|record|enter|stick)$/;

function added(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  if (!ADDS_ITEM().test(verb)) return undefined;
  const onto = matched(
    `(.+?)\\s+(?:to|on|onto|in|into|as)\\s+(?:(?:my|the|our|a|an|new|current|your)\\s+)*${LIST}(?:\\s+(?:please|as well|too))?[\\s.!?]*`,
    rest,
  );
  const direct = matched(
    `(?:(?:a|an|another|one|the|two|new|more|following)\\s+)*(?:${LIST}|to-?do|task)\\s*(?:[:,-]|to|called|named|saying|that says|for|with(?: the text)?|items?:)?\\s+(?:the\\s+)?(.+)`,
    rest,
  );
  // "a todo list from the comments" is to be thought up.
  const isWish = /\bfile\b/i.test(rest) || /^(?:from|about|based on|of)\b/i.test(direct?.[1] ?? "");
  const listed = matched(
    `(?:(?:the|these|two|three|four|some|following|\\d+)\\s+)*(?:(?:items?|things|entries)\\s+)?(?:to|on|onto)\\s+(?:(?:my|the|our)\\s+)*${LIST}\\s*:\\s*(.+)`,
    rest,
  );
  const words = listed?.[1] ?? onto?.[1] ?? (direct && !isWish ? direct[1] : undefined);
  if (words === undefined) return undefined;
  const items = itemsOf(
    words.replace(/^(?:(?:the|a|an|another)\s+)?(?:items?|tasks?|entry|to-?do|to do)\s*:?\s+/i, ""),
    scene,
  );
  if (items.length === 0) return undefined;
  const first = Math.max(0, ...scene.todos.map((one) => Number(one.id) || 0)) + 1;
  return [{ do: "todos", merge: true, todos: numbered(items, first) }];
}

function numbered(items: readonly string[], first: number): Todo[] {
  return items.map((content, index) => ({ id: String(first + index), content, status: "pending" }));
}

function marked(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const states: [string, string][] = [
    ["done|complete|completed|finished|checked|ticked|ready", "completed"],
    ["in[- ]progress|started|ongoing|being worked on|active|doing|underway", "in_progress"],
    ["pending|open|not done|undone|incomplete|to ?do|unfinished", "pending"],
    ["cancell?ed|dropped|abandoned|skipped", "cancelled"],
  ];
  // "check off milk in todo.md" is about a file.
  if (rest.split(/\s+/).some(looksLikePath)) return undefined;
  let status: string | undefined;
  let words = rest;
  if (/^(?:mark|set|change|update|make|tick|check|flag|put)$/.test(verb)) {
    for (const [names, name] of states) {
      const match = matched(
        `(.+?)\\s*(?:\\s+(?:as|to|to be|is|off as|=>|->)\\s+|\\s+)(?:being\\s+)?(?:${names})[\\s.!?]*`,
        rest,
      );
      if (!match) continue;
      status = name;
      words = match[1]!;
      break;
    }
    status ??= /^(?:tick|check)$/.test(verb) && /\boff\b/i.test(rest) ? "completed" : undefined;
    if (
      /^(?:set|change|update|make|put|check)$/.test(verb) &&
      !isAboutTodos(words) &&
      !(status && targets(words, scene).length > 0)
    )
      return undefined;
  } else if (/^(?:tick off|check off|cross off|complete|finish)$/.test(verb)) status = "completed";
  else if (/^(?:start working on|start)$/.test(verb)) status = "in_progress";
  else if (verb === "cancel") status = "cancelled";
  if (status === undefined) return undefined;
  const found = targets(words, scene);
  if (
    /^(?:start|complete|finish|cancel)$/.test(verb) &&
    (verb === "start" || !isAboutTodos(words)) &&
    found.length === 0
  )
    return undefined;
  if (found.length > 0) return [{ do: "todos", merge: true, todos: found.map((one) => ({ ...one, status })) }];
  const wanted = unquote(scene.masked, words).trim();
  const text =
    scene.todos.length === 0
      ? "There are no todos yet, so there is nothing to mark."
      : `There is no todo ${wanted}. The list has ${scene.todos.map((one) => one.id).join(", ")}.`;
  return [{ do: "say", text }];
}

function removed(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  if (!/^(?:remove|delete|drop|clear|clear out|erase|get rid of|empty|wipe|discard|reset|cancel)$/.test(verb))
    return undefined;
  const all = `(?:(?:all|of|the|my|our|every|everything|whole|entire|from|out|items|on)\\s+)*${LIST}[\\s.!?]*`;
  if (matched(all, rest)) return [{ do: "todos", merge: false, todos: [] }];
  if (!isAboutTodos(rest)) return undefined;
  const gone = targets(
    rest.replace(new RegExp(`\\s+(?:from|off|in|on)\\s+(?:(?:my|the|our)\\s+)*${LIST}[\\s.!?]*$`, "i"), ""),
    scene,
  );
  if (gone.length === 0) return undefined;
  return [{ do: "todos", merge: false, todos: scene.todos.filter((one) => !gone.includes(one)) }];
}

function isAboutTodos(words: string): boolean {
  return /\b(?:to-?dos?|to do|tasks?|items?)\b/i.test(words) && !/\bfiles?\b|\.\w{1,5}\b/i.test(words);
}

/** Which of the todos are meant: by number, by position, by their words, or all. */
function targets(words: string, scene: PromptContext): Todo[] {
  const text = words
    .trim()
    .replace(/[.!?,]+$/, "")
    .replace(new RegExp(`\\s+(?:on|in|of|from)\\s+(?:(?:my|the|our)\\s+)*${LIST}$`, "i"), "");
  const all = `all|everything|all (?:of )?(?:the|my|our)?\\s*(?:${LIST}|items?|tasks?|of them|them)|every (?:todo|task|item)|them all|(?:my|the) whole ${LIST}`;
  if (matched(all, text)) return scene.todos;
  const bare = text
    .replace(
      /^(?:(?:the|my|our|off)\s+)*(?:(?:to-?dos?|to do|tasks?|items?|numbers?|no\.?|entry|entries|#)\s*)*(?:numbers?\s+|no\.?\s+|#\s*)?/i,
      "",
    )
    .replace(/\s+(?:to-?do|task|item|one|entry)s?$/i, "");
  const order = ["first", "second", "third", "fourth", "fifth", "sixth"];
  const parts = literalOf(scene.masked, bare) ? [bare] : bare.split(/\s*(?:,|\band\b|&)\s*/i);
  const found: Todo[] = [];
  for (const part of parts) {
    const name = unquote(scene.masked, part)
      .trim()
      .replace(/^the\s+/i, "")
      .replace(/^#/, "");
    const figure = numbersInFigures(name).replace(/(?<=^\d+)(?:st|nd|rd|th)$/, "");
    const position = name.toLowerCase() === "last" ? scene.todos.length - 1 : order.indexOf(name.toLowerCase());
    const one =
      scene.todos.find((each) => each.id === figure) ??
      scene.todos.find((each) => each.content.toLowerCase() === name.toLowerCase()) ??
      scene.todos[position] ??
      (name.length > 2
        ? scene.todos.find((each) => each.content.toLowerCase().includes(name.toLowerCase()))
        : undefined);
    if (one) found.push(one);
  }
  return found.length === parts.length ? found : [];
}

function itemsOf(words: string, scene: PromptContext): string[] {
  const text = words.trim().replace(/[.!]+$/, "");
  const separator = /[,;\n]/.test(text)
    ? /\s*(?:,\s*(?:and\s+(?:then\s+)?)?|;\s*|\n+\s*|\s+and\s+(?=[^,;]*$))\s*/i
    : /\s+and\s+/i;
  return text
    .split(separator)
    .map((item) =>
      unquote(scene.masked, item.replace(/^\s*(?:\d{1,2}[.)]|[-*•])\s+/, ""))
        .trim()
        .replace(/[.,;]+$/, ""),
    )
    .filter((item) => item !== "");
}

/** The list as the conversation left it: every successful TodoWrite in order. */
export function todosIn(messages: readonly Message[]): Todo[] {
  const parts = messages.flatMap((message) => message.parts);
  const failed = new Set(parts.map((part) => part.type === "tool_result" && part.isError && part.id));
  let todos: Todo[] = [];
  for (const part of parts)
    if (part.type === "tool_call" && /^(?:TodoWrite|update_?todos)$/i.test(part.name) && !failed.has(part.id))
      todos = afterCall(todos, part.args);
  return todos;
}

export function afterCall(todos: Todo[], args: unknown): Todo[] {
  const { todos: given, merge } = (args ?? {}) as { todos?: unknown; merge?: unknown };
  if (!Array.isArray(given)) return todos;
  const written = given
    .filter((one): one is Todo => typeof one?.id === "string" && typeof one.content === "string")
    .map(({ id, content, status }) => ({ id, content, status: status ?? "pending" }));
  if (merge !== true) return written;
  const kept = todos.map((one) => written.find((other) => other.id === one.id) ?? one);
  return [...kept, ...written.filter((one) => !todos.some((other) => other.id === one.id))];
}
