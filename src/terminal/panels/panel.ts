// Panel: a question, a list or a sheet that temporarily replaces the editor.
import type { Key } from "../key.ts";
import type { Size, View } from "../view.ts";

export interface Panel {
  view(size: Size): View;
  /** A question returns false for a key that means nothing to it, which then belongs to the editor or the app. */
  press(key: Key): unknown;
  /** Closes the panel without an answer, because the run was stopped or the program ends. */
  cancel(): void;
  /** True if keys typed before the panel could be read must not answer it. */
  readonly isQuestion?: boolean;
  /** What its keys do, shown in the footer if the panel does not say it itself. */
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
