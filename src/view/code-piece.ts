// Defines a highlighted piece of code.

/** A piece of code; `kind` is what the highlighter calls it, such as a keyword. */
export type CodePiece = { text: string; kind?: string };
