// Asks the user through the client while a prompt is being answered, in a form that the client announced.
import type { Answer, ChoicesQuestion, Human, PlanQuestion, Question } from "../protocol/run.ts";
import { type AcpClient, replyResult } from "./client.ts";
import { type RpcReply, rpcCodes } from "./rpc.ts";
import { answerFromElicitation, cursorAnswer, cursorQuestion, elicitationOf, outcomeObject } from "./v1/choices.ts";
import { cursorPlan } from "./v1/cursor.ts";
import type { CursorMethod } from "./v1/initialize.ts";
import { answerIn, type Choosable, permissionForm } from "./v1/permission.ts";
import type { WireCall } from "./v1/tool-call.ts";

export interface AskingSession {
  readonly id: string;
  readonly workspace: string;
  /** The running tool calls, by id. */
  readonly calls: ReadonlyMap<string, WireCall>;
  /** Resolves with `true` once a prompt is being answered, with `false` if the run ended first. */
  prompted(signal: AbortSignal): Promise<boolean>;
  /** Aborted when the client cancels the turn. */
  readonly cancelled: AbortSignal;
}

const stopped: Answer = { type: "no", reason: "The run was stopped before there was an answer." };

export function clientHuman(client: AcpClient, session: AskingSession): Human {
  const { can } = client;
  return {
    // Ask questions with options only if the client can show them; otherwise the model asks in its own text.
    answers: [
      "permission",
      "plan",
      "trust",
      "server",
      "hooks",
      ...(can.elicits || can.cursor.has("ask_question") ? (["choices"] as const) : []),
    ],
    async ask(question, signal) {
      if (!(await session.prompted(signal))) return stopped;
      // Let the update about the tool call reach the client before the question about it.
      await new Promise(setImmediate);
      const both = AbortSignal.any([signal, session.cancelled]);
      const answer = await askOne(question, { client, session, signal: both });
      return both.aborted ? stopped : answer;
    },
  };
}

type Asking = { client: AcpClient; session: AskingSession; signal: AbortSignal };

function askOne(question: Question, asking: Asking): Promise<Answer> {
  if (question.type === "choices") return askChoices(question, asking);
  if (question.type === "plan") return askPlan(question, asking);
  return askPermission(question, asking);
}

async function askPermission(question: Choosable, { client, session, signal }: Asking): Promise<Answer> {
  const call = findAskedCall(question, session);
  const { toolCall, options } = permissionForm(question, call, session.workspace);
  const optionFields = options.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
  const params = { sessionId: session.id, toolCall, options: optionFields };
  const reply = await client.request("session/request_permission", params, signal);
  if ("error" in reply) return { type: "no", reason: `The client could not ask: ${reply.error.message}` };
  return answerIn(reply.result, options);
}

async function askPlan(question: Extract<Question, { type: "plan" }>, asking: Asking): Promise<Answer> {
  const call = findAskedCall(question, asking.session);
  const reply = await askCursor("create_plan", cursorPlan(question, call), asking);
  if (!reply) return askPermission(question, asking);
  const { outcome, reason } = outcomeObject(replyResult(reply));
  if (outcome === "accepted") return { type: "yes" };
  return { type: "no", reason: typeof reason === "string" && reason !== "" ? reason : "The user did not accept it." };
}

/** Skips the question if the client cannot show it; no answer is invented. */
async function askChoices(question: Extract<Question, { type: "choices" }>, asking: Asking): Promise<Answer> {
  const { client, session, signal } = asking;
  const call = findAskedCall(question, session);
  const reply = await askCursor("ask_question", cursorQuestion(question, call?.callId ?? question.id), asking);
  if (reply) return cursorAnswer(replyResult(reply), question);
  if (!client.can.elicits) return { type: "choices", answers: [] };
  const scope = { sessionId: session.id, ...(call && { toolCallId: call.callId }) };
  const form = await client.request("elicitation/create", { ...scope, ...elicitationOf(question) }, signal);
  return answerFromElicitation(replyResult(form), question);
}

/** Calls a method of Cursor's ACP extension. Returns undefined if the client lacks it, which it may report only when it is called. */
async function askCursor(method: CursorMethod, params: object, { client, session, signal }: Asking) {
  if (!client.can.cursor.has(method)) return undefined;
  const reply: RpcReply = await client.request(`cursor/${method}`, { sessionId: session.id, ...params }, signal);
  return "error" in reply && reply.error.code === rpcCodes.methodNotFound ? undefined : reply;
}

/** Returns the tool call that a question comes from. Other kinds of question have none. */
function findAskedCall(question: Question, session: AskingSession): WireCall | undefined {
  const calls = [...session.calls.values()];
  switch (question.type) {
    case "permission":
      return session.calls.get(question.callId);
    case "choices":
      // A question of an MCP server belongs to the call of its tool that is running.
      return calls.find((call) => isQuestionsCall(call, question)) ?? calls.find(({ tool }) => tool === "mcp");
    case "plan":
      return calls.find((call) => isPlanCall(call, question));
    default:
      return undefined;
  }
}

function isQuestionsCall({ tool, args }: WireCall, { questions }: ChoicesQuestion): boolean {
  const toolArgs = args as { questions?: unknown };
  return tool === "askQuestion" && JSON.stringify(toolArgs.questions) === JSON.stringify(questions);
}

function isPlanCall({ tool, args }: WireCall, { name, text }: PlanQuestion): boolean {
  const toolArgs = args as { name?: unknown; plan?: unknown };
  return tool === "createPlan" && toolArgs.name === name && toolArgs.plan === text;
}
