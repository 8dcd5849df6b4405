/** The account of a credential: identified by its id, with a name that is read again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { isBy, listCreated, ownAccount } from "../../../src/forge/hosts/OwnAccount.ts"
import { requestFailed } from "../../../src/forge/ForgeError.ts"

const make = () => {
  const host = { name: "old", reads: 0 }
  const account = ownAccount(
    Effect.sync(() => {
      host.reads++
      return { username: host.name, id: 7 }
    })
  )
  return { host, account }
}

describe("the own account", () => {
  it.effect("is read once, and again after ten minutes", () =>
    Effect.gen(function* () {
      const { account, host } = make()
      yield* account.self
      host.name = "new"
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual((yield* account.self).username, "old")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* account.self).username, "new")
      assert.strictEqual(host.reads, 2)
    })
  )

  it.effect("is read again for a list by its name that the host refuses, once", () =>
    Effect.gen(function* () {
      const { account, host } = make()
      const refused = requestFailed("not_found", "GET /issues", { _tag: "MissingOrHidden" })
      const list = ({ username }: { readonly username: string }) =>
        username === "new" ? Effect.succeed([username]) : Effect.fail(refused)
      assert.strictEqual(yield* Effect.flip(listCreated(account, list)), refused)
      host.name = "new"
      assert.deepStrictEqual(yield* listCreated(account, list), ["new"])
    })
  )

  it("is compared by id, and by name only where one of them has no id", () => {
    const own = { username: "aicr", id: 7 }
    assert.isTrue(isBy({ id: 7, username: "other" }, own))
    assert.isFalse(isBy({ id: 8, username: "aicr" }, own))
    assert.isTrue(isBy({ id: undefined, username: "AICR" }, own))
    assert.isTrue(isBy({ id: 8, username: "aicr" }, { username: "aicr" }))
    assert.isFalse(isBy({ username: undefined }, own))
  })
})
