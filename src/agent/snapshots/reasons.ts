// The reasons why a path is not saved, and their descriptions.
export type UnsavedReason = "large" | "many" | "repository" | "special" | "name" | "unreadable" | "own" | "outside";

export type UnsavedPath = { path: string; why: UnsavedReason };

export const reasons: Record<UnsavedReason, string> = {
  large: "larger than 10 MiB",
  many: "an ignored directory with more than 5,000 files or 100 MiB",
  repository: "part of a repository's own data",
  special: "a device, pipe or socket",
  name: "its name is not UTF-8",
  unreadable: "it cannot be read",
  own: "part of the agent's own configuration",
  outside: "outside the workspace",
};
