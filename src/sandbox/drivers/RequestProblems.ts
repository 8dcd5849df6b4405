/** Refuses requests that no kind may run: paths that are not absolute, and programs whose files leave the scratch folder. */
import { isAbsolute, normalize } from "node:path"
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { ownPaths } from "../Locations.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxRequest } from "../Sandbox.ts"

const isInside = (path: string): boolean => {
  const normal = normalize(path)
  return path !== "" && !path.includes("\0") && !isAbsolute(normal) && normal !== ".." && !normal.startsWith("../")
}

export const findRequestProblem = (request: SandboxRequest): Reason | undefined => {
  const { installation, program, repository, sockets } = request
  for (const path of [repository, ...installation, sockets.model, sockets.tools])
    if (!isAbsolute(path)) return { _tag: "SandboxPathRelative", path }
  if (installation.some((path) => normalize(path) === "/")) return { _tag: "InstallationIsRoot" }
  const file = program(ownPaths).files.find(({ path }) => !isInside(path))
  return file === undefined ? undefined : { _tag: "FileOutsideScratch", path: file.path }
}

export const checkRequest = (request: SandboxRequest): Effect.Effect<void, SandboxError> => {
  const problem = findRequestProblem(request)
  return problem === undefined ? Effect.void : Effect.fail(new SandboxError({ reason: "invalid", why: problem }))
}
