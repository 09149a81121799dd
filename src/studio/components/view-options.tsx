// What components know of the page they stand in: handed down once, so that each of them also works alone.
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useMemo, useReducer, useState } from "preact/hooks";
import { shortPath } from "../../text/short-path.ts";
import type { CodePiece } from "../../view/code-piece.ts";

export type Highlight = (code: string, language: string) => CodePiece[][];

export type ViewOptions = {
  /** Paths inside it are shown from there. */
  workspace?: string;
  home?: string;
  /** It is looked at afterwards: what ran then does not run now. */
  isPast?: boolean;
  /** For pages without scripts: everything is in the page, and folded by the browser itself. */
  isStatic?: boolean;
  /** The address of a block, where blocks can be linked to. */
  linkTo?: (id: string) => string;
  /** Where it is loaded already; otherwise it is when code is first shown. */
  highlight?: Highlight;
  /** Unified, or both sides next to each other. */
  diffLayout?: "unified" | "split";
  /** Files that were deleted can be brought back: the session is one of ours. */
  canRewind?: boolean;
  /** Who remembers what is open; by default each component does. */
  openness?: Openness;
};

/** What a reader opened and closed. Undefined: neither. */
export type Openness = { isOpen(id: string): boolean | undefined; set(id: string, isOpen: boolean): void };

const Options = createContext<ViewOptions>({});

export function View({ children, ...options }: ViewOptions & { children: ComponentChildren }) {
  const { workspace, home, isStatic, linkTo, highlight, diffLayout, canRewind, openness } = options;
  // The same object while nothing changes: everything below is drawn again for another.
  const value = useMemo(() => options, [workspace, home, isStatic, linkTo, highlight, diffLayout, canRewind, openness]);
  return <Options.Provider value={value}>{children}</Options.Provider>;
}

export function useView(): ViewOptions {
  return useContext(Options);
}

/** Whether something is open, and what changes it. */
export function useOpen(id: string, otherwise: boolean): [isOpen: boolean, set: (isOpen: boolean) => void] {
  const { openness } = useView();
  const [own, setOwn] = useState<boolean>();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const set = (next: boolean) => {
    openness?.set(id, next);
    setOwn(next);
    redraw(undefined);
  };
  return [(openness ? openness.isOpen(id) : own) ?? otherwise, set];
}

/** A path as it is read: from the workspace, or from home. */
export function usePath(): (path: string) => string {
  const { workspace, home } = useView();
  return (path) => {
    if (workspace && path === workspace) return ".";
    const inside = workspace ? path.replaceAll(`${workspace}/`, "") : path;
    return home && home !== "/" ? shortPath(inside, home) : inside;
  };
}

let highlighter: Highlight | undefined;
let loading: Promise<void> | undefined;

/** Loads the highlighter: once, for all. */
export function loadHighlighter(): Promise<void> {
  loading ??= import("../../view/code-pieces.ts").then(({ codePieces }) => {
    highlighter = codePieces;
  });
  return loading;
}

/** Undefined until it is loaded; then the component is drawn again. */
export function useHighlight(isWanted: boolean): Highlight | undefined {
  const { highlight } = useView();
  const [, setLoaded] = useState(highlighter !== undefined);
  useEffect(() => {
    if (!isWanted || highlight || highlighter) return;
    let isHere = true;
    void loadHighlighter().then(() => isHere && setLoaded(true));
    return () => {
      isHere = false;
    };
  }, [isWanted, highlight]);
  return highlight ?? highlighter;
}
