// Commands about the screen itself, and about the program.
import { isObject, type JsonObject } from "../../json/object.ts";
import { configDir } from "../../store/config-dir.ts";
import { editConfig } from "../../store/config-edit.ts";
import { editJson } from "../../store/json-edit.ts";
import { cliConfigFile } from "../../store/rule-files.ts";
import type { Desk, Toggles } from "../desk.ts";
import { type SlashCommand, shows } from "./command.ts";

export const screenCommands: readonly SlashCommand[] = [
  {
    name: "vim",
    help: "Vim keys on or off",
    group: "Screen",
    run: (desk) => toggle(desk, "vim", ["editor", "vimMode"], "Vim keys are"),
  },
  {
    name: "show-thinking",
    help: "Show or fold what the model thinks",
    group: "Screen",
    run: (desk) => toggle(desk, "thinking", ["display", "showThinkingBlocks"], "Thinking is shown:"),
  },
  {
    name: "line-numbers",
    help: "Line numbers in diffs on or off",
    group: "Screen",
    run: (desk) => toggle(desk, "lineNumbers", ["display", "showLineNumbers"], "Line numbers are"),
  },
  { name: "about", help: "Version, system and model", group: "Screen", run: shows("about") },
  {
    name: "status",
    aliases: ["whoami"],
    help: "Keys, and where they come from",
    group: "Screen",
    run: shows("status"),
  },
  { name: "update", help: "How to update", group: "Screen", run: shows("update") },
  {
    name: "config",
    help: "Open your settings in $EDITOR",
    group: "Screen",
    needsIdle: true,
    run: openConfig,
  },
  {
    name: "setup-terminal",
    help: "Keys for a new line, and what your terminal sends",
    group: "Screen",
    run: (desk) =>
      desk.show(
        [
          "  New line: Shift+Enter where the terminal tells it from Enter, else Ctrl+J, Alt+Enter, or \\ and Enter.",
          "  Terminals with the kitty keyboard protocol (kitty, Ghostty, WezTerm, foot, iTerm2, Alacritty) tell it as they are.",
          "  tmux: set -s extended-keys on, and set -as terminal-features 'xterm*:extkeys'",
          '  VS Code: bind shift+enter to workbench.action.terminal.sendSequence with "\\u001b\\r"',
        ].join("\n"),
      ),
  },
];

/** Held from now on, and saved for the next time. */
function toggle(desk: Desk, name: keyof Toggles, path: readonly [string, string], sentence: string): void {
  const isOn = !desk.toggles[name];
  desk.setToggle(name, isOn);
  const file = cliConfigFile(configDir(desk.env));
  editConfig({ file, scope: "user" }, (current) =>
    editJson(current?.text ?? '{\n  "version": 1\n}\n', [
      ...(isSet(current?.content, path) ? [{ type: "remove", path } as const] : []),
      { type: "set", path, value: isOn },
    ]),
  );
  desk.say(`${sentence} ${isOn ? "on" : "off"}.`);
}

function isSet(content: JsonObject | undefined, [outer, inner]: readonly [string, string]): boolean {
  const holder = content?.[outer];
  return isObject(holder) && Object.hasOwn(holder, inner);
}

async function openConfig(desk: Desk): Promise<void> {
  const file = cliConfigFile(configDir(desk.env));
  editConfig({ file, scope: "user" }, (current) => (current ? undefined : '{\n  "version": 1\n}\n'));
  await desk.edit(file);
  desk.say(`Settings are read at the next start: ${file}`);
}
