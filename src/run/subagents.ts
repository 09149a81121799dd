// Connects the subagents of a run to their chats, models and instructions.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createSession } from "../agent/agent.ts";
import {
  buildSystemPrompt,
  createPathInstructions,
  createSkillRegistry,
  withSkills,
} from "../agent/instructions/index.ts";
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
  /** The parent's instructions, and what they were built from. */
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
      // A subagent of a planning agent only investigates: planning is the parent's task.
      const mode = readOnly || state.mode === "plan" ? "ask" : state.mode;
      const existing = prompts.get(`${mode} ${name}`);
      if (existing !== undefined) return existing;
      const append = [surroundings.appendSystemPrompt, prompt].filter(Boolean).join("\n\n");
      const input = { ...surroundings, mode, headless: true, appendSystemPrompt: append } as const;
      const { system } = buildSystemPrompt(input, loaded);
      prompts.set(`${mode} ${name}`, system);
      return system;
    },
    instructionsFor() {
      const skills = createSkillRegistry({ ...files, trusted: setup.trusted });
      const ownInstructions = withSkills(createPathInstructions(files, loaded), skills);
      return (path) => ownInstructions.forPath(resolve(setup.workspace, path));
    },
    levels,
    chats: session.chat ? storedChats(setup, session) : ephemeralChats(setup),
    openModel: (name) => openNamedModel(setup, { name, by: "agent" }),
    nested: createSubagents,
  };
}

/** Stores each subagent's chat, which can be shown, resumed and deleted like any other, but is not listed. */
function storedChats({ configDir, workspace, mode }: Setup, session: RunSession): SubagentChats {
  const folderOf = (id: string) => (isChatId(id) ? chatFolder(configDir, workspace, id) : undefined);
  const isThere = (folder: string | undefined): folder is string =>
    folder !== undefined && existsSync(storeFile(folder));
  return {
    typeOf(id) {
      const folder = folderOf(id);
      // Only chats of subagents have this state, so a model cannot open one of the user's chats.
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

/** Returns chats of subagents for --no-persist, which nothing is left of after the run. */
function ephemeralChats({ configDir }: Setup): SubagentChats {
  const pastSubagents = new Map<string, { type: string; messages: readonly Message[] }>();
  return {
    typeOf: (id) => pastSubagents.get(id)?.type,
    open(id, { type }) {
      const session = createSession([...(pastSubagents.get(id)?.messages ?? [])]);
      return {
        session,
        record: () => undefined,
        close: () => void pastSubagents.set(id, { type, messages: session.messages }),
      };
    },
    openOutput: (id) => openSubagentOutput(configDir, id),
  };
}
