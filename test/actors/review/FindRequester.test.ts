/** A request of a person who may not write changes nothing about reviews that others requested, or that the host reported. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { findRequester } from "../../../actors/review/FindRequester.ts"
import { administrator, chatRequester, targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { Priority } from "../../../src/domain/Entry.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { admit } from "../../../src/queue/core/Transitions.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { testForges } from "../../harness/ActorParts.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { change, event } from "../../store/Fixtures.ts"

const now = 100_000

/** A delivery of the entry: who requested it, or when the automatic review is due. */
interface Request {
  readonly by: string | number
  readonly full?: boolean
}

const cases: ReadonlyArray<
  readonly [name: string, requests: ReadonlyArray<string | number | Request>, expected: string]
> = [
  ["nobody", [now], "nobody"],
  ["a maintainer", ["ann"], "ann"],
  ["a stranger alone", ["eve"], "refused: eve"],
  ["several strangers", ["eve", "mal", "eve"], "refused: eve"],
  ["a stranger before a maintainer", ["eve", "ann"], "ann"],
  ["a stranger after a maintainer", ["ann", "eve"], "ann"],
  ["strangers before an administrator of the service", ["eve", "mal", administrator("root")], administrator("root")],
  ["a maintainer before a person of chat", ["ann", chatRequester("U1")], chatRequester("U1")],
  ["a stranger while a pushed head is due", ["eve", now - 1], "nobody"],
  ["a stranger while a pushed head is due later", [now + 60_000, "eve", now + 90_000], `later: ${now + 60_000}`],
  ["a stranger and a maintainer while a pushed head is due later", [now + 60_000, "eve", "ann"], "ann"],
  ["a thousand requests of a stranger, then one of a maintainer", [...Array(1000).fill("eve"), "ann"], "ann"],
  ["a full review of a maintainer", [{ by: "ann", full: true }], "ann, full"],
  [
    "a full review of a maintainer who joins the review of a pushed head",
    [now, { by: "ann", full: true }],
    "ann, full"
  ],
  ["a full review of a maintainer, then a plain one", [{ by: "ann", full: true }, "ann"], "ann, full"],
  ["a full review of a stranger who joins that of a maintainer", ["ann", { by: "eve", full: true }], "ann"],
  ["a full review of a maintainer who joins that of a stranger", ["eve", { by: "ann", full: true }], "ann, full"],
  ["a full review of a stranger while a pushed head is due", [{ by: "eve", full: true }, now - 1], "nobody"]
]

const changeOf = ({ by, full }: Request, head: string | undefined): Change => ({
  ...change(),
  head,
  ...(typeof by === "string" ? { requestedBy: by } : {}),
  ...(full === true ? { full } : {})
})

/** Admits the requests as the queue does, one after the other, and stores their deliveries. Commands name no head. */
const admitAll = Effect.fnUntraced(function* (requests: ReadonlyArray<Request>) {
  const items = requests.map((one) => {
    const isCommand = typeof one.by === "string"
    const admitted = changeOf(one, isCommand ? undefined : "a".repeat(40))
    const priority = isCommand ? Priority.command : Priority.pullRequest
    const work = { configHash: "c", priority, dueAt: isCommand ? now : Number(one.by), change: admitted }
    return { ...work, stored: event({ work }) }
  })
  yield* (yield* Receipts).storeAll(items.map(({ stored }) => stored))
  let entry: Entry | undefined
  for (const { stored, ...item } of items) {
    const admission = { ...item, eventId: stored.id, admittedAt: 0 }
    const key = targetKey(item.change)
    entry = admit({ next: entry, running: undefined }, admission, () => "entry", key).entry
  }
  if (entry === undefined) throw new Error("there is a request")
  return entry
})

const findAmong = Effect.fnUntraced(function* (requests: ReadonlyArray<Request>, rights: ReadonlyArray<string>) {
  yield* TestClock.setTime(now)
  const entry = yield* admitAll(requests)
  const snapshot = yield* toSnapshot({ triggers: [{ name: "main", kind: "gitea", webhook_secret: "s" }] }, {})
  const profile = snapshot.triggers.get("main")
  if (profile === undefined) throw new Error("the document has it")
  const known = Forges.of(testForges(Effect.die("not read"))).client(profile)
  const client = { ...known, canWrite: (_: unknown, name: string) => Effect.succeed(rights.includes(name)) }
  return { entry, found: yield* findRequester(entry, client) }
})

const toRequest = (one: string | number | Request): Request => (typeof one === "object" ? one : { by: one })

layer(Layer.fresh(Store.layerMemory))("the requester of a review", (it) => {
  it.effect.each(cases)("%s", ([, given, expected]) =>
    Effect.gen(function* () {
      const requests = given.map(toRequest)
      const { entry, found } = yield* findAmong(requests, ["ann"])
      const shown = {
        Permitted: () => (found._tag === "Permitted" ? `${found.person ?? "nobody"}${found.full ? ", full" : ""}` : ""),
        Refused: () =>
          found._tag === "Refused" ? `refused: ${inEnglish(found.reason).replace(/ has no write.*/, "")}` : "",
        Later: () => (found._tag === "Later" ? `later: ${found.dueAt}` : "")
      }[found._tag]()
      assert.strictEqual(shown, expected)
      if (found._tag === "Later") assert.strictEqual(found.priority, Priority.pullRequest)
      // Where the review goes on, the refused requests have an outcome of their own, and the others get that of the review.
      const isStranger = (by: string | number | undefined) => by === "eve" || by === "mal"
      const { get } = yield* Receipts
      for (const [index, id] of entry.events.entries()) {
        const request = requests[index]
        const isRead = isStranger(entry.change.requestedBy) || request?.full === true
        const isPassed = found._tag !== "Refused" && isStranger(request?.by) && isRead
        assert.strictEqual((yield* get(id))?.outcome, isPassed ? "skipped" : undefined)
      }
    })
  )

  const person = fc.constantFrom("eve", "mal", "ann", "ben", administrator("root"), chatRequester("U1"))
  const request = fc.oneof(
    fc.constantFrom({ by: now }, { by: now + 60_000 }),
    fc.record({ by: person, full: fc.boolean() })
  )
  const rights = ["ann", "ben"]
  const may = ({ by }: Request) => typeof by === "string" && (rights.includes(by) || by.includes(" "))
  const rank = (by: string | undefined) =>
    by === undefined ? 0 : by.startsWith("chat ") ? 3 : by.includes(" ") ? 2 : 1

  it.effect("has the highest right of those who may request it, in any order, and nothing of those who may not", () =>
    Effect.gen(function* () {
      for (const requests of fc.sample(fc.array<Request>(request, { minLength: 1, maxLength: 6 }), 300)) {
        const { found } = yield* findAmong(requests, rights)
        const able = requests.filter(may)
        const due = requests.flatMap(({ by }) => (typeof by === "number" ? [by] : []))
        if (able.length > 0) {
          assert.strictEqual(found._tag, "Permitted")
          if (found._tag !== "Permitted") continue
          assert.isTrue(able.some(({ by }) => by === found.person))
          assert.strictEqual(rank(found.person), Math.max(...able.map(({ by }) => rank(String(by)))))
          assert.strictEqual(
            found.full === true,
            able.some(({ full }) => full === true)
          )
        } else if (due.length === 0) assert.strictEqual(found._tag, "Refused")
        else if (due.length === requests.length || Math.min(...due) <= now)
          assert.deepStrictEqual(found, { _tag: "Permitted", person: undefined, full: undefined })
        else assert.deepInclude(found, { _tag: "Later", dueAt: Math.min(...due), priority: Priority.pullRequest })
      }
    })
  )
})
