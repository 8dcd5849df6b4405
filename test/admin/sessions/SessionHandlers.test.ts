/** Counts what a login does: neither its result nor its duration reveals the name of the administrator. */
import crypto from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import { layer as recordsOver } from "../../../src/store/StoreLayer.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

/** Hashes, comparisons and statements, in order. */
const done: Array<string> = []
const { createHash, timingSafeEqual } = crypto

/** Statements by their first words: a record is completed, or removed, by its id. */
const describeStatement = (text: string): string => {
  const words = text.replaceAll(/\s+/g, " ").trim()
  return /^(?:UPDATE|DELETE FROM) "?admin_actions"? .*WHERE id = \?$/.test(words)
    ? "one record of admin_actions by id"
    : words.slice(0, 60)
}

const counted = Layer.succeed(Statement.CurrentTransformer, (statement) =>
  Effect.sync(() => {
    done.push(describeStatement(statement.compile()[0]))
    return statement
  })
)

describe("a login does the same work", () => {
  let admin: AdminServer
  beforeAll(async () => {
    crypto.createHash = (...given) => {
      done.push("hash")
      return createHash(...given)
    }
    crypto.timingSafeEqual = (...given) => {
      done.push("comparison")
      return timingSafeEqual(...given)
    }
    syncBuiltinESMExports()
    const records = Layer.provideMerge(recordsOver("auto"), SqliteClient.layer({ path: ":memory:" }))
    admin = await startAdmin({
      records: Layer.mergeAll(records, counted),
      document: { server: { trust_proxy: "loopback" } }
    })
  })
  afterAll(async () => {
    Object.assign(crypto, { createHash, timingSafeEqual })
    syncBuiltinESMExports()
    await admin.stop()
  })

  let address = 0
  const workOf = async (name: string, given: string, failures = 0): Promise<ReadonlyArray<string>> => {
    const from = `203.0.113.${address++}`
    for (let at = 0; at < failures; at++) await admin.login(given, `${from}-${at}`, { "x-forwarded-for": from })
    done.splice(0)
    await admin.login(given, name, { "x-forwarded-for": from })
    return done.splice(0)
  }

  it.each(["mallory", "roo", "ROOT", "root ", "x".repeat(900), "a wrong one"])(
    "for a wrong password of the name %j as for one of the administrator",
    async (name) => {
      const ofAdministrator = await workOf("root", "a wrong one")
      assert.deepStrictEqual(await workOf(name, "a wrong one"), ofAdministrator)
      assert.deepStrictEqual(await workOf(name, password), ofAdministrator)
      assert.deepStrictEqual(
        ofAdministrator.filter((one) => one.includes("admin_actions")).length,
        2,
        "a failure with the right name is on record"
      )
      assert.strictEqual(ofAdministrator.filter((one) => one === "comparison").length, 2)
    }
  )

  it("for a locked client, whichever name it gives", async () => {
    const ofAdministrator = await workOf("root", "a wrong one", 5)
    assert.deepStrictEqual(await workOf("mallory", "a wrong one", 5), ofAdministrator)
    assert.deepStrictEqual(await workOf("root", password, 5), ofAdministrator)
    assert.strictEqual(ofAdministrator.filter((one) => one === "comparison").length, 0)
  })
})
