/** The table of sandbox kinds, and the selection of one. */
import type { Env } from "../../config/Credentials.ts"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import { containerDriver } from "../container/ContainerDriver.ts"
import { kubernetesDriver } from "../kubernetes/KubernetesDriver.ts"
import { microvmDriver } from "../microvm/MicrovmDriver.ts"
import { nativeDriver } from "../native/Native.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxKind } from "../Sandbox.ts"
import type { SandboxDriver } from "./SandboxDriver.ts"

export type Drivers = Readonly<Record<SandboxKind, SandboxDriver>>

export const makeDrivers = (environment: Env): Drivers => ({
  native: nativeDriver({ path: environment["PATH"] ?? "" }),
  docker: containerDriver("docker", environment),
  podman: containerDriver("podman", environment),
  docker_socket: containerDriver("docker_socket", environment),
  kubernetes: kubernetesDriver(environment),
  microvm: microvmDriver(environment["PATH"] ?? "")
})

/**
 * Returns the kinds that a configuration permits, in order of preference: the configured one alone, or with `engine: auto` and no kind
 * the first that this machine has.
 */
export const listCandidates = ({
  engine,
  kind
}: Pick<SandboxConfig, "engine" | "kind">): ReadonlyArray<SandboxKind> | SandboxError => {
  if (kind === undefined)
    return engine === undefined ? ["native"] : engine === "auto" ? ["podman", "docker", "native"] : [engine]
  const isContainer = kind === "docker" || kind === "podman"
  if (isContainer && engine !== undefined && engine !== "auto" && engine !== kind)
    return new SandboxError({
      reason: "invalid",
      why: { _tag: "SandboxKindsContradict", kind, engine }
    })
  return [kind]
}
