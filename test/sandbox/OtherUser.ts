/**
 * Programs of tests as another user of this machine, where the tests run as root: services that are not root. The repository may be in a folder
 * that only root enters, so it is mounted where every user reaches it.
 */
import { execFile } from "node:child_process"
import { existsSync, rmdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import type { Fixture, KindUnderTest, Outcome, Program } from "./Fixture.ts"

const repository = join(import.meta.dirname, "../..")
const jobFile = join(import.meta.dirname, "RunJob.ts")
const mounted = "/mnt"
/** An id without an account. */
export const otherUser = 12_345
export const isRoot = process.getuid?.() === 0

/** Returns where a file of the repository is for another user. */
export const toMounted = (path: string): string => path.replace(repository, mounted)
const script = `mount --bind "$1" ${mounted} && cd / && shift && exec "$@"`

/** Groups of the layout with a hierarchy per controller, which a service manager would create for the service. */
const groups = ["memory", "pids", "cpu"].map((controller) => `/sys/fs/cgroup/${controller}/aicr-test-${process.pid}`)
/** Whether this machine has that layout, and the tests may create groups. */
export const mayDelegate = isRoot && groups.every((group) => existsSync(join(dirname(group), "cgroup.procs")))
/** Joins the groups and gives them to the user `$1`. */
const joinGroups = `for group in ${groups.join(" ")}; do mkdir -p $group && chown -R $1 $group && echo 0 >$group/cgroup.procs || exit 1; done; shift; exec "$@"`
export const removeGroups = (): void => {
  for (const group of groups) if (existsSync(group)) rmdirSync(group)
}

export interface ServiceUser {
  /** Default: that of the tests. */
  readonly user?: number | undefined
  /** Whether the service is in control groups of its own. */
  readonly hasOwnGroups?: boolean
}

/** Returns the command line that runs a file of the repository with this node, as that user or that of the tests. */
export const serviceArgv = (
  { hasOwnGroups = false, user }: ServiceUser,
  file: string,
  path: string | undefined,
  args: ReadonlyArray<string>,
  before: ReadonlyArray<string> = []
): readonly [string, ReadonlyArray<string>] => {
  const at = user === undefined ? (name: string) => name : toMounted
  // Programs that start the service are found in the PATH of the tests.
  const environment = path === undefined ? [] : ["/usr/bin/env", `PATH=${path}`]
  const own = [
    ...before,
    ...environment,
    at(process.execPath),
    "--disable-warning=ExperimentalWarning",
    at(file),
    ...args
  ]
  const argv = user === undefined ? own : asUser(user, own)
  const [command = "", ...rest] = hasOwnGroups ? ["/bin/sh", "-c", joinGroups, "sh", String(user), ...argv] : argv
  return [command, rest]
}

const asUser = (user: number, argv: ReadonlyArray<string>): readonly [string, ...ReadonlyArray<string>] => [
  "unshare",
  "--mount",
  "--propagation=private",
  "/bin/sh",
  "-c",
  script,
  "sh",
  repository,
  "setpriv",
  `--reuid=${user}`,
  `--regid=${user}`,
  "--clear-groups",
  "--bounding-set=-all",
  "--inh-caps=-all",
  ...argv
]

/** Adds a key to a new session keyring, and runs the rest of its arguments with it. */
const withKey = (secret: string): ReadonlyArray<string> => {
  const [addKey, keyctl] = process.arch === "arm64" ? [217, 219] : [248, 250]
  const text = `($type, $name, $text) = ("user", "aicr-test", "${secret}"); syscall(${keyctl}, 1, 0) > 0 or die "no keyring: $!"; syscall(${addKey}, $type, $name, $text, ${secret.length}, -3) > 0 or die "no key: $!"; exec @ARGV`
  return ["perl", "-e", text]
}

export interface ServiceOptions extends ServiceUser {
  /** Content of a key in the session keyring of the service. */
  readonly key?: string
}

/** Runs a program in a sandbox of a service of its own, to the end. */
export const runInService = async (
  fixture: Fixture,
  { config, environment, installation }: Omit<KindUnderTest, "drivers">,
  program: Program,
  limits: object = {},
  { key, ...user }: ServiceOptions = {}
): Promise<Outcome> => {
  const { folder, repository: checkout, root, sockets } = fixture
  const job = { place: { root, repository: checkout, sockets, folder }, config, installation, program, limits }
  const before = key === undefined ? [] : withKey(key)
  const [command, args] = serviceArgv(user, jobFile, environment?.["PATH"], [JSON.stringify(job)], before)
  const env = { ...process.env, ...environment, PATH: process.env["PATH"], HOME: root, TMPDIR: root }
  const { stderr, stdout } = await promisify(execFile)(command, args, { env, maxBuffer: 1e8 })
  const line = stdout.split("\n").find((text) => text.startsWith("{"))
  if (line === undefined) throw new Error(stderr.slice(-4000))
  return JSON.parse(line)
}
