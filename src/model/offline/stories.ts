// Stories: "The build has been flaky all morning. Run the tests." What is only told before an order asks for nothing.
import { looksLikePath } from "./phrases.ts";
import { withoutPoliteness } from "./politeness.ts";
import { wordSet } from "./word-set.ts";

const isTeller = wordSet(
  "i i'm i've we we're we've my our the this it it's he he's she she's they they're there there's that's yesterday today nobody everybody everyone everything everything's someone somebody because since that a an",
);

/** A verb that tells; without one it may be a part of the order: "The others too." */
const TELLS = () =>
  /\b(?:is|are|was|were|am|isn't|aren't|wasn't|has|have|had|does|did|says|said|told|wants|means|uses?|likes?|loves?|hates?|works?|runs|lives?|knows?|keeps?|looks?|seems?|feels?|thinks?|got|wrote|broke|went|came|made|spent|left|forgot|found|lost|took|gave|knew|saw|heard|thought|bought|brought|felt|met|paid|sent|slept|won|\w{3,}ed)\b|\w['’](?:s|re|m|ve)\b/i;

/** Words that ask for something themselves, or take back, limit or put off what is asked for. */
const isNoStory = wordSet(
  "please should must shall ought need needs want wish wanna gotta let let's would could might may if unless until till when whenever whether once except but instead rather only also too same other others rest both either neither otherwise maybe perhaps suppose imagine pretend hypothetically example joke joking kidding wait stop undo revert cancel forget ignore keep leave first later then not no never none nothing without don't doesn't didn't won't can't cannot couldn't wouldn't shouldn't isn't aren't wasn't weren't haven't hasn't",
);

/** What a look at a file can do without: who cannot remember it may be shown it. */
const isDoubt = wordSet("not no never nothing when whether can't cannot didn't don't wasn't isn't");

/** `isEnded`: its sentence ends with it. */
export type Story = { words: string; isEnded: boolean };

/** A sentence that tells something: "I just got back." */
export function isStory(words: string): boolean {
  const bare = withoutPoliteness(words).trim();
  const first = /^[a-z'’]+/i.exec(bare)?.[0].toLowerCase().replace("’", "'") ?? "";
  return (
    isTeller(first) &&
    TELLS().test(bare) &&
    !/\?$/.test(bare) &&
    wordsOf(bare).every((word) => !isNoStory(word) || isDoubt(word))
  );
}

/** What speaks of words or of fiction: an order behind it may be a part of it. */
const isFiction = wordSet(
  "following title headline sentence phrase saying quote quoted text command commands instruction instructions message prompt rule rules advice motto song lyrics poem story game dream movie film book play riddle example",
);

/** Somebody's words: what follows in the same sentence may be theirs. */
const isSpeech = wordSet(
  "say says said saying tell tells told telling ask asks asked write writes wrote written read reads suggest suggests suggested recommend recommends recommended advise advised order ordered reply replied answered shout shouted think thinks thought called named order idea",
);

/**
 * A story that leaves an order to change something as it is: it names no file and no text, and denies nothing. Where
 * the order follows in the same sentence, nobody may be said to have given it: "He told me, delete a.txt".
 */
export function isHarmless({ words, isEnded }: Story): boolean {
  const all = wordsOf(withoutPoliteness(words));
  // "This was on the wall": what comes next.
  if (/^(?:it|this|that|there|these|those)(?:$|')/.test(all[0] ?? "") && !/^(?:so )?now that\b/i.test(words.trim()))
    return false;
  return all.every(
    (word) =>
      !isNoStory(word) &&
      !isFiction(word) &&
      !looksLikePath(word) &&
      !/[\uE000-\uF8FF]/.test(word) &&
      (isEnded || !isSpeech(word)),
  );
}

function wordsOf(text: string): string[] {
  return text
    .replaceAll("’", "'")
    .split(/[\s,;:!?()]+/)
    .map((word) => word.replace(/\.+$/, ""))
    .map((word) => (looksLikePath(word) ? word : word.toLowerCase()))
    .filter((word) => word !== "");
}
