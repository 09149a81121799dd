// Defines a highlighted piece of code.

/** `kind` is the highlighter's name for what the text is. */
export type CodePiece = { text: string; kind?: string };
