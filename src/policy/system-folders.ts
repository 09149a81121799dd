// Protects what a machine needs: folders that are never removed as a whole, files and devices that are never overwritten. No rule and no
// flag lifts this; the user can still run the command in a shell.

import { foldText } from "../text/glob.ts";
import type { WholeChange } from "./files/whole-folders.ts";
import { type Floor, isInside, type ResolvedPath, realOrSame, type WorkspacePaths } from "./paths.ts";
import { words } from "./programs/command-names.ts";

/** Without these, or with another owner throughout, the machine does not start. In lower case, as names are compared. */
const systemFolders = words(`
  / /bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr /var /usr/bin /usr/sbin /usr/lib /usr/lib32
  /usr/lib64 /usr/libexec /usr/include /etc/pam.d /etc/ssl /etc/ssh /etc/alternatives /etc/systemd /lib/modules /usr/lib/modules
  /lib/systemd /usr/lib/systemd /var/lib /var/lib/dpkg /var/lib/rpm /var/lib/pacman /nix /nix/store
  /system /system/library /system/volumes /library /private /private/etc /private/var`);
/** Matches folders with libraries for one architecture. */
const systemPattern = /^\/(usr\/)?lib\/\w+-linux-\w+$/;

/** Folders with user data: changing their owner may be right, removing them never is. */
const keptFolders = words(`
  /home /root /opt /srv /mnt /media /snap /usr/share /usr/local /usr/local/bin /usr/local/sbin /usr/local/lib /usr/local/share
  /users /applications /volumes /opt/homebrew /var/root`);
/** Matches homes, drives, and the main folders of a Windows drive. */
const keptPattern =
  /^\/(home|users|volumes)\/[^/]+$|^\/mnt\/[a-z]$|^(\/mnt)?\/[a-z]\/(windows|users|program files[^/]*|programdata)$/;

/** Returns why a folder must not be changed as a whole, or undefined if it may be. */
export function keptWhole(path: string, change: WholeChange, paths: WorkspacePaths): string | undefined {
  const plain = foldText(path);
  if (systemFolders.has(plain) || systemPattern.test(plain))
    return `${path} is a system folder: as a whole it is never ${changed[change]}`;
  if (change === "open") return undefined;
  if (keptFolders.has(plain) || keptPattern.test(plain)) return `${path} as a whole is never ${changed.remove}`;
  const ownPlace = ownPlaces(paths).find((place) => place.paths.some((each) => isInside(each, path)));
  if (!ownPlace) return undefined;
  return `${path} ${ownPlace.paths.includes(path) ? "is" : "contains"} ${ownPlace.what}: as a whole it is never ${changed.remove}`;
}

type OwnPlace = { what: string; paths: readonly string[] };

/** Resolved once for each set of paths: a command may remove a thousand files. */
const knownPlaces = new WeakMap<WorkspacePaths, readonly OwnPlace[]>();

function ownPlaces(paths: WorkspacePaths): readonly OwnPlace[] {
  const found = knownPlaces.get(paths) ?? [
    { what: "your home directory", paths: [paths.home, realOrSame(paths.home)] },
    { what: "the agent's own configuration", paths: [paths.configDir, realOrSame(paths.configDir)] },
  ];
  knownPlaces.set(paths, found);
  return found;
}

const changed: Record<WholeChange, string> = {
  remove: "removed, moved or emptied",
  open: "given another mode or owner",
};

const accountFiles = words("/etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/sudoers /etc/ld.so.preload");
const disk =
  /^\/dev\/((sd|hd|vd|xvd|zd|nbd)[a-z0-9]|nvme\d|mmcblk|md\d|md\/|dm-|mapper\/|disk\/|r?disk\d|k?mem$|port$)/;
const kernelSwitch =
  /^\/(proc\/(sysrq-trigger|sys\/(kernel\/(core_pattern|modprobe|hotplug)|fs\/binfmt_misc\/.*))|sys\/(kernel\/uevent_helper|firmware\/efi\/.*|(fs\/cgroup\/.*)release_agent))$/;

/** Returns what protects a system file from writes. Accounts have their own programs to edit them. */
export function systemFloor({ given, real }: ResolvedPath): Floor | undefined {
  for (const path of new Set([given, real])) {
    if (accountFiles.has(foldText(path)))
      return {
        level: "protected",
        why: `${path} says who may do what on this machine (useradd, usermod and visudo edit it)`,
      };
    // Only git itself needs to change HEAD.
    if (/\/\.git(\/(modules|worktrees)\/.+)?\/head$/.test(foldText(path)))
      return { level: "protected", why: `${path} says which commit a repository is at: git itself changes it` };
    if (disk.test(path))
      return { level: "never", why: `${path} is a disk or the memory of this machine, which is never written` };
    if (kernelSwitch.test(path))
      return { level: "never", why: `${path} changes what the kernel runs, and is never written` };
  }
  return undefined;
}
