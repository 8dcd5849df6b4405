/** The command line of bubblewrap: what a native sandbox sees of this machine. Pure, but for the links of the system's folders. */
import { lstatSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { insideFile, nobody, ownPaths, ownSockets, partsFolder } from "../Locations.ts"
import type { SandboxRequest } from "../Sandbox.ts"

const nodeFile = `${partsFolder}/node`

/** Names of users and hosts, in place of those of this machine. */
export const systemFiles: Readonly<Record<string, string>> = {
  passwd: `agent:x:${nobody}:${nobody}:agent:${ownPaths.scratch}:/bin/sh\n`,
  group: `agent:x:${nobody}:\n`,
  hosts: "127.0.0.1 localhost sandbox\n"
}

/** Isolation that every sandbox has, and that the check of bubblewrap tries. */
export const isolation: ReadonlyArray<string> = [
  "--unshare-all",
  "--unshare-user",
  "--disable-userns",
  "--uid",
  `${nobody}`,
  "--gid",
  `${nobody}`,
  "--hostname",
  "sandbox",
  "--die-with-parent",
  "--new-session",
  "--clearenv",
  "--cap-drop",
  "ALL",
  "--proc",
  "/proc",
  "--dev",
  "/dev"
]

/** Programs and libraries. On most systems all but `/usr` are links into it. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
/** Settings of the dynamic linker, time and certificates; no file with a secret. */
const systemSettings = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/pki/ca-trust/extracted",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/nix/store"
]

const systemFolder = (path: string): ReadonlyArray<string> => {
  try {
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path]
  } catch {
    // This system has no such folder.
    return []
  }
}

export const system = (): ReadonlyArray<string> => [
  ...systemFolders.flatMap(systemFolder),
  ...systemSettings.flatMap((path) => ["--ro-bind-try", path, path])
]

const readOnly = (from: string, to: string): ReadonlyArray<string> => ["--ro-bind", from, to]

/** Shells spell the limit of processes `-u` (bash) or `-p` (dash). Only systems without control groups need it. */
const inner = (processes: number | undefined): string =>
  processes === undefined
    ? 'exec "$@"'
    : `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null; exec "$@"`

export interface BubblewrapOptions {
  readonly request: SandboxRequest
  /** The node that runs `Inside.ts`. */
  readonly node: string
  /** The files of the sandbox: `inside.mjs` and `systemFiles`. */
  readonly folder: string
  /** Maximum number of processes, if nothing else limits them. */
  readonly processes: number | undefined
  /** File descriptor to which bubblewrap writes its status. */
  readonly statusFd: number
}

export const bubblewrapArgs = ({
  folder,
  node,
  processes,
  request,
  statusFd
}: BubblewrapOptions): ReadonlyArray<string> => [
  ...isolation,
  "--json-status-fd",
  `${statusFd}`,
  ...system(),
  ...Object.keys(systemFiles).flatMap((name) => readOnly(join(folder, name), `/etc/${name}`)),
  "--size",
  `${request.limits.fileBytes}`,
  "--tmpfs",
  ownPaths.scratch,
  ...request.installation.flatMap((path) => readOnly(path, path)),
  ...readOnly(request.repository, ownPaths.repository),
  ...readOnly(node, nodeFile),
  ...readOnly(join(folder, "inside.mjs"), insideFile),
  ...readOnly(request.sockets.model, ownSockets.model),
  ...readOnly(request.sockets.tools, ownSockets.tools),
  "--remount-ro",
  "/dev",
  "--remount-ro",
  "/",
  "--chdir",
  ownPaths.repository,
  "--",
  "/bin/sh",
  "-c",
  inner(processes),
  "sh",
  nodeFile,
  insideFile
]
