// Profiles: the versions of the stream that programs were written against, and where each differs from today's.

/** What a version of the wire says. `COURSER_COMPAT` chooses one, and so does whatever plays a recorded CLI. */
export type Profile = {
  /** `toolCallId`, `startedAtMs`, … beside the tool key. */
  callSiblings: boolean;
  /** `timestamp_ms` on the whole segment before a tool call. */
  segmentTimes: boolean;
  /** The outcome of a command that exits with something else than 0. */
  failedCommand: "failure" | "success";
  /** Every field of a command's call and of its result, or those of the first version. */
  commandFields: "all" | "first";
  /** What the words of a command can be: everything that a syntax tree names, or word, string and number. */
  wordTypes: "all" | "three";
  /** `relatedCursorRules` and the like in the result of a read. */
  readRules: boolean;
  /** `targetDirectory` of a glob: always, or when the model gave one. */
  globDirectory: "always" | "given";
  /** `path` of a grep: the same. */
  grepPath: "always" | "given";
  /** A unified diff; or changed lines only, with or without a blank after the sign. */
  diffString: "unified" | "spaced lines" | "lines";
  /** A new file counts as one empty line that was removed. */
  newFileRemovesLine: boolean;
  /** What is ours alone: `policy_hash` in the first line; `totalCost`, `background`, `missing_mcp_servers`, `budget` in the result. */
  extensions: boolean;
  /** `usage` in the result. `COURSER_COMPAT` keeps it, since nobody is hurt by it; whatever plays that version does not. */
  usage: boolean;
  /** Tools that this version did not have, by their wire name. */
  missingTools: readonly string[];
};

const today: Profile = {
  callSiblings: true,
  segmentTimes: true,
  failedCommand: "failure",
  commandFields: "all",
  wordTypes: "all",
  readRules: true,
  globDirectory: "given",
  grepPath: "always",
  diffString: "unified",
  newFileRemovesLine: false,
  extensions: true,
  usage: true,
  missingTools: [],
};

const profiles = {
  /** October 2025. */
  "2025": {
    callSiblings: false,
    segmentTimes: false,
    failedCommand: "success",
    commandFields: "first",
    wordTypes: "three",
    readRules: false,
    globDirectory: "always",
    grepPath: "given",
    diffString: "spaced lines",
    newFileRemovesLine: true,
    extensions: false,
    usage: false,
    missingTools: ["task", "askQuestion", "createPlan"],
  },
  /** February 2026. */
  "2026-02": {
    ...today,
    wordTypes: "three",
    readRules: false,
    globDirectory: "always",
    diffString: "lines",
    newFileRemovesLine: true,
    extensions: false,
    usage: false,
  },
} satisfies Record<string, Profile>;

/** A version other than today's. */
export type ProfileName = keyof typeof profiles;

export const profileNames = Object.keys(profiles) as ProfileName[];

/** Versions of the original, by the month that they came out, and the profile that each has. */
export const versions = { "2025.10": "2025", "2026.02": "2026-02", "2026.09": undefined } as const satisfies Record<
  string,
  ProfileName | undefined
>;

export type VersionName = keyof typeof versions;

/** Without a name: today's. */
export function profileOf(name: ProfileName | undefined): Profile {
  return name === undefined ? today : profiles[name];
}
