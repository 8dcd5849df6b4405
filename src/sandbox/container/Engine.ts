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
/** Podman starts programs of its own for its facts. */
const factsMillis = 20_000

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

/** Facts that an engine reports about itself. `Rootless` is podman's alone. */
interface EngineFacts {
  readonly MemoryLimit?: boolean
  readonly CpuCfsQuota?: boolean
  readonly PidsLimit?: boolean
  readonly Rootless?: boolean
}

/** Facts of podman's own API. Its other one looks for the files of control groups of version 1 only. */
interface PodmanFacts {
  readonly host: { readonly cgroupControllers?: ReadonlyArray<string> | null; readonly cgroupManager?: string }
}

const readPodmanFacts = ({ modem }: Docker): Promise<PodmanFacts> =>
  new Promise((resolve, reject) =>
    modem.dial(
      { path: "/v4.0.0/libpod/info", method: "GET", statusCodes: { 200: true } },
      (error: unknown, facts: unknown) =>
        isPodmanFacts(facts) ? resolve(facts) : reject(error ?? new Error("no facts"))
    )
  )

const isPodmanFacts = (facts: unknown): facts is PodmanFacts =>
  typeof facts === "object" && facts !== null && "host" in facts

/** Returns whether the engine would create a container with its limits: one that cannot does so without them, and does not report that. */
const holdsLimits = (
  { CpuCfsQuota: cpus, MemoryLimit: memory, PidsLimit: processes, Rootless }: EngineFacts,
  podman?: PodmanFacts
): boolean => {
  if (podman === undefined) return ![memory, cpus, processes].includes(false)
  const { cgroupControllers, cgroupManager } = podman.host
  // Without root, only the service manager of the user gives a group to a container.
  if (Rootless === true && cgroupManager !== "systemd") return false
  return ["memory", "cpu", "pids"].every((controller) => cgroupControllers?.includes(controller))
}

/** Facts about engines that hold limits, by their sockets. */
export type KnownEngines = Map<string, { readonly isPodman: boolean }>

/**
 * Returns why the engine does not respond or cannot hold the limits, or undefined. One that the environment names has failed; another is
 * missing. Whether it can hold them is read once.
 */
export const checkEngine = (
  reason: "missing" | "failed",
  kind: string,
  { docker, socket }: Engine,
  known: KnownEngines
): Effect.Effect<SandboxError | undefined> => {
  const limit = known.has(socket) ? pingMillis : factsMillis
  return Effect.tryPromise({
    try: async () => {
      if (known.has(socket)) {
        await docker.ping()
        return
      }
      const facts: EngineFacts = await docker.info()
      const isPodman = facts.Rootless !== undefined
      if (!holdsLimits(facts, isPodman ? await readPodmanFacts(docker) : undefined))
        return new SandboxError({ reason: "failed", why: { _tag: "EngineWithoutLimits", socket } })
      known.set(socket, { isPodman })
    },
    catch: (cause) => unresponsive(reason, kind, socket, verbatimReason(errorText(cause)))
  }).pipe(
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () => Effect.fail(unresponsive(reason, kind, socket, { _tag: "NoResponseWithin", seconds: limit / 1000 }))
    }),
    Effect.catch((error) => Effect.succeed(error))
  )
}

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
