/**
 * Checks the folders that the configuration names before a start opens anything: creates those that are missing, and ends the start with the
 * setting of one that cannot be created or written.
 */
import { randomBytes } from "node:crypto"
import { rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { Effect, Layer } from "effect"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { ConfigInvalid } from "../config/LoadConfig.ts"
import { formatPath } from "../config/document/Path.ts"
import type { Path } from "../config/document/Path.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { makeFolder } from "../database/MakeFolder.ts"
import { StoreError } from "../database/StoreError.ts"
import type { Role } from "../domain/Role.ts"
import { withoutPeriod } from "../domain/Text.ts"

interface DataFolder {
  /** The setting that names it or a file in it. */
  readonly path: Path
  readonly folder: string
}

/** Returns the folders that a node with these roles writes to. */
export const dataFolders = (
  { baseDir, document: { queue, storage }, workspacesRoot }: Snapshot,
  roles: ReadonlySet<Role>
): ReadonlyArray<DataFolder> => {
  const at = (path: Path, folder: string): DataFolder => ({ path, folder: resolve(baseDir, folder) })
  const { database, object } = storage
  return [
    ...(database.kind === "sqlite"
      ? [at(["storage", "database", "sqlite", "path"], dirname(database.sqlite.path))]
      : []),
    ...(queue.kind === "sqlite" ? [at(["queue", "sqlite", "path"], dirname(queue.sqlite.path))] : []),
    // Only reviews write objects and working copies.
    ...(roles.has("executor") && object.kind === "filesystem"
      ? [at(["storage", "object", "filesystem", "root"], object.filesystem.root)]
      : []),
    ...(roles.has("executor") ? [at(["workspaces", "root"], workspacesRoot)] : [])
  ]
}

/** Creates the folder if it is missing, and a file in it. */
const use = (folder: string): void => {
  makeFolder(folder)
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
  const probe = join(folder, `.probe-${randomBytes(8).toString("hex")}`)
  writeFileSync(probe, "", { flag: "wx", mode: 0o600 })
  rmSync(probe)
}

/** Errors that free space or a working disk removes, without a change of the configuration. */
const diskErrors = new Set(["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE"])

/** Fails with the setting of the first folder that this process cannot use. */
const checkDataFolders = Effect.fnUntraced(function* (roles: ReadonlySet<Role>) {
  const config = yield* ConfigStore
  for (const { folder, path } of dataFolders(config.current(), roles)) {
    const problem = yield* Effect.sync(() => {
      try {
        return use(folder)
      } catch (cause) {
        return cause instanceof Error ? cause : new Error(String(cause))
      }
    })
    if (problem === undefined) continue
    const why = { _tag: "FolderUnwritable", folder, why: withoutPeriod(problem.message) } as const
    if ("code" in problem && diskErrors.has(String(problem.code))) {
      return yield* new StoreError({
        reason: "unavailable",
        operation: "open",
        why: { _tag: "DiskUnusable", path: formatPath(path), why }
      })
    }
    const lines = yield* config.lines
    const issue: ConfigIssue = {
      severity: "error",
      path: formatPath(path),
      reason: { _tag: "FolderRefused", why },
      file: lines?.file,
      line: lines?.line(path)
    }
    return yield* ConfigInvalid.of([issue])
  }
})

export const usableFolders = (roles: ReadonlySet<Role>) => Layer.effectDiscard(checkDataFolders(roles))
