// Commits, branches, and what git has to tell.
import { shellWord } from "../moving.ts";
import { isDescription, type Pattern } from "../patterns.ts";
import type { ParsedSteps, PromptContext } from "../steps.ts";

const ALL_CHANGES =
  "everything|all|all_changes|all_my_changes|all_the_changes|the_changes|the_change|my_changes|changes|these_changes|all_of_it|all_files|all_the_files";

const WITH_MESSAGE = "[with|using|with_the|with_a|under|under_the] [the] [commit] message|message: [of|saying|:]";

const SHOW = "show|show_me|print|display|list|give_me|see|view|check|what_is|what's|whats|tell_me|get";

const commit = (message: string): ParsedSteps => [
  { do: "run", command: `git add -A && git commit -m ${shellWord(message)}` },
];

const git = (command: string): ParsedSteps => [{ do: "run", command: `git ${command}` }];

/** The files that the steps before this one have changed: "commit it". */
function changedPaths(scene: PromptContext): string[] {
  const paths = scene.steps.map((step) =>
    /^(?:write|append|replace|delete|lines|value|entry)$/.test(step.do) && "path" in step ? step.path : undefined,
  );
  return paths.every((path) => path !== undefined) ? [...new Set(paths)] : [];
}

function staged(paths: string[]): ParsedSteps {
  return paths.length === 0 ? undefined : git(`add -- ${paths.map(shellWord).join(" ")}`);
}

function commitChanged(message: string, scene: PromptContext): ParsedSteps {
  const files = changedPaths(scene).map(shellWord).join(" ");
  return files === "" ? undefined : git(`add -- ${files} && git commit -m ${shellWord(message)} -- ${files}`);
}

export const gitRows: Pattern[] = [
  [`commit|git_commit [${ALL_CHANGES}] ${WITH_MESSAGE} SENTENCE`, ({ sentence }) => commit(sentence)],
  [`commit|git_commit ${ALL_CHANGES} QUOTED`, ({ quoted }) => commit(quoted)],
  [`commit|git_commit [${ALL_CHANGES}] as|: QUOTED`, ({ quoted }) => commit(quoted)],
  [
    `make|create|do a [git|new] commit [of|with] [${ALL_CHANGES}] ${WITH_MESSAGE} SENTENCE`,
    ({ sentence }) => commit(sentence),
  ],
  [`make|create|do a [git|new] commit ${WITH_MESSAGE} SENTENCE`, ({ sentence }) => commit(sentence)],
  [
    `stage|add|git_add [${ALL_CHANGES}] and commit [it|them|${ALL_CHANGES}] ${WITH_MESSAGE} SENTENCE`,
    ({ sentence }) => commit(sentence),
  ],
  [
    `commit|git_commit [the|only] [file] FILE ${WITH_MESSAGE} SENTENCE`,
    ({ file, sentence }) =>
      git(`add -- ${shellWord(file)} && git commit -m ${shellWord(sentence)} -- ${shellWord(file)}`),
  ],
  [
    `commit|git_commit it|this|that|them|the_file|the_new_file ${WITH_MESSAGE} SENTENCE`,
    ({ sentence }, scene) => commitChanged(sentence, scene),
  ],
  [
    `commit|git_commit it|this|that|them|the_file|the_new_file as|: QUOTED`,
    ({ quoted }, scene) => commitChanged(quoted, scene),
  ],
  ["git_add|stage it|this|that|them|the_file|the_new_file", (_, scene) => staged(changedPaths(scene))],
  ["git_add|stage FILE", ({ file }) => staged([file])],
  [`git_add|stage ${ALL_CHANGES}`, () => git("add -A")],
  [
    "create|make|start|add a|the [new] [git] branch [called|named] KEY",
    ({ key }) => (isDescription(key) ? undefined : git(`switch -c ${shellWord(key)}`)),
  ],
  ["switch|change|go to a new [git] branch [called|named] KEY", ({ key }) => git(`switch -c ${shellWord(key)}`)],
  ["have|did i|we changed|change anything|something [since_the_last_commit]", () => git("status")],
  [`${SHOW} the [current] state|status of [the] repo|repository|project|git|working_tree`, () => git("status")],
  ["who made|wrote|did|created|authored [the] last|latest commit", () => git("log -1")],
  ["when was the last|latest commit [made]", () => git("log -1")],
  ["how many commits are_there|are_in_this_repo|do_we_have|have_been_made [here]", () => git("rev-list --count HEAD")],
  ["[the|my] current [git] branch", () => git("branch --show-current")],
  ["is there anything|something uncommitted|to_commit|unstaged", () => git("status")],
  ["any uncommitted|unstaged|unsaved changes [here]", () => git("status --short --branch")],
  ["are there any|some [uncommitted|unstaged|local] changes", () => git("status --short --branch")],
  ["are there [uncommitted|unstaged|local] changes", () => git("status --short --branch")],
  ["is the working_tree|working_directory|repo|repository|workspace clean", () => git("status")],
  ["what|which files changed|have_changed|has_changed|did_i_change|were_changed|was_changed", () => git("status")],
  ["what changed|has_changed|have_i_changed|did_i_change", () => git("status")],
  [`${SHOW} [the] [current] git status`, () => git("status")],
  [`${SHOW} [the] status of git|the_repo|the_repository|the_working_tree`, () => git("status")],
  [`${SHOW} [the] git log|history`, () => git("log")],
  [`${SHOW} [the] commit history|log`, () => git("log")],
  [`${SHOW} [all] [the] commits`, () => git("log --oneline")],
  [`${SHOW} [me] [the] last|latest|most_recent commit [message]`, () => git("log -1")],
  ["what was [the] last|latest commit [message]", () => git("log -1")],
  [`${SHOW} [the] [git] diff`, () => git("diff")],
  ["which|what branch am_i_on|are_we_on|is_this|is_checked_out|is_active", () => git("branch --show-current")],
  [`${SHOW} [the] [name_of_the] current [git] branch`, () => git("branch --show-current")],
  [`${SHOW} [all] [the] [git] branches`, () => git("branch")],
];
