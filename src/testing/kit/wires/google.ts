// Google's generateContent and streamGenerateContent.
import type { ModelAnswer, RecordedRequest } from "../model-server.ts";
import { answerUsage, argsOf, callsOf, deltasOf, failureText, type WireFormat } from "./said.ts";

export const google: WireFormat = {
  stream(answer, request) {
    const event = (parts: object[], finishReason?: string) =>
      `data: ${JSON.stringify(candidateContent(parts, finishReason, answer, request))}\r\n\r\n`;
    return [...answerParts(answer, request).map((part) => event([part])), event([], finishOf(answer))];
  },

  whole: (answer, request) => candidateContent(answerParts(answer, request), finishOf(answer), answer, request),

  failure(status) {
    return { error: { code: status, message: failureText(status), status: statusNames[status] ?? "INTERNAL" } };
  },
};

function answerParts(answer: ModelAnswer, request: RecordedRequest): object[] {
  return [
    ...(answer.thinking ? [{ text: answer.thinking, thought: true }] : []),
    ...deltasOf(answer).map((text) => ({ text })),
    ...callsOf(answer, request).map((call, at) => ({
      functionCall: { id: call.id, name: call.name, args: argsOf(call) },
      // Only the first of several parallel calls has a signature.
      ...(at === 0 && { thoughtSignature: "c2lnbmF0dXJl" }),
    })),
  ];
}

function finishOf({ stopReason }: ModelAnswer): string {
  return stopReason ?? "STOP";
}

function candidateContent(
  parts: object[],
  finishReason: string | undefined,
  answer: ModelAnswer,
  { model, number }: RecordedRequest,
): object {
  const { input, output, cacheRead } = answerUsage(answer);
  const promptTokenCount = input + cacheRead;
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
    usageMetadata: {
      promptTokenCount,
      candidatesTokenCount: output,
      totalTokenCount: promptTokenCount + output,
      cachedContentTokenCount: cacheRead,
    },
    modelVersion: model,
    responseId: `resp_${number}`,
  };
}

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
