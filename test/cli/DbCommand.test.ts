/** The command `aicr db` over both databases. */
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { stringify } from "yaml"
import * as DataLock from "../../src/database/sqlite/DataLock.ts"
import { freshDatabase } from "../store/Databases.ts"
import { runAicr } from "../harness/RunAicr.ts"

let directory: string
let config: string
let url: string | undefined
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "aicr-cli-db-"))
  config = join(directory, "config.yaml")
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const configure = (database: object) => writeFile(config, stringify({ storage: { database } }))

const aicr = (...args: ReadonlyArray<string>) =>
  runAicr(["db", ...args, "--config", config], { env: url === undefined ? {} : { DATABASE: url } })

describe.each(["sqlite", "postgres"] as const)("aicr db on %s", (kind) => {
  beforeEach(async () => {
    url = kind === "postgres" ? await freshDatabase() : undefined
    await configure({ kind, migrate: "verify", sqlite: { path: "data/aicr.db" }, postgres: { url_env: "DATABASE" } })
  })

  it("shows what is pending, applies it once, and then all is applied", async () => {
    const before = await aicr("status")
    assert.strictEqual(before.code, 1, before.err)
    assert.match(before.out, new RegExp(`^database  ${kind}`))
    assert.match(before.out, /pending {3}0001_schema\n/)
    assert.include(before.err, "aicr db migrate")
    assert.isFalse(existsSync(join(directory, "data")))

    const made = await aicr("migrate")
    assert.strictEqual(made.code, 0, made.err)
    assert.match(made.out, /applied {3}0001_schema\n/)
    assert.match(made.out, /is up to date, \d+ steps/)
    const again = await aicr("migrate")
    assert.notInclude(again.out, "0001_schema")

    const after = await aicr("status")
    assert.strictEqual(after.code, 0, after.err)
    assert.notInclude(after.out, "pending")
  })
})

describe("aicr db", () => {
  it("does not change the file of a running service, and names the next step", async () => {
    url = undefined
    await configure({ sqlite: { path: "data/aicr.db" } })
    await Effect.runPromise(
      Effect.gen(function* () {
        yield* Layer.build(DataLock.layer(join(directory, "data")))
        const refused = yield* Effect.promise(() => aicr("migrate"))
        assert.strictEqual(refused.code, 3)
        assert.include(refused.err, "Another aicr process uses the data folder")
      }).pipe(Effect.scoped)
    )
  })

  it("a server that is not there is named, without the password", async () => {
    url = "postgres://aicr:hunter2@127.0.0.1:1/app"
    await configure({ kind: "postgres", postgres: { url_env: "DATABASE" } })
    const failed = await aicr("status")
    assert.strictEqual(failed.code, 3)
    assert.include(failed.err, "Postgres 127.0.0.1:1/app")
    assert.notInclude(failed.err, "hunter2")
  })
})
