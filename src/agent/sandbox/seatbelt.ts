// Seatbelt: the profile that macOS keeps a command to, as text. Of rules that match, the last holds.
import { join } from "node:path";
import { isInside } from "../../policy/paths.ts";
import {
  gitFolders,
  homeSettings,
  openInCursor,
  protectedFiles,
  protectedFolders,
} from "../../policy/protected-names.ts";
import type { Mount } from "./layout.ts";
import { type SandboxPlan, skillNames } from "./plan.ts";

export type SeatbeltParts = {
  /** The private temporary folder. */
  temporary: string;
  /** What rules hide or close. */
  ruled: readonly Mount[];
  /** What must be readable where the boundary is the workspace. */
  needed: readonly string[];
  /** The port of the way to listed hosts, where there are any. */
  proxyPort?: number;
};

/** Pure: the same text for the same question. */
export function seatbeltProfile(plan: SandboxPlan, { temporary, ruled, needed, proxyPort }: SeatbeltParts): string {
  const writable = [...plan.writable, ...(plan.temporary ? [temporary] : [])];
  const lines = [
    "(version 1)",
    "(deny default)",
    "; programs, and talk among those inside",
    "(allow process-exec process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    "(allow sysctl-read user-preference-read ipc-posix-sem ipc-posix-shm* pseudo-tty)",
    rule(
      "allow",
      "mach-lookup",
      services.map((name) => `(global-name ${quote(name)})`),
    ),
    rule("allow", "iokit-open", ['(iokit-registry-entry-class "RootDomainUserClient")']),
    "; reading",
    ...readRules(plan, [...needed, temporary]),
    ...keptRules(plan, needed),
    "; writing",
    rule("allow", "file-write*", writable.map(subpath)),
    rule("allow", "file-write-data file-ioctl", devices.map(literal)),
    ...plan.writable.flatMap((root) => protectedRules(root)),
    rule("deny", "file-write*", ownPaths(plan).map(subpath)),
    rule("deny", "file-write*", [...plan.readOnly, ...pathsOf(ruled, "readOnly")].map(subpath)),
    rule("deny", "file-read* file-write*", pathsOf(ruled, "hidden").map(subpath)),
    "; the network stays shut",
    ...(proxyPort === undefined ? [] : [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`]),
  ];
  return `${lines.filter(Boolean).join("\n")}\n`;
}

/** Users and groups by name, notices, the certificates that the system trusts, time zones. */
const services = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.opendirectoryd.membership",
  "com.apple.system.notification_center",
  "com.apple.system.logger",
  "com.apple.trustd.agent",
  "com.apple.bsd.dirhelper",
];
const devices = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/stdout", "/dev/stderr"];
/** Where people keep their own things. */
const homeFolders = ["/Users", "/Volumes", "/Network"];

function readRules({ readBoundary, readable, writable, home }: SandboxPlan, needed: readonly string[]): string[] {
  if (readBoundary === "system") return ["(allow file-read*)"];
  const shown = [...writable, ...readable, ...needed, join(home, ".ssh", "known_hosts")];
  return [
    "(allow file-read*)",
    rule("deny", "file-read*", [...homeFolders, home].map(subpath)),
    rule("allow", "file-read*", shown.map(subpath)),
    // The way there may be walked, not looked at.
    rule("allow", "file-read-metadata", [...homeFolders, home].map(subpath)),
  ];
}

/** What the agent keeps is not for commands: only what they run, and the workspace where that lies in it. */
function keptRules({ configDir, home, workspace, roots }: SandboxPlan, needed: readonly string[]): string[] {
  const kept = [...new Set([configDir, join(home, ".cursor")])];
  const skills = kept.flatMap((folder) => skillNames.map((name) => join(folder, name)));
  const isKept = (path: string) => kept.some((folder) => path !== folder && isInside(path, folder));
  return [
    rule("deny", "file-read*", kept.map(subpath)),
    rule("allow", "file-read*", [...skills, ...[workspace, ...roots, ...needed].filter(isKept)].map(subpath)),
    rule("allow", "file-read-metadata", kept.map(literal)),
  ];
}

/** Protected names at any depth, whether they are there or not; what package managers unpack is left alone. */
function protectedRules(root: string): string[] {
  const below = `^${pattern(root)}/(.*/)?`;
  const regex = (end: string) => `(regex #"${below}${end}")`;
  const git = `${name(".git")}/(${[...gitFolders, "commondir"].map(name).join("|")}|${name("config")}[^/]*)`;
  return [
    rule("deny", "file-write*", [regex(`${name(".cursor")}(/.*)?$`)]),
    rule("allow", "file-write*", [regex(`${name(".cursor")}/(${openInCursor.map(name).join("|")})(/.*)?$`)]),
    rule("deny", "file-write*", [
      regex(`(${protectedFolders.map(name).join("|")})(/.*)?$`),
      regex(`(${protectedFiles.map(name).join("|")})$`),
      regex(`[^/]*${name(".code-workspace")}$`),
    ]),
    rule("allow", "file-write*", [regex("node_modules/.*$")]),
    // Hooks count wherever they are. The folder itself can be neither moved away nor made anew.
    rule("deny", "file-write*", [regex(`${name(".git")}$`), regex(`${git}(/.*)?$`)]),
  ];
}

/** The user's own start-up files and settings, where the workspace holds them. */
function ownPaths({ writable, workspace, home, configDir }: SandboxPlan): string[] {
  const own = [configDir, ...[...homeSettings, "Library/LaunchAgents"].map((each) => join(home, each))];
  return own.filter((path) => !isInside(workspace, path) && writable.some((root) => isInside(path, root)));
}

function pathsOf(ruled: readonly Mount[], kind: Mount["as"]): string[] {
  return ruled.filter(({ as }) => as === kind).map(({ at }) => at);
}

/** Nothing to name: no rule, since a rule without a filter would hold for everything. */
function rule(verdict: "allow" | "deny", operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? "" : `(${verdict} ${operations}\n  ${filters.join("\n  ")})`;
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

function literal(path: string): string {
  return `(literal ${quote(path)})`;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A path in a raw pattern, which cannot hold a quotation mark: any character stands for one. */
function pattern(path: string): string {
  return path.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll('"', ".");
}

/** The file system takes either case for the same name. */
function name(text: string): string {
  return pattern(text).replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
