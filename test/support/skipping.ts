// The title of a test that this machine cannot run says why.
export function orSkipped(title: string, missing: string | false | undefined): string {
  return missing ? `${title} (skipped: ${missing})` : title;
}

/** Processes are looked at in /proc. */
export const notLinux = process.platform !== "linux" && "it looks at processes as Linux shows them";
