// The keymap: every key with its action and help text. `/help` and `?` are generated from it.

export type Section = "send" | "move" | "edit" | "find" | "session";

/** A row of the key table; `keys` are separated by blanks. */
type Row = readonly [section: Section, action: string, keys: string, help: string];

/** Keys of the editor. Those it has no use for at the moment are passed to the app. */
const editorKeys = [
  ["send", "submit", "enter", "send; while it works: steer, twice: interrupt and send"],
  ["send", "newline", "shift+enter ctrl+j alt+enter ctrl+enter", "new line, like \\ and Enter"],
  ["send", "shellMode", "!", "at the start: run a shell command; Esc leaves"],
  ["move", "left", "left ctrl+b", "one character left"],
  ["move", "right", "right ctrl+f", "one character right"],
  ["move", "wordLeft", "alt+b alt+left ctrl+left", "one word left"],
  ["move", "wordRight", "alt+f alt+right ctrl+right", "one word right"],
  ["move", "up", "up ctrl+p", "one row up; on the first one: an earlier message"],
  ["move", "down", "down ctrl+n", "one row down; on the last one: a later message"],
  ["move", "lineStart", "ctrl+a home", "start of the line"],
  ["move", "lineEnd", "ctrl+e end", "end of the line"],
  ["move", "textStart", "ctrl+home alt+<", "start of the text"],
  ["move", "textEnd", "ctrl+end alt+>", "end of the text"],
  ["move", "selectLeft", "shift+left", "select; also with right, up, down, Home, End"],
  ["move", "selectRight", "shift+right", ""],
  ["move", "selectUp", "shift+up", ""],
  ["move", "selectDown", "shift+down", ""],
  ["move", "selectLineStart", "shift+home", ""],
  ["move", "selectLineEnd", "shift+end", ""],
  ["edit", "deleteBack", "backspace", "delete to the left"],
  ["edit", "deleteForward", "delete ctrl+d", "delete to the right"],
  ["edit", "cutBlankWord", "ctrl+w", "cut back to the last space"],
  ["edit", "cutWordBack", "alt+backspace ctrl+backspace", "cut the word to the left"],
  ["edit", "cutWordForward", "alt+d alt+delete ctrl+delete", "cut the word to the right"],
  ["edit", "cutToLineEnd", "ctrl+k", "cut to the end of the line"],
  ["edit", "cutToLineStart", "ctrl+u", "cut to the start of the line"],
  ["edit", "yank", "ctrl+y", "paste what was cut"],
  ["edit", "yankOlder", "alt+y", "after that: paste what was cut before it"],
  ["edit", "undo", "ctrl+_ ctrl+- ctrl+shift+- ctrl+shift+_ ctrl+/", "undo"],
  ["edit", "redo", "alt+_ alt+shift+- ctrl+shift+z", "redo"],
  ["find", "files", "@", "attach a file or directory"],
  ["find", "commands", "/", "at the start: a command"],
  ["find", "complete", "tab", "accept the suggestion"],
  // Raw mode disables the usual meaning of Ctrl+S (stop the output).
  ["find", "searchHistory", "ctrl+s alt+r", "search earlier messages"],
] as const satisfies readonly Row[];

const appKeys = [
  ["send", "externalEditor", "ctrl+g", "write in $VISUAL or $EDITOR"],
  ["send", "pasteImage", "ctrl+v", "paste an image from the clipboard"],
  ["session", "nextMode", "shift+tab", "next mode: agent, plan, ask"],
  ["session", "interrupt", "escape", "interrupt; twice: back to an earlier message"],
  ["session", "stop", "ctrl+c", "clear the text; interrupt; twice: quit"],
  ["session", "leave", "ctrl+d", "twice in an empty editor: quit"],
  ["session", "transcript", "ctrl+o", "the whole transcript"],
  ["session", "review", "ctrl+r", "what this session changed"],
  ["session", "background", "ctrl+b", "twice: move the running command to the background"],
  ["session", "resume", "ctrl+y", "in an empty editor, with nothing cut: resume another chat"],
  ["session", "redraw", "ctrl+l", "redraw the screen"],
  ["session", "suspend", "ctrl+z", "suspend; fg resumes"],
  ["session", "help", "?", "in an empty editor: these keys"],
] as const satisfies readonly Row[];

export type EditorAction = (typeof editorKeys)[number][1];
export type AppAction = (typeof appKeys)[number][1];

const editorActions = byKey<EditorAction>(editorKeys);
const appActions = byKey<AppAction>(appKeys);

export function editorAction(key: string): EditorAction | undefined {
  return editorActions.get(key);
}

export function appAction(key: string): AppAction | undefined {
  return appActions.get(key);
}

function byKey<Action extends string>(
  rows: readonly (readonly [Section, Action, string, string])[],
): ReadonlyMap<string, Action> {
  return new Map(rows.flatMap(([, action, keys]) => keys.split(" ").map((key) => [key, action] as const)));
}

/** Formats a key for the user: `ctrl+o` becomes `Ctrl+O`. */
export function keyLabel(key: string): string {
  return key
    .split(/\+(?=.)/)
    .map((part) => (part.length === 1 && !key.includes("+") ? part : part[0]!.toUpperCase() + part.slice(1)))
    .join("+");
}

const sections: Record<Section, string> = {
  send: "Sending",
  find: "Finding",
  session: "Session",
  edit: "Editing",
  move: "Moving",
};

/** Returns the help, with the groups ordered by how often users look for them. */
export function keyHelp(): { title: string; rows: { keys: string; help: string }[] }[] {
  const all: readonly Row[] = [...editorKeys, ...appKeys];
  return (Object.keys(sections) as Section[]).map((section) => ({
    title: sections[section],
    rows: all
      .filter((row) => row[0] === section && row[3] !== "")
      .map(([, , keys, help]) => ({ keys: keys.split(" ").slice(0, 3).map(keyLabel).join("  "), help })),
  }));
}
