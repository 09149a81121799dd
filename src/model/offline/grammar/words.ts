// Words that several rows of the grammar share, written `<name>` there: what means the same stands between bars.

export const words: Record<string, string> = {
  remove:
    "remove|delete|drop|erase|cut|get_rid_of|take_out|strip|kill|ditch|nuke|scrap|del|throw_out|throw_away|wipe_out|trash|eliminate|rm|rm_-r|rm_-rf",
  change: "change|set|replace|rewrite|update|edit|turn|overwrite",
  set: "change|set|update|upgrade|bump|modify|edit|switch|raise|lower|increase|decrease",
  insert: "insert|add|put|place|write",
  run: "run|execute|start|launch|do|kick_off|fire_up|rerun|re-run|trigger",
  commit: "commit|git_commit",
  of: "of|from|in",
  in: "in|of|inside|from",
  what: "what|what's|whats|which|what_is|what_are|which_is|which_are|tell_me|show|show_me|get|print|read|list|give_me",
  show: "show|show_me|print|display|list|give_me|see|view|check|what_is|what's|whats|tell_me|get",
  many: "how_many|count|count_the|count_all|count_all_the|number_of|count_how_many",
  here: "here|in_here|in_the_code|in_the_codebase|in_this_folder|in_this_directory|in_this_project|in_the_project|in_the_workspace|in_total|altogether|in_this_repo|recursively|everywhere|in_all_folders|in_all_subfolders|including_subfolders|including_the_subfolders|subfolders_included|in_this_project_subfolders_included|including_those_in_subfolders|in_this_project_including_subfolders|in_the_project_including_subfolders|in_this_project_also_the_ones_in_subfolders|here_including_subfolders|also_in_subfolders|and_its_subfolders",
  "with-all":
    "and_everything_in_it|and_its_contents|and_all_its_contents|and_all_files_in_it|with_everything_in_it|with_all_its_contents|recursively|and_everything_inside|and_all_its_files|including_its_contents|with_all_its_files|and_all_of_its_files|with_its_contents|and_the_files_in_it",
  project: "this|the|our|my project|package|app|repo|repository",
  noun: "field|value|key|number|setting|property|option|entry|flag|mode",
  field: "field|key|setting|property|option|entry",
  called: "called|named",
  folder: "folder|directory",
  files: "file|files|scripts|documents",
  all: "all|every|all_of|all_my|each|all_of_the|all_the|both",
  holding:
    "containing|that_contains|which_contains|that_has|mentioning|that_mentions|with_the_word|containing_the_word|that_contains_the_word|with|that_include|that_contain|that_mention",
  "a-line": "[a_line|the_line|a_new_line]",
  "new-line": "a|the [new] line [saying|that_says|with|with_the_text|reading]",
  item: "bullet|bullet_point|item|task|todo|to-do|entry|todo_item|list_item|point|bullet_item|checklist_item",
  mark: "comments|comment|left|notes",
  changes:
    "everything|all|all_changes|all_my_changes|all_the_changes|the_changes|the_change|my_changes|changes|these_changes|all_of_it|all_files|all_the_files",
  it: "it|this|that|them|the_file|the_new_file",
  abilities:
    "capability|capabilities|skill|skills|abilities|features|function|functions|tools|commands|limits|limitations|options",
  again:
    "can_you|could_you|do_you|would_you|will_you|still|please|remember|recall|tell_me|remind_me|remind_me_of|repeat|show_me|show|say|know|give_me|print|tell_us|quote|restate|me|again",
  "what-was": "what|which|what's|whats|what_is|what_was|what_were|which_is|which_was",
  said: "i_asked|i_said|i_wrote|i_gave|i_sent|i_typed|i_had|i_asked_you|i_gave_you|i_sent_you",
  asked: "ask|asked|say|said|type|typed|write|written|wrote|tell_you|told_you|request|requested|want|asking|saying",
  ago: "before|just_now|last|previously|earlier|a_moment_ago|just|in_my_last_message|in_my_last_prompt|the_last_time|last_time|just_before|first|at_first|in_the_beginning|before_this|before_that|before_now",
  answer: "reply|respond|answer|output|print|say|return|give|show|tell|write",
  plain: "final|resulting|raw|plain|single|bare|numeric|numerical",
  result: "number|result|answer|digit|digits|value|output|content|contents|text",
  often: "how_many_times|how_often|count_how_often|count_how_many_times",
  "the-word": "the_word|the_string|the_text|the_phrase|the_term",
  appear: "appear|appears|occur|occurs|show_up|shows_up|used|mentioned|come_up|comes_up|exist|exists|present|found",
  occurrences: "times|occurrences|occurrence|instances|instance|matches|mentions|uses",
  check: "check|verify|confirm|see|test|determine|find_out|tell_me",
  whether: "if|whether|that",
  is_there:
    "exists|exist|is_there|is_present|is_here|is_in_this_folder|is_in_the_folder|is_in_this_project|is_in_the_project",
  running: "running|executing|calling|the_shell_command|the_bash_command|the_command|command",
  write: "write|write_down|save|put|store|record|place|log|dump|jot_down|note_down",
  new: "create|make|generate|put_together|whip_up|start|set_up|build|produce|prepare|initialize|new|add",
  message: "[with|using|with_the|with_a|under|under_the] [the] [commit] message|message: [of|saying|:]",
};

export const isSettings = (file: string): boolean =>
  /\.(?:json|jsonc|ya?ml|toml|ini|env|cfg|conf|config|properties)$|(?:^|\/)\.env/i.test(file);
