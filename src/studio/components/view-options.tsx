// Options that components share through context, so that each component also works alone.
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useMemo, useReducer, useState } from "preact/hooks";
import { shortPath } from "../../text/short-path.ts";
import type { CodePiece } from "../../view/code-piece.ts";

export type Highlight = (code: string, language: string) => CodePiece[][];

/** Options for how components are shown. */
export type ViewOptions = {
  /** The workspace; paths inside it are shown relative to it. */
  workspace?: string;
  home?: string;
  /** Whether the session has ended, so that no call is running. */
  isPast?: boolean;
  /** Whether the page has no scripts: everything is in the page, and the browser folds it. */
  isStatic?: boolean;
  /** Returns the URL of a block, if blocks can be linked to. */
  linkTo?: (id: string) => string;
  /** The highlighter, if loaded already; otherwise it is loaded when code is first shown. */
  highlight?: Highlight;
  /** Whether diffs are unified or side by side. */
  diffLayout?: "unified" | "split";
  /** Whether deleted files can be restored, which only our own sessions support. */
  canRewind?: boolean;
  /** Stores what is open; by default each component does so itself. */
  openness?: Openness;
};

/** Which blocks the reader has opened or closed; undefined for neither. */
export type Openness = { isOpen(id: string): boolean | undefined; set(id: string, isOpen: boolean): void };

const Options = createContext<ViewOptions>({});

/** Sets how the components inside it are shown. */
export function View({ children, ...options }: ViewOptions & { children: ComponentChildren }) {
  const { workspace, home, isStatic, linkTo, highlight, diffLayout, canRewind, openness } = options;
  // Keep the same object while nothing changes: a new one would render everything inside again.
  const value = useMemo(() => options, [workspace, home, isStatic, linkTo, highlight, diffLayout, canRewind, openness]);
  return <Options.Provider value={value}>{children}</Options.Provider>;
}

export function useView(): ViewOptions {
  return useContext(Options);
}

/** Returns whether something is open, and a setter. */
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

/** Returns a function that shortens paths relative to the workspace or the home directory. */
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

/** Loads the highlighter once for all components. */
export function loadHighlighter(): Promise<void> {
  loading ??= import("../../view/code-pieces.ts").then(({ codePieces }) => {
    highlighter = codePieces;
  });
  return loading;
}

/** Returns the syntax highlighter; undefined until it is loaded, which renders the component again. */
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
