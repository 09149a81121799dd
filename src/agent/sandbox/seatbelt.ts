// Builds the Seatbelt profile for a command on macOS. If several rules match, the last one wins.
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
  temporary: string;
  /** Paths that permission rules hide or make read-only. */
  ruled: readonly Mount[];
  /** Paths that must be readable even if the boundary is the workspace. */
  needed: readonly string[];
  /** The port of the proxy to the permitted hosts, if any are permitted. */
  proxyPort?: number;
};

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
    rule("allow", "file-write*", writable.map(subpathFilter)),
    rule("allow", "file-write-data file-ioctl", devices.map(literalFilter)),
    ...plan.writable.flatMap((root) => protectedRules(root)),
    rule("deny", "file-write*", ownPaths(plan).map(subpathFilter)),
    rule("deny", "file-write*", [...plan.readOnly, ...ruledPaths(ruled, "readOnly")].map(subpathFilter)),
    rule("deny", "file-read* file-write*", ruledPaths(ruled, "hidden").map(subpathFilter)),
    "; the network stays shut",
    ...(proxyPort === undefined ? [] : [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`]),
  ];
  return `${lines.filter(Boolean).join("\n")}\n`;
}

/** User and group names, notifications, logging, trusted certificates, and per-user folders. */
const services = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.opendirectoryd.membership",
  "com.apple.system.notification_center",
  "com.apple.system.logger",
  "com.apple.trustd.agent",
  "com.apple.bsd.dirhelper",
];
const devices = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/stdout", "/dev/stderr"];
const homeFolders = ["/Users", "/Volumes", "/Network"];

function readRules({ readBoundary, readable, writable, home }: SandboxPlan, needed: readonly string[]): string[] {
  if (readBoundary === "system") return ["(allow file-read*)"];
  const visiblePaths = [...writable, ...readable, ...needed, join(home, ".ssh", "known_hosts")];
  return [
    "(allow file-read*)",
    rule("deny", "file-read*", [...homeFolders, home].map(subpathFilter)),
    rule("allow", "file-read*", visiblePaths.map(subpathFilter)),
    // The parent folders of allowed paths may be traversed but not listed.
    rule("allow", "file-read-metadata", [...homeFolders, home].map(subpathFilter)),
  ];
}

/** Writes rules that hide the agent's own folders, except what commands run from them and a workspace inside them. */
function keptRules({ configDir, home, workspace, roots }: SandboxPlan, needed: readonly string[]): string[] {
  const ownFolders = [...new Set([configDir, join(home, ".cursor")])];
  const skills = ownFolders.flatMap((folder) => skillNames.map((name) => join(folder, name)));
  const isKept = (path: string) => ownFolders.some((folder) => path !== folder && isInside(path, folder));
  return [
    rule("deny", "file-read*", ownFolders.map(subpathFilter)),
    rule("allow", "file-read*", [...skills, ...[workspace, ...roots, ...needed].filter(isKept)].map(subpathFilter)),
    rule("allow", "file-read-metadata", ownFolders.map(literalFilter)),
  ];
}

/** Protects these names at any depth, whether they exist or not; what package managers unpack may be written. */
function protectedRules(root: string): string[] {
  const below = `^${pattern(root)}/(.*/)?`;
  const regex = (end: string) => `(regex #"${below}${end}")`;
  const git = `${namePattern(".git")}/(${[...gitFolders, "commondir"].map(namePattern).join("|")}|${namePattern("config")}[^/]*)`;
  return [
    rule("deny", "file-write*", [regex(`${namePattern(".cursor")}(/.*)?$`)]),
    rule("allow", "file-write*", [
      regex(`${namePattern(".cursor")}/(${openInCursor.map(namePattern).join("|")})(/.*)?$`),
    ]),
    rule("deny", "file-write*", [
      regex(`(${protectedFolders.map(namePattern).join("|")})(/.*)?$`),
      regex(`(${protectedFiles.map(namePattern).join("|")})$`),
      regex(`[^/]*${namePattern(".code-workspace")}$`),
    ]),
    rule("allow", "file-write*", [regex("node_modules/.*$")]),
    // Hooks are protected at any depth. The `.git` folder itself can be neither moved nor created.
    rule("deny", "file-write*", [regex(`${namePattern(".git")}$`), regex(`${git}(/.*)?$`)]),
  ];
}

/** The user's start-up files and settings, if they lie in a writable folder. */
function ownPaths({ writable, workspace, home, configDir }: SandboxPlan): string[] {
  const protectedSettings = [configDir, ...[...homeSettings, "Library/LaunchAgents"].map((each) => join(home, each))];
  return protectedSettings.filter(
    (path) => !isInside(workspace, path) && writable.some((root) => isInside(path, root)),
  );
}

function ruledPaths(ruled: readonly Mount[], kind: Mount["as"]): string[] {
  return ruled.filter(({ as }) => as === kind).map(({ at }) => at);
}

/** Returns no rule without filters, since such a rule would match everything. */
function rule(verdict: "allow" | "deny", operations: string, filters: readonly string[]): string {
  return filters.length === 0 ? "" : `(${verdict} ${operations}\n  ${filters.join("\n  ")})`;
}

function subpathFilter(path: string): string {
  return `(subpath ${quote(path)})`;
}

function literalFilter(path: string): string {
  return `(literal ${quote(path)})`;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** Escapes a path for a raw pattern, which cannot contain a quotation mark: any character matches it. */
function pattern(path: string): string {
  return path.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll('"', ".");
}

/** Writes a pattern that matches a name in upper and lower case, since the file system ignores case. */
function namePattern(text: string): string {
  return pattern(text).replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
