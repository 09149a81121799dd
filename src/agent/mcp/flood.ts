// Bounds what an MCP server sends unasked: requests, questions to the user or the model, notifications.
import type { JSONRPCMessage } from "@modelcontextprotocol/client";

/** How many units of messages a server may send at once, and again every ten seconds; a short notification is one. */
const atOnce = 2500;
const perSecond = atOnce / 10;
const request = 25;
const question = 125;
const maxQuestions = 100;

/** Takes each message of a server. Returns why the server must be cut off, once it has sent too much. */
export function watchFlood(): (message: JSONRPCMessage) => string | undefined {
  let left = atOnce;
  let questions = 0;
  let takenAt = performance.now();
  return (message) => {
    const now = performance.now();
    left = Math.min(atOnce, left + ((now - takenAt) / 1000) * perSecond) - costOf(message);
    takenAt = now;
    if (isQuestion(message) && ++questions > maxQuestions) return `it asked more than ${maxQuestions} questions`;
    return left < 0 ? "it sent more requests or notifications than can be answered" : undefined;
  };
}

function isQuestion(message: JSONRPCMessage): boolean {
  return "method" in message && /^(elicitation|sampling)\//.test(message.method);
}

/** Long lists, notifications and forms cost more; results and images for the model may be large. */
function costOf(message: JSONRPCMessage): number {
  if (!("method" in message)) return "result" in message && isList(message.result) ? costOfLength(message) : 1;
  if (!("id" in message)) return costOfLength(message);
  if (!isQuestion(message)) return request;
  return message.method.startsWith("elicitation/") ? question + JSON.stringify(message).length / 32 : question;
}

function isList(result: object): boolean {
  return ["tools", "prompts", "resources"].some((each) => each in result);
}

function costOfLength(message: JSONRPCMessage): number {
  return 1 + JSON.stringify(message).length / 16_384;
}
