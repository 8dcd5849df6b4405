/**
 * An agent without isolation, which only `sandbox.native.unconfined` permits: own scratch folder and environment, limits of memory,
 * processes, output and time, and an end of all its processes. It can read and write what the service can.
 */
import { execFile } from "node:child_process"
import { mkdir } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import type { SandboxSlot, StartedSandbox } from "../drivers/SandboxDriver.ts"
import type { MakeCgroup } from "./Cgroup.ts"
import { errorText } from "./CommandError.ts"
import { spawnLimited } from "./LimitedShell.ts"
import { acquireProcess, controlProcess } from "./NativeProcess.ts"
import { listDescendants, listMarked, markVariable } from "./ProcessTree.ts"
import { verbatimReason } from "../../domain/Reason.ts"

/** Returns two free ports of this machine. They are free when they are returned; a loss of the race fails the start. */
const freePorts = async (): Promise<readonly [number, number]> => {
  const servers = await Promise.all(
    [0, 1].map(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer()
          server.once("error", reject).listen(0, "127.0.0.1", () => resolve(server))
        })
    )
  )
  const [model = 0, tools = 0] = servers.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return [model, tools]
}

/** First process of a namespace: it waits for processes that left their parent, and ends with the program. Its end is that of them all. */
const firstProcess = `exec 4<&0 </dev/null
"$@" <&4 3<&- 4<&- &
program=$!
exec 3<&- 4<&-
wait $program
exit $?`

const namespaceArgs = (unshare: string): ReadonlyArray<string> => [
  unshare,
  "--user",
  "--map-current-user",
  "--pid",
  "--fork",
  "--kill-child"
]

/** Way in which all processes of an agent are found at its end, also those that left their session and cleared their environment. */
export type EndOfAll =
  | { readonly _tag: "Namespace"; readonly argv: ReadonlyArray<string> }
  | { readonly _tag: "ControlGroup" }

/** Finds a way, or fails: an agent is not started whose processes nothing could end. */
export const findEndOfAll = Effect.fnUntraced(function* (
  unshare: string | undefined,
  isRoot: boolean,
  canMakeGroup: () => boolean
): Effect.fn.Return<EndOfAll, SandboxError> {
  if (isRoot)
    return yield* new SandboxError({
      reason: "missing",
      why: { _tag: "RootWithoutSandbox" }
    })
  const argv = unshare === undefined ? undefined : namespaceArgs(unshare)
  const problem: Reason | undefined =
    argv === undefined
      ? { _tag: "UnshareMissing" }
      : yield* Effect.promise(() =>
          promisify(execFile)(argv[0] ?? "", [...argv.slice(1), "/bin/sh", "-c", "exit 0"], { timeout: 10_000 }).then(
            () => undefined,
            (cause: unknown) => verbatimReason(errorText(cause))
          )
        )
  if (argv !== undefined && problem === undefined) return { _tag: "Namespace", argv }
  if (canMakeGroup()) return { _tag: "ControlGroup" }
  const why: Reason = { _tag: "AgentsWithoutEnd", why: problem ?? { _tag: "UnshareMissing" } }
  return yield* new SandboxError({ reason: "missing", why })
})

interface UnconfinedStart {
  readonly makeGroup: MakeCgroup
  readonly endOfAll: EndOfAll
  /** Reason for which there is no isolation. */
  readonly reason: SandboxError
}

export const startUnconfined = Effect.fnUntraced(function* (
  { endOfAll, makeGroup, reason }: UnconfinedStart,
  request: SandboxRequest,
  { folder, inside, mark }: SandboxSlot
): Effect.fn.Return<StartedSandbox, SandboxError, Scope.Scope> {
  const scratch = join(folder, "scratch")
  const [modelPort, toolsPort] = yield* Effect.tryPromise({
    try: async () => {
      await mkdir(scratch, { mode: 0o700 })
      return freePorts()
    },
    catch: (cause) =>
      new SandboxError({ reason: "failed", why: { _tag: "FolderNotPrepared", folder, why: String(cause) } })
  })
  const { limits, repository, sockets } = request
  const environment = { [markVariable]: mark }
  const own = endOfAll._tag === "Namespace" ? [...endOfAll.argv, "/bin/sh", "-c", firstProcess, "sh"] : []
  const running = yield* acquireProcess(() => {
    const cgroup = makeGroup(mark, limits)
    const child = spawnLimited([...own, process.execPath, inside], { limits, cgroup, environment, cwd: repository })
    const tree = () => (child.pid === undefined ? [] : listDescendants(child.pid))
    // The parent of a namespace ends by itself, when no process is left in it.
    const inNamespace = () => (own.length > 0 && tree().length > 1 ? tree().slice(1) : tree())
    const list = () =>
      own.length > 0 ? inNamespace() : [...new Set([...tree(), ...listMarked(mark), ...(cgroup?.list() ?? [])])]
    return controlProcess(child, { limits, cgroup, roots: () => list().slice(0, 1), list, kernelBytes: () => 0 })
  })
  return {
    ...running,
    notices: [{ _tag: "WithoutSandbox", reason: reason.why }],
    paths: { repository, scratch, modelPort, toolsPort },
    sockets,
    environment,
    watchesCgroup: false
  }
})
