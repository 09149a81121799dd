// The table of sentence forms of the offline model. `help` prints it, docs/offline-model.md is generated from it, every example is a test.

export type Form = {
  /** What to do, as a name in `deeds`. */
  do: string;
  /** The form may change something, so a prompt with a question mark is refused. */
  changes: boolean;
  example: string;
  /** The tools that the example calls. */
  tools: string[];
  /** A description of what happens. */
  does: string;
  /** Sentence patterns, which must match a whole sentence. */
  says: string[];
};

/**
 * A form is a line: its name (with `!` if it may change something), an example, the tools that the example calls, what happens. Its
 * sentences follow, indented: `a|b` are alternatives, `[a]` is optional, `a_b` are two words, capitals are slots (slots.ts).
 */
const table = `
sum | what is 12 * (3 + 4)? | - | calculates with + - * / % ^ and brackets; also plus, minus, times, divided by
  SUM
  what_is|what's|calculate|how_much_is SUM
project | what does this project do? | LS Read Read | shows what the README says first, the kind of project and its layout
  what does|is this|the project|repository|repo [do|about|for]
  explain|describe|summarize [me] this|the project|repository|repo
read | read notes.md | Read | shows a file
  read|show|print|display|open|cat [me] [the] [contents_of] [the] [file] FILE
  what does [the] [file] FILE say|contain
  what_is|what's in [the] [file] FILE
create! | create a file called hello.txt with text 'Hello' | Write | creates a file: empty without a text, with a free name without one; an existing file is left as it is
  create|make|write|add [a] [new] [empty] [text] file
  create|make|write|add [a] [new] [empty] [text] file called|named NAME
  create|make|write|add [a] [new] [empty] [text] file FILE
  create|make FILE
  create|make|write|add [a] [new] [text] file called|named NAME with|containing [the] [text|content|contents] TEXT
  create|make|write|add [a] [new] [text] file FILE with|containing [the] [text|content|contents] TEXT
  create|make|write FILE with|containing [the] [text|content|contents] TEXT
  write|save|put TEXT to|into|in [a|the] [new] [file] [called|named] FILE
append! | append 'four' to notes.md | Read Edit | adds a line at the end of a file
  append|add [the] [text|line] TEXT to [the_end_of] [the] [file] FILE
replace! | replace 'two' with '2' in notes.md | Edit | replaces a text everywhere in a file
  replace|change [the] [text|word] OLD with|by|to NEW in [the] [file] FILE
list | list all files | LS | lists this directory, or the one in "list the files in src"
  list|show [me] [all] [the] files [here]
  list|show [me] [all] [the] files in [the] [folder|directory] FOLDER
  what|which files are here|there
  what|which files are in [the] [folder|directory] FOLDER
  ls
find | find files named *.md | Glob | finds files by name or pattern
  find|list [all] [the] files named|called|matching GLOB
  find [all] [the] PATTERN files
  find|locate FILE
  where is FILE
search files | search for files containing 'test' | Grep | shows the files that contain a text
  search_for|find|list|show [all] [the] files containing|mentioning WORD
  which|what files contain|mention WORD
search | search for TODO in src | Grep | shows the lines that contain a word or a quoted text
  search|grep|look for WORD
  search|grep|look for WORD in [the] [file|folder] FOLDER
delete! | delete notes.md | Delete | deletes a file
  delete|remove [the] [file] FILE
move! | rename notes.md to old/notes.md | Shell | renames or moves a file; an existing one is left as it is
  rename|move [the] [file] FILE to|into TO
copy! | copy notes.md to notes-2.md | Shell | copies a file; an existing one is left as it is
  copy [the] [file] FILE to|into TO
run! | run ls -la | Shell | runs a command; in backticks where it contains words such as "and", "in" or "the"
  run|execute [the_command] COMMAND
make todos | make a todo list: write, test, publish | TodoWrite | begins a todo list
  make|create|write [a|the|my] [new] todo_list:|to-do_list:|todo_list_with ITEMS
add todo | add 'rest' to my todos | TodoWrite | adds to the list
  add TEXT to my|the todos|todo_list
mark todo | mark 1 as done | TodoWrite | sets a todo to done, in progress, pending or cancelled
  mark [todo] NUMBER as STATE
show todos | show my todos | - | shows the list
  show|list [me] [my|the] todos|todo_list
recall | what was my last question? | - | repeats your last message
  what was my last|previous question|message|prompt
continue | continue | - | says where the conversation stands
  continue [the] [conversation]
  go on
time | what time is it? | Shell | shows date and time
  what time|date is it [now|today]
  what_is|what's the time|date [now|today]
  what_is|what's today's date
directory | what directory is this? | Shell | shows the directory that commands run in
  what|which directory|folder is this|it
  what|which directory|folder am_i|are_we in
version | what version is this? | - | says the version of Courser
  what|which version is this|it
  what|which version are you
greet | hello | - | says what answers here
  hello|hi|hey|good_morning|good_evening [there]
  test [prompt]
  who|what are you
  thanks|thank_you
help | what can you do? | - | shows this table
  help
  what can you do
call! | call the tool Read with {"path": "notes.md"} | Read | calls a tool of the run by its name, also one of an MCP server
  call|use the tool TOOL with JSON
  call|use the tool TOOL
`;

export const forms: readonly Form[] = table
  .trim()
  .split(/\n(?! )/)
  .map((rows) => {
    const [first = "", ...says] = rows.split("\n").map((row) => row.trim());
    const [name = "", example = "", tools = "", does = ""] = first.split(" | ");
    const called = tools === "-" ? [] : tools.split(" ");
    return { do: name.replace("!", ""), changes: name.endsWith("!"), example, tools: called, does, says };
  });
