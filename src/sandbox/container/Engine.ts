/** Client of a container engine over its Docker API. */
import { readFile } from "node:fs/promises"
import type Docker from "dockerode"
import type { Container } from "dockerode"
import { Effect } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import { defaultImage } from "../drivers/DefaultImage.ts"
import { SandboxError } from "../Sandbox.ts"
import { findOwnContainer } from "./HostPaths.ts"
import type { ContainerMount } from "./HostPaths.ts"

export interface Engine {
  readonly docker: Docker
  readonly socket: string
}

const pingMillis = 5000

/** Loads the client on first use. */
export const connectEngine = async (socket: string): Promise<Engine> => {
  const { default: Client } = await import("dockerode")
  return { docker: new Client({ socketPath: socket }), socket }
}

export const errorText = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).trim().slice(0, 500)

export const isStatus = (cause: unknown, ...codes: ReadonlyArray<number>): boolean =>
  typeof cause === "object" &&
  cause !== null &&
  "statusCode" in cause &&
  codes.some((code) => code === cause.statusCode)

const unresponsive = (reason: SandboxError["reason"], kind: string, socket: string, why: Reason): SandboxError =>
  new SandboxError({ reason, why: { _tag: "EngineSilent", kind, socket, why } })

/** Facts that an engine reports about itself. `Rootless` is podman's. */
interface EngineFacts {
  readonly MemoryLimit?: boolean
  readonly CpuCfsQuota?: boolean
  readonly PidsLimit?: boolean
  readonly CgroupVersion?: string
  readonly Rootless?: boolean
}

/** Returns why the limits of a container would have no effect: engines create it without them, and do not report that. */
export const findLimitProblem = (socket: string, facts: EngineFacts): SandboxError | undefined => {
  const { CgroupVersion: version, CpuCfsQuota: cpus, MemoryLimit: memory, PidsLimit: processes, Rootless } = facts
  if (![memory, cpus, processes].includes(false) && !(Rootless === true && version === "1")) return undefined
  return new SandboxError({
    reason: "failed",
    why: { _tag: "EngineWithoutLimits", socket }
  })
}

/**
 * Returns why the engine does not respond or cannot hold the limits, or undefined. One that the environment names has failed; another is
 * missing. Whether it can hold them is read once.
 */
export const checkEngine = (
  reason: "missing" | "failed",
  kind: string,
  { docker, socket }: Engine,
  limiting: Set<string>
): Effect.Effect<SandboxError | undefined> =>
  Effect.tryPromise({
    try: async () => {
      if (limiting.has(socket)) return void (await docker.ping())
      const problem = findLimitProblem(socket, await docker.info())
      if (problem === undefined) limiting.add(socket)
      return problem
    },
    catch: (cause) => unresponsive(reason, kind, socket, verbatimReason(errorText(cause)))
  }).pipe(
    Effect.timeoutOrElse({
      duration: pingMillis,
      orElse: () =>
        Effect.fail(unresponsive(reason, kind, socket, { _tag: "NoResponseWithin", seconds: pingMillis / 1000 }))
    }),
    Effect.catch((error) => Effect.succeed(error))
  )

/** Creates a container, and pulls its image first if the engine does not have it. */
export const createContainer = async (
  { docker }: Engine,
  options: Docker.ContainerCreateOptions & { readonly Image: string }
): Promise<Container> => {
  try {
    return await docker.createContainer(options)
  } catch (cause) {
    if (!isStatus(cause, 404)) throw cause
    if (options.Image === defaultImage) throw noDefaultImage
    await pull(docker, options.Image)
    return docker.createContainer(options).catch((again: unknown) => {
      // Podman reports a pull that failed as a success.
      throw isStatus(again, 404) ? noImage(options.Image, again) : again
    })
  }
}

const noDefaultImage = new SandboxError({
  reason: "missing",
  why: { _tag: "AgentImageMissing", image: defaultImage }
})

const noImage = (image: string, cause: unknown): SandboxError =>
  new SandboxError({
    reason: "missing",
    why: { _tag: "ImageMissing", image, why: errorText(cause) }
  })

const pull = async (docker: Docker, image: string): Promise<void> => {
  try {
    const progress = await docker.pull(image)
    await new Promise<void>((resolve, reject) =>
      docker.modem.followProgress(progress, (error) => (error === null ? resolve() : reject(error)))
    )
  } catch (cause) {
    throw noImage(image, cause)
  }
}

/** Returns the mounts of the container in which the service runs; undefined outside of a container of this engine. */
export const findOwnMounts = async ({ docker }: Engine): Promise<ReadonlyArray<ContainerMount> | undefined> => {
  const id = findOwnContainer(await readFile("/proc/self/mountinfo", "utf8").catch(() => ""))
  if (id === undefined) return undefined
  try {
    const { Mounts } = await docker.getContainer(id).inspect()
    return Mounts.map(({ Destination, Source }) => ({ source: Source, destination: Destination }))
  } catch (cause) {
    if (isStatus(cause, 404)) return undefined
    throw cause
  }
}
