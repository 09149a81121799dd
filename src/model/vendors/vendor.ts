// What ai-sdk.ts must know of a vendor's package. One file per vendor, so that each is a bundle chunk of its own.
import type { LanguageModelV3, LanguageModelV3CallOptions, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { Fetch } from "../../net/fetch.ts";
import type { ModelRequest } from "../provider.ts";

export type VendorSettings = {
  /** The name of the vendor or endpoint: opaque parts are sent back only to the same name. */
  name: string;
  baseUrl: string;
  /** Absent if the server needs none, or a token command replaces it. Packages that require one are then given "none". */
  key?: string;
  headers: Readonly<Record<string, string>>;
  /** The id of the session, whose requests share the vendor's prompt cache. */
  sessionId?: string;
  /** Whether the server expects thinking to be sent back. */
  takesThinking?: boolean;
  /** The most tokens that an answer of the model may have, if known. */
  outputTokens?: number;
  /** The model for which the vendor is opened. */
  model?: string;
  env?: Readonly<Record<string, string | undefined>>;
};

/** Which call ids a server accepts. Others are replaced by `length` letters and digits. */
export type CallIdRule = { legal: RegExp; length: number };

export type Vendor = {
  name: string;
  /** Opens a model for one request. */
  open(modelId: string, fetch: Fetch): LanguageModelV3;
  /** Returns effort, caching and limits as this vendor's options. */
  options(request: ModelRequest): Pick<LanguageModelV3CallOptions, "providerOptions" | "maxOutputTokens">;
  /** Images may be in tool results; otherwise they follow in a user message. */
  imagesInResults: boolean;
  /** MIME types of images that are accepted; by default every type that the agent reads. */
  imageKinds?: RegExp;
  /** The maximum number of images in a request; 20 by default. */
  maxImages?: number;
  /** Returns which call ids are accepted. `own` means ids that the server itself created. */
  callIdRule(model: string, own: boolean): CallIdRule;
  /** Tools are sent as not strict: by default the server makes optional fields mandatory. */
  saysNotStrict?: true;
  /** The maximum number of tools in a request. */
  maxTools?: number;
  /** The maximum length of a tool's description, in characters. */
  maxDescription?: number;
  /** Whether a conversation with tool calls must be sent with tools. */
  needsTools?: true;
  /** Whether schemas of tools may have only fields at the top, and no definitions. */
  flatSchemas?: boolean;
  /** Whether every schema must have a single type, alternatives or a reference, and few other keywords. */
  typedSchemas?: true;
  /** A pattern for the names of a tool's arguments. */
  argumentNames?: RegExp;
  /** `rewrite` puts the tools into the body instead of the package. */
  writesTools?: true;
  /** Changes the body of a request in ways that the package does not support. */
  // biome-ignore lint/suspicious/noExplicitAny: each vendor knows the shape of its own request
  rewrite?(body: any, request: ModelRequest): void;
  /** Whether the body is signed and must not be changed. */
  isSealed?: true;
  /** Whether thinking is sent back to the vendor. */
  returnsThinking: boolean;
  /** The mark at the end of a prefix that should be cached. */
  cacheMark?: SharedV3ProviderOptions | undefined;
  /** Returns options of an assistant message besides its parts: thinking that is sent back as received. */
  messageOptions?(metadata: readonly SharedV3ProviderOptions[]): SharedV3ProviderOptions | undefined;
  /** Returns thinking in a raw event that the package ignores. */
  thinkingDetails?(event: unknown): unknown[];
  /** Whether unknown kinds of events are ignored, since the vendor may add new ones. */
  addsEvents?: true;
  /**
   * Returns the ids of calls in a raw event; undefined for a call without one.
   * For packages that give a repeated call a new id although it is the same call.
   */
  callIds?(event: unknown): (string | undefined)[];
  /** Converts a part's metadata for sending it back, if the package reads it elsewhere than it wrote it. */
  restore?(metadata: SharedV3ProviderOptions): SharedV3ProviderOptions;
};

/** The requirements of Claude models for tools, whichever vendor serves them. */
export const claudeRules: Pick<Vendor, "argumentNames" | "needsTools"> = {
  argumentNames: /^[a-zA-Z0-9_.-]{1,64}$/,
  needsTools: true,
};
