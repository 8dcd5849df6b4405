/**
 * Ends two runs in the database given as arguments (`sqlite PATH` or `postgres URL`): one fails, one is published. Kills itself (SIGKILL) right
 * before its statement number N, or with `sent` right after sending it; without a number it ends by itself. Writes each statement.
 */
import { writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { StatementSync } from "node:sqlite"
import { Effect } from "effect"
import { Client } from "pg"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { postgresAt } from "./Databases.ts"
import { beginRun, publishRun, sendAll, settle, token } from "./EndedRuns.ts"

const [kind, address = "", killAt = "0", when = "before"] = process.argv.slice(2)

let isCounting = false
let number = 0
/** Returns whether this statement is the one. */
const reached = (text: string): boolean => {
  if (!isCounting) return false
  number += 1
  writeSync(1, `${text.trim().split(/\s+/).slice(0, 3).join(" ")}\n`)
  return number === Number(killAt)
}
const die = () => process.kill(process.pid, "SIGKILL")

for (const method of ["all", "run"] as const) {
  const original = StatementSync.prototype[method]
  Object.defineProperty(StatementSync.prototype, method, {
    value(this: StatementSync, ...parameters: ReadonlyArray<never>) {
      if (reached(this.sourceSQL)) die()
      return Reflect.apply(original, this, parameters)
    }
  })
}
const query: unknown = Client.prototype.query
Object.defineProperty(Client.prototype, "query", {
  value(this: Client, given: unknown, ...more: ReadonlyArray<unknown>) {
    const isReached = reached(typeof given === "string" ? given : String(Object(given).text))
    if (isReached && when === "before") die()
    if (typeof query !== "function") throw new Error("pg has no query")
    const result: unknown = Reflect.apply(query, this, [given, ...more])
    if (isReached) setImmediate(die)
    return result
  }
})

const pull = Date.now() % 1_000_000_000
const ending = Effect.gen(function* () {
  const runs = yield* Runs
  const failing = yield* beginRun({ number: pull })
  const operation = { _tag: "Issue", action: "create", title: "t", files: [] } as const
  const published = yield* publishRun({ number: pull + 1, publications: [{ operation }] })
  yield* sendAll(published)
  isCounting = true
  yield* runs.move(failing, token, "failed", 5000)
  yield* settle(published, 6000)
  isCounting = false
})

flushCompileCache()
await Effect.runPromise(
  ending.pipe(
    Effect.provide(kind === "postgres" ? postgresAt(address) : Store.layerSqlite({ path: address, migrate: "auto" }))
  )
)
