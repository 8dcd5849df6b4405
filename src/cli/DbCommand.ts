/**
 * Implements `aicr db status|migrate` (backup and restore: DbBackupCommand.ts): lists the schema steps of the records' database and applies missing ones, for installations with
 * `storage.database.migrate: verify`. The function that opens the database is a parameter. `status` exits with 1 while a step is pending.
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { ExitWith } from "./Exit.ts"
import type { OnBackup } from "./DbBackupCommand.ts"
import { backupCommands } from "./DbBackupCommand.ts"
import { configFlag } from "./ConfigFlag.ts"

export interface DatabaseState {
  readonly kind: "sqlite" | "postgres"
  /** Path of a SQLite file. */
  readonly path?: string
  readonly applied: ReadonlyArray<string>
  readonly pending: ReadonlyArray<string>
  /** Steps of a newer release. */
  readonly unknown: ReadonlyArray<string>
  /** Steps that a build before the first release applied in another form. */
  readonly different: ReadonlyArray<string>
}

/** Opens the database. `migrate` applies pending steps and returns them. */
export type OnDatabase = (
  config: string,
  use: "status" | "migrate"
) => Effect.Effect<DatabaseState & { readonly made: ReadonlyArray<string> }, ExitWith>

const flags = {
  config: configFlag
}

const nameOf = ({ kind, path }: DatabaseState): string => (path === undefined ? kind : `${kind} ${path}`)

export const dbCommand = (
  runs: Effect.Effect<{ readonly onDatabase: OnDatabase }>,
  backups: Effect.Effect<{ readonly onBackup: OnBackup }>
) => {
  const onDatabase: OnDatabase = (...given) => Effect.flatMap(runs, (loaded) => loaded.onDatabase(...given))
  return Command.make("db").pipe(
    Command.withDescription("Back up, restore and migrate the database of the records"),
    Command.withSubcommands([
      Command.make(
        "status",
        flags,
        Effect.fnUntraced(function* ({ config }) {
          const state = yield* onDatabase(config, "status")
          yield* Console.log(`database  ${nameOf(state)}`)
          for (const step of state.applied) yield* Console.log(`applied   ${step}`)
          for (const step of state.pending) yield* Console.log(`pending   ${step}`)
          for (const step of state.unknown) yield* Console.log(`unknown   ${step}`)
          for (const step of state.different) yield* Console.log(`different ${step}`)
          if (state.different.length > 0)
            return yield* new ExitWith({
              code: 3,
              message:
                "A build before the first release made this database: use that build, or configure another, empty database"
            })
          if (state.unknown.length > 0)
            return yield* new ExitWith({
              code: 3,
              message:
                "A newer release changed this database: start that one, or restore a backup from before the upgrade"
            })
          if (state.pending.length > 0)
            return yield* new ExitWith({ code: 1, message: 'Run "aicr db migrate" to apply what is pending' })
        })
      ).pipe(
        Command.withDescription("Show which steps are applied and which are pending"),
        Command.withExamples([
          { command: "aicr db status --config config.yaml", description: "Exit code 1 when steps are pending" }
        ])
      ),
      Command.make(
        "migrate",
        flags,
        Effect.fnUntraced(function* ({ config }) {
          const state = yield* onDatabase(config, "migrate")
          for (const step of state.made) yield* Console.log(`applied   ${step}`)
          yield* Console.log(`${nameOf(state)} is up to date, ${state.applied.length} steps`)
        })
      ).pipe(
        Command.withDescription("Apply the steps that are missing"),
        Command.withExamples([
          {
            command: "aicr db migrate --config config.yaml",
            description: "Before a release whose nodes have migrate: verify"
          }
        ])
      ),
      ...backupCommands(backups)
    ])
  )
}
