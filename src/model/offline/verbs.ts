// Verbs: the table of words that begin an instruction, and what each may mean, likeliest first.

export type Verb = { verb: string; intents: readonly string[]; rest: string };

/** Words on the left of a row mean the same. A row without meanings holds what only a real model can do. */
const rows: [words: string, intents: string][] = [
  [
    "read|view|cat|less|preview|load|peek at|peek into|peek in|look at|take a look at|have a look at|get a look at|let me see|see|open|open up|inspect|examine|head|tail|retrieve",
    "fetch read list find",
  ],
  [
    "show|show me|reveal|spit out|display|print|print out|output|type|type out|dump|give me|present",
    "todo recall talk fetch read list find search say",
  ],
  ["get|get me|return|provide|bring up|pull up|have", "fetch read list find search"],
  ["cd|change into|change to|switch to|go into|enter", "replace"],
  ["tell me|let me know|tell us", "todo recall talk question read list find say"],
  ["list|list out|list up|ls|dir|enumerate", "todo tools read list find search"],
  ["create|make|generate|put together|whip up|start|set up|build|produce|prepare|initialize|new", "todo write"],
  ["touch", "write"],
  ["mkdir", ""],
  ["write|write down|save|put|store|record|place|enter|log|dump|jot down|note down", "todo append write say"],
  ["overwrite|fill", "write"],
  ["drop|paste", "append write"],
  ["set", "todo write"],
  ["let|have", ""],
  ["append|attach|insert|prepend|tack|stick|extend", "todo append"],
  ["add", "todo append write"],
  ["replace|find and replace|search and replace|swap|swap out|substitute|exchange|switch", "replace"],
  ["change|update|modify|edit|turn|correct|convert", "todo replace"],
  ["rename|move|mv", "replace move"],
  ["relocate|shift|transfer", "move"],
  ["copy|duplicate|cp|clone|replicate", "move append"],
  ["fix", "replace"],
  [
    "delete|remove|erase|rm|unlink|get rid of|throw away|throw out|dispose of|trash|eliminate|ditch|nuke|scrap|del|bin|toss|wipe out|drop|discard|destroy|clear|clear out|wipe|truncate|empty|reset|strip|cancel",
    "todo replace delete",
  ],
  ["find|locate|find me|look up|hunt for|hunt down|track down|spot|identify", "search find"],
  ["glob|glob for", "find"],
  [
    "search|search for|search through|look for|look through|look in|look inside|look|grep|grep for|rg|scan|scan for|seek|seek out|query",
    "search find",
  ],
  ["check", "question run read"],
  ["verify|see if|confirm|test|determine|find out", "question run"],
  ["count|tally|tally up|count up", ""],
  ["run|execute|exec|launch|invoke|perform|issue|kick off|fire up|use", "call replace run"],
  ["start|start up|fire off", "run"],
  ["call|trigger|name|call up", "call naming run"],
  ["fetch|download|visit|browse|curl|go to|navigate to|access|grab|pull", "fetch read"],
  ["keep|keep track of|track|maintain", "todo"],
  ["mark|tick off|check off|tick|cross off|complete|finish|start working on", "todo"],
  ["say|reply|respond|answer|echo|repeat|repeat after me|return|utter|speak|shout|greet|state|speak out", "recall say"],
  ["remind|recall|remember", "recall"],
  ["help|introduce", "talk"],
  ["calculate|compute|evaluate|multiply|divide|subtract|sum|sum up|work out|figure out|square|double|triple", "sum"],
  ["do|try|ping|continue|proceed|carry on|go on|keep going|resume", "talk run"],
  [
    "analyze|analyse|explain|summarize|summarise|refactor|debug|implement|review|improve|optimize|optimise|translate|describe|compare|format|lint|design|plan|think|suggest|recommend|document|deploy|install|upgrade|compose|rewrite|clean|clean up|validate|investigate|migrate|port|sort|merge|commit|push|send|email|play|discuss|consider|imagine|guess|choose|decide|teach|learn|brainstorm|outline|simplify|extract|parse|draw|draft|develop|solve|rework|restructure|ensure|make sure|wait|stop|undo|revert|watch|monitor|serve|compile|encrypt|decrypt|compress|zip|unzip|share|upload|publish|release|rate|judge|tidy|tidy up|ask|predict|estimate|reverse|capitalize|shorten|expand|sign|schedule|buy|order|book|stage|git add|git commit|enable|disable|bump|back up|backup",
    "",
  ],
];

type VerbEntry = { verb: string; intents: readonly string[] };

/** Verbs by their first word, the longest first: "look for" before "look". */
const known = new Map<string, VerbEntry[]>();

/** The verb that the words begin with. */
export function verbAt(words: string): Verb | undefined {
  const first = firstWord(words);
  const verb = verbsWith(first).find((one) => begins(words, one.verb));
  const entry = verb ?? (begins(words, first) ? gerund(first) : undefined);
  const length = verb?.verb.length ?? first.length;
  return entry && { ...entry, rest: words.slice(length).replace(/^\s*[:,]\s*|^\s+/, "") };
}

function firstWord(words: string): string {
  return /^[a-z]+/i.exec(words)?.[0].toLowerCase() ?? "";
}

function begins(words: string, verb: string): boolean {
  return words.slice(0, verb.length).toLowerCase() === verb && !/[\w'/.-]/.test(words.charAt(verb.length));
}

/** Meanings are joined when a verb stands in several rows. */
function verbsWith(first: string): VerbEntry[] {
  const before = known.get(first);
  if (before || first === "") return before ?? [];
  const intents = new Map<string, string[]>();
  for (const [words, meanings] of rows) {
    if (!words.includes(first)) continue;
    for (const verb of words.split("|"))
      if (verb === first || verb.startsWith(`${first} `))
        intents.set(verb, [...(intents.get(verb) ?? []), ...meanings.split(" ").filter((meaning) => meaning !== "")]);
  }
  const found = [...intents].map(([verb, all]) => ({ verb, intents: [...new Set(all)] }));
  found.sort((one, other) => other.verb.length - one.verb.length);
  known.set(first, found);
  return found;
}

/** "deleting a.txt" is an order only after "would you mind", "start by" and the like. */
export function isGerund(words: string): boolean {
  const first = firstWord(words);
  return single(first) === undefined && gerund(first) !== undefined;
}

function single(word: string): VerbEntry | undefined {
  return verbsWith(word).find(({ verb }) => verb === word);
}

/** "would you mind reading …" */
function gerund(word: string): VerbEntry | undefined {
  if (!word.endsWith("ing")) return undefined;
  const stem = word.slice(0, -3);
  return single(stem) ?? single(`${stem}e`) ?? (/(.)\1$/.test(stem) ? single(stem.slice(0, -1)) : undefined);
}
