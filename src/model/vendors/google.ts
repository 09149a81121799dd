// Google: the Gemini API.
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { isObject, type JsonObject } from "../../json/object.ts";
import type { Effort } from "../provider.ts";
import type { Vendor, VendorSettings } from "./vendor.ts";

const budgets: Partial<Record<Effort, number>> = { none: 0, low: 2_048, medium: 8_192, high: 24_576 };

export function googleVendor(settings: VendorSettings): Vendor {
  return {
    name: settings.name,
    open: (modelId, fetch) =>
      createGoogleGenerativeAI({
        baseURL: settings.baseUrl,
        apiKey: settings.key ?? "none",
        headers: { ...settings.headers },
        fetch,
      })(modelId),
    options: ({ model, effort }) => ({ providerOptions: { google: thinking(model, effort) } }),
    imagesInResults: true,
    imageKinds: /^image\/(png|jpeg|webp)$/,
    callIdRule: () => ({ legal: /^[\x21-\x7e]{1,64}$/, length: 24 }),
    writesTools: true,
    maxTools: 512,
    rewrite(body: { contents: Content[]; tools?: object[] }, { tools }) {
      body.contents = alternating(body.contents);
      if (tools.length === 0) return;
      // Write the schemas ourselves: the package supports only the small subset that `parameters` accepts, and drops
      // the rest.
      const functionDeclarations = tools.map(({ name, description, parameters }) => ({
        name,
        description,
        parametersJsonSchema: withoutRequiredCycles(parameters),
      }));
      body.tools = [{ functionDeclarations }];
    },
    returnsThinking: true,
  };
}

type Content = { role: string; parts: object[] };

/** Merges what the user says directly after the results of calls into the same turn. */
function alternating(contents: readonly Content[]): Content[] {
  const turns: Content[] = [];
  for (const content of contents) {
    const last = turns.at(-1);
    if (last?.role === content.role) last.parts.push(...content.parts);
    else turns.push(content);
  }
  return turns;
}

/** A definition that contains itself may only be used in fields that are not required: https://ai.google.dev/api/caching#FunctionDeclaration. */
function withoutRequiredCycles(schema: object): object {
  const definitions = Object.entries((schema as { $defs?: object }).$defs ?? {});
  const inside = new Map(definitions.map(([name, each]) => [`#/$defs/${name}`, referencesIn(each)]));
  // A Set that grows during the loop is iterated to its end.
  for (const reached of inside.values())
    for (const next of reached) for (const further of inside.get(next) ?? []) reached.add(further);
  const cyclic = [...inside].filter(([name, reached]) => reached.has(name)).map(([name]) => name);
  if (cyclic.length === 0) return schema;
  const isCyclic = (field: unknown) => cyclic.some((name) => referencesIn(field).has(name));
  return JSON.parse(JSON.stringify(schema), (_, each) =>
    isObject(each) && Array.isArray(each["required"]) && isObject(each["properties"])
      ? { ...each, required: each["required"].filter((name) => !isCyclic((each["properties"] as JsonObject)[name])) }
      : each,
  );
}

function referencesIn(schema: unknown): Set<string> {
  const found = new Set<string>();
  JSON.stringify(schema, (key, value) => {
    if (key === "$ref" && typeof value === "string") found.add(value);
    return value;
  });
  return found;
}

/** Gemini 2.5 takes a budget, later models a level; older ones refuse the setting. */
// biome-ignore lint/suspicious/noExplicitAny: the options of the vendor's package have no exported type
function thinking(model: string, effort: Effort | undefined): Record<string, any> {
  const version = Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
  if (version < 2.5) return {};
  const amount = !effort ? {} : version < 3 ? { thinkingBudget: budgets[effort] } : { thinkingLevel: effort };
  return { thinkingConfig: { includeThoughts: true, ...amount } };
}
