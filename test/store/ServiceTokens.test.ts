import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/Ids.ts"
import type { ServiceToken } from "../../src/domain/ServiceToken.ts"
import { ServiceTokens } from "../../src/store/ServiceTokens.ts"
import { databases } from "./Databases.ts"

const hour = 60 * 60 * 1000
const day = 24 * hour

const token = (name: string, over: Partial<ServiceToken> = {}): ServiceToken => ({
  id: newId(),
  name,
  digest: `digest of ${name} ${newId()}`,
  scopes: ["read"],
  repositories: ["main:acme/app"],
  createdBy: "root",
  createdAt: day,
  expiresAt: 100 * day,
  ...over
})

describe.each(databases)("tokens of programs in $name", ({ layer }) => {
  it.effect("a name is taken until its token is revoked, and a revocation does not change", () =>
    Effect.gen(function* () {
      const tokens = yield* ServiceTokens
      const first = token("laptop")
      assert.isTrue(yield* tokens.create(first))
      assert.isFalse(yield* tokens.create(token("laptop")))
      const unused = { role: undefined, revokedAt: undefined, lastUsedAt: undefined }
      assert.deepStrictEqual(yield* tokens.find(first.digest), { ...first, ...unused })
      assert.deepInclude(yield* tokens.revoke(first.id, 5 * day), { revokedAt: 5 * day })
      assert.deepInclude(yield* tokens.revoke(first.id, 6 * day), { revokedAt: 5 * day })
      assert.deepInclude(yield* tokens.find(first.digest), { revokedAt: 5 * day })
      const second = token("laptop")
      assert.isTrue(yield* tokens.create(second))
      assert.deepStrictEqual(
        (yield* tokens.list).map(({ id }) => id),
        [second.id, first.id]
      )
      assert.isUndefined(yield* tokens.revoke("nothing", 1))
      assert.isUndefined(yield* tokens.find("nothing"))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a use is recorded to the hour, once per hour", () =>
    Effect.gen(function* () {
      const tokens = yield* ServiceTokens
      const one = token("laptop")
      yield* tokens.create(one)
      const read = Effect.map(tokens.find(one.digest), (found) => found ?? assert.fail("the token exists"))
      yield* tokens.use(yield* read, 10 * day + hour / 2)
      assert.strictEqual((yield* read).lastUsedAt, 10 * day)
      yield* tokens.use(yield* read, 10 * day + hour - 1)
      assert.strictEqual((yield* read).lastUsedAt, 10 * day)
      yield* tokens.use(yield* read, 10 * day + hour)
      assert.strictEqual((yield* read).lastUsedAt, 10 * day + hour)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("tokens that ended 90 days ago are removed with the next one", () =>
    Effect.gen(function* () {
      const tokens = yield* ServiceTokens
      const [expired, revoked, valid] = [token("a", { expiresAt: 2 * day }), token("b"), token("c")]
      for (const one of [expired, revoked, valid]) yield* tokens.create(one)
      yield* tokens.revoke(revoked.id, 2 * day)
      const last = token("d", { createdAt: 93 * day, expiresAt: 100 * day })
      yield* tokens.create(last)
      assert.deepStrictEqual(
        (yield* tokens.list).map(({ name }) => name),
        ["d", "c"]
      )
    }).pipe(Effect.provide(layer()))
  )
})
