// Profiles: the versions of the stream that programs were written against, and how each differs from the current one.

/** The differences of one wire version. Selected by `COURSER_COMPAT`, and by code that imitates a recorded CLI. */
export type Profile = {
  /** Writes `toolCallId`, `startedAtMs`, … next to the tool key. */
  callSiblings: boolean;
  /** Writes `timestamp_ms` on the whole segment before a tool call. */
  segmentTimes: boolean;
  /** The outcome of a command that exits with a code other than 0. */
  failedCommand: "failure" | "success";
  /** Writes every field of a command's call and result, or only those of the first version. */
  commandFields: "all" | "first";
  /** The types of a command's words: every type of the syntax tree, or word, string and number. */
  wordTypes: "all" | "three";
  /** Writes `relatedCursorRules` and the like in the result of a read. */
  readRules: boolean;
  /** Writes `targetDirectory` of a glob always, or only if the model gave one. */
  globDirectory: "always" | "given";
  /** Writes `path` of a grep always, or only if the model gave one. */
  grepPath: "always" | "given";
  /** A unified diff; or changed lines only, with or without a space after the sign. */
  diffString: "unified" | "spaced lines" | "lines";
  /** Counts a new file as the removal of one empty line. */
  newFileRemovesLine: boolean;
  /**
   * Writes fields that only Courser has: `policy_hash` in the first line; `totalCost`, `background`, `missing_mcp_servers`,
   * `budget` in the result.
   */
  extensions: boolean;
  /** Writes `usage` in the result. `COURSER_COMPAT` keeps it, since it does no harm; code that imitates that version does not. */
  usage: boolean;
  /** The wire names of tools that this version did not have. */
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
  /** The stream format of October 2025. */
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
  /** The stream format of February 2026. */
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

/** The name of an older version of the stream format. */
export type ProfileName = keyof typeof profiles;

export const profileNames = Object.keys(profiles) as ProfileName[];

/** Versions of the original CLI by month of release, with the profile of each. */
export const versions = { "2025.10": "2025", "2026.02": "2026-02", "2026.09": undefined } as const satisfies Record<
  string,
  ProfileName | undefined
>;

export type VersionName = keyof typeof versions;

/** Returns the current profile if there is no name. */
export function profileOf(name: ProfileName | undefined): Profile {
  return name === undefined ? today : profiles[name];
}
