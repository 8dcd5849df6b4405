/** Finds the API socket of a container engine on this machine. Only unix sockets: sandboxes need folders and sockets of this machine. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Env } from "../../config/Credentials.ts"
import { SandboxError } from "../Sandbox.ts"

export type EngineKind = "docker" | "podman" | "docker_socket"

interface Row {
  /** Variable that names the socket, as the engine's own client reads it. */
  readonly variable: string
  readonly sockets: (runtimeFolder: string | undefined) => ReadonlyArray<string>
  readonly advice: string
}

const dockerSocket = "/var/run/docker.sock"
const ofUser = (folder: string | undefined, name: string): ReadonlyArray<string> =>
  folder === undefined ? [] : [join(folder, name)]

const rows: Readonly<Record<EngineKind, Row>> = {
  podman: {
    variable: "CONTAINER_HOST",
    sockets: (folder) => [...ofUser(folder, "podman/podman.sock"), "/run/podman/podman.sock"],
    advice: "start the API of podman (systemctl enable --now podman.socket)"
  },
  docker: {
    variable: "DOCKER_HOST",
    sockets: (folder) => [...ofUser(folder, "docker.sock"), dockerSocket],
    advice: "install and start docker"
  },
  docker_socket: {
    variable: "DOCKER_HOST",
    sockets: () => [dockerSocket],
    advice: `mount the socket of the host's docker at ${dockerSocket}`
  }
}

/** Returns the path of the socket, or why there is none. */
export const findEngineSocket = (
  kind: EngineKind,
  env: Env,
  exists: (path: string) => boolean = existsSync
): string | SandboxError => {
  const { advice, sockets, variable } = rows[kind]
  const given = env[variable]
  if (given !== undefined && given !== "") {
    const path = given.startsWith("unix://") ? given.slice("unix://".length) : given
    if (!path.startsWith("/"))
      return new SandboxError({
        reason: "invalid",
        message: `${variable} is not a unix socket, and sandbox kind ${kind} needs an engine on this machine; set it to unix:///path`
      })
    // An engine that is named is a choice: nothing else is tried.
    return exists(path) ? path : noSocket("failed", kind, [path], `${advice}, or correct ${variable}`)
  }
  const candidates = sockets(env["XDG_RUNTIME_DIR"])
  return candidates.find(exists) ?? noSocket("missing", kind, candidates, `${advice}, or set ${variable}`)
}

/** Returns whether a variable of the environment names the engine. */
export const isNamed = (kind: EngineKind, env: Env): boolean => (env[rows[kind].variable] ?? "") !== ""

const noSocket = (
  reason: SandboxError["reason"],
  kind: EngineKind,
  paths: ReadonlyArray<string>,
  advice: string
): SandboxError =>
  new SandboxError({
    reason,
    message: `sandbox kind ${kind} has no engine: no socket at ${paths.join(" or ")}; ${advice}`
  })
