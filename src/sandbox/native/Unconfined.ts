/**
 * An agent without isolation, which only `sandbox.native.unconfined` permits: own scratch folder and environment, limits of memory,
 * processes, output and time, and an end of all its processes. It can read and write what the service can.
 */
import { mkdir } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { Effect } from "effect"
import type { Scope } from "effect"
import { withoutPeriod } from "../../domain/Text.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import type { SandboxSlot, StartedSandbox } from "../SandboxDriver.ts"
import type { MakeCgroup } from "./Cgroup.ts"
import { spawnLimited } from "./LimitedShell.ts"
import { acquireProcess, controlProcess } from "./NativeProcess.ts"
import { listDescendants, listMarked, markVariable } from "./ProcessTree.ts"

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

export const startUnconfined = Effect.fnUntraced(function* (
  makeGroup: MakeCgroup,
  request: SandboxRequest,
  { folder, inside, mark }: SandboxSlot,
  reason: SandboxError
): Effect.fn.Return<StartedSandbox, SandboxError, Scope.Scope> {
  const scratch = join(folder, "scratch")
  const [modelPort, toolsPort] = yield* Effect.tryPromise({
    try: async () => {
      await mkdir(scratch, { mode: 0o700 })
      return freePorts()
    },
    catch: (cause) => new SandboxError({ reason: "failed", message: `cannot prepare ${folder}: ${String(cause)}` })
  })
  const { limits, repository, sockets } = request
  const environment = { [markVariable]: mark }
  const running = yield* acquireProcess(() => {
    const cgroup = makeGroup(mark, limits)
    const child = spawnLimited([process.execPath, inside], { limits, cgroup, environment, cwd: repository })
    const roots = () => (child.pid === undefined ? [] : [child.pid])
    const list = () => [
      ...new Set([...roots().flatMap(listDescendants), ...listMarked(mark), ...(cgroup?.list() ?? [])])
    ]
    return controlProcess(child, { limits, cgroup, roots, list, fileBytes: () => 0 })
  })
  return {
    ...running,
    notices: [
      `The agent ran WITHOUT A SANDBOX, because sandbox.native.unconfined is true: it could read every file and reach every network that the service can. ${withoutPeriod(reason.message)}.`
    ],
    paths: { repository, scratch, modelPort, toolsPort },
    sockets,
    environment,
    watchesCgroup: false
  }
})
