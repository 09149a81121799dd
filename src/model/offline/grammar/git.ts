// Commits, branches, and what git has to tell.
import { shellWord } from "../moving.ts";
import type { ParsedSteps, PromptContext } from "../steps.ts";
import { isDescription, type Row } from "./rows.ts";

const git = (command: string): ParsedSteps => [{ do: "run", command: `git ${command}` }];

const commit = (message: string): ParsedSteps => git(`add -A && git commit -m ${shellWord(message)}`);

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

function commitOnly(paths: string[], message: string): ParsedSteps {
  const files = paths.map(shellWord).join(" ");
  return files === "" ? undefined : git(`add -- ${files} && git commit -m ${shellWord(message)} -- ${files}`);
}

export const gitRows: Row[] = [
  [
    `<commit> [<changes>] <message> SENTENCE
    make|create|do a [git|new] commit [of|with] [<changes>] <message> SENTENCE
    stage|add|git_add [<changes>] and commit [it|them|<changes>] <message> SENTENCE`,
    ({ sentence }) => commit(sentence),
  ],
  [
    `<commit> <changes> QUOTED
    <commit> [<changes>] as|: QUOTED`,
    ({ quoted }) => commit(quoted),
  ],
  ["<commit> [the|only] [file] FILE <message> SENTENCE", ({ file, sentence }) => commitOnly([file], sentence)],
  ["<commit> <it> <message> SENTENCE", ({ sentence }, scene) => commitOnly(changedPaths(scene), sentence)],
  ["<commit> <it> as|: QUOTED", ({ quoted }, scene) => commitOnly(changedPaths(scene), quoted)],
  ["git_add|stage <it>", (_, scene) => staged(changedPaths(scene))],
  ["git_add|stage FILE", ({ file }) => staged([file])],
  ["git_add|stage <changes>", () => git("add -A")],
  [
    `create|make|start|add a|the [new] [git] branch [<called>] KEY
    switch|change|go to a new [git] branch [<called>] KEY`,
    ({ key }) => (isDescription(key) ? undefined : git(`switch -c ${shellWord(key)}`)),
  ],
  [
    `have|did i|we changed|change anything|something [since_the_last_commit]
    <show> the [current] state|status of [the] repo|repository|project|git|working_tree
    is there anything|something uncommitted|to_commit|unstaged
    is the working_tree|working_directory|repo|repository|workspace clean
    what|which files changed|have_changed|has_changed|did_i_change|were_changed|was_changed
    what changed|has_changed|have_i_changed|did_i_change
    <show> [the] [current] git status
    <show> [the] status of git|the_repo|the_repository|the_working_tree`,
    () => git("status"),
  ],
  [
    `any uncommitted|unstaged|unsaved changes [here]
    are there [any|some] [uncommitted|unstaged|local] changes`,
    () => git("status --short --branch"),
  ],
  [
    `who made|wrote|did|created|authored [the] last|latest commit
    when was the last|latest commit [made]
    <show> [me] [the] last|latest|most_recent commit [message]
    what was [the] last|latest commit [message]`,
    () => git("log -1"),
  ],
  ["how many commits are_there|are_in_this_repo|do_we_have|have_been_made [here]", () => git("rev-list --count HEAD")],
  [
    `<show> [the] git log|history
    <show> [the] commit history|log`,
    () => git("log"),
  ],
  ["<show> [all] [the] commits", () => git("log --oneline")],
  ["<show> [the] [git] diff", () => git("diff")],
  [
    `[the|my] current [git] branch
    which|what branch am_i_on|are_we_on|is_this|is_checked_out|is_active
    <show> [the] [name_of_the] current [git] branch`,
    () => git("branch --show-current"),
  ],
  ["<show> [all] [the] [git] branches", () => git("branch")],
];
