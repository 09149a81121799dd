// Panel: what stands in the place of the editor for a while: a question, a list, a sheet.
import type { Key } from "../key.ts";
import type { Size, View } from "../view.ts";

export interface Panel {
  view(size: Size): View;
  press(key: Key): void;
  /** It is taken away without an answer: the run was stopped, the program ends. */
  cancel(): void;
  /** Something is asked that must not be answered by what was typed before it could be read. */
  readonly isQuestion?: boolean;
}

export type OpenedPanel<Result> = { panel: Panel; closed: Promise<Result | undefined> };

/** A panel whose view and keys come from functions, and the promise of what it is closed with. */
export function createPanel<Result>(
  make: (close: (result: Result | undefined) => void) => Omit<Panel, "cancel">,
): OpenedPanel<Result> {
  let close: (result: Result | undefined) => void = () => {};
  const closed = new Promise<Result | undefined>((resolve) => {
    close = resolve;
  });
  return { panel: { ...make(close), cancel: () => close(undefined) }, closed };
}
