// What ai-sdk.ts must know of a vendor's package. One file each, so that each is a chunk of its own.
import type { LanguageModelV3, LanguageModelV3CallOptions, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { Fetch } from "../../net/fetch.ts";
import type { ModelRequest } from "../provider.ts";

export type VendorSettings = {
  /** Name of the vendor or endpoint: opaque parts go back to the same name only. */
  name: string;
  baseUrl: string;
  key?: string;
  headers: Readonly<Record<string, string>>;
  /** Requests of one session share the vendor's prompt cache. */
  sessionId?: string;
  /** The server wants its thinking back. */
  takesThinking?: boolean;
  /** Most tokens that an answer of the model may have, where that is known. */
  outputTokens?: number;
  /** The model that it is opened for. */
  model?: string;
  env?: Readonly<Record<string, string | undefined>>;
};

/** Which ids of calls a server takes; others get one of `length` letters and digits. */
export type CallIdRule = { legal: RegExp; length: number };

export type Vendor = {
  name: string;
  /** A model for one request. */
  open(modelId: string, fetch: Fetch): LanguageModelV3;
  /** Effort, caching and limits, as this vendor spells them. */
  options(request: ModelRequest): Pick<LanguageModelV3CallOptions, "providerOptions" | "maxOutputTokens">;
  /** Pictures may stand in tool results; else they follow in a user message. */
  imagesInResults: boolean;
  /** Kinds of pictures that are taken; default: every kind that we read. */
  imageKinds?: RegExp;
  /** `own`: the server made the id itself. */
  callIdRule(model: string, own: boolean): CallIdRule;
  /** Tools are sent as not strict: where nothing is said, the server makes optional fields mandatory. */
  saysNotStrict?: true;
  /** Most tools in a request. */
  mostTools?: number;
  /** What the names of a tool's arguments must be like. */
  argumentNames?: RegExp;
  /** `rewrite` puts the tools into the body, and not the package. */
  writesTools?: true;
  /** Changes the body of a request where the package cannot say what must be said. */
  rewrite?(body: any, request: ModelRequest): void;
  /** The body must not be changed any more: it is signed. */
  isSealed?: true;
  /** Thinking is handed back. */
  returnsThinking: boolean;
  /** Marks the end of a stretch that should be cached. */
  cacheMark?: SharedV3ProviderOptions | undefined;
  /** What an assistant's message carries beside its parts: thinking that goes back as it came. */
  messageOptions?(metadata: readonly SharedV3ProviderOptions[]): SharedV3ProviderOptions | undefined;
  /** Thinking that stands in an event of the wire and that the package passes over. */
  thinkingDetails?(event: unknown): unknown[];
  /** New kinds of events may come at any time and are to be passed over. */
  addsEvents?: true;
  /**
   * The ids of calls in an event of the wire; undefined for a call without one. For packages that give a second call of
   * the same id a new one: to us it is the same call.
   */
  callIds?(event: unknown): (string | undefined)[];
  /** What a part's metadata must look like on the way back, where the package reads it elsewhere than it wrote it. */
  restore?(metadata: SharedV3ProviderOptions): SharedV3ProviderOptions;
};
