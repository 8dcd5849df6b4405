/**
 * Servers that suites start: found on the PATH or in Debian's folders, and as root installed from Debian's packages
 * when they are missing. Suites run concurrently and apt-get refuses a second run, so the installations are serialised.
 */
import { execFileSync } from "node:child_process"
import type { StdioOptions } from "node:child_process"
import { existsSync, globSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

interface Needed {
  readonly files: ReadonlyArray<string>
  /** Debian's package of them. */
  readonly package: string
  /** Folders to search in addition to the PATH, the best first. */
  readonly folders: () => ReadonlyArray<string>
}

const onPathOnly = () => []

/** Debian keeps one folder per version. */
const postgresFolders = (): ReadonlyArray<string> => {
  const root = "/usr/lib/postgresql"
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(root, version, "bin"))
}

/** One folder per architecture. */
const faketimeFolders = (): ReadonlyArray<string> => globSync("/usr/lib/*/faketime")
/** The one for programs with several threads. */
export const faketimeLibrary = "libfaketimeMT.so.1"

export const userUnits = "/usr/lib/systemd/user"
export const apacheModules = "/usr/lib/apache2/modules"

const table = {
  nats: { files: ["nats-server"], package: "nats-server", folders: () => ["/usr/sbin"] },
  redis: { files: ["redis-server"], package: "redis-server", folders: onPathOnly },
  postgres: { files: ["initdb", "postgres"], package: "postgresql", folders: postgresFolders },
  podman: { files: ["podman"], package: "podman", folders: onPathOnly },
  uidmap: { files: ["newuidmap", "newgidmap"], package: "uidmap", folders: onPathOnly },
  runc: { files: ["runc"], package: "runc", folders: () => ["/usr/sbin"] },
  crun: { files: ["crun"], package: "crun", folders: onPathOnly },
  conmon: { files: ["conmon"], package: "conmon", folders: onPathOnly },
  systemd: { files: ["systemd"], package: "systemd", folders: () => ["/lib/systemd"] },
  userBus: { files: ["dbus.service", "dbus.socket"], package: "dbus-user-session", folders: () => [userUnits] },
  promtool: { files: ["promtool"], package: "prometheus", folders: onPathOnly },
  bubblewrap: { files: ["bwrap"], package: "bubblewrap", folders: onPathOnly },
  subversion: { files: ["svn", "svnserve", "svnadmin"], package: "subversion", folders: onPathOnly },
  apache: { files: ["apache2"], package: "apache2", folders: () => ["/usr/sbin"] },
  modDavSvn: { files: ["mod_dav_svn.so"], package: "libapache2-mod-svn", folders: () => [apacheModules] },
  // Without the windows and the graphics of a desktop's browser, which take as much processor time as the pages.
  chromium: { files: ["chromium-headless-shell"], package: "chromium-headless-shell", folders: onPathOnly },
  qemu: { files: ["qemu-system-x86_64"], package: "qemu-system-x86", folders: onPathOnly },
  busybox: { files: ["busybox"], package: "busybox-static", folders: onPathOnly },
  e2fsprogs: { files: ["mke2fs"], package: "e2fsprogs", folders: () => ["/usr/sbin", "/sbin"] },
  faketime: { files: [faketimeLibrary], package: "libfaketime", folders: faketimeFolders }
} satisfies Record<string, Needed>
export type Provided = keyof typeof table

/** The folder that holds it. Fails with what is missing and how to get it. */
export const provide = (name: Provided): string => {
  const there = find(table[name])
  if (there !== undefined) return there
  if (process.getuid?.() === 0 && hasApt()) {
    const lock = join(tmpdir(), "aicr-provide.lock")
    execFileSync("flock", [lock, process.execPath, import.meta.filename, name], quiet)
  }
  const installed = find(table[name])
  if (installed !== undefined) return installed
  const { files, package: from } = table[name]
  throw new Error(`Missing: ${files.join(" and ")}. Install it (Debian: apt-get install ${from}) and run again.`)
}

/** The error holds the output of a failed command. */
const quiet: { readonly stdio: StdioOptions } = { stdio: ["ignore", "ignore", "pipe"] }

const find = ({ files, folders }: Needed): string | undefined =>
  [...folders(), ...(process.env["PATH"] ?? "").split(delimiter)].find((folder) =>
    files.every((file) => existsSync(join(folder, file)))
  )

const hasApt = (): boolean => {
  try {
    execFileSync("apt-get", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** Only by whom the turn belongs to: another may have installed it in the turn before. */
const install = (needed: Needed): void => {
  if (find(needed) !== undefined) return
  const options = { ...quiet, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }
  execFileSync("apt-get", ["update", "-qq"], options)
  execFileSync("apt-get", ["install", "-qq", "-y", "--no-install-recommends", needed.package], options)
}

// Run as a program: the turn of `provide`; without a name, everything.
if (import.meta.main) {
  const name = process.argv[2]
  for (const [row, needed] of Object.entries(table)) if (name === undefined || name === row) install(needed)
}
