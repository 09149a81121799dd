// The redactor before every sink: secrets go, everything else stays as it is, to the byte.
import { findNamed } from "./named.ts";
import { findInUrls, findPrivateKeys, findSchemes, findWrapped, type KeyState } from "./secrets-by-position.ts";
import { findShapes } from "./shapes.ts";
import { cutOut, type Span } from "./span.ts";
import { RedactedStream } from "./stream.ts";
import { type ValueFinder, valueFinder } from "./values.ts";
import { decodedText } from "./view.ts";

export { marker } from "./span.ts";
export type { RedactedStream } from "./stream.ts";

export interface Redactor {
  /** The text without its secrets. */
  redact(text: string): string;
  /** For text that comes in pieces: a secret that is cut in two is found all the same. */
  stream(): RedactedStream;
}

export type RedactorOptions = {
  /** Values in use: keys, tokens, passwords. They are found whatever they look like. */
  values?: readonly string[];
};

export function createRedactor({ values = [] }: RedactorOptions = {}): Redactor {
  const findValues = valueFinder(values);
  const find = (text: string, state: KeyState): Span[] => spansIn(text, state, findValues);
  return {
    redact: (text) => cutOut(text, find(text, { left: 0 })),
    stream: () => new RedactedStream(find),
  };
}

/** What is known by its looks, its name or its place. Values in use need a redactor of their own. */
export const { redact } = createRedactor();

const noSeam = (): boolean => false;

function spansIn(text: string, state: KeyState, findValues: ValueFinder): Span[] {
  const spans = [...plainSpans(text, noSeam), ...findValues(text), ...findPrivateKeys(text, state)];
  const view = decodedText(text);
  if (view) {
    const inView = [...plainSpans(view.text, (at) => view.isSeam(at)), ...findValues(view.text)];
    for (const span of inView) {
      // A number in JSON whose name is escaped: there is no telling how the quotes around the marker must be spelt.
      if (span.quote === undefined || /\D/.test(view.text.slice(span.start, span.end))) spans.push(view.original(span));
    }
  }
  return spans;
}

function plainSpans(text: string, isSeam: (at: number) => boolean): Span[] {
  return [
    ...findShapes(text, isSeam),
    ...findNamed(text),
    ...findInUrls(text),
    ...findSchemes(text),
    ...findWrapped(text, (decoded) => holdsSecret(decoded)),
  ];
}

function holdsSecret(text: string): boolean {
  return findShapes(text, noSeam).length > 0 || findNamed(text).length > 0 || findInUrls(text).length > 0;
}
