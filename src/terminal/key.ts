// Key: one key press or one paste, independent of the bytes the terminal sent for it.

/**
 * `name` is lower case, with modifiers first in the order ctrl, alt, shift: `a`, `ctrl+c`, `alt+enter`, `shift+tab`, `up`,
 * `escape`, `backspace`, `delete`, `home`, `pageup`, `f1`. `text` is what the key types, if anything.
 */
export type Key = { type: "key"; name: string; text?: string } | { type: "paste"; text: string };
