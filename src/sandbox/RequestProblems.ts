/** Refuses requests that no kind may run: paths that are not absolute, and programs whose files leave the scratch folder. */
import { isAbsolute, normalize } from "node:path"
import { Effect } from "effect"
import { ownPaths } from "./Locations.ts"
import { SandboxError } from "./Sandbox.ts"
import type { SandboxRequest } from "./Sandbox.ts"

const isInside = (path: string): boolean => {
  const normal = normalize(path)
  return path !== "" && !path.includes("\0") && !isAbsolute(normal) && normal !== ".." && !normal.startsWith("../")
}

export const findRequestProblem = (request: SandboxRequest): string | undefined => {
  const { installation, program, repository, sockets } = request
  for (const path of [repository, ...installation, sockets.model, sockets.tools])
    if (!isAbsolute(path)) return `the path ${JSON.stringify(path)} of a sandbox is not absolute`
  if (installation.some((path) => normalize(path) === "/"))
    return "the root folder cannot be the installation of an agent"
  const file = program(ownPaths).files.find(({ path }) => !isInside(path))
  return file === undefined ? undefined : `the file ${JSON.stringify(file.path)} is not inside of the scratch folder`
}

export const checkRequest = (request: SandboxRequest): Effect.Effect<void, SandboxError> => {
  const problem = findRequestProblem(request)
  return problem === undefined ? Effect.void : Effect.fail(new SandboxError({ reason: "invalid", message: problem }))
}
