// Talk: what is answered in words alone, from the conversation or from what the offline model is.
import { programName } from "../../../text/program-name.ts";
import { looksLikePath } from "../phrases.ts";
import { literalOf } from "../quotes.ts";
import type { ParsedSteps, PromptContext } from "../steps.ts";
import { firstFitting, fits, type Row } from "./rows.ts";

const WHAT_IT_IS =
  "the offline model built into Courser: no language model, only a fixed grammar that carries out plain instructions";

export function says(text: string): ParsedSteps {
  return [{ do: "say", text }];
}

/** As it would be said: no capitals, no mark at the end. */
export function plainly(words: string): string {
  return words
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/[\s.,!?]+$/, "")
    .trim();
}

const GREETING =
  "hi|hello|hey|hiya|howdy|yo|greetings|good_morning|good_afternoon|good_evening|good_day|hallo|sup [there|courser|cursor|agent|again|everyone|all|offline|model|friend|buddy|bot|assistant|you]*";

const greets = fits(GREETING);

/** A greeting and nothing else. */
export function isGreeting(words: string): boolean {
  return greets(plainly(words));
}

function goesOn({ asked }: PromptContext): ParsedSteps {
  const last = asked.at(-1);
  return says(
    last === undefined
      ? "There is nothing to continue yet. Tell me what to do."
      : `Your last message was "${last}", and nothing of it is left to do. Tell me what to do next.`,
  );
}

function help({ tools }: PromptContext): ParsedSteps {
  const own = tools.filter((tool) => tool.name.includes("-")).map((tool) => tool.name);
  return says(
    `I am ${WHAT_IT_IS}. I can do arithmetic; read, create, change, move and delete files; find files and text; run commands; keep a todo list; call a tool by name.

For example:
- what is 12 * (3 + 4)?
- read notes.md; show the first 5 lines of notes.md
- create a file called a.txt with text 'Hello'; append 'x' to a.txt
- replace 'foo' with 'bar' in a.txt; delete a.txt
- list all files; find files named *.ts; search for 'word' in src
- run git status; fetch https://example.com
- make a todo list: one, two; mark 1 as done; show my todos
- call the tool NAME with {"key": "value"}
- what was my last question?

Join several instructions with "then". Quote text that should stay together.${
      own.length > 0 ? ` Other tools here: ${own.slice(0, 20).join(", ")}.` : ""
    } For anything else, set up a model: '${programName()} help models'.`,
  );
}

const NOTHING_ASKED = "You have not asked anything before this: it is the first message of this conversation.";

function saidBefore({ asked }: PromptContext, thing: string, words: string): ParsedSteps {
  const isFirst = /\b(?:first|initial|original|beginning)\b/.test(words);
  const text = isFirst ? asked[0] : asked.at(-1);
  if (text === undefined) return says(NOTHING_ASKED);
  const noun = /^thing|^words?$/.test(thing) ? "message" : thing.replace(/ies$/, "y").replace(/s$/, "");
  return says(`Your ${isFirst ? "first" : "last"} ${noun} was "${text}"`);
}

function everything({ asked }: PromptContext): ParsedSteps {
  if (asked.length === 0) return says(NOTHING_ASKED);
  return says(`You have asked:\n${asked.map((text, index) => `${index + 1}. ${text}`).join("\n")}`);
}

function lastAnswer({ answered }: PromptContext): ParsedSteps {
  const last = answered.at(-1);
  return says(last === undefined ? "I have not answered anything before this." : `My last answer was "${last}"`);
}

const talkRows: Row[] = [
  [GREETING, () => says(`Hello! I am ${WHAT_IT_IS}. Say "help" to see what I can do.`)],
  [
    `how are you [doing] [today]
    how is it going
    how's it going
    what's up`,
    () => says(`I am fine, thank you. I am ${WHAT_IT_IS}.`),
  ],
  ["bye|goodbye|good_bye|good_night|see_you|see_you_later|exit|quit", () => says("Goodbye!")],
  [
    "thank|thanks|thank_you|thx|cheers|great|nice|ok|okay|cool|good_job|well_done|perfect [a_lot|so_much|very_much|you|job|work|all|model|for_that|for_your_help]*",
    () => says("You are welcome."),
  ],
  ["ping", () => says("pong")],
  [
    `test|testing|test_prompt|this_is_a_test|just_testing
    are you there|alive|working|awake|online|ready|ok
    do_you_work|does_this_work|is_this_on|is_this_thing_on|is_this_working|is_this_thing_working|can_you_hear_me|you_there|anyone_there`,
    () => says(`Yes, I am here. I am ${WHAT_IT_IS}.`),
  ],
  [
    `[please] help|help_me|help_please|usage|commands|options|capabilities|show_help|show_me_help|show_me_the_help|get_help|i_need_help|/help|?
    [so] what can|could|do|are_you_able_to|will|would|else_can [you|i|we|this|it] [do|ask|help|understand|support|offer|handle|know|tell_you|say|type|use] [for_me|here|you|you_to_do|me_with|with|right_now|offline|to_you|do|exactly|without_a_model]*
    what are|is your|the <abilities> [you_have|you_support|you_understand]
    which|what command|commands|instruction|instructions|things|requests|kind_of_things|kinds_of_things|kind_of_instructions|kinds_of_instructions|prompts|tasks|sentences|tools|verbs do|can|are|could|will you|i|available|we [understand|do|know|support|have|use|handle|follow|carry_out|give|ask|available|run|access|to_you]* [to|for]
    list|show|show_me|tell_me|tell_me_about|describe|explain [me] [all] your|the|what <abilities>|you_can_do|available_tools|available_commands|your_tools|can_you_do
    how can|could|do|will|would you help|help_me|assist|assist_me|work|be_of_help [me]
    how do|can|should i use you|this|it`,
    (_, scene) => help(scene),
  ],
  [
    `who|what are|r you|u [exactly|really]
    who|what am i talking|speaking|chatting to|with
    which|what [ai|language|llm|kind_of|type_of|sort_of]* model|llm|ai|assistant|agent [are|is|am|do|have|does|powers|power|runs|run|answers|answer] [you|this|i|it|we|that|running|using|me|answering|here] [use|using|running|talking_to|speaking_to|speaking_with|talking_with|on|powered_by|chatting_with|based_on|have|here|right_now|answering_me|this|being_used]*
    which|what version are|is|do you|this|courser [have|running|using]
    what's|what_is|tell_me|say your_name|your_model|your_version|your_model_name|the_model|the_current_model|the_name_of_the_model|the_name_of_this_model|the_name_of_your_model|this_model [called]
    introduce|identify yourself
    tell me about_yourself|who_you_are|what_you_are|which_model_you_are|what_model_you_are|what_model_this_is|something_about_yourself
    are you [a|an|the] ai|real|human|bot|robot|person|llm|chatgpt|gpt|gpt-\\d|claude|gemini|real_model|language_model|large_language_model|model|offline|offline_model|online|cursor|courser|machine|real_person|sonnet|opus|local_model [model]
    is this [a|an|the] ai|real_model|offline_model|offline|llm|claude|gpt|chatgpt|cursor|courser|demo|mock
    do you have a name`,
    () =>
      says(
        `I am ${WHAT_IT_IS}. I run inside Courser, without a network and without an account. To use a real model, set a key such as ANTHROPIC_API_KEY or run '${programName()} login'.`,
      ),
  ],
  [
    `continue|go_on|proceed|carry_on|keep_going|resume|let's_continue|next|go_ahead [please|where_we_left_off|where_you_left_off|from_where_we_left_off|from_there|from_here]
    continue|resume [with] [the|our|this] conversation|chat|session|work|task [please|where_we_left_off|where_you_left_off]`,
    (_, scene) => goesOn(scene),
  ],
  [
    `[<again>]* [<what-was>] my|the last|previous|prior|preceding|most_recent|latest|earlier|first|initial|very_first|original|former THING [<said>|was|again|to_you|before|before_this|before_this_one|in_this_conversation|in_our_conversation|in_this_chat|in_our_chat|in_this_session|in_our_session]*
    [<again>]* [<what-was>] my THING [<said>|was|again|to_you|before|before_this|before_this_one]*
    [<again>]* what|what's|what_was|what_is [the] THING [that] i|did_i [just] asked|ask|said|say|gave|give|sent|send [you] [before|last|previously|earlier|first] [this|this_one]
    [<again>]* what|which THING did|have i [just|last] ask|asked|say|give|given|send|sent|type|typed|write|wrote [you] [last|before|first|earlier|previously|just_now] [this|this_one|that]`,
    ({ thing }, scene, words) => saidBefore(scene, thing, words),
  ],
  [
    `[<again>]* what have i <asked> [you] [to_do] [about|for] [so_far|until_now]*
    [<again>]* what did i <asked> [you] [to_do] so_far|until_now
    [<again>]* [all|all_of] my|the [previous|earlier|prior|last] questions|messages|prompts [so_far|again]
    [<again>]* what have_we|did_we talked|talk|discussed|discuss|spoken|been_talking [about] [so_far|before|earlier]
    [<again>]* our|the|this conversation [so_far|history]`,
    (_, scene) => everything(scene),
  ],
  [
    `[<again>]* what did|have|had|was_it_that|was i [just|last|previously|already] <asked> [you] [to_do] [about|for] [you] [<ago>]*
    [<again>]* what i|i've|i_have [just|last|previously] asked|said|told_you|wrote|typed [you] [<ago>|to_do]*`,
    (_, scene, words) => saidBefore(scene, /\b(?:ask|request|want)/.test(words) ? "question" : "message", words),
  ],
  [
    `[<again>]* [<what-was>] your|the last|previous|prior|latest|most_recent|earlier answer|answers|reply|replies|response|responses|message|messages|output|outputs|result|results|statement [again|before|to_me|you_gave]*
    [<again>]* what did|have|had you [just|previously] say|said|answer|answered|reply|replied|tell_me|respond|write [<ago>|to_that]*
    repeat|say that|yourself|what_you_said|what_you_just_said [again]`,
    (_, scene) => lastAnswer(scene),
  ],
];

export const quotedRow: Row = [
  "show|show_me|reveal|spit_out|display|print|print_out|output|type|type_out|dump|give_me|present|tell_me|let_me_know|tell_us QUOTED",
  ({ quoted }, { masked }, words) =>
    literalOf(masked, words.trim().slice(-1))?.kind !== "quote" || looksLikePath(quoted.replaceAll(" ", "_"))
      ? undefined
      : says(quoted),
];

const spoken = firstFitting(talkRows);

/** Whole clauses that are small talk, or ask about the model or the conversation. */
export function talk(words: string, scene: PromptContext): ParsedSteps {
  return words.length > 120 ? undefined : spoken(plainly(words), scene);
}
