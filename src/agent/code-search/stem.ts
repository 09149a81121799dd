// Stems English words by Porter's rules: "retries", "retried" and "retrying" become one word.
import { list } from "../../text/words.ts";

const vowelRun = "(?:[aeiou]|(?<=[^aeiou])y)[aeiouy]*";
const consonantRun = "[^aeiou][^aeiouy]*";
/** Matches words with at least one vowel followed by a consonant. Shorter words keep their endings. */
const hasMeasure = new RegExp(`^(?:${consonantRun})?${vowelRun}${consonantRun}`);
const hasTwoMeasures = new RegExp(`^(?:${consonantRun})?${vowelRun}${consonantRun}${vowelRun}${consonantRun}`);
const hasOneMeasure = new RegExp(`^(?:${consonantRun})?${vowelRun}${consonantRun}(?:${vowelRun})?$`);
const hasVowel = new RegExp(`^(?:${consonantRun})?(?:[aeiou]|(?<=[^aeiou])y)`);
const endsShort = new RegExp(`^${consonantRun}[aeiouy][^aeiouwxy]$`);

/** Word endings and what the stemmer replaces each of them with. */
const longEndings = parseEndings(`
  ational:ate ization:ize fulness:ful ousness:ous iveness:ive tional:tion biliti:ble entli:ent ousli:ous ation:ate
  alism:al aliti:al iviti:ive enci:ence anci:ance izer:ize alli:al ator:ate logi:log bli:ble eli:e`);

const middleEndings = parseEndings("icate:ic ative: alize:al iciti:ic ical:ic ness: ful:");

const lastEndings =
  /^(.+?)(?:(?<=[st])ion|al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/;

/** Irregular word forms: each row lists a word and the forms that are reduced to it. */
const irregular = new Map(
  (
    "arise arose arisen | awake awoke | become became | begin began begun | bend bent | bind bound | bite bit bitten | blow blew blown | " +
    "break broke broken | bring brought | build built | buy bought | catch caught | choose chose chosen | cling clung | come came | " +
    "creep crept | deal dealt | dig dug | do did done does | draw drew drawn | drive drove driven | eat ate eaten | fall fell fallen | " +
    "feed fed | feel felt | fight fought | find found | flee fled | fly flew flown | forbid forbade forbidden | forget forgot forgotten | " +
    "forgive forgave forgiven | freeze froze frozen | get got gotten | give gave given | go went gone goes | grind ground | grow grew grown | hang hung | " +
    "have had | hear heard | hide hid hidden | hold held | keep kept | know knew known | lay laid | lead led | " +
    "leave left | lend lent | lose lost | make made | mean meant | meet met | override overrode overridden | pay paid | " +
    "rebuild rebuilt | redo redid redone redoes | rewrite rewrote rewritten | ride rode ridden | ring rang rung | rise rose risen | run ran | say said | " +
    "see saw seen | seek sought | sell sold | send sent | shake shook shaken | shine shone | show showed shown | shrink shrank shrunk | " +
    "sing sang sung | sink sank sunk | sit sat | sleep slept | slide slid | speak spoke spoken | spend spent | spin spun | " +
    "spring sprang sprung | stand stood | steal stole stolen | stick stuck | strike struck | strip stripped | swap swapped | swear swore sworn | " +
    "swing swung | take took taken | teach taught | tear tore torn | tell told | think thought | throw threw thrown | understand understood | " +
    "undo undid undone undoes | wake woke woken | wear wore worn | wind wound | withdraw withdrew withdrawn | write wrote written | child children | index indices indexes | " +
    "vertex vertices | matrix matrices | leaf leaves | half halves | datum data | criterion criteria | analysis analyses | person people | " +
    "life lives | query queries | axis axes | schema schemata schemas"
  )
    .split(" | ")
    .flatMap((group) => {
      const [base = "", ...forms] = group.split(" ");
      return forms.map((form) => [form, base] as const);
    }),
);

/** Reduces an English word to its stem. `word` must be in lower case. */
export function stem(word: string): string {
  return regularStem(irregular.get(word) ?? word);
}

function regularStem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let text = word.startsWith("y") ? `Y${word.slice(1)}` : word;
  text = text.replace(/^(.*)(?:(ss)es|(i)es|([^s])s)$/, "$1$2$3$4");
  text = withoutPast(text);
  if (/y$/.test(text) && hasVowel.test(text.slice(0, -1))) text = `${text.slice(0, -1)}i`;
  text = replaceEnding(text, longEndings);
  text = replaceEnding(text, middleEndings);
  const [, base] = lastEndings.exec(text) ?? [];
  if (base !== undefined && hasTwoMeasures.test(base)) text = base;
  if (text.endsWith("e")) {
    const rest = text.slice(0, -1);
    if (hasTwoMeasures.test(rest) || (hasOneMeasure.test(rest) && !endsShort.test(rest))) text = rest;
  }
  if (text.endsWith("ll") && hasTwoMeasures.test(text)) text = text.slice(0, -1);
  return text.toLowerCase();
}

/** Removes -eed, -ed and -ing, and restores the base form. */
function withoutPast(text: string): string {
  if (text.endsWith("eed")) return hasMeasure.test(text.slice(0, -3)) ? text.slice(0, -1) : text;
  const [, base] = /^(.+)(?:ed|ing)$/.exec(text) ?? [];
  if (base === undefined || !hasVowel.test(base)) return text;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (/([^aeiouylsz])\1$/.test(base)) return base.slice(0, -1);
  return endsShort.test(base) ? `${base}e` : base;
}

function parseEndings(pairs: string): [ending: string, short: string][] {
  return list(pairs).map((pair) => pair.split(":") as [string, string]);
}

function replaceEnding(text: string, endings: readonly [string, string][]): string {
  const found = endings.find(([ending]) => text.endsWith(ending));
  if (!found) return text;
  const base = text.slice(0, -found[0].length);
  return hasMeasure.test(base) ? base + found[1] : text;
}
