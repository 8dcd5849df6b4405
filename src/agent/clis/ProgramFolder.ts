/**
 * The folder with the installed agent CLIs: one folder per mode, with the packages of npm in `node_modules`.
 *
 * ```
 * agents/codex/node_modules/@openai/codex/package.json    its version
 * agents/codex/node_modules/@openai/codex-linux-x64/…     its program
 * ```
 */
import { access, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Layer, Option, Schema } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { AgentProgramError, AgentPrograms } from "./AgentPrograms.ts"
import type { AgentProgram, CliMode } from "./AgentPrograms.ts"
import type { SandboxKind } from "../../sandbox/Sandbox.ts"
import { findCli } from "./CliTable.ts"

/** Folder of the agents in the image of `deploy/agents`. */
export const imageFolder = "/opt/aicr/agents"

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))
const decodeManifest = Schema.decodeUnknownOption(Manifest)

export const platform = `${process.platform}-${process.arch}`

const packagesFolder = (folder: string, mode: CliMode): string => join(folder, mode, "node_modules")

/** Package whose version counts; that of an own build of a mode without a package is in a folder of its name. */
const packageOf = (mode: CliMode): string => findCli(mode).package ?? mode

export const readVersion = (folder: string, mode: CliMode): Effect.Effect<string | undefined> =>
  Effect.promise(() =>
    readFile(join(packagesFolder(folder, mode), packageOf(mode), "package.json"), "utf8").then(
      (text) => Option.getOrUndefined(decodeManifest(text))?.version,
      () => undefined
    )
  )

/** The first two numbers of a version. */
const line = (version: string): string => version.split(".").slice(0, 2).join(".")
export const isTested = (mode: CliMode, version: string): boolean => line(version) === line(findCli(mode).tested)
/** The tested range, as npm writes it. */
export const testedRange = (mode: CliMode): string => `~${findCli(mode).tested}`

export const installAdvice = (mode: CliMode): Reason => ({
  _tag: findCli(mode).package === undefined ? "AgentBuildNext" : "AgentInstallNext",
  mode
})

const commandIn = (packages: string, mode: CliMode): AgentProgram["command"] => {
  const [first = "", ...rest] = findCli(mode)
    .command(platform)
    .map((part) => (part === "node" ? part : join(packages, part)))
  return [first, ...rest]
}

const fromImage = (mode: CliMode): AgentProgram => {
  const packages = packagesFolder(imageFolder, mode)
  return { mode, version: undefined, isTested: true, command: commandIn(packages, mode), packages, installation: [] }
}

const inFolder = Effect.fnUntraced(function* (
  folder: string,
  mode: CliMode
): Effect.fn.Return<AgentProgram, AgentProgramError> {
  const version = yield* readVersion(folder, mode)
  if (version === undefined)
    return yield* new AgentProgramError({
      reason: "missing",
      why: { _tag: "AgentNotInstalled", mode, folder, next: installAdvice(mode) }
    })
  const packages = packagesFolder(folder, mode)
  const command = commandIn(packages, mode)
  const file = command.findLast((part) => part !== "node") ?? ""
  const exists = yield* Effect.promise(() =>
    access(file).then(
      () => true,
      () => false
    )
  )
  if (!exists)
    return yield* new AgentProgramError({
      reason: "missing",
      why: { _tag: "AgentFileMissing", file, mode, version, next: installAdvice(mode) }
    })
  return { mode, version, isTested: isTested(mode, version), command, packages, installation: [join(folder, mode)] }
})

/** Kinds whose programs come from an image, unless one is configured that has none: then those of the folder are mounted. */
const withImage: ReadonlySet<SandboxKind> = new Set(["docker", "podman", "docker_socket", "kubernetes", "microvm"])

export const layer = (folder: string): Layer.Layer<AgentPrograms> =>
  Layer.succeed(
    AgentPrograms,
    AgentPrograms.of({
      folder,
      version: (mode) => readVersion(folder, mode),
      find: (mode, kind, { image }) =>
        Effect.suspend(() => {
          if (!withImage.has(kind)) return inFolder(folder, mode)
          if (image === undefined || kind === "kubernetes" || kind === "microvm") return Effect.succeed(fromImage(mode))
          return Effect.catch(inFolder(folder, mode), () => Effect.succeed(fromImage(mode)))
        })
    })
  )
