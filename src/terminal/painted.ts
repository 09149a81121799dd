// Painted: text that may be written to a terminal. Only this file makes it, so whatever a model, a command or a file says
// has been made visible before it can reach the screen.

declare const painted: unique symbol;

/** Safe to write as it is: text without control characters, and colours of ours around it. Holds no line break. */
export type Painted = string & { readonly [painted]: true };
