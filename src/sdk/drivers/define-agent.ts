// defineAgent: describes an agent CLI once, for everything that starts one. The built-in ones are defined in the same way.
import { isObject, type JsonObject } from "../../json/object.ts";
import { usageError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { type FrameType, frameTypes } from "../../protocol/frame-shapes.ts";
import { createDecoder, derived } from "../../protocol/stream-json.ts";
import { nameTools } from "../tool-names.ts";
import { isBuiltIn } from "../unified.ts";
import { AgentStream } from "./agent-stream.ts";
import { LineCarrier } from "./carry.ts";
import {
  type Ability,
  type AgentDriver,
  type Capabilities,
  type CliInfo,
  type DriverCommand,
  type DriverRequest,
  permissionModes,
  type RunLoss,
} from "./driver.ts";
import type { FailureRow } from "./failures.ts";

/** What a line of a stream is: a step of the run, a part of the answer, or the end of the turn. */
export type LineRole = "step" | "answer" | "end";

/** Returns the events of a line: none if it says nothing, undefined if it cannot be understood. */
export type LineReader = (line: JsonObject) => AgentEvent[] | undefined;

/** An agent CLI: where it is, its command line, and how the lines that it prints become events. */
export type AgentDefinition = Pick<
  AgentDriver,
  "programs" | "addDetails" | "limitsTurns" | "fileOptions" | "deniesByHook" | "takesSchema" | "models" | "live"
> & {
  /** The name for `tool` in all functions of this package. */
  tool: string;
  /** The environment variable that may hold its path. */
  pathVariable?: string;
  /** What the CLI supports; everything else is refused, or a listed loss. */
  supports?: readonly Ability[] | ((cli?: CliInfo) => readonly Ability[]);
  /**
   * Translates a request to its command line. Options of the request that this function does not look at are refused if
   * they restrict the agent or change what it works on; others become listed losses.
   */
  command(request: DriverRequest, cli: CliInfo): Omit<DriverCommand, "losses"> & { losses?: RunLoss[] };
  /** The types of the lines that it prints, one JSON object each. Default, without `readers`: cursor-agent's format. */
  lines?: Readonly<Record<string, LineRole>>;
  /** Creates the readers for one turn, one for each type of line that carries information. */
  readers?(stream: AgentStream, request: DriverRequest): Readonly<Record<string, LineReader>>;
  /** For a stream without a line that begins it: the event that stands before this first line. */
  begin?(line: JsonObject, stream: AgentStream): AgentEvent;
  /** True if the CLI's stream contains the prompt; otherwise the prompt is added. */
  tellsPrompt?: true;
  /** True if its stream leaves out calls that a hook denied; they are added. */
  omitsDenials?: true;
  /** The CLI's own tool names, by unified name. */
  toolNames?: Readonly<Record<string, readonly string[]>>;
  /** The CLI's own error messages, in its stream or on stderr. Those of model vendors are known already. */
  failures?: readonly FailureRow[];
};

/** Every agent, by its name. */
export const agents = new Map<string, AgentDriver>();

/** Makes an agent CLI known under its name, which `start`, `openLive` and the other functions then take as `tool`. */
export function defineAgent(definition: AgentDefinition): AgentDriver {
  const { tool, programs, pathVariable, supports = [], toolNames, lines, readers, failures = [] } = definition;
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(tool))
    throw usageError(`defineAgent: tool cannot be ${JSON.stringify(tool)}: use lower-case letters, digits and dashes.`);
  if (isBuiltIn(tool) && agents.has(tool)) throw usageError(`defineAgent: ${tool} is an agent of this package.`);
  if (programs.length === 0) throw usageError("defineAgent: programs must name at least one program.");
  if (!lines !== !readers) throw usageError("defineAgent: lines and readers belong together.");
  const { addDetails, limitsTurns, fileOptions, deniesByHook, takesSchema, models, live } = definition;
  const frames = lines ? framesOf(lines) : cursorFrames;
  const driver: AgentDriver = {
    ...{
      tool,
      programs,
      pathVariable,
      failures,
      frames,
      addDetails,
      limitsTurns,
      fileOptions,
      deniesByHook,
      takesSchema,
      models,
      live,
    },
    endsByExit: ![...frames.values()].some(({ isTerminal }) => isTerminal),
    capabilities: (cli) => capabilitiesOf(typeof supports === "function" ? supports(cli) : supports),
    command: (request, cli) => buildCommand(definition, request, cli),
    decoder: (request) => (readers ? decoderOf(definition, request) : createDecoder()),
  };
  if (toolNames) nameTools(tool, toolNames);
  agents.set(tool, driver);
  return driver;
}

/** Leaves out the frames of the turn contract: in this stream, lines with those names are unknown. */
export const cursorFrames = new Map([...frameTypes].filter(([, { check }]) => check !== undefined));

function framesOf(lines: Readonly<Record<string, LineRole>>): Map<string, FrameType> {
  const kinds: Record<LineRole, FrameType> = { step: {}, answer: { isForwardable: true }, end: { isTerminal: true } };
  return new Map(Object.entries(lines).map(([type, role]) => [type, { check: () => undefined, ...kinds[role] }]));
}

const abilities: readonly Ability[] = [
  ...(["partialText", "thinking", "resume", "fork", "images", "systemPrompt", "permissionCallback", "tools"] as const),
  ...(["usage", "cost", "modelList", "schema", "sessions", "live"] as const),
];

function capabilitiesOf(supported: readonly Ability[]): Capabilities {
  const each = abilities.map((ability) => [ability, supported.includes(ability)]);
  return { ...(Object.fromEntries(each) as Record<Ability, boolean>), permissionModes };
}

function decoderOf(definition: AgentDefinition, request: DriverRequest): (line: unknown) => AgentEvent[] {
  const { tool, lines = {}, begin, tellsPrompt, omitsDenials } = definition;
  const carrier = new LineCarrier(tool);
  const stream = new AgentStream(tool, request);
  const readers = definition.readers!(stream, request);
  let hasBegun = false;
  return (line) => {
    const type = isObject(line) && typeof line.type === "string" ? line.type : "";
    const denied = hasBegun && omitsDenials ? stream.denied() : [];
    const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
    const isKnown = Object.hasOwn(lines, type);
    const events = carrier.carry(line, reader ? reader(line as JsonObject) : isKnown ? [] : undefined);
    if (hasBegun) return [...denied, ...events];
    hasBegun = begin ? isKnown : events.some((event) => event.type === "init");
    if (!hasBegun) return events;
    const prompt: AgentEvent[] = tellsPrompt ? [] : [{ type: "user", text: request.prompt, carried: derived }];
    if (!begin) return [...events, ...prompt];
    return [{ ...begin(line as JsonObject, stream), carried: derived }, ...prompt, ...events];
  };
}

/** Options that must not be lost: they restrict the agent, or say what it works on. */
const binding: Readonly<Partial<Record<keyof DriverRequest, (request: DriverRequest) => boolean>>> = {
  resume: () => true,
  fork: () => true,
  images: () => true,
  mcpServers: () => true,
  allowedTools: () => true,
  disallowedTools: ({ disallowedTools }) => Boolean(disallowedTools?.length),
  permissions: ({ permissions }) => Boolean(permissions?.deny?.length),
  sandbox: ({ sandbox }) => sandbox === true,
  mode: ({ mode }) => mode !== "agent",
  permissionMode: ({ permissionMode }) => permissionMode === "plan",
  answerSchema: () => true,
  connection: ({ connection }) => Boolean(connection?.hook || connection?.mcp),
};

/** Options that a CLI may lack without a loss: the SDK does without them, or they grant nothing that was requested. */
const unneeded = new Set<string>(["prompt", "cwd", "trust", "partial", "budget", "connection"]);

/** Builds the command line. Options that the definition never reads are refused or reported as losses. */
function buildCommand(
  { programs, command, deniesByHook }: AgentDefinition,
  request: DriverRequest,
  cli: CliInfo,
): DriverCommand {
  const read = new Set<PropertyKey>();
  const watched = new Proxy(request, {
    get(target, key, receiver) {
      read.add(key);
      return Reflect.get(target, key, receiver);
    },
  });
  const launch = command(watched, cli);
  const losses = [...(launch.losses ?? [])];
  const [program] = programs;
  for (const option of Object.keys(request) as (keyof DriverRequest)[]) {
    if (read.has(option) || request[option] === undefined) continue;
    if (option === "permissions" && deniesByHook) {
      if (request.permissions?.allow?.length)
        losses.push({ option, reason: `${program} has no flag for permissions.allow.` });
      continue;
    }
    if (binding[option]?.(request)) {
      const name = { permissions: "permissions.deny", connection: "hooks and tools" }[option as string] ?? option;
      throw usageError(`${program} has no flag for ${name}, so it cannot be enforced.`);
    }
    const isUsual = unneeded.has(option) || request[option] === false || request[option] === "default";
    if (!isUsual) losses.push({ option, reason: `${program} has no flag for it.` });
  }
  return { ...launch, losses };
}
