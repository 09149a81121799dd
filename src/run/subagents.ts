// Connects the subagents of a run to their chats, models and instructions.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createSession } from "../agent/agent.ts";
import { buildSystemPrompt, createPathInstructions, createSkillBook, withSkills } from "../agent/instructions/index.ts";
import { createSubagents } from "../agent/subagents/index.ts";
import type { SubagentChat, SubagentChats, SubagentContext } from "../agent/subagents/run.ts";
import type { Message } from "../protocol/message.ts";
import { chatFolder, isChatId, storeFile, transcriptFile } from "../store/chats/layout.ts";
import { createChat, openChat } from "../store/chats/open-chat.ts";
import { readState } from "../store/chats/read-chat.ts";
import { openSubagentOutput } from "../store/subagent-output.ts";
import type { RunInstructions } from "./instructions.ts";
import { openNamedModel } from "./models.ts";
import type { RunSession } from "./session.ts";
import type { Setup } from "./setup.ts";
import type { RunState } from "./state.ts";

/** Subagents may start subagents, but those may not start more. */
const levels = 2;

type SubagentParts = {
  state: RunState;
  /** The parent's instructions and what they were built from. */
  instructions: RunInstructions;
  watch: NonNullable<SubagentContext["watch"]>;
};

export function subagentContext(setup: Setup, session: RunSession, parts: SubagentParts): SubagentContext {
  const { state, watch } = parts;
  const { subagents, surroundings, files, loaded } = parts.instructions;
  const prompts = new Map<string, string>();
  return {
    subagents,
    watch,
    branch: loaded.git?.branch,
    systemFor({ name, prompt, readOnly }) {
      // Planning is the parent's task.
      const mode = readOnly || state.mode === "plan" ? "ask" : state.mode;
      const known = prompts.get(`${mode} ${name}`);
      if (known !== undefined) return known;
      const append = [surroundings.appendSystemPrompt, prompt].filter(Boolean).join("\n\n");
      const input = { ...surroundings, mode, headless: true, appendSystemPrompt: append } as const;
      const { system } = buildSystemPrompt(input, loaded);
      prompts.set(`${mode} ${name}`, system);
      return system;
    },
    instructionsFor() {
      const skills = createSkillBook({ ...files, trusted: setup.trusted });
      const own = withSkills(createPathInstructions(files, loaded), skills);
      return (path) => own.forPath(resolve(setup.workspace, path));
    },
    levels,
    chats: session.chat ? keptChats(setup, session) : passingChats(setup),
    openModel: (name) => openNamedModel(setup, { name, by: "agent" }),
    nested: createSubagents,
  };
}

/** Stores each subagent's chat, which can be shown, resumed and deleted like any other, but is not listed. */
function keptChats({ configDir, workspace, mode }: Setup, session: RunSession): SubagentChats {
  const folderOf = (id: string) => (isChatId(id) ? chatFolder(configDir, workspace, id) : undefined);
  const isThere = (folder: string | undefined): folder is string =>
    folder !== undefined && existsSync(storeFile(folder));
  return {
    typeOf(id) {
      const folder = folderOf(id);
      // Only subagents have this state, so a model cannot open one of the user's own chats.
      const type = isThere(folder) ? readState(folder, ["subagent"]).get("subagent") : undefined;
      return typeof type === "string" ? type : undefined;
    },
    open(id, { type, model, title, parentId }): SubagentChat {
      const folder = folderOf(id);
      const kept = { mode: mode === "force" ? "auto-run" : "default", model: model.displayName };
      const chat = isThere(folder)
        ? openChat(folder, kept)
        : createChat({ configDir, workspace }, { id, ...kept, title, parent: parentId });
      chat.saveState("subagent", type);
      return {
        session: chat,
        record: (event) => chat.record(event),
        transcriptPath: transcriptFile(configDir, workspace, id, chat.metadata.parent ?? session.id),
        close: () => chat.close(),
      };
    },
    openOutput: (id) => openSubagentOutput(configDir, id),
  };
}

/** With --no-persist, nothing outlives the run. */
function passingChats({ configDir }: Setup): SubagentChats {
  const known = new Map<string, { type: string; messages: readonly Message[] }>();
  return {
    typeOf: (id) => known.get(id)?.type,
    open(id, { type }) {
      const session = createSession([...(known.get(id)?.messages ?? [])]);
      return {
        session,
        record: () => undefined,
        close: () => void known.set(id, { type, messages: session.messages }),
      };
    },
    openOutput: (id) => openSubagentOutput(configDir, id),
  };
}
