// A piece of code.

/** Text and what it is, as the highlighter calls it. */
export type CodePiece = { text: string; kind?: string };
