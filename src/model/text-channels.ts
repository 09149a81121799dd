// Extracts thinking and calls that a local model writes into its text: <think>…</think> and <tool_call>…</tool_call>.
import { isObject, tryParse } from "../json/object.ts";
import type { ToolCallPart } from "../protocol/message.ts";
import { isBlankText } from "../text/blank.ts";
import type { ModelChunk, Provider } from "./provider.ts";

/** Finds thinking and tool calls in tags within the text. Unless `always`, stops once the server sends them in fields of their own. */
export function withTextChannels(provider: Provider, always: boolean): Provider {
  const seen = { thinking: false, calls: false };
  let made = 0;
  return {
    id: provider.id,
    async *stream(request) {
      const names = new Set(request.tools.map(({ name }) => name));
      const open = () =>
        new TextReader({
          thinking: always || !seen.thinking,
          call: (text) => (always || !seen.calls ? callIn(text, names, `text_call_${++made}`) : undefined),
        });
      let reader = open();
      for await (const chunk of provider.stream(request)) {
        if (chunk.type === "text") yield* reader.read(chunk.text);
        else if (chunk.type === "part" && chunk.part.type === "text") {
          yield* reader.end();
          reader = open();
        } else {
          if (chunk.type === "thinking") seen.thinking = true;
          if (chunk.type === "part" && chunk.part.type === "tool_call") seen.calls = true;
          yield chunk;
        }
      }
    },
  };
}

type Meaning = { thinking: boolean; call(text: string): ToolCallPart | undefined };

const tags = { think: "<think>", thought: "</think>", call: "<tool_call>", called: "</tool_call>" };

/** Parses one text of an answer. Thinking is at its start, a call at the start of a line and not inside quoted code. */
class TextReader {
  readonly #meaning: Meaning;
  #mode: "begin" | "think" | "text" | "call" = "begin";
  #rest = "";
  #thinking = "";
  #text = "";
  readonly #calls: ToolCallPart[] = [];

  constructor(meaning: Meaning) {
    this.#meaning = meaning;
  }

  *read(delta: string): Generator<ModelChunk> {
    this.#rest += delta;
    for (let before: string | undefined; before !== `${this.#mode} ${this.#rest}`; ) {
      before = `${this.#mode} ${this.#rest}`;
      yield* this.#step();
    }
  }

  *end(): Generator<ModelChunk> {
    if (this.#mode === "think") yield* this.#think(this.#rest);
    else if (this.#mode !== "call" || !this.#takeCall(this.#rest))
      yield* this.#say((this.#mode === "call" ? tags.call : "") + this.#rest);
    if (!isBlankText(this.#thinking)) yield { type: "part", part: { type: "thinking", text: this.#thinking.trim() } };
    // Ignore blanks between tags.
    const isTagged = this.#thinking !== "" || this.#calls.length > 0;
    if (isTagged ? !isBlankText(this.#text) : this.#text !== "")
      yield { type: "part", part: { type: "text", text: this.#text } };
    for (const part of this.#calls) yield { type: "part", part };
  }

  *#step(): Generator<ModelChunk> {
    switch (this.#mode) {
      case "begin": {
        const start = this.#rest.trimStart();
        if (start === "" || (tags.think.startsWith(start) && start !== tags.think)) return;
        this.#mode = start.startsWith(tags.think) && this.#meaning.thinking ? "think" : "text";
        if (this.#mode === "think") this.#rest = start.slice(tags.think.length);
        return;
      }
      case "think": {
        const [thought, found] = this.#takeUntil(tags.thought);
        yield* this.#think(thought);
        if (found) this.#mode = "text";
        return;
      }
      case "text": {
        const [said, found] = this.#takeUntil(tags.call);
        yield* this.#say(said);
        if (!found) return;
        const isCall = /(?:^|\n)[ \t]*$/.test(this.#text) && (this.#text.match(/^\s*```/gm) ?? []).length % 2 === 0;
        if (isCall) this.#mode = "call";
        else yield* this.#say(tags.call);
        return;
      }
      case "call": {
        const at = this.#rest.indexOf(tags.called);
        if (at < 0) return;
        const text = this.#rest.slice(0, at);
        this.#rest = this.#rest.slice(at + tags.called.length);
        this.#mode = "text";
        if (!this.#takeCall(text)) yield* this.#say(tags.call + text + tags.called);
      }
    }
  }

  /** Returns the text before a tag. If no tag has arrived yet, keeps back what may be the beginning of one. */
  #takeUntil(tag: string): [before: string, found: boolean] {
    const at = this.#rest.indexOf(tag);
    let end = at < 0 ? this.#rest.length : at;
    if (at < 0) {
      const last = this.#rest.lastIndexOf("<");
      if (last >= 0 && tag.startsWith(this.#rest.slice(last))) end = last;
    }
    const before = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(at < 0 ? end : end + tag.length);
    return [before, at >= 0];
  }

  #takeCall(text: string): boolean {
    const call = this.#meaning.call(text);
    if (call) this.#calls.push(call);
    return call !== undefined;
  }

  *#think(text: string): Generator<ModelChunk> {
    this.#thinking += text;
    if (text !== "") yield { type: "thinking", text };
  }

  *#say(words: string): Generator<ModelChunk> {
    const text = this.#text === "" && this.#thinking !== "" ? words.trimStart() : words;
    this.#text += text;
    if (text !== "") yield { type: "text", text };
  }
}

/** Parses JSON with name and arguments, or the XML that coder models write. Returns undefined if it names no available tool. */
function callIn(text: string, names: ReadonlySet<string>, id: string): ToolCallPart | undefined {
  const json = tryParse(text.trim());
  if (isObject(json)) {
    const { name, arguments: given, parameters } = json;
    const args = typeof given === "string" ? tryParse(given) : (given ?? parameters ?? {});
    return typeof name === "string" && names.has(name) ? { type: "tool_call", id, name, args } : undefined;
  }
  const [, name = "", body = ""] = /^\s*<function=([^>\s]+)>([\s\S]*?)(?:<\/function>)?\s*$/.exec(text) ?? [];
  if (!names.has(name)) return undefined;
  const args: Record<string, unknown> = {};
  for (const [, key, value] of body.matchAll(/<parameter=([^>\s]+)>\n?([\s\S]*?)\n?<\/parameter>/g)) args[key!] = value;
  return { type: "tool_call", id, name, args };
}
