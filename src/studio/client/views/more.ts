// The session views beside the timeline, loaded together when the first of them is opened.
export { Changes } from "./changes.tsx";
export { Compare } from "./compare.tsx";
export { Files } from "./files.tsx";
export { RawEvents } from "./raw-events.tsx";
export { Replay } from "./replay.tsx";
