// Puts hits in order by an embedding endpoint of the user's own, where there is one: what means the same comes first.
import { createHash } from "node:crypto";
import { isObject, tryParse } from "../../json/object.ts";
import { createFetch } from "../../net/fetch.ts";
import type { CodeIndex } from "../../store/code-index/code-index.ts";

/** Of the OpenAI kind: `url` + "/embeddings". */
export type EmbeddingEndpoint = { url: string; model: string; key?: string | undefined };

const longestText = 4_000;
const mostBytes = 32 * 2 ** 20;
const mostMs = 15_000;

export type Rerank = {
  endpoint: EmbeddingEndpoint;
  index: CodeIndex;
  signal: AbortSignal;
  env?: Readonly<Record<string, string | undefined>>;
};

/** How near each text is to the question, from -1 to 1. Throws a plain Error that says what the endpoint did. */
export async function nearness(question: string, texts: readonly string[], rerank: Rerank): Promise<number[]> {
  const all = [question, ...texts].map((text) => text.slice(0, longestText));
  const { model, url } = rerank.endpoint;
  const keys = all.map((text) => createHash("sha256").update(`${url}\0${model}\0${text}`).digest("base64"));
  const vectors = keys.map((key) => rerank.index.vector(key));
  const missing = all.flatMap((text, number) => (vectors[number] ? [] : [{ text, number }]));
  if (missing.length > 0) {
    const made = await embed(
      missing.map(({ text }) => text),
      rerank,
    );
    for (const [at, { number }] of missing.entries()) vectors[number] = made[at]!;
    rerank.index.transact(() => {
      for (const { number } of missing) rerank.index.keepVector(keys[number]!, vectors[number]!);
    });
  }
  const [first, ...others] = vectors as Float32Array[];
  return others.map((vector) => cosine(first!, vector));
}

async function embed(texts: readonly string[], { endpoint, signal, env }: Rerank): Promise<Float32Array[]> {
  const { url, model, key } = endpoint;
  const address = `${url.replace(/\/+$/, "").replace(/\/embeddings$/, "")}/embeddings`;
  const answer = await createFetch({ ...(env && { env }) })(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, input: texts }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(mostMs)]),
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > mostBytes) throw new Error("its answer is too long");
    chunks.push(chunk);
  }
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  const value = tryParse(Buffer.concat(chunks).toString("utf8"));
  const rows = isObject(value) && Array.isArray(value["data"]) ? value["data"].filter(isObject) : [];
  const vectors: Float32Array[] = [];
  for (const [at, row] of rows.entries()) {
    const place = typeof row["index"] === "number" ? row["index"] : at;
    if (Array.isArray(row["embedding"])) vectors[place] = Float32Array.from(row["embedding"] as number[]);
  }
  if (texts.some((_, at) => !vectors[at] || vectors[at].length === 0))
    throw new Error("its answer contains no vectors");
  return vectors;
}

function cosine(left: Float32Array, right: Float32Array): number {
  let [product, first, second] = [0, 0, 0];
  for (let at = 0; at < left.length; at++) {
    product += left[at]! * (right[at] ?? 0);
    first += left[at]! ** 2;
    second += (right[at] ?? 0) ** 2;
  }
  return first === 0 || second === 0 ? 0 : product / Math.sqrt(first * second);
}
