/** Implements `aicr db backup|restore`: one file with all records, taken while the service runs, and put back while it is stopped. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { configFlag } from "./ConfigFlag.ts"
import type { ExitWith } from "./Exit.ts"

interface BackupResult {
  /** Path of the database. */
  readonly path: string
  readonly file: string
  /** Name under which the former database is kept. */
  readonly replaced?: string
}

export interface OnBackup {
  readonly backUp: (config: string, file: string) => Effect.Effect<BackupResult, ExitWith>
  readonly restore: (config: string, file: string) => Effect.Effect<BackupResult, ExitWith>
}

const input = {
  file: Argument.String("file").pipe(Argument.withDescription("File of the backup")),
  config: configFlag
}

export const backupCommands = (runs: Effect.Effect<{ readonly onBackup: OnBackup }>) =>
  [
    Command.make(
      "backup",
      input,
      Effect.fnUntraced(function* ({ config, file }) {
        const done = yield* (yield* runs).onBackup.backUp(config, file)
        yield* Console.log(`${done.path} is backed up to ${done.file}`)
      })
    ).pipe(
      Command.withDescription("Copy the SQLite database of the records to a new file; the service may run"),
      Command.withExamples([{ command: "aicr db backup backup.db", description: "For Postgres use pg_dump" }])
    ),
    Command.make(
      "restore",
      input,
      Effect.fnUntraced(function* ({ config, file }) {
        const { path, file: from, replaced } = yield* (yield* runs).onBackup.restore(config, file)
        if (replaced !== undefined) yield* Console.log(`the former database is kept as ${replaced}`)
        yield* Console.log(`${path} is restored from ${from}`)
      })
    ).pipe(
      Command.withDescription("Put a backup in the place of the SQLite database; the service must be stopped"),
      Command.withExamples([
        { command: "aicr db restore backup.db", description: "The former database is kept under another name" }
      ])
    )
  ] as const
