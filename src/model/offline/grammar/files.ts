// Files and folders as wholes: named, moved, copied, made, taken away.
import { isKnownFolder, madeFolder, moved, shellWord } from "../moving.ts";
import { joinPath, trimSlash } from "../phrases.ts";
import type { ParsedSteps } from "../steps.ts";
import { isDescription, type Row } from "./rows.ts";

function withoutFolder(key: string): ParsedSteps {
  const path = trimSlash(key);
  if (/^[/~.-]|\.\.|^(?:the|this|that|current|whole|my|new|empty|old|project|home|working|root)$/i.test(path))
    return undefined;
  return [{ do: "run", command: `rm -r -- ${shellWord(path)}`, done: `Deleted the folder ${path}.` }];
}

function folderMade(name: string): ParsedSteps {
  return isDescription(name) ? undefined : madeFolder(trimSlash(name));
}

function renamed(file: string, target: string): ParsedSteps {
  return moved({ path: file, folder: false }, { path: target, folder: false }, "rename");
}

function copied(file: string, target: string): ParsedSteps {
  return moved({ path: file, folder: false }, { path: target, folder: false }, "copy");
}

/** `isThere`: the folder is not made. */
function into(file: string, folder: string, verb: "move" | "copy", isThere = true): ParsedSteps {
  return moved({ path: file, folder: false }, { path: trimSlash(folder), folder: true, isThere }, verb);
}

const newFile = (path: string, content = ""): ParsedSteps => [{ do: "write", path, content, isNew: true }];

export const wholeFileRows: Row[] = [
  [
    `<remove> [the|my] [whole|entire] KEY <folder> [<with-all>]
    <remove> [the|my] [whole|entire] <folder> [<called>] KEY [<with-all>]`,
    ({ key }) => withoutFolder(key),
  ],
  [
    `tree
    [give_me|show|show_me|print|display|draw] a|the [file|directory|folder] tree [of] [the_project|this_project|this_folder|the_files|everything|the_whole_project]
    show|show_me|list [me] all|every [the] files|file [in_the_project|here|in_this_project] with|including|and [the|all] subfolders [too|included]`,
    () => [{ do: "find", pattern: "**/*" }],
  ],
  [
    `TAKE FILE [file] to|into|in [the|a] [new] KEY <folder>
    TAKE FILE to|into|in the|a [new] <folder> [<called>] KEY`,
    ({ take, file, key }, _, words) => into(file, key, take, isKnownFolder(words)),
  ],
  [
    `back_up|backup|make_a_backup_of|make_a_copy_of|create_a_copy_of|create_a_backup_of|save_a_copy_of|make_a_duplicate_of FILE to|as|called|named|in|under|and_call_it|under_the_name TARGET
    [make|create|want] a [second] copy of FILE named|called|as TARGET
    copy [the] [file] FILE the_copy's_name_is|and_call_the_copy|and_name_the_copy|and_name_it|and_call_it TARGET
    duplicate|copy|clone FILE [and] call|name it|the_copy TARGET`,
    ({ file, target }) => copied(file, target),
  ],
  [
    `change|set the [file] name of [the] [file] FILE to|into TARGET
    [the] [file] FILE should|must|shall be called|named|renamed_to TARGET [instead|from_now_on]
    make FILE be named|called TARGET
    call|name FILE TARGET [from_now_on|instead]
    FILE ->|=>|→ TARGET rename|move
    FILE to_be called|named|renamed_to TARGET
    give FILE the [new] name TARGET`,
    ({ file, target }) => renamed(file, target),
  ],
  [
    "change [the] [file] extension of FILE to|into KIND",
    ({ file, kind }) => renamed(file, file.replace(/(?:\.\w+)?$/, `.${kind.replace(/^\./, "")}`)),
  ],
  [
    `stick|put|place|drop a copy of FILE in|into|inside FOLDER
    make|create|put a copy|backup of FILE in|into|inside FOLDER`,
    ({ file, folder }) => into(file, folder, "copy"),
  ],
  [
    `put|stick|place|drop FILE in|into|inside FOLDER
    move|put FILE inside|under FOLDER`,
    ({ file, folder }) => (/\.\w+$/.test(folder) ? undefined : into(file, folder, "move")),
  ],
  [
    "move|put FILE to|into|in the root|top|project_root|root_folder|top_folder|top_level|root_directory|workspace_root|root_of_the_project",
    ({ file }) => into(file, ".", "move"),
  ],
  [
    "create|make|add a|an|the [new|empty] folder|subfolder|directory [<called>] KEY in|inside|under FOLDER",
    ({ key, folder }) => (isDescription(key) ? undefined : madeFolder(joinPath(folder, trimSlash(key)))),
  ],
  [
    `need|want a|an [new|empty] <folder> [<called>] NEWNAME
    a|an new|empty <folder> [<called>] NEWNAME
    <new> [me|a|an|the|new|empty|another]* folder|subfolder|directory|subdirectory|dir [for_me|for_us] [<called>] NEWNAME
    mkdir [-p] NEWNAME`,
    ({ newname }) => folderMade(newname),
  ],
  [
    "<new> [me|the|two|three|four|new|empty]* folders|directories [<called>] NAMES",
    ({ names }) => names.flatMap((name) => folderMade(name) ?? []),
  ],
  [
    `FILE ->|=>|→ delete|remove
    throw FILE away|out`,
    ({ file }) => [{ do: "delete", path: file }],
  ],
  [
    "[i_need|a_file] FILE with|containing [the] [text|content|contents] QUOTED [in_it|inside]",
    ({ file, quoted }) => newFile(file, quoted),
  ],
  [
    "put|add|create|make [a|an] [new] [empty] file [<called>] FILE to|in|inside|into FOLDER",
    ({ file, folder }) => newFile(joinPath(folder, file)),
  ],
  [
    "<remove>|clear|empty|wipe|erase [all] the contents|content|text of|from|in FILE",
    ({ file }) => [{ do: "write", path: file, content: "", isThere: true, replaces: true }],
  ],
  ["echo TEXT > FILE", ({ file, text }) => newFile(file, `${text}\n`)],
  ["echo TEXT >> FILE", ({ file, text }) => [{ do: "append", path: file, content: text, at: "end" }]],
];
