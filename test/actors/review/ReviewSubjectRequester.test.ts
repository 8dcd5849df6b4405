/** A request of a person who may not write changes nothing about reviews that others requested, or that the host reported. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { findRequester } from "../../../actors/review/ReviewSubject.ts"
import { administrator, targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { testForges } from "../../harness/ActorParts.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { change, event } from "../../store/Fixtures.ts"

const now = 100_000

/** A delivery of the entry: who requested it, or when the automatic review is due. */
type Request = string | number

const cases: ReadonlyArray<readonly [name: string, requests: ReadonlyArray<Request>, expected: string]> = [
  ["nobody", [now], "nobody"],
  ["a maintainer", ["ann"], "ann"],
  ["a stranger alone", ["eve"], "refused: eve"],
  ["several strangers", ["eve", "mal", "eve"], "refused: eve"],
  ["a stranger before a maintainer", ["eve", "ann"], "ann"],
  ["a stranger after a maintainer", ["ann", "eve"], "ann"],
  ["strangers before an administrator of the service", ["eve", "mal", administrator("root")], administrator("root")],
  ["a stranger while a pushed head is due", ["eve", now - 1], "nobody"],
  ["a stranger while a pushed head is due later", [now + 60_000, "eve", now + 90_000], `later: ${now + 60_000}`],
  ["a stranger and a maintainer while a pushed head is due later", [now + 60_000, "eve", "ann"], "ann"],
  ["a thousand requests of a stranger, then one of a maintainer", [...Array(1000).fill("eve"), "ann"], "ann"]
]

layer(Layer.fresh(Store.layerMemory))("the requester of a review", (it) => {
  it.effect.each(cases)("%s", ([, requests, expected]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const { get, storeAll } = yield* Receipts
      const of = (requestedBy: string | undefined): Change => ({ ...change(), requestedBy })
      const work = { configHash: "c", priority: 10, dueAt: 0 }
      const events = requests.map((one) =>
        event({
          work: typeof one === "string" ? { ...work, change: of(one) } : { ...work, change: of(undefined), dueAt: one }
        })
      )
      yield* storeAll(events)
      const person = requests.find((one) => typeof one === "string")
      const entry: Entry = {
        id: "entry",
        workspace: "app",
        targetKey: targetKey(change()),
        change: of(person),
        configHash: "c",
        priority: 10,
        status: "running",
        events: events.map(({ id }) => id),
        admittedAt: 0,
        dueAt: 0,
        attempts: 0,
        losses: 0,
        awaitsModel: false,
        expires: false,
        token: LeaseToken.make(1)
      }
      const snapshot = yield* toSnapshot({ triggers: [{ name: "main", kind: "gitea", webhook_secret: "s" }] }, {})
      const profile = snapshot.triggers.get("main")
      if (profile === undefined) throw new Error("the document has it")
      const known = Forges.of(testForges(Effect.die("not read"))).client(profile)
      const client = { ...known, canWrite: (_: unknown, name: string) => Effect.succeed(name === "ann") }
      const found = yield* findRequester(entry, client)
      const shown = {
        Permitted: () => (found._tag === "Permitted" ? (found.person ?? "nobody") : ""),
        Refused: () =>
          found._tag === "Refused" ? `refused: ${inEnglish(found.reason).replace(/ has no write.*/, "")}` : "",
        Later: () => (found._tag === "Later" ? `later: ${found.until}` : "")
      }[found._tag]()
      assert.strictEqual(shown, expected)
      // Where the review goes on, the refused requests have an outcome of their own, and the others get that of the review.
      for (const [index, { id }] of events.entries()) {
        const request = requests[index]
        const isPassed = found._tag !== "Refused" && (request === "eve" || request === "mal") && person !== "ann"
        assert.strictEqual((yield* get(id))?.outcome, isPassed ? "skipped" : undefined)
      }
    })
  )
})
