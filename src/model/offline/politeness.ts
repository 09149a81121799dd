// Politeness: "could you please … for me?" means "…". Words that ask, wonder or doubt lead to an answer at most, never to a change.
import { wordSet } from "./word-set.ts";

const isAdverb = wordSet(
  "please pls plz kindly yo dear now next first firstly second secondly third thirdly finally lastly last also and then just simply quickly immediately ok okay alright right so well hey hi hello yes yeah sure great good cool perfect thanks again afterward afterwards instead maybe perhaps courser cursor agent assistant",
);

/** Leads that are no order: "can I …", "is it possible to …", "I would …", "maybe …". */
const DOUBT = () =>
  /^(?:maybe|perhaps|(?:can|could|will|would|won't|can't|couldn't)\s+(?:we|i)\b|would\s+(?:you|u)\s+(?!please|kindly|mind|be so kind|just|quickly|help|do me)|\S+\s+(?:you|u)\b.*\b(?:maybe|possibly)\b|(?:is|are) \w|would it\b(?! be (?:great|nice|good))|i wonder|i'm|(?:i|we)(?:'d| would)\s+(?!.*\b(?:like|love|want|need|appreciate)\b)|(?:i|we) wish|to\s+(?!start|begin)|remember|attempt|you (?:can|will|may)\b|(?:how|what) about)/i;

const modal =
  "\\S+\\s+(?:you|u|we|i)(?:\\s+(?:please|kindly|just|also|now|then|quickly|maybe|possibly))*\\s+(?:(?:be so kind (?:as )?(?:to|and)|be able to|mind|try to|help me(?: to)?|go ahead and|like to|do me a favou?r and)\\s+)?";
const wish =
  "(?:i|we)(?:'d| would| want| need|'ll need| will need|'m going to need| am asking| require| wish)(?:\\s+(?:really|now|also|just))?(?:\\s+(?:like|love|want|need|appreciate it if))?\\s+(?:for\\s+)?(?:you\\s+)?(?:would\\s+|could\\s+)?(?:to\\s+)?(?:be able to\\s+|have you\\s+|have\\s+(?=an?\\s))?";
const wondering =
  "(?:know|find out|learn|telling me|showing me|tell me|tell us|let me know|check|see|ask(?: you)?|i wonder|wondering)\\s+(?=(?:what|which|where|how|who)(?:'s|s)?\\b)";
const whereabouts =
  "show me\\s+(?=what\\s.*\\b(?:contains|says|holds)\\b)|(?:show me|show|find|locate|find out|figure out)\\s+(?=where\\b)";
const purpose = "(?:try|attempt|remember|make sure|be sure|continue|proceed)\\s+(?:to|that you|you)\\s+";
const instrument =
  "use (?:the |your )?(?:[\\w-]+\\s+)?tools?\\s+(?:to|and)\\s+(?=\\w)|us(?:e|ing) (?:the |your |a )?(?:shell|terminal|bash|command[- ]line|console|ls|read|write|edit|grep|glob|delete|web ?fetch|todo ?write)(?: tool)?(?:\\s+(?:to|and)(?:\\s+do)?|,)\\s+(?=\\w)";
const browsing =
  "(?:look|go) (?:through|in|into|at|over) (?:all )?(?:of )?(?:the |my |our |these |your )?(?:files|code|codebase|project|repo|workspace)(?:\\s+(?:and|to)|,)\\s+(?=\\w)";
const possible = "(?:is it possible|are you able|would it be possible|is there a way)(?: for you)? to\\s+";

/** What may be taken off the front, by its first word: a large pattern for all of them would cost every start. */
const leads: readonly [firstWords: string, lead: string][] = [
  ["can|could|will|won't|can't|couldn't", modal],
  ["would", `${possible}|${modal}`],
  ["i", `i wonder\\s+(?=\\w)|${wish}`],
  ["i'd|i'll|we|we'd", wish],
  ["i'm", `i'm curious(?: to know| about)?,?\\s+(?=what|which|where|how)|${wish}`],
  ["by", "by the way\\b[,:]?\\s+"],
  ["after", "after (?:that|this)\\b[,:]?\\s+"],
  ["when|once", "\\w+ done\\b[,:]?\\s+"],
  [
    "to",
    "to (?:start|begin)(?: with)?\\b(?:\\s*[,:!.]+\\s*|\\s+)|to\\s+(?=(?:read|list|show|create|run|write|find|search|delete|see|know|open)\\b)",
  ],
  ["step", "step \\d+\\b(?:\\s*[,:!.]+\\s*|\\s+)(?=\\S)"],
  ["start|begin", "\\w+(?:\\s+off|\\s+out)?\\s+(?:by|with)\\s+(?=\\w+ing\\b)"],
  ["need", "need(?: to| you to)?\\s+"],
  ["telling|showing|know|learn|tell|check|see|ask|wondering", wondering],
  ["find", `${wondering}|${whereabouts}`],
  ["show|locate|figure", whereabouts],
  ["in", "in (?:the|a|your|my) (?:shell|terminal|console|command line)[,:]?\\s+(?=\\w)"],
  ["remind", "remind me\\s*[,:]\\s*(?=\\S)"],
  ["look", browsing],
  ["go", `go ahead(?:\\s+and|,)?\\s+|go and\\s+|${browsing}`],
  [
    "let",
    `let us\\s+|let me\\s+(?=(?:(?:have|take|get) a (?:quick )?look|look at|read|view|peek|inspect|open)\\b)|lets?\\s+(?=\\w+ing\\b)|${wondering}`,
  ],
  ["let's|lets", "let'?s (?:start|begin)[,:]\\s+|let'?s\\s+"],
  ["open", "open(?: up)? and\\s+(?=(?:read|show|print|display|view)\\b)"],
  ["come", "come and\\s+"],
  ["try", `try\\s+(?=\\w+ing\\b)|${purpose}`],
  ["attempt|remember|make|be|continue|proceed", purpose],
  ["help", "help me(?: to)?\\s+"],
  ["do", "do me a favou?r(?:\\s+and|,|:)?\\s+|do an?\\s+(?=(?:find|search)\\b)"],
  ["your", "your (?:task|job|goal|mission) is to\\s+"],
  ["the", "the task(?: is)?(?: to|:)\\s+"],
  ["task", "task:\\s*"],
  ["you", "you (?:should|must|need to|have to|can|are to|will|may)\\s+(?:now\\s+|then\\s+|also\\s+)?"],
  ["is|are", possible],
  ["how", "how about\\s+"],
  ["what", "what about\\s+(?=\\w+ing\\b)|what i (?:want|need)(?: you to do)? is(?: to| for you to)?\\s+"],
  ["it", "it would be (?:great|nice|good) if you (?:could|would)\\s+"],
  ["mind", "mind\\s+(?=\\w+ing\\b)"],
  ["use|using", instrument],
];

const leadOf = (word: string): string | undefined => leads.find(([words]) => `|${words}|`.includes(`|${word}|`))?.[1];
const patterns = new Map<string, RegExp>();

/** Takes off "could you please …", at the front only. */
export function withoutPoliteness(text: string): string {
  return politely(text).rest;
}

/** `doubt`: what was taken off asks, wonders or doubts. `last`: the lead right before the rest. */
export function politely(text: string): { rest: string; last: string; doubt: boolean } {
  let rest = text.trim();
  let last = "";
  let doubt = false;
  while (true) {
    const bare = rest.replace(/^[\s.,;:!-]+/, "");
    if (bare === "") return { rest: text.trim(), last: "", doubt: false };
    const next = withoutLead(bare);
    if (next === undefined || next === "") return { rest: bare, last, doubt };
    last = bare.slice(0, bare.length - next.length);
    doubt ||= DOUBT().test(last.replace("’", "'")) && !(/^would (?:you|u)\b/i.test(last) && /\bplease\b/i.test(text));
    rest = next;
  }
}

function withoutLead(text: string): string | undefined {
  const word = /^[a-z'’]+/i.exec(text)?.[0].toLowerCase().replace("’", "'");
  if (word === undefined) return undefined;
  if (word === "hi" || word === "hello" || word === "hey") {
    const greeted = /^\w+\s+(?:there|courser|agent)\b[\s,!.]*/i.exec(text);
    if (greeted) return text.slice(greeted[0].length);
  }
  if (isAdverb(word)) {
    const adverb = /^\w+(?: of all)?\b(?:\s*[,:!.]+\s*|\s+)(?=\S)/i.exec(text);
    return adverb ? text.slice(adverb[0].length) : undefined;
  }
  const lead = leadOf(word);
  if (lead === undefined) return undefined;
  const pattern = patterns.get(lead) ?? new RegExp(`^(?:${lead})`, "i");
  patterns.set(lead, pattern);
  const found = pattern.exec(text.replace("’", "'"));
  return found ? text.slice(found[0].length) : undefined;
}

/** "with content: let a = 1;", "change Step two. to Step 2.": what the sentence ends with is a part of the text. */
export function endsInText(words: string): boolean {
  return (
    /[=({].*;$/.test(words) ||
    /([.!?;])\s+(?:with|to|by|into|becomes)\s+.*\1$/i.test(words) ||
    /:\s+["'(]?\p{Lu}[^.!?:]*\s[^.!?:]*[.!?]$/u.test(words)
  );
}

/** The last letters of what may be taken off: most orders end otherwise. */
const MAY_TRAIL = () =>
  /[^\w)\]\uE000-\uF8FF]$|[\s,](?:please|pls|plz|me|us|thanks?|you|lot|much|thx|can|could|would|mind|kind|possible|asap|advance|now|quick|quickly|away|else|ok|okay|right|too|again|immediately)$/i;

/** Takes off "… for me, please?", at the end only. */
export function withoutTail(text: string): string {
  const tail =
    /(?:[\s,]+(?:please|pls|plz|for me|for us|thanks?(?: you)?(?: a lot| so much| very much)?|thx|if you (?:can|could|would|don't mind)|if you(?:'d| would) be so kind|if you please|if possible|asap|in advance|right now|real quick|quickly|right away|will you|would you|can you|could you|and nothing else)|,\s*(?:ok|okay|right|now|too|again|immediately)|\s*(?<!\));|\s*[!?,:]+|(?<=[\w)\]*\uE000-\uF8FF])[.]+)\s*$/i;
  let before: string;
  let rest = text.trim();
  if (!MAY_TRAIL().test(rest)) return rest;
  if (endsInText(rest)) return rest;
  do {
    before = rest;
    rest = rest.replace(tail, "");
  } while (rest !== before && rest !== "");
  return rest;
}
