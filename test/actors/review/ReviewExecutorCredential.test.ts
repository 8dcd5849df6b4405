/** A host that refuses the credential before a review begins: the review waits without an attempt, and uses the credential in force. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { reviewedForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { endlessReviews, scheduler } from "../EndlessReviews.ts"

const refusal = (reason: "unauthorized" | "not_found", status: number) =>
  Effect.fail(new ForgeError({ reason, status, operation: "GET", why: verbatimReason(`HTTP ${status}`) }))
const unauthorized = refusal("unauthorized", 401)
const missing = refusal("not_found", 404)

type Refused = typeof unauthorized | undefined

/** The host, which may refuse the credential of the admission. `isRenewed`: another one is in force. */
class Host extends Context.Service<
  Host,
  { readonly refused: Ref.Ref<Refused>; readonly repository: Ref.Ref<Refused>; readonly isRenewed: Ref.Ref<boolean> }
>()("test/Host") {
  static readonly layer = Layer.effect(
    Host,
    Effect.all({
      refused: Ref.make<Refused>(undefined),
      repository: Ref.make<Refused>(undefined),
      isRenewed: Ref.make(false)
    })
  )
}

const store = testSnapshotWith("w", "t")
const admitted = store.current()
const [profile] = admitted.triggers.values()
assert(profile !== undefined)
const renewed = { ...profile, settings: { ...profile.settings, token_env: "NEW" } }
const newer = {
  ...admitted,
  hash: "newer",
  triggers: new Map([["t", { ...renewed, token: {} as never }]])
}

const forges = Layer.effect(
  Forges,
  Effect.map(Host, ({ refused, repository }) => {
    const closed = reviewedForges(Effect.succeed({ head: "h", state: "closed" }))
    return Forges.of({
      ...closed,
      client: (from) => {
        const client = closed.client(from)
        if (from.settings.token_env === "NEW") return client
        return {
          ...client,
          pull: (repo, number) => Effect.flatMap(Ref.get(refused), (error) => error ?? client.pull(repo, number)),
          repositoryId: () => Effect.flatMap(Ref.get(repository), (error) => error ?? Effect.succeed(7))
        }
      }
    })
  })
)
const config = Layer.effect(
  ConfigStore,
  Effect.map(Host, ({ isRenewed }) =>
    ConfigStore.of({
      ...store,
      current: () => (Effect.runSync(Ref.get(isRenewed)) ? newer : admitted),
      pinned: () => Effect.succeed(admitted)
    })
  )
)
const world = executorWorld(
  Layer.mergeAll(
    Layer.mock(Vcs, {}),
    Layer.mock(Outputs, { anyFor: () => true, plan: () => [], status: () => [] }),
    forges,
    config
  ),
  Host.layer
)

const pullOf = (number: number, hostId: number | undefined): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app", ...(hostId === undefined ? {} : { hostId }) },
  target: { kind: "pull_request", number },
  head: "h",
  base: "b"
})
const reported = endlessReviews((number) => pullOf(number, 7))
const requested = endlessReviews((number) => pullOf(number, undefined))

const begin = Effect.fnUntraced(function* (
  number: number,
  given: { readonly refused: Refused; readonly repository?: Refused; readonly isRenewed?: boolean },
  admission: typeof reported = reported
) {
  const { isRenewed, refused, repository } = yield* Host
  yield* Ref.set(refused, given.refused)
  yield* Ref.set(repository, given.repository)
  yield* Ref.set(isRenewed, given.isRenewed === true)
  const entryId = yield* admission.accept(number)
  yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
  return entryId
})

const entryOf = (id: string) => Effect.flatMap(Queue, (queue) => queue.get(id))
const is = (id: string, status: string) => Effect.map(entryOf(id), (entry) => entry?.status === status)

layer(world)((it) => {
  it.effect.each([
    ["401", 1, unauthorized, undefined],
    ["404 for the repository, too", 2, missing, missing]
  ] as const)(
    "a review waits for hours with %s, and follows when the host accepts it",
    ([, number, refused, repository]) =>
      Effect.gen(function* () {
        const id = yield* begin(number, { refused, repository })
        yield* until("it waits", is(id, "waiting"))
        const later = (yield* Clock.currentTimeMillis) + 3 * 3_600_000
        const isLater = Effect.map(Clock.currentTimeMillis, (now) => now >= later)
        yield* until("three hours have passed", isLater, { step: "1 minute", atMost: "4 hours" })
        const waiting = yield* entryOf(id)
        assert.deepStrictEqual([waiting?.status, waiting?.attempts], ["waiting", 0])
        assert.deepInclude(waiting?.reason, { _tag: "AwaitsCredential", trigger: "t" })
        yield* Ref.set((yield* Host).refused, undefined)
        yield* until("it has ended", is(id, "done"), { step: "10 seconds", atMost: "20 minutes" })
        assert.strictEqual((yield* entryOf(id))?.reason?._tag, "NotOpen")
      })
  )

  it.effect("with another credential in force, that one reads the change immediately", () =>
    Effect.gen(function* () {
      const id = yield* begin(3, { refused: unauthorized, isRenewed: true })
      yield* until("it has ended", is(id, "done"))
      assert.strictEqual((yield* entryOf(id))?.reason?._tag, "NotOpen")
    })
  )

  it.effect("after a day it fails with this reason", () =>
    Effect.gen(function* () {
      const id = yield* begin(4, { refused: unauthorized })
      const passed = yield* until("it has failed", is(id, "dead"), { step: "1 hour", atMost: "26 hours" })
      assert.isAtLeast(passed, 23 * 3_600_000)
      assert.deepInclude((yield* entryOf(id))?.reason, { _tag: "CredentialNotRestored", trigger: "t", hours: 24 })
    })
  )

  it.effect.each([
    ["a pull request that is gone fails", 5, undefined, reported],
    ["a repository that somebody named and that cannot be read fails", 6, missing, requested]
  ] as const)("%s immediately", ([, number, repository, admission]) =>
    Effect.gen(function* () {
      const id = yield* begin(number, { refused: missing, repository }, admission)
      yield* until("it has failed", is(id, "dead"))
      assert.strictEqual((yield* entryOf(id))?.reason?._tag, "HostRequestFailed")
    })
  )
})
