/**
 * A container engine for tests: podman with its own storage, behind its Docker API, with an image of files of this machine, because no
 * registry can be reached. The image has a shell and a link to the node that runs the tests, whose folder a container has to mount.
 */
import { execFileSync, spawn } from "node:child_process"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { provide } from "./Provide.ts"
import { waitUntil } from "./Wait.ts"

export interface Podman {
  readonly socket: string
  readonly image: string
  /** Runs a command of podman and returns its output. */
  readonly run: (...args: ReadonlyArray<string>) => string
  readonly stop: () => Promise<void>
}

const image = "localhost/aicr-test:1"

export interface PodmanOptions {
  /** Default: `localhost/aicr-test:1`. */
  readonly image?: string
  /** Whether node is in the image. Default: a link. */
  readonly node?: "link" | "copy"
  /** Folders of this machine that are copied into the image, by their paths there. */
  readonly folders?: Readonly<Record<string, string>>
  /** User of the engine, with a range of users; needs root. Default: that of the tests. */
  readonly user?: number
  /** An image that `makeImage` made. Default: one of this machine's files. */
  readonly imageFile?: string
  /** Default: `vfs`, which every file system supports. */
  readonly storage?: string
  /** Default: `runc`, which supports both layouts of control groups. */
  readonly runtime?: "runc" | "crun"
  /** Manager of the control groups of containers. Default: what the engine selects. */
  readonly manager?: string | undefined
}
export const testPrograms = "cat cut du env head id ls mkdir perl sh sleep sort tail tar touch tr unshare setsid yes"

/** Limits that this machine permits, and the runtime. */
const settings = (name: string, runtime: string, manager: string | undefined) => `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
${manager === undefined ? "" : `cgroup_manager = "${manager}"`}
runtime = "${name}"
[engine.runtimes]
${name} = ["${runtime}"]
`

/** Copies programs, by their paths or names in `/usr/bin`, with their libraries. `node` is a link, or a copy for a root that mounts nothing of this machine. */
export const makeRoot = (folder: string, programs: string, node: "link" | "copy"): void => {
  const copy = (path: string, to = path) => {
    const target = join(folder, to)
    if (existsSync(target)) return
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(path, target)
    chmodSync(target, 0o755)
  }
  const copyLibraries = (path: string) => {
    const libraries = execFileSync("ldd", [path], { encoding: "utf8" }).match(/\/\S+/g) ?? []
    for (const library of libraries) if (library !== `${path}:`) copy(library)
  }
  for (const name of programs.split(" ")) {
    const path = name.startsWith("/") ? name : `/usr/bin/${name}`
    copy(path)
    copyLibraries(path)
  }
  copyLibraries(process.execPath)
  symlinkSync("usr/bin", join(folder, "bin"))
  if (node === "copy") copy(process.execPath, "usr/bin/node")
  else symlinkSync(process.execPath, join(folder, "usr/bin/node"))
  for (const [path, mode] of [
    ["tmp", 0o1777],
    ["var/tmp", 0o1777],
    ["run", 0o755],
    ["run/lock", 0o1777],
    ["etc", 0o755]
  ] as const) {
    mkdirSync(join(folder, path), { recursive: true })
    chmodSync(join(folder, path), mode)
  }
}

/** Writes an image for containers. */
export const makeImage = (file: string, node: "link" | "copy", folders: PodmanOptions["folders"] = {}): void => {
  const root = mkdtempSync(join(dirname(file), "image-"))
  chmodSync(root, 0o755)
  makeRoot(root, testPrograms, node)
  for (const [to, from] of Object.entries(folders))
    cpSync(from, join(root, to), { recursive: true, verbatimSymlinks: true })
  execFileSync("tar", ["-C", root, "-cf", file, "."])
  rmSync(root, { recursive: true })
}

/** Gives a folder to a user, with the files from which the engine reads the name and the range of that user. Returns its environment. */
const prepareUser = (folder: string, user: number): Readonly<Record<string, string>> => {
  provide("uidmap")
  const runtime = join(folder, "runtime")
  mkdirSync(runtime, { mode: 0o700 })
  for (const path of [folder, runtime]) chownSync(path, user, user)
  writeFileSync(join(folder, "passwd"), `engine:x:${user}:${user}::${folder}:/bin/sh\n`)
  writeFileSync(join(folder, "group"), `engine:x:${user}:\n`)
  writeFileSync(join(folder, "range"), "engine:200000:65536\n")
  return { HOME: folder, XDG_RUNTIME_DIR: runtime }
}

const asUser = (folder: string, user: number): ReadonlyArray<string> => [
  "unshare",
  "--mount",
  "/bin/sh",
  "-c",
  `for name in passwd group; do mount --bind $1/$name /etc/$name; done; for name in subuid subgid; do mount --bind $1/range /etc/$name; done; shift; exec "$@"`,
  "sh",
  folder,
  "setpriv",
  `--reuid=${user}`,
  `--regid=${user}`,
  "--clear-groups"
]

export const startPodman = async (options: PodmanOptions = {}): Promise<Podman> => {
  const { folders, image: name = image, imageFile, manager, node = "link", storage = "vfs", user } = options
  const { runtime = "runc" } = options
  const program = join(provide("podman"), "podman")
  const folder = mkdtempSync(join(user === undefined ? tmpdir() : "/tmp", "aicr-podman-"))
  const socket = join(folder, "podman.sock")
  writeFileSync(join(folder, "containers.conf"), settings(runtime, join(provide(runtime), runtime), manager))
  const env = {
    ...process.env,
    CONTAINERS_CONF: join(folder, "containers.conf"),
    ...(user === undefined ? {} : prepareUser(folder, user))
  }
  const argv = [
    ...(user === undefined ? [] : asUser(folder, user)),
    program,
    "--root",
    join(folder, "root"),
    "--runroot",
    join(folder, "run"),
    "--storage-driver",
    storage
  ]
  const [command = "", ...at] = argv
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync(command, [...at, ...args], { env, cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  const made = join(folder, "image.tar")
  if (imageFile === undefined) makeImage(made, node, folders)
  run("import", imageFile ?? made, name)
  rmSync(made, { force: true })
  const service = spawn(command, [...at, "system", "service", "--time=0", `unix://${socket}`], {
    env,
    cwd: folder,
    stdio: "ignore"
  })
  const ended = new Promise((resolve) => service.once("exit", resolve))
  await waitUntil(() => existsSync(socket), { describe: () => "the API of podman listens" })
  return {
    socket,
    image: name,
    run,
    stop: async () => {
      service.kill()
      await ended
      run("rm", "--all", "--force", "--time=0")
      // Without root, a process of podman keeps its namespaces.
      const pause = join(folder, "runtime/libpod/tmp/pause.pid")
      if (existsSync(pause)) process.kill(Number(readFileSync(pause, "utf8")), "SIGKILL")
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
