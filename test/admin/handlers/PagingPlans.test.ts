/** Lists read by index whatever they are filtered and sorted by, so that a page of a million records takes as long as one of a hundred. */
import { StatementSync } from "node:sqlite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Store from "../../../src/store/StoreLayer.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const lists: ReadonlyArray<readonly [path: string, sorts: ReadonlyArray<string>, filters: ReadonlyArray<string>]> = [
  ["/runs", ["created", "duration", "cost"], ["", "workspace=app"]],
  ["/runs", ["created"], ["status=failed", "repo=acme/app", "trigger=main", "repo=acme/app&number=7"]],
  ["/changes", ["created"], ["", "workspace=app", "status=failed", "repo=acme/app", "trigger=main"]],
  ["/events", ["received"], ["", "decision=ignored", "repo=acme/app"]],
  ["/projects", ["created", "last_run", "repository"], [""]],
  ["/chat/requests", ["received"], [""]],
  ["/audit", ["at"], [""]]
]

const paths = lists.flatMap(([path, sorts, filters]) =>
  sorts.flatMap((sort) =>
    ["", "-"].flatMap((sign) =>
      filters.map((filter) => `${path}?sort=${sign}${sort}${filter === "" ? "" : `&${filter}`}`)
    )
  )
)

let admin: AdminServer
let token: unknown
const texts = new Set<string>()
const { all } = StatementSync.prototype
beforeAll(async () => {
  admin = await startAdmin()
  token = await admin.token()
  Object.defineProperty(StatementSync.prototype, "all", {
    configurable: true,
    value(this: StatementSync, ...parameters: ReadonlyArray<never>) {
      texts.add(this.sourceSQL.trim())
      return Reflect.apply(all, this, parameters)
    }
  })
})
afterAll(async () => {
  Object.defineProperty(StatementSync.prototype, "all", { configurable: true, value: all })
  await admin.stop()
})

/** Returns the steps of a plan that read a whole table or sort all that was selected. */
const listSlowSteps = (statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const plans = yield* Effect.forEach(statements, (text) =>
      sql.unsafe<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
    )
    return plans.flatMap((steps, at) =>
      steps
        .map(({ detail }) => detail)
        .filter((detail) => /^SCAN (?!.* USING )|TEMP B-TREE FOR ORDER BY/.test(detail))
        .map((detail) => `${detail}: ${statements[at]}`)
    )
  }).pipe(Effect.provide(Store.layerMemory), Effect.runPromise)

describe("a page of", () => {
  it.each(paths)("%s is read by index", async (path) => {
    texts.clear()
    assert.strictEqual((await admin.call("GET", path, { token })).status, 200)
    const statements = [...texts].filter((text) => /^(?:SELECT|WITH)/.test(text))
    const tables = statements.filter((text) => /FROM (?:runs|events|projects|chat_requests|admin_actions)\b/.test(text))
    assert.isAbove(tables.length, 0)
    assert.deepStrictEqual(await listSlowSteps(statements), [])
  })
})
