/** Finds the API socket of a container engine on this machine. Only unix sockets: sandboxes need folders and sockets of this machine. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Reason } from "../../domain/Reason.ts"
import type { Env } from "../../config/Credentials.ts"
import { SandboxError } from "../Sandbox.ts"

export type EngineKind = "docker" | "podman" | "docker_socket"

interface Row {
  /** Variable that names the socket, as the engine's own client reads it. */
  readonly variable: string
  readonly sockets: (runtimeFolder: string | undefined) => ReadonlyArray<string>
  readonly next: Reason
}

const dockerSocket = "/var/run/docker.sock"
const ofUser = (folder: string | undefined, name: string): ReadonlyArray<string> =>
  folder === undefined ? [] : [join(folder, name)]

const rows: Readonly<Record<EngineKind, Row>> = {
  podman: {
    variable: "CONTAINER_HOST",
    sockets: (folder) => [...ofUser(folder, "podman/podman.sock"), "/run/podman/podman.sock"],
    next: { _tag: "PodmanNext" }
  },
  docker: {
    variable: "DOCKER_HOST",
    sockets: (folder) => [...ofUser(folder, "docker.sock"), dockerSocket],
    next: { _tag: "DockerNext" }
  },
  docker_socket: {
    variable: "DOCKER_HOST",
    sockets: () => [dockerSocket],
    next: { _tag: "DockerSocketNext", path: dockerSocket }
  }
}

/** Returns the path of the socket, or why there is none. */
export const findEngineSocket = (
  kind: EngineKind,
  env: Env,
  exists: (path: string) => boolean = existsSync
): string | SandboxError => {
  const { next, sockets, variable } = rows[kind]
  const given = env[variable]
  if (given !== undefined && given !== "") {
    const path = given.startsWith("unix://") ? given.slice("unix://".length) : given
    if (!path.startsWith("/"))
      return new SandboxError({
        reason: "invalid",
        why: { _tag: "EngineVariableInvalid", variable, kind }
      })
    // An engine that is named is a choice: nothing else is tried.
    return exists(path)
      ? path
      : new SandboxError({ reason: "failed", why: { _tag: "EngineNotThere", kind, path, next, variable } })
  }
  const candidates = sockets(env["XDG_RUNTIME_DIR"])
  const [path = "", other] = candidates
  const why = { _tag: "EngineMissing", kind, path, other, next, variable } as const
  return candidates.find(exists) ?? new SandboxError({ reason: "missing", why })
}

/** Returns whether a variable of the environment names the engine. */
export const isNamed = (kind: EngineKind, env: Env): boolean => (env[rows[kind].variable] ?? "") !== ""
