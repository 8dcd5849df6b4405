/** Kinds `docker`, `podman` and `docker_socket`: a container of a local engine without network. */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Duplex } from "node:stream"
import type { Container } from "dockerode"
import { Effect } from "effect"
import type { Scope } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Env } from "../../config/Credentials.ts"
import { defaultImage } from "../drivers/DefaultImage.ts"
import { ownPaths, ownSockets } from "../Locations.ts"
import { permitReading } from "../drivers/PermitReading.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import type { SandboxDriver, SandboxEnd, SandboxSlot, StartedSandbox } from "../drivers/SandboxDriver.ts"
import { containerName, containerOptions } from "./ContainerOptions.ts"
import { demultiplex } from "./Demultiplex.ts"
import { checkEngine, connectEngine, createContainer, errorText, findOwnMounts, isStatus } from "./Engine.ts"
import type { Engine, KnownEngines } from "./Engine.ts"
import { findEngineSocket, isNamed } from "./EngineSocket.ts"
import type { EngineKind } from "./EngineSocket.ts"
import { toHostPath } from "./HostPaths.ts"
import { domains, families, namespaceFlags, netlink } from "../native/Seccomp.ts"
import { permittedCalls } from "../native/SystemCalls.ts"

const argument = (index: number, value: number, op = "SCMP_CMP_EQ") => ({ index, value, valueTwo: 0, op })
const permit = (names: ReadonlyArray<string>, ...args: ReadonlyArray<ReturnType<typeof argument>>) => ({
  names,
  action: "SCMP_ACT_ALLOW",
  args
})

/**
 * The filter of system calls of podman's containers, as a profile of its form: the calls of native sandboxes. Podman's own profile permits the
 * keyrings of the kernel, which all containers with the same user share, with the processes of that user outside. Sizes of sockets and memory
 * without a process count as memory of the container, so their calls are not ignored. Pure.
 */
const seccompProfile: string = JSON.stringify({
  defaultAction: "SCMP_ACT_ERRNO",
  // As on a kernel without the call, so that programs use another.
  defaultErrnoRet: 38,
  archMap: ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"].map((architecture) => ({ architecture, subArchitectures: [] })),
  syscalls: [
    permit([...permittedCalls.keys(), "prctl", "setsockopt"]),
    permit(["clone"], argument(0, namespaceFlags, "SCMP_CMP_MASKED_EQ")),
    ...families.map((family) => permit(["socket"], argument(0, family))),
    permit(["socket"], argument(0, netlink), argument(2, 0)),
    ...domains.map((domain) => permit(["personality"], argument(0, domain)))
  ]
})

const endMillis = 10_000
/** File in the folder of a sandbox with the socket of its engine. */
const record = "engine"
/** File in the folder of a sandbox with its filter of system calls, which podman reads when the container starts. */
const profileName = "seccomp.json"

const failed = (cause: unknown): SandboxError =>
  cause instanceof SandboxError
    ? cause
    : new SandboxError({ reason: "failed", why: { _tag: "EngineRefuses", why: errorText(cause) } })

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, SandboxError> =>
  Effect.tryPromise({ try: run, catch: failed })

const open = Effect.fnUntraced(function* (kind: EngineKind, env: Env): Effect.fn.Return<Engine, SandboxError> {
  const socket = findEngineSocket(kind, env)
  if (socket instanceof SandboxError) return yield* socket
  return yield* attempt(() => connectEngine(socket))
})

/** Returns the conversion of paths: another one than identity if the service runs in a container next to its sandboxes. */
const findPaths = async (kind: EngineKind, engine: Engine): Promise<(path: string) => string> => {
  const mounts = kind === "docker_socket" ? await findOwnMounts(engine) : undefined
  if (mounts === undefined) return (path) => path
  return (path) => {
    const onHost = toHostPath(mounts, path)
    if (onHost !== undefined) return onHost
    throw new SandboxError({
      reason: "invalid",
      why: { _tag: "PathNotMounted", path }
    })
  }
}

/** Ends and removes a container. One that does not exist is what is wanted. */
const remove = async (container: Container): Promise<void> => {
  try {
    await container.remove({ force: true, v: true, abortSignal: AbortSignal.timeout(endMillis) })
  } catch (cause) {
    if (!isStatus(cause, 404)) throw cause
  }
}

const acquireContainer = (
  engine: Engine,
  { folder, mark }: SandboxSlot,
  options: Parameters<typeof createContainer>[1]
): Effect.Effect<Container, SandboxError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(async () => {
      await writeFile(join(folder, record), engine.socket)
      return createContainer(engine, options)
    }),
    (container) =>
      attempt(() => remove(container)).pipe(
        Effect.catch((error) =>
          Effect.logWarning("sandbox container not removed", { container: mark, error: error.message })
        )
      ),
    // Pulling an image takes long.
    { interruptible: true }
  )

/** Settles when the container has ended, or when its engine does not confirm that within ten seconds after a kill. */
const controlContainer = (container: Container, waiting: Promise<{ readonly StatusCode: number }>) => {
  let isKilled = false
  let giveUp: (end: SandboxEnd) => void = () => {}
  const exited = waiting.then(
    ({ StatusCode: code }): SandboxEnd => ({
      code,
      // Engines do not report reliably which processes the kernel killed: SIGKILL without our own kill is lack of memory.
      limit: code === 137 && !isKilled ? "memory" : undefined
    }),
    (cause): SandboxEnd => ({ code: undefined, failure: verbatimReason(errorText(cause)) })
  )
  return {
    ended: Promise.race([exited, new Promise<SandboxEnd>((resolve) => (giveUp = resolve))]),
    kill: () => {
      isKilled = true
      // A container that has ended cannot be killed, and another failure shows as one that does not end.
      container.kill({ signal: "SIGKILL" }).catch(() => {})
      setTimeout(() => giveUp({ code: undefined, failure: { _tag: "ContainerNotEnded" } }), endMillis).unref()
    }
  }
}

const start = Effect.fnUntraced(function* (
  kind: EngineKind,
  env: Env,
  known: KnownEngines,
  image: string,
  request: SandboxRequest,
  slot: SandboxSlot
): Effect.fn.Return<StartedSandbox, SandboxError, Scope.Scope> {
  const engine = yield* open(kind, env)
  const options = yield* attempt(async () => {
    const { folder, inside, mark } = slot
    await permitReading(request, [inside])
    const profile = known.get(engine.socket)?.isPodman === true ? join(folder, profileName) : undefined
    if (profile !== undefined) await writeFile(profile, seccompProfile)
    return containerOptions(request, {
      image,
      mark,
      inside,
      profile,
      toHost: await findPaths(kind, engine)
    })
  })
  const container = yield* acquireContainer(engine, slot, { ...options, Image: image })
  return yield* attempt(async () => {
    const attached = await container.attach({ stream: true, hijack: true, stdin: true, stdout: true, stderr: true })
    if (!(attached instanceof Duplex))
      throw new Error("the connection to the container is not a stream in both directions")
    await container.start()
    const { ended, kill } = controlContainer(container, container.wait())
    const output = demultiplex(attached)
    return {
      notices: [],
      paths: ownPaths,
      sockets: ownSockets,
      environment: {},
      watchesCgroup: true,
      stdin: attached,
      stdout: output.stdout,
      stderr: output.stderr,
      kill,
      ended: ended.finally(() => setTimeout(output.end, 2000).unref()),
      onLimit: () => {}
    }
  })
})

export const containerDriver = (kind: EngineKind, env: Env): SandboxDriver => {
  const known: KnownEngines = new Map()
  return {
    problem: () =>
      open(kind, env).pipe(
        Effect.flatMap((engine) => checkEngine(isNamed(kind, env) ? "failed" : "missing", kind, engine, known)),
        Effect.catch((error) => Effect.succeed(error))
      ),
    start: ({ image = defaultImage }, request, slot) => start(kind, env, known, image, request, slot),
    sweep: (mark, folder) =>
      attempt(async () => {
        // Without the record, no container was created.
        const socket = await readFile(join(folder, record), "utf8").catch(() => "")
        if (socket === "") return
        const { docker } = await connectEngine(socket)
        await remove(docker.getContainer(containerName(mark)))
      })
  }
}
