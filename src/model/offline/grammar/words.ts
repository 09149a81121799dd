// Words that several parts of the grammar share: what means the same stands between bars.

export const REMOVE =
  "remove|delete|drop|erase|cut|get_rid_of|take_out|strip|kill|ditch|nuke|scrap|del|throw_out|throw_away|wipe_out|trash|eliminate|rm|rm_-r|rm_-rf";

export const CHANGE = "change|set|replace|rewrite|update|edit|turn|overwrite";

export const SET = "change|set|update|upgrade|bump|modify|edit|switch|raise|lower|increase|decrease";

export const OF = "of|from|in";

export const IN = "in|of|inside|from";

export const WHAT =
  "what|what's|whats|which|what_is|what_are|which_is|which_are|tell_me|show|show_me|get|print|read|list|give_me";

export const HOW_MANY = "how_many|count|count_the|count_all|count_all_the|number_of|count_how_many";

export const HERE =
  "here|in_here|in_the_code|in_the_codebase|in_this_folder|in_this_directory|in_this_project|in_the_project|in_the_workspace|in_total|altogether|in_this_repo|recursively|everywhere|in_all_folders|in_all_subfolders|including_subfolders|including_the_subfolders|subfolders_included|in_this_project_subfolders_included|including_those_in_subfolders|in_this_project_including_subfolders|in_the_project_including_subfolders|in_this_project_also_the_ones_in_subfolders|here_including_subfolders|also_in_subfolders|and_its_subfolders";

export const isSettings = (file: string): boolean =>
  /\.(?:json|jsonc|ya?ml|toml|ini|env|cfg|conf|config|properties)$|(?:^|\/)\.env/i.test(file);
