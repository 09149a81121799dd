// Answers a CLI from a recording in place of its vendor. A request that was not recorded is answered with the difference.
import { setTimeout as wait } from "node:timers/promises";
import { isObject } from "../../json/object.ts";
import { redacted } from "../describe.ts";
import type { ModelAnswer } from "../kit/model-server.ts";
import { comparable, exchangeDifference, type Situation, situationNormaliser } from "./exchange-difference.ts";
import type { Exchange, ExchangeReply, ExchangeRequest, Exchanges } from "./exchange-file.ts";
import { type Middleman, middleman, withoutKey } from "./recorder.ts";

export type ReplayerOptions = {
  now: Situation;
  redact(text: string): string;
  onMismatch: "stop" | "continue";
  /** The speed relative to the recording; undefined for no pauses. */
  speed?: number;
};

export interface Replayer extends Middleman {
  /** The differences found, in order, including recorded requests of the conversation that were never made. */
  differences(): string[];
}

export async function startReplayer(exchanges: Exchanges, options: ReplayerOptions): Promise<Replayer> {
  const { header, list, file } = exchanges;
  const then = {
    tool: header.agent,
    places: header.places,
    at: new Date(header.recordedAt),
    version: header.agentVersion,
  };
  const sides = { recorded: situationNormaliser(then), now: situationNormaliser(options.now) };
  const open = new Map(list.map((exchange) => [exchange, comparable(exchange.request, sides.recorded)]));
  const found: string[] = [];
  const refuse = (words: string): ModelAnswer => {
    // Report only the first difference to a program that continues after it.
    if (options.onMismatch === "continue" || found.length === 0) found.push(`The recording ${file} ${words}`);
    const message = options.onMismatch === "continue" ? found.at(-1)! : found[0]!;
    // Answer with 400, after which no CLI retries.
    return { status: 400, body: { type: "error", error: { type: "invalid_request_error", message, code: 400 } } };
  };

  const { server: _, ...made } = await middleman(async (request, path) => {
    const now: ExchangeRequest = {
      request: 0,
      at: 0,
      method: request.method,
      path: withoutKey(path),
      ...(request.body.length > 0 && { body: redacted(request.json ?? request.body.toString("utf8"), options.redact) }),
    };
    const text = comparable(now, sides.now);
    const same = [...open].find(([, recorded]) => recorded === text)?.[0];
    if (same) {
      open.delete(same);
      return replyAgain(same, options.speed);
    }
    const meant = [...open.keys()].find((each) => isOfSameKind(each.request, now));
    if (!meant) {
      // A repeated request that is not for the model, such as a list of models or a health check.
      const before = list.findLast(({ request: each }) => comparable(each, sides.recorded) === text);
      if (before && !isTurn(now)) return replyAgain(before, options.speed);
      const turns = list.filter((each) => isTurn(each.request)).length;
      if (isTurn(now)) return refuse(`has ${turns} requests of the conversation, and the run asks for one more.`);
      return request.method === "POST" ? refuse(`has no request ${now.method} ${path}.`) : { status: 404 };
    }
    const words = `differs from this run in request ${meant.request.request}: ${exchangeDifference(meant.request, now, sides)}`;
    const answer = refuse(words);
    if (options.onMismatch === "stop") return answer;
    open.delete(meant);
    return replyAgain(meant, options.speed);
  });

  return {
    ...made,
    differences() {
      const left = [...open.keys()].filter(({ request, reply }) => isTurn(request) && reply !== undefined);
      const [first] = left;
      if (found.length > 0 || !first) return found;
      return [
        `The recording ${file} has ${left.length} more: request ${first.request.request} was not made by this run.`,
      ];
    },
  };
}

/** Returns whether a request belongs to the conversation. Side requests, such as one for a title, offer no tools. */
function isTurn({ body }: ExchangeRequest): boolean {
  const request = isObject(body) && isObject(body.request) ? body.request : body;
  return isObject(request) && Array.isArray(request.tools) && request.tools.length > 0;
}

function isOfSameKind(recorded: ExchangeRequest, now: ExchangeRequest): boolean {
  return recorded.method === now.method && recorded.path === now.path && isTurn(recorded) === isTurn(now);
}

/** Repeats a recorded reply. One that never came when it was recorded does not come now. */
function replyAgain({ request, reply }: Exchange, speed: number | undefined): ModelAnswer {
  if (!reply) return { hangUp: true };
  const { status, headers, cut, at } = reply;
  const pause = speed === undefined ? {} : { delayMs: (at - request.at) / speed };
  return { status, headers, chunks: timed(reply, speed), ...pause, ...(cut && { ending: "close" as const }) };
}

async function* timed({ chunks }: ExchangeReply, speed: number | undefined): AsyncGenerator<string> {
  let at = 0;
  for (const [after, text] of chunks) {
    if (speed !== undefined) await wait((after - at) / speed);
    at = after;
    yield text;
  }
}
