/**
 * The command line of bubblewrap: what a native sandbox sees of this machine. Pure, but for the links of the system's folders.
 *
 * A service that is root gives up its rights first, so that nothing in the sandbox is user 0 of the kernel: root places what the sandbox sees
 * where every user reaches it, in a file system of its own, and `setpriv` starts the actual bubblewrap there, as a user of this pass alone.
 *
 * ```
 * any user    bwrap (isolation) ── program
 * root        bwrap (placing) ── setpriv ── bwrap (isolation) ── program
 * ```
 */
import { existsSync, lstatSync, readlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { insideFile, nobody, ownPaths, ownSockets, partsFolder } from "../Locations.ts"
import type { SandboxRequest } from "../Sandbox.ts"

const nodeFile = `${partsFolder}/node`

/** Names of users and hosts, in place of those of this machine. */
export const systemFiles: Readonly<Record<string, string>> = {
  passwd: `agent:x:${nobody}:${nobody}:agent:${ownPaths.scratch}:/bin/sh\n`,
  group: `agent:x:${nobody}:\n`,
  hosts: "127.0.0.1 localhost sandbox\n"
}

/** Isolation that every sandbox has. */
const isolation: ReadonlyArray<string> = [
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
  "ALL"
]

/** Lists of keys of this machine's users, with their descriptions. */
const closedFiles = ["/proc/keys", "/proc/key-users"]

/** Makes processes and settings of the kernel read-only, for their owner too. */
const kernelFolders = (): ReadonlyArray<string> => [
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  ...closedFiles.filter(existsSync).flatMap((path) => ["--ro-bind", "/dev/null", path]),
  "--remount-ro",
  "/proc"
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

const system = (): ReadonlyArray<string> => [
  ...systemFolders.flatMap(systemFolder),
  ...systemSettings.flatMap((path) => ["--ro-bind-try", path, path])
]

type Binding = readonly [from: string, to: string]

const readOnly = (bindings: ReadonlyArray<Binding>): ReadonlyArray<string> =>
  bindings.flatMap(([from, to]) => ["--ro-bind", from, to])

/** A user without rights, and the program that changes to it. */
interface OwnUser {
  readonly setpriv: string
  readonly uid: number
}

export interface Isolation {
  readonly bubblewrap: string
  /** Required where the service is root. */
  readonly user: OwnUser | undefined
  /** File descriptor from which bubblewrap reads the filter of system calls. */
  readonly filterFd: number
}

const toolsFolder = `${partsFolder}/start`

/** Folders that bubblewrap makes for a mount are otherwise closed to other users. */
const parents = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(paths.map((path) => dirname(path)))].flatMap((folder) => ["--dir", folder])

/** Returns how the actual bubblewrap is started. */
const starter = ({ bubblewrap, user }: Isolation, bindings: ReadonlyArray<Binding>): ReadonlyArray<string> => {
  if (user === undefined) return [bubblewrap]
  const [own, setpriv] = [`${toolsFolder}/bwrap`, `${toolsFolder}/setpriv`]
  const placed: ReadonlyArray<Binding> = [...bindings, [bubblewrap, own], [user.setpriv, setpriv]]
  const identity = [`--reuid=${user.uid}`, `--regid=${user.uid}`, "--clear-groups"]
  const rights = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"]
  return [
    bubblewrap,
    "--die-with-parent",
    "--dev-bind",
    "/dev",
    "/dev",
    "--bind",
    "/proc",
    "/proc",
    "--dir",
    ownPaths.scratch,
    ...parents([...systemSettings, ...placed.map(([, to]) => to)]),
    ...system(),
    ...readOnly(placed),
    "--",
    setpriv,
    ...identity,
    ...rights,
    own
  ]
}

/** Returns a command line in isolation, up to the program. A binding may be below a folder of `options`. */
const isolate = (
  start: Isolation,
  bindings: ReadonlyArray<Binding>,
  options: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...starter(start, bindings),
  ...isolation,
  ...kernelFolders(),
  ...system(),
  "--seccomp",
  `${start.filterFd}`,
  ...options,
  ...readOnly(start.user === undefined ? bindings : bindings.map(([, to]) => [to, to])),
  "--remount-ro",
  "/dev",
  "--remount-ro",
  "/",
  "--"
]

/** Returns the command line of a program that only ends, in isolation: it fails where this machine does not permit that. */
export const probeArgs = (start: Isolation): ReadonlyArray<string> => [
  ...isolate(start, [], []),
  "/bin/sh",
  "-c",
  "exit 0"
]

/** Shells spell the limit of processes `-u` (bash) or `-p` (dash). Only systems without control groups need it. */
const inner = (processes: number | undefined): string =>
  processes === undefined
    ? 'exec "$@"'
    : `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null; exec "$@"`

interface BubblewrapOptions extends Isolation {
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

export const bubblewrapArgs = (options: BubblewrapOptions): ReadonlyArray<string> => {
  const { folder, node, processes, request, statusFd } = options
  const bindings: ReadonlyArray<Binding> = [
    ...Object.keys(systemFiles).map((name): Binding => [join(folder, name), `/etc/${name}`]),
    ...request.installation.map((path): Binding => [path, path]),
    [request.repository, ownPaths.repository],
    [node, nodeFile],
    [join(folder, "inside.mjs"), insideFile],
    [request.sockets.model, ownSockets.model],
    [request.sockets.tools, ownSockets.tools]
  ]
  return [
    ...isolate(options, bindings, [
      "--json-status-fd",
      `${statusFd}`,
      "--size",
      `${request.limits.fileBytes}`,
      "--tmpfs",
      ownPaths.scratch,
      "--chdir",
      ownPaths.repository
    ]),
    "/bin/sh",
    "-c",
    inner(processes),
    "sh",
    nodeFile,
    insideFile
  ]
}
