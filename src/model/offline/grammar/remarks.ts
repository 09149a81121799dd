// Remarks: what says how to answer, not what to do.
import { fits } from "./rows.ts";

const showsResult = fits(
  "[and|then|also|please]* show|print|display|give|read [me|us] [back] [the|its] [final|full|whole|new] result|outcome|content|contents [to_me|back|afterwards|please]",
);

/** "… and show me the result". */
export function asksForResult(text: string): boolean {
  return showsResult(text.trim().replace(/[\s.!]+$/, ""));
}

/** What must not be done is another matter, and is not passed over. */
const remarks = fits(
  `thank|thanks|thank_you|thx|cheers|that's_it|that's_all|that_is_all|nothing_else|nothing_more|ok|okay|good_luck|great [a_lot|so_much|very_much|in_advance|please|you]
  do_not|don't|dont|without|avoid explain|explaining|comment|commenting|say|saying|print|printing|ask|asking|worry|worrying|wrap|be|add|adding|include|including|write|writing|use [me|any|anything|else|explanation|explanations|comment|comments|commentary|text|words|about_it|more|markdown|block|blocks|quotes|extra|further|questions|too|verbose|output|preamble]*
  do_not|don't|dont|without do|change|changing|touch|touching|modify|modifying anything_else|any_other_file|any_other_files|other_files|the_other_files|the_rest
  be|keep_it|stay|make_it [very] brief|concise|short|quick|terse|simple|careful [and] [WORD]
  no [other|additional|extra] explanation|explanations|commentary|comments|preamble|words|text|prose [needed|please|necessary|or|WORD]*
  no need to REST
  no other REST
  [<answer>] [me] [back] [with] only|just|nothing_but [with] the|a|its|that [<plain>]* <result>|file_name|file_names|filename|filenames|names [and] [nothing_else|nothing_more|please]
  <answer> [me] [back] [with] the|a|its|that [<plain>]* <result> only|alone|and_nothing_else|and_nothing_more [please]
  show|tell|give|print|report|display [me|us] [back] [the|its|your] [final|full|whole] result|results|output|outcome|answer|answers|findings|matches|what_happens|what_happened [to_me|back]
  show|tell|give|print|report|display [me|us] [back] what it|that|this says|prints|printed|outputs|output|contains|returns|returned|shows|said [to_me|back]
  show|tell|give|print|report|display [me|us] [back] what you find|found|see|get|got [to_me|back]
  [hey|hi] sorry [to_bother_you|for_the_trouble] [again]
  [hey|hi] quick_question|one_more_thing|one_more_question|no_rush|no_hurry|long_story_short|you_know_what
  tell|show|give me [the|their] line number|numbers [too|as_well]
  [only] use [only] [the|your] WORD tool [only] [for_this|for_that]
  report|tell_me|let_me_know|confirm [back|it|when_done|once_done|if_it_worked|that_it_worked|how_it_went|how_it_goes]*
  report|tell_me|let_me_know|confirm [back] when it's|it_is|you're|you_are|that's done|finished|ready`,
);

export function isRemark(text: string): boolean {
  return remarks(
    text
      .trim()
      .toLowerCase()
      .replace(/(?:[.!?,\s]+|,?\s+(?:please|pls|thanks|thank you))+$/, "")
      .replace(/^(?:please|and|but|also|then|so|just(?! (?:the|a|its|that)\b))\s+/, ""),
  );
}
