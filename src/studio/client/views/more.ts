// The views of a session beside its timeline: loaded together, when the first of them is looked at.
export { Changes } from "./changes.tsx";
export { Files } from "./files.tsx";
export { RawEvents } from "./raw-events.tsx";
export { Replay } from "./replay.tsx";
