/** Users of Postgres that lack a right: the error names the statement that grants it, nothing has changed, and with the right it works. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresClient from "../../../src/database/postgres/PostgresClient.ts"
import * as Migrations from "../../../src/store/schema/Migrations.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { freshDatabase, migratedDatabase, postgresAt } from "../Databases.ts"
import { event } from "../Fixtures.ts"

interface Refusal {
  readonly title: string
  readonly database: () => Promise<string>
  /** Statements of the administrator before; `small` is the user. */
  readonly before: ReadonlyArray<string>
  /** Returns the part of the message that proposes what to do. */
  readonly expected: (user: string) => string
  readonly grant: (user: string) => string
  /** Steps of a later release, which are pending. */
  readonly steps?: Migrations.SchemaSteps
}

const refusals: ReadonlyArray<Refusal> = [
  {
    title: "to create tables",
    database: freshDatabase,
    before: ["REVOKE CREATE ON SCHEMA public FROM PUBLIC"],
    expected: (user) => `run: GRANT USAGE, CREATE ON SCHEMA public TO ${user}`,
    grant: (user) => `GRANT USAGE, CREATE ON SCHEMA public TO ${user}`
  },
  {
    title: "to create functions and triggers",
    database: freshDatabase,
    before: ["GRANT USAGE, CREATE ON SCHEMA public TO small", "REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC"],
    expected: (user) => `run: GRANT USAGE ON LANGUAGE plpgsql TO ${user}`,
    grant: (user) => `GRANT USAGE ON LANGUAGE plpgsql TO ${user}`
  },
  {
    title: "to change tables of another user",
    database: migratedDatabase,
    before: [
      "CREATE ROLE former_small",
      "ALTER TABLE events OWNER TO former_small",
      "ALTER TABLE projects OWNER TO former_small",
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO small",
      "GRANT USAGE, CREATE ON SCHEMA public TO small"
    ],
    steps: { ...Migrations.all, "0002_index": () => ["CREATE INDEX events_run ON events (run_id)"] },
    expected: () => 'Run "aicr db migrate" as that user, or let it run: REASSIGN OWNED BY its name TO',
    grant: (user) => `REASSIGN OWNED BY former_${user} TO ${user}`
  },
  {
    title: "to read tables",
    database: migratedDatabase,
    before: [],
    expected: () => "run: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO",
    grant: (user) => `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${user}`
  }
]

const clientAt = (url: string) => Layer.fresh(PostgresClient.layer({ url: Redacted.make(url) }))

const execute = (url: string, statements: ReadonlyArray<string>) =>
  SqlClient.SqlClient.use((sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement))).pipe(
    Effect.provide(clientAt(url))
  )

let made = 0

/** Creates a user with these rights; returns its name and its address of the database. */
const makeUser = Effect.fnUntraced(function* (url: string, before: ReadonlyArray<string>) {
  const user = `small${++made}`
  yield* execute(url, [`CREATE ROLE ${user} LOGIN`, ...before.map((statement) => statement.replaceAll("small", user))])
  const address = new URL(url)
  address.username = user
  return { user, address: address.href }
})

describe("a user of Postgres without the right", () => {
  it.live.each(refusals)("$title", ({ before, database, expected, grant, steps }) =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(database)
      const { apply, status: read } = Migrations.make(steps)
      const status = read.pipe(Effect.provide(clientAt(url)))
      const { address, user } = yield* makeUser(url, before)
      const earlier = yield* status
      const start =
        steps === undefined
          ? Effect.scoped(Layer.build(postgresAt(address)))
          : Effect.asVoid(Effect.provide(apply, clientAt(address)))
      const { message } = yield* Effect.flip(start)
      assert.include(message, expected(user))
      assert.include(message, "storage.database.postgres.url_env")
      assert.deepStrictEqual(yield* status, earlier)
      yield* execute(url, [grant(user)])
      yield* start
      assert.deepStrictEqual((yield* status).pending, [])
    })
  )

  it.live("to create anything stores records in a database that its owner migrates", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(migratedDatabase)
      const rights = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO small"
      const { address } = yield* makeUser(url, ["REVOKE CREATE ON SCHEMA public FROM PUBLIC", rights])
      for (const migrate of ["verify", "auto"] as const) {
        const stored = Receipts.use((receipts) => receipts.store(event())).pipe(
          Effect.provide(postgresAt(address, migrate))
        )
        assert.strictEqual((yield* stored)._tag, "Stored")
      }
    })
  )
})
