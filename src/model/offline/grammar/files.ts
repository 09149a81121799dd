// Files and folders as wholes: named, moved, copied, made, taken away.
import { isKnownFolder, madeFolder, moved, shellWord } from "../moving.ts";
import { isDescription, type Pattern } from "../patterns.ts";
import { joinPath, trimSlash } from "../phrases.ts";
import type { ParsedSteps } from "../steps.ts";
import { REMOVE } from "./words.ts";

const AND_ALL =
  "and_everything_in_it|and_its_contents|and_all_its_contents|and_all_files_in_it|with_everything_in_it|with_all_its_contents|recursively|and_everything_inside|and_all_its_files|including_its_contents|with_all_its_files|and_all_of_its_files|with_its_contents|and_the_files_in_it";

const folderRows: Pattern[] = [
  [`${REMOVE} [the|my] [whole|entire] KEY folder|directory [${AND_ALL}]`, ({ key }) => withoutFolder(key)],
  [
    `${REMOVE} [the|my] [whole|entire] folder|directory [called|named] KEY [${AND_ALL}]`,
    ({ key }) => withoutFolder(key),
  ],
];

function withoutFolder(key: string): ParsedSteps {
  const path = trimSlash(key);
  if (/^[/~.-]|\.\.|^(?:the|this|that|current|whole|my|new|empty|old|project|home|working|root)$/i.test(path))
    return undefined;
  return [{ do: "run", command: `rm -r -- ${shellWord(path)}`, done: `Deleted the folder ${path}.` }];
}

function folderMade(name: string): ParsedSteps {
  return isDescription(name) ? undefined : madeFolder(trimSlash(name));
}

const fileRows: Pattern[] = [
  ["tree", () => [{ do: "find", pattern: "**/*" }]],
  ...["move|mv", "copy|cp"].flatMap((verbs): Pattern[] => {
    const verb = verbs.split("|")[0]!;
    const into = (file: string, folder: string, words: string): ParsedSteps =>
      moved(
        { path: file, folder: false },
        { path: trimSlash(folder), folder: true, isThere: isKnownFolder(words) },
        verb,
      );
    return [
      [
        `${verbs}|relocate|shift FILE file to|into|in [the|a] [new] KEY folder|directory`,
        ({ file, key }, _, words) => into(file, key, words),
      ],
      [
        `${verbs} FILE to|into|in [the|a] [new] KEY folder|directory`,
        ({ file, key }, _, words) => into(file, key, words),
      ],
      [
        `${verbs} FILE to|into|in the|a [new] folder|directory [called|named] KEY`,
        ({ file, key }, _, words) => into(file, key, words),
      ],
    ];
  }),
  [
    "back_up|backup|make_a_backup_of|make_a_copy_of|create_a_copy_of|create_a_backup_of|save_a_copy_of|make_a_duplicate_of FILE to|as|called|named|in|under|and_call_it|under_the_name TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "copy"),
  ],
  [
    "change|set the [file] name of [the] [file] FILE to|into TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "rename"),
  ],
  [
    "[the] [file] FILE should|must|shall be called|named|renamed_to TARGET [instead|from_now_on]",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "rename"),
  ],
  [
    "make FILE be named|called TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "rename"),
  ],
  [
    "call|name FILE TARGET [from_now_on|instead]",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "rename"),
  ],
  [
    "FILE ->|=>|→ TARGET rename|move",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "rename"),
  ],
  [
    "[make|create|want] a [second] copy of FILE named|called|as TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "copy"),
  ],
  [
    "copy [the] [file] FILE the_copy's_name_is|and_call_the_copy|and_name_the_copy|and_name_it|and_call_it TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "copy"),
  ],
  [
    "stick|put|place|drop a copy of FILE in|into|inside FOLDER",
    ({ file, folder }) => moved({ path: file, folder: false }, { path: folder, folder: true, isThere: true }, "copy"),
  ],
  [
    "put|stick|place|drop FILE in|into|inside FOLDER",
    ({ file, folder }) =>
      /\.\w+$/.test(folder)
        ? undefined
        : moved({ path: file, folder: false }, { path: folder, folder: true, isThere: true }, "move"),
  ],
  [
    "change [the] [file] extension of FILE to|into KIND",
    ({ file, kind: key }) =>
      moved(
        { path: file, folder: false },
        { path: file.replace(/(?:\.\w+)?$/, `.${key.replace(/^\./, "")}`), folder: false },
        "rename",
      ),
  ],
  ["need|want a [new] folder|directory [called|named] KEY", ({ key }) => folderMade(key)],
  [
    "create|make|add a|an|the [new|empty] folder|subfolder|directory [called|named] KEY in|inside|under FOLDER",
    ({ key, folder }) => (isDescription(key) ? undefined : madeFolder(joinPath(folder, trimSlash(key)))),
  ],
  ["FILE ->|=>|→ delete|remove", ({ file }) => [{ do: "delete", path: file }]],
  ["need an empty folder|directory [called|named] KEY", ({ key }) => folderMade(key)],
  ["an empty folder|directory [called|named] KEY", ({ key }) => folderMade(key)],
  ["throw FILE away|out", ({ file }) => [{ do: "delete", path: file }]],
  [
    "move|put FILE inside|under FOLDER",
    ({ file, folder }) => moved({ path: file, folder: false }, { path: folder, folder: true, isThere: true }, "move"),
  ],
  [
    "move|put FILE to|into|in the root|top|project_root|root_folder|top_folder|top_level|root_directory|workspace_root|root_of_the_project",
    ({ file }) => moved({ path: file, folder: false }, { path: ".", folder: true, isThere: true }, "move"),
  ],
  [
    "make|create|put a copy|backup of FILE in|into|inside FOLDER",
    ({ file, folder }) => moved({ path: file, folder: false }, { path: folder, folder: true, isThere: true }, "copy"),
  ],
  [
    "FILE to_be called|named|renamed_to TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "rename"),
  ],
  [
    "duplicate|copy|clone FILE [and] call|name it|the_copy TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "copy"),
  ],
  [
    "[i_need|a_file] FILE with|containing [the] [text|content|contents] QUOTED [in_it|inside]",
    ({ file, quoted }) => [{ do: "write", path: file, content: quoted, isNew: true }],
  ],
  [
    "add|create|make|put a|an [new] [empty] file [called|named] FILE to|into FOLDER",
    ({ file, folder }) => [{ do: "write", path: joinPath(folder, file), content: "", isNew: true }],
  ],
  ["a new|empty folder|directory [called|named] KEY", ({ key }) => folderMade(key)],
  ["make|create directory|folder KEY", ({ key }) => folderMade(key)],
  [
    "[give_me|show|show_me|print|display|draw] a|the [file|directory|folder] tree [of] [the_project|this_project|this_folder|the_files|everything|the_whole_project]",
    () => [{ do: "find", pattern: "**/*" }],
  ],
  [
    "show|show_me|list [me] all|every [the] files|file [in_the_project|here|in_this_project] with|including|and [the|all] subfolders [too|included]",
    () => [{ do: "find", pattern: "**/*" }],
  ],
  [
    "give FILE the [new] name TARGET",
    ({ file, target }) => moved({ path: file, folder: false }, { path: target, folder: false }, "rename"),
  ],
  [
    "put|create|add|make [a|an] [new|empty] file [called|named] FILE in|inside|into the folder KEY",
    ({ file, key }) => [{ do: "write", path: joinPath(key, file), content: "", isNew: true }],
  ],
  [
    `${REMOVE}|clear|empty|wipe|erase [all] the contents|content|text of|from|in FILE`,
    ({ file }) => [{ do: "write", path: file, content: "", isThere: true, replaces: true }],
  ],
  ["echo TEXT > FILE", ({ file, text }) => [{ do: "write", path: file, content: `${text}\n`, isNew: true }]],
  ["echo TEXT >> FILE", ({ file, text }) => [{ do: "append", path: file, content: text, at: "end" }]],
];

export const wholeFileRows: Pattern[] = [...folderRows, ...fileRows];
