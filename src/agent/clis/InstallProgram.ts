/**
 * Installs an agent CLI from npm in the version that was tested, without scripts of packages: they would run with the rights of the operator,
 * and no row needs them. A failed installation leaves the earlier one in place.
 */
import { execFile } from "node:child_process"
import { mkdirSync } from "node:fs"
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { makeFolder } from "../../database/MakeFolder.ts"
import { newId } from "../../domain/Ids.ts"
import { AgentProgramError } from "./AgentPrograms.ts"
import type { CliMode } from "./AgentPrograms.ts"
import { findCli } from "./CliTable.ts"
import { installAdvice } from "./ProgramFolder.ts"
import { withoutPeriod } from "../../domain/Text.ts"

const run = promisify(execFile)
const timeoutMillis = 15 * 60_000

/** Output of a failed npm ends with the path of a log. */
const errorText = (cause: unknown): string => {
  const stderr = typeof cause === "object" && cause !== null && "stderr" in cause ? String(cause.stderr).trim() : ""
  return (stderr === "" ? String(cause) : stderr).slice(0, 2_000)
}

const npm = async (args: ReadonlyArray<string>, cwd: string): Promise<void> => {
  await run("npm", [...args], { cwd, timeout: timeoutMillis, maxBuffer: 64 * 1_048_576 })
}

const installFlags = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--loglevel=error"]

/** Unpacks a package without its dependencies. */
const unpack = async (folder: string, name: string, version: string): Promise<void> => {
  await npm(["pack", `${name}@${version}`, "--ignore-scripts", "--loglevel=error"], folder)
  const [file] = (await readdir(folder)).filter((entry) => entry.endsWith(".tgz"))
  if (file === undefined) throw new Error(`npm pack of ${name} wrote no file`)
  const target = join(folder, "node_modules", name)
  await mkdir(target, { recursive: true })
  await run("tar", ["-xzf", join(folder, file), "-C", target, "--strip-components", "1", "--no-same-owner"])
  await rm(join(folder, file))
}

/** Lets other users read what this one may, whatever its umask is: a pass runs as a user of its own. */
const openToReaders = async (folder: string): Promise<void> => {
  await run("chmod", ["-R", "go+rX,go-w", folder])
}

const failed = (why: Reason) => new AgentProgramError({ reason: "failed", why })

/** Creates the folder of an installation, and `root` if it is missing. */
const makeFresh = (root: string, fresh: string): Effect.Effect<void, AgentProgramError> =>
  Effect.try({
    try: () => {
      // The service may run as another user.
      makeFolder(root, 0o755)
      mkdirSync(fresh)
    },
    catch: (cause) =>
      failed({
        _tag: "AgentFolderUnwritable",
        folder: root,
        why: withoutPeriod(cause instanceof Error ? cause.message : String(cause))
      })
  })

/** Installs into `<folder>/<mode>` and returns the version. */
export const installProgram = (mode: CliMode, folder: string): Effect.Effect<string, AgentProgramError> => {
  const { companions, install, package: name, tested } = findCli(mode)
  if (name === undefined) return Effect.fail(failed(installAdvice(mode)))
  const root = resolve(folder)
  const fresh = join(root, `.${mode}-${newId()}`)
  const installation = Effect.tryPromise({
    try: async () => {
      await writeFile(join(fresh, "package.json"), `${JSON.stringify({ private: true })}\n`)
      if (install === "tarball") await unpack(fresh, name, tested)
      else await npm(["install", ...installFlags, `${name}@${tested}`, ...companions], fresh)
      await openToReaders(fresh)
      await rm(join(root, mode), { recursive: true, force: true })
      await rename(fresh, join(root, mode))
      return tested
    },
    catch: (cause) =>
      failed({ _tag: "AgentInstallFailed", package: `${name}@${tested}`, folder: root, why: errorText(cause) })
  }).pipe(Effect.ensuring(Effect.promise(() => rm(fresh, { recursive: true, force: true }))))
  return Effect.andThen(makeFresh(root, fresh), installation)
}
