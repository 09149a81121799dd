// Commands about the screen and the program.
import { findGit } from "../../agent/instructions/environment.ts";
import { findProgram } from "../../process/find-program.ts";
import { runProgram } from "../../process/run-program.ts";
import { configDir } from "../../store/config-dir.ts";
import { findSetting, saveSetting } from "../../store/setting-table.ts";
import type { Desk, Toggles } from "../desk.ts";
import { join } from "../painted.ts";
import { sessionFlags } from "./choose-model.ts";
import { commandOutput, type SlashCommand } from "./command.ts";
import { configCommand } from "./settings.ts";

export const screenCommands: readonly SlashCommand[] = [
  {
    name: "vim",
    help: "Vim keys on or off",
    run: (desk) => toggle(desk, "vim", "editor.vimMode", "Vim keys are"),
  },
  {
    name: "show-thinking",
    help: "Show or fold the model's thinking",
    run: (desk) => toggle(desk, "thinking", "display.showThinkingBlocks", "Thinking is shown:"),
  },
  {
    name: "line-numbers",
    help: "Line numbers in diffs on or off",
    run: (desk) => toggle(desk, "lineNumbers", "display.showLineNumbers", "Line numbers are"),
  },
  {
    name: "status-indicators",
    help: "Show the session's state in the window title, on or off",
    run: (desk) => toggle(desk, "statusIndicators", "display.showStatusIndicators", "Status in the window's title is"),
  },
  {
    name: "statusline",
    operands: "[command|off]",
    help: "Your own status rows below the editor",
    run: setStatusLine,
  },
  { name: "about", help: "Version, model, chat and system", run: showAbout },
  {
    name: "open",
    aliases: ["cursor"],
    help: "Open this repository in your editor",
    run: openFolder,
  },
  {
    name: "status",
    aliases: ["whoami"],
    help: "Model and server of this session; keys and their sources",
    run: showStatus,
  },
  {
    name: "feedback",
    help: "Where to report a problem, and what to include",
    run: (desk) =>
      desk.show(
        [
          "  Nothing is sent from here. Open an issue in the repository that you have Courser from, with what you did and what you saw.",
          `  What helps: /about; '${desk.program} doctor'; the chat by /export chat.md, with keys and tokens left out;`,
          `  or the run itself, to be replayed: ${desk.program} -p --record run.jsonl "…"`,
        ].join("\n"),
      ),
  },
  { name: "update", help: "How to update", run: commandOutput("update") },
  configCommand,
  {
    name: "setup-terminal",
    help: "Keys for a new line, and what your terminal sends",
    run: (desk) =>
      desk.show(
        [
          "  New line: Shift+Enter where the terminal tells it from Enter, else Ctrl+J, Alt+Enter, or \\ and Enter.",
          "  Terminals with the kitty keyboard protocol (kitty, Ghostty, WezTerm, foot, iTerm2, Alacritty) report it.",
          "  tmux: set -s extended-keys on, and set -as terminal-features 'xterm*:extkeys'",
          '  VS Code: bind shift+enter to workbench.action.terminal.sendSequence with "\\u001b\\r"',
        ].join("\n"),
      ),
  },
];

/** Toggles a setting of the screen and saves it for later sessions. */
function toggle(desk: Desk, name: keyof Toggles, setting: string, sentence: string): void {
  const isOn = !desk.toggles[name];
  desk.setToggle(name, isOn);
  saveSetting(configDir(desk.env), findSetting(setting), isOn);
  desk.say(`${sentence} ${isOn ? "on" : "off"}.`);
}

async function setStatusLine(desk: Desk, rest: string): Promise<void> {
  if (rest === "" && desk.status.command === undefined)
    return desk.show(
      "  No status line is set. /statusline <command> sets one: it is run when something changes, gets the session as JSON on stdin, and each line that it prints is a row below the editor. For example:\n  /statusline jq -r '.model.display_name + \"  \" + .workspace.current_dir'",
    );
  if (rest === "") return desk.say(`The status line comes from: ${desk.status.command}. /statusline off removes it.`);
  const command = rest === "off" ? undefined : rest;
  saveSetting(configDir(desk.env), findSetting("statusLine"), command);
  desk.status.use(command && { command });
  desk.say(command === undefined ? "The status line was removed." : "This command now provides the status line.");
}

async function showStatus(desk: Desk): Promise<void> {
  const { info, request } = desk.conversation;
  const at = request.endpoint === undefined ? "" : ` at ${request.endpoint}`;
  const { text } = await desk.command(["status", ...sessionFlags(desk)]);
  desk.show(`Model: ${info.model}${at}\n${text}`);
}

/** Shows facts about this session and its environment. */
async function showAbout(desk: Desk): Promise<void> {
  const { palette, conversation, version, env } = desk;
  const { info, request } = conversation;
  const rows = [
    ["version", version],
    ["model", info.model],
    ["chat", info.chatId ?? "none yet"],
    ["directory", request.workspace],
    ["settings", configDir(env)],
    ["system", `${process.platform} ${process.arch}, Node ${process.version}`],
    ["terminal", [env["TERM_PROGRAM"], env["TERM"], env["COLORTERM"]].filter(Boolean).join(", ")],
  ] as const;
  desk.commit(rows.map(([name, value]) => join(palette.soft(`  ${name.padEnd(10)} `), palette.plain(value))));
}

/** Editors that can open a folder, in the order in which they are tried. */
const folderEditors = ["cursor", "code", "codium", "windsurf", "zed", "idea", "subl"];

async function openFolder(desk: Desk): Promise<void> {
  const { workspace } = desk.conversation.request;
  const root = findGit(workspace)?.root ?? workspace;
  const editor = folderEditors.find((program) => findProgram(program, { ...desk.env }));
  if (!editor) return desk.complain(`None of these was found: ${folderEditors.join(", ")}.`);
  const { exitCode, stderr } = await runProgram({
    command: [editor, root],
    cwd: root,
    env: desk.env,
    timeoutMs: 10_000,
    leftovers: "ignore",
  });
  if (exitCode === 0) desk.say(`${editor} opens ${root}.`);
  else desk.complain(`${editor} failed: ${stderr.trim() || exitCode}`);
}
