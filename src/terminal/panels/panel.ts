// Panel: a question, a list or a sheet that temporarily replaces the editor.
import type { Key } from "../key.ts";
import type { Size, View } from "../view.ts";

export interface Panel {
  view(size: Size): View;
  /** Handles a key. A question returns false for a key it does not use, which the editor or the app then handles. */
  press(key: Key): unknown;
  /** Closes the panel without an answer, because the run was stopped or the program ends. */
  cancel(): void;
  /** Whether this is a question, which keys must not answer before it could be read. */
  readonly isQuestion?: boolean;
  /** What the keys do, shown in the footer unless the panel itself shows it. */
  readonly keys?: string;
}

export type OpenedPanel<Result> = { panel: Panel; closed: Promise<Result | undefined> };

/** Creates a panel from functions, with a promise of the result that it is closed with. */
export function createPanel<Result>(
  make: (close: (result: Result | undefined) => void) => Omit<Panel, "cancel">,
): OpenedPanel<Result> {
  let close: (result: Result | undefined) => void = () => {};
  const closed = new Promise<Result | undefined>((resolve) => {
    close = resolve;
  });
  return { panel: { ...make(close), cancel: () => close(undefined) }, closed };
}
