// The staged stop of a process: asked to cancel, asked to end, ended.

export type Stage = "cancel" | "SIGTERM" | "SIGKILL";

type StopTarget = {
  /** Each stage is written down here as it begins. */
  stages: Stage[];
  /** Shared by all stages: the whole stop takes hardly longer. */
  graceMs: number;
  /** How long a stage waits, where it is not a part of `graceMs`. */
  stageMs?: { cancel?: number; term?: number };
  exited: Promise<unknown>;
  /** Says "cancel" in the process's own way; false when it has no ear for that. */
  cancel(): boolean;
  signal(name: "SIGTERM" | "SIGKILL"): Promise<void>;
};

/** Resolves when the process is gone, or has outlived even SIGKILL by a second. */
export async function stopInStages({
  stages,
  graceMs,
  stageMs = {},
  exited,
  cancel,
  signal,
}: StopTarget): Promise<void> {
  stages.push("cancel");
  const isHeard = cancel();
  if (isHeard && (await happensWithin(exited, stageMs.cancel ?? graceMs / 2))) return;
  stages.push("SIGTERM");
  await signal("SIGTERM");
  if (await happensWithin(exited, stageMs.term ?? (isHeard ? graceMs / 2 : graceMs))) return;
  stages.push("SIGKILL");
  await signal("SIGKILL");
  await happensWithin(exited, 1000);
}

export async function happensWithin(event: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    // A busy process sees its timers before its pipes: what has come by then is looked at first.
    timer = setTimeout(() => setImmediate(() => resolve(false)), limitMs);
  });
  try {
    return await Promise.race([event.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
