// Key: one key that was pressed, or one paste, whatever bytes the terminal sent for it.

/**
 * `name`: lower case, modifiers first in the order ctrl, alt, shift: `a`, `ctrl+c`, `alt+enter`, `shift+tab`, `up`, `escape`,
 * `backspace`, `delete`, `home`, `pageup`, `f1`. `text`: what it types, where it types something.
 */
export type Key = { type: "key"; name: string; text?: string } | { type: "paste"; text: string };
