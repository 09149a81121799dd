// Requests embedding vectors from an OpenAI-compatible endpoint.
import { isObject, tryParse } from "../../json/object.ts";
import { createFetch } from "../../net/fetch.ts";
import { abortAfter } from "../../protocol/abort-after.ts";

/** An embedding service that speaks OpenAI's format; requests go to `url` + "/embeddings". */
export type EmbeddingEndpoint = { url: string; model: string; key?: string | undefined };

export type EmbeddingCall = {
  endpoint: EmbeddingEndpoint;
  signal: AbortSignal;
  env?: Readonly<Record<string, string | undefined>> | undefined;
};

const maxAnswerBytes = 32 * 2 ** 20;
const maxRequestMs = 15_000;

/** Returns vectors of length 1, whose dot product is their similarity. Throws an Error if the endpoint failed. */
export async function embed(
  texts: readonly string[],
  { endpoint, signal, env }: EmbeddingCall,
): Promise<Float32Array[]> {
  const { url, model, key } = endpoint;
  const address = `${url.replace(/\/+$/, "").replace(/\/embeddings$/, "")}/embeddings`;
  const answer = await createFetch({ ...(env && { env }) })(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, input: texts }),
    signal: AbortSignal.any([signal, abortAfter(maxRequestMs)]),
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxAnswerBytes) throw new Error("its answer is too long");
    chunks.push(chunk);
  }
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  const value = tryParse(Buffer.concat(chunks).toString("utf8"));
  const rows = isObject(value) && Array.isArray(value["data"]) ? value["data"].filter(isObject) : [];
  const vectors: Float32Array[] = [];
  for (const [at, row] of rows.entries()) {
    const place = typeof row["index"] === "number" ? row["index"] : at;
    if (Array.isArray(row["embedding"])) vectors[place] = ofLengthOne(Float32Array.from(row["embedding"] as number[]));
  }
  if (texts.some((_, at) => !vectors[at] || vectors[at].length === 0))
    throw new Error("its answer contains no vectors");
  return vectors;
}

function ofLengthOne(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dotProduct(vector, vector));
  return length === 0 ? vector : vector.map((each) => each / length);
}

export function dotProduct(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += left[at]! * (right[at] ?? 0);
  return sum;
}
