/** Requests about runs over real HTTP: filters, what became of findings, comparison, changes. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { Usd } from "../../../src/domain/Money.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import { Objects } from "../../../src/store/Objects.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { RunLogs } from "../../../src/store/RunLogs.ts"
import { beginRun, publishRun, sendAll, settle } from "../../store/EndedRuns.ts"
import type { RunOptions } from "../../store/EndedRuns.ts"
import { analysis, ignored } from "../../store/Fixtures.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin()
  token = await admin.token()
})
afterAll(() => admin.stop())

const get = (path: string) => admin.call("GET", path, { token })
const listOf = (value: unknown): ReadonlyArray<Record<string, unknown>> => {
  assert(Array.isArray(value))
  return value.map((item) => Object(item))
}
const idsAt = async (path: string) => listOf((await get(path)).body["items"]).map(({ id }) => id)

const finding = (name: string): Finding => ({
  fingerprint: name.repeat(32),
  problem: { file: "a.ts", severity: "high", category: "bug", message: name },
  anchor: undefined
})

const ended = (options: RunOptions, more: Partial<Analysis>) =>
  admin.run(
    Effect.gen(function* () {
      const id = yield* publishRun({ ...options, analysis: { ...analysis, ...more }, publications: [{}] })
      yield* sendAll(id)
      yield* settle(id, 5000)
      return id
    })
  )

describe("runs", () => {
  it("are selected by repository, number, several states and time", async () => {
    const done = await ended({ repo: "acme/filter", number: 1 }, {})
    const waiting = await admin.run(beginRun({ repo: "Acme/Filter", number: 2 }))
    assert.deepStrictEqual(await idsAt("/runs?repo=acme/filter"), [waiting, done])
    assert.deepStrictEqual(await idsAt("/runs?repo=acme/filter&number=1&trigger=main"), [done])
    assert.deepStrictEqual(await idsAt("/runs?repo=acme/filter&status=succeeded,failed"), [done])
    assert.deepStrictEqual(await idsAt("/runs?repo=acme/filter&until=2020-01-01"), [])
    assert.deepStrictEqual(await idsAt("/runs?repo=acme/filter&since=2020-01-01"), [waiting, done])
    assert.strictEqual((await get("/runs?status=finished")).body["code"], "invalid_payload")
  })

  it("and changes are found by parts of words", async () => {
    const [first, second] = [
      await ended({ repo: "acme/needle-one", number: 1 }, {}),
      await ended({ repo: "acme/needle-two", number: 2 }, {})
    ]
    assert.deepStrictEqual(await idsAt("/runs?q=NEEDLE"), [second, first])
    assert.deepStrictEqual(await idsAt("/runs?q=needle%20one"), [first])
    assert.deepStrictEqual(await idsAt("/runs?q=needle&number=2"), [second])
    const page = await get("/runs?q=needle&limit=1")
    assert.deepStrictEqual(page.body["next_cursor"], second)
    const changes = listOf((await get("/changes?q=edle-two")).body["items"])
    assert.deepStrictEqual(
      changes.map(({ number, repo }) => [repo, number]),
      [["acme/needle-two", 2]]
    )
    assert.strictEqual((await get("/runs?q=needle&sort=cost")).body["code"], "invalid_payload")
  })

  it("name what became of each finding, what verification refuted, and the usage of each model", async () => {
    const [fixed, open] = [finding("a"), finding("b")]
    const usage = { requests: 2, inputTokens: 10, outputTokens: 5, cachedTokens: 1 }
    const first = await ended(
      { repo: "acme/outcomes", number: 5 },
      {
        findings: [fixed, open],
        refuted: [{ finding: finding("c"), reason: "not reachable", model: "demo/rules" }],
        usage: { ...usage, byModel: { "demo/rules": { ...usage, reasoningTokens: 3, costUsd: Usd.make(0.5) } } }
      }
    )
    const second = await ended({ repo: "acme/outcomes", number: 5, head: "b".repeat(40) }, { findings: [open] })
    const { body } = await get(`/runs/${first}`)
    const outcomes = listOf(body["findings"]).map(({ message, outcome }) => [message, Object(outcome)])
    assert.deepInclude(outcomes[0]?.[1], { status: "fixed", found_in: first, decided_in: second, replied: false })
    assert.deepInclude(outcomes[1]?.[1], { status: "open", found_in: first, decided_in: second })
    assert.deepInclude(listOf(body["refuted"])[0], { reason: "not reachable", model: "demo/rules" })
    assert.deepStrictEqual(body["models_used"], [
      {
        model: "demo/rules",
        requests: 2,
        input_tokens: 10,
        output_tokens: 5,
        cached_tokens: 1,
        cost_usd: 0.5,
        reasoning_tokens: 3
      }
    ])
    const what = listOf(body["timeline"]).map((moment) => moment["what"])
    assert.deepStrictEqual(what, ["succeeded"])
    const [publication] = listOf(body["publications"])
    assert.include(publication, { created_at: "1970-01-01T00:00:02.000Z", updated_at: "1970-01-01T00:00:00.004Z" })
  })

  it("count the comments that a summary was written with, and no text of them", async () => {
    const comment = { path: "a.ts", side: "new", line: 1, body: "the text of a comment" } as const
    const review = { operationId: OperationId.make("r"), event: "COMMENT", body: "", comments: [comment] } as const
    const operation = { _tag: "Summary", head: "a".repeat(40), body: "the text of a summary", review } as const
    const id = await admin.run(
      Effect.gen(function* () {
        const run = yield* publishRun({ repo: "acme/joined", number: 9, publications: [{ operation }] })
        yield* sendAll(run, ["f"])
        yield* settle(run, 5000)
        return run
      })
    )
    const { body } = await get(`/runs/${id}`)
    const [publication, ...others] = listOf(body["publications"])
    assert.include(publication, { operation: "Summary", status: "sent", comments: 1 })
    assert.deepStrictEqual(others, [])
    assert.notInclude(JSON.stringify(body["publications"]), "the text of")
  })

  it("show their steps in the order of time, each followed by its parts", async () => {
    const id = await ended({ repo: "acme/steps", number: 8 }, {})
    const call = { id: "c", parent: "p", kind: "model_call", at: 20, millis: 5, model: "p/m", wait_ms: 1 } as const
    const late = { id: "v", kind: "publication", at: 12, millis: 1, failed: true, operation: "Summary" } as const
    const pass = { id: "p", kind: "pass", at: 10, millis: 30, pass: 1 } as const
    const orphan = { id: "o", parent: "not stored", kind: "checkout", at: 1, millis: 2 } as const
    await admin.run(
      RunLogs.use((logs) =>
        Effect.andThen(
          logs.append(id, { lines: [], spans: [call, late] }, 1),
          logs.append(id, { lines: [], spans: [pass, orphan] }, 2)
        )
      )
    )
    const { body } = await get(`/runs/${id}`)
    const shown = listOf(body["timeline"])
    assert.deepStrictEqual(
      shown.map(({ depth, what }) => [what, depth]),
      [
        ["checkout", 0],
        ["pass", 0],
        ["model_call", 1],
        ["publication", 0],
        ["succeeded", 0]
      ]
    )
    assert.deepStrictEqual(shown[2], {
      at: "1970-01-01T00:00:00.020Z",
      what: "model_call",
      depth: 1,
      duration_ms: 5,
      model: "p/m",
      wait_ms: 1
    })
    assert.include(shown[3], { failed: true, operation: "Summary" })
  })

  it("show the texts of their model calls as stored, and the lines around a finding", async () => {
    const at = { path: "a.ts", side: "new", line: 2, newLine: 2 } as const
    const id = await ended({ repo: "acme/calls", number: 9 }, { findings: [{ ...finding("a"), anchor: at }] })
    const secret = await ended(
      { repo: "acme/calls", number: 10 },
      { findings: [], private: [{ finding: finding("b"), salt: "s" }] }
    )
    const refuted = await ended({ repo: "acme/calls", number: 11 }, { findings: [], privateRefuted: [{ sha256: "d" }] })
    const usage = { inputTokens: 7, outputTokens: 3, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    const call = {
      version: 1,
      model: "p/m",
      at: 5,
      millis: 2,
      group: "g",
      role: "heavy",
      system: "s",
      tools: "t",
      messages: ["m"],
      response: { text: "Read.", calls: [{ id: "1", name: "report", input: { n: 1 } }], usage }
    }
    const diff = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,3 @@\n one\n+two\n three\n"
    const stored: ReadonlyArray<readonly [string, string]> = [
      ["calls/1.json", JSON.stringify(call)],
      ["calls/2.json", JSON.stringify({ ...call, response: undefined })],
      ["texts/s", "You review."],
      ["texts/t", "[]"],
      ["texts/m", JSON.stringify({ role: "user", text: "The diff" })],
      ["diff", diff]
    ]
    await admin.run(
      Effect.forEach([id, secret, refuted], (run) =>
        Effect.forEach(stored, ([name, text]) => Objects.use((objects) => objects.put(`runs/${run}/${name}`, text)))
      )
    )
    const first = await get(`/runs/${id}/calls?limit=1`)
    assert.deepStrictEqual(first.body, {
      items: [
        {
          id: "1",
          model: "p/m",
          role: "heavy",
          at: "1970-01-01T00:00:00.005Z",
          duration_ms: 2,
          messages: 1,
          input_tokens: 7,
          output_tokens: 3,
          cost_usd: null
        }
      ],
      next_cursor: "1"
    })
    assert.deepStrictEqual(await idsAt(`/runs/${id}/calls?cursor=1`), ["2"])
    const texts = listOf((await get(`/runs/${id}/calls/1`)).body["texts"])
    assert.deepStrictEqual(
      texts.map(({ role }) => role),
      ["system", "user", "response"]
    )
    assert.strictEqual(texts[1]?.["text"], "The diff")
    assert.include(String(texts[2]?.["text"]), 'Read.\n\n[\n  {\n    "id": "1"')
    assert.strictEqual((await get(`/runs/${id}/calls/3`)).status, 404)
    for (const hidden of [secret, refuted]) assert.strictEqual((await get(`/runs/${hidden}/calls/1`)).status, 404)
    const around = await get(`/runs/${id}/findings/${finding("a").fingerprint}/diff`)
    assert.include(String(around.body["diff"]), "+two")
    assert.deepStrictEqual((await get(`/runs/${id}/findings/unknown/diff`)).body, { diff: "" })
  })

  it("hide the texts of model calls while a review may find what only maintainers get", async () => {
    const outputs = { channels: [{ name: "ops", kind: "feishu_bot", webhook_url: "https://chat.test/hook" }] }
    const other = await startAdmin({ document: { outputs, review: { private: { channel: "ops" } } } })
    try {
      for (const [server, status] of [
        [admin, 200],
        [other, 404]
      ] as const) {
        const call = {
          version: 1,
          model: "p/m",
          at: 5,
          millis: 2,
          group: "g",
          role: "heavy",
          system: "s",
          tools: "t",
          messages: []
        }
        const id = await server.run(
          Effect.tap(beginRun({ repo: "acme/app", number: 3 }), (run) =>
            Effect.forEach(
              [
                ["calls/1.json", JSON.stringify(call)],
                ["texts/s", "You review."],
                ["texts/t", "[]"]
              ] as const,
              ([name, text]) => Objects.use((objects) => objects.put(`runs/${run}/${name}`, text))
            )
          )
        )
        const seen = await server.call("GET", `/runs/${id}/calls/1`, { token: await server.token() })
        assert.deepStrictEqual(
          [seen.status, JSON.stringify(seen.body).includes("maintainers only")],
          [status, status === 404]
        )
      }
    } finally {
      await other.stop()
    }
  })

  it("name the round and its late findings, without the digests of lines", async () => {
    const late = { ...finding("b"), round: { kind: "late", since: 2, missed: 1 } as const }
    const id = await ended(
      { repo: "acme/rounds", number: 6 },
      {
        findings: [{ ...finding("a"), round: { kind: "carried", since: 1 } }],
        late: [late],
        round: { number: 2, key: "secret", read: [{ path: "a", marks: "abcd", rounds: [[1, 1]] }], reported: [] }
      }
    )
    const { body } = await get(`/runs/${id}`)
    assert.include(body, { round: 2, late: 1 })
    assert.deepStrictEqual(listOf(body["findings"])[0]?.["round"], { kind: "carried", since: 1 })
    assert.deepInclude(listOf(body["late_findings"])[0], { round: { kind: "late", since: 2, missed: 1 } })
    assert.notMatch(JSON.stringify(body), /secret|abcd/)
  })

  it("are compared with the previous one of the change, or another one", async () => {
    const at = { repo: "acme/compare", number: 6 }
    const first = await ended(at, { findings: [finding("a"), finding("b")] })
    await admin.run(beginRun(at))
    const last = await ended({ ...at, head: "b".repeat(40) }, { findings: [finding("b"), finding("c")] })
    const { body, status } = await get(`/runs/${last}/compare`)
    const messages = (name: string) => listOf(body[name]).map(({ message }) => message)
    assert.strictEqual(status, 200)
    assert.deepStrictEqual([messages("added"), messages("kept"), messages("removed")], [["c"], ["b"], ["a"]])
    assert.deepInclude(Object(body["other"]), { id: first })
    const turned = (await get(`/runs/${first}/compare?with=${last}`)).body
    assert.deepStrictEqual(
      listOf(turned["added"]).map(({ message }) => message),
      ["a"]
    )
    assert.strictEqual((await get(`/runs/${first}/compare`)).status, 404)
    assert.strictEqual((await get(`/runs/${last}/compare?with=${newId()}`)).status, 404)
    assert.strictEqual((await get(`/runs/${newId()}/compare`)).status, 404)
  })

  it("are sorted in both directions, and pages continue after the last run of the one before", async () => {
    const at = { repo: "acme/sorted", workspace: "sorted" }
    const cost = (usd: number) => ({ usage: { ...analysis.usage, costUsd: Usd.make(usd) } })
    const ids = [
      await ended({ ...at, number: 1, startedAt: 3000 }, cost(2)),
      await ended({ ...at, number: 2, startedAt: 1000 }, cost(3)),
      await ended({ ...at, number: 3, startedAt: 2000 }, cost(3))
    ]
    const [first, second, third] = ids
    const read = async (sort: string) => {
      const seen: Array<unknown> = []
      for (let cursor = ""; ;) {
        const { body } = await get(`/runs?workspace=sorted&limit=1&sort=${sort}&cursor=${cursor}`)
        seen.push(...listOf(body["items"]).map(({ id }) => id))
        if (body["next_cursor"] === null) return seen
        cursor = String(body["next_cursor"])
      }
    }
    assert.deepStrictEqual(await read("created"), ids)
    assert.deepStrictEqual(await read("-created"), ids.toReversed())
    assert.deepStrictEqual(await read("duration"), [first, third, second])
    assert.deepStrictEqual(await read("-duration"), [second, third, first])
    assert.deepStrictEqual(await read("cost"), [first, second, third])
    assert.deepStrictEqual(await read("-cost"), [third, second, first])
    assert.deepStrictEqual(
      listOf((await get("/changes?repo=acme/sorted&sort=created")).body["items"]).map(({ number }) => number),
      [1, 2, 3]
    )
  })

  it("changes have their newest run", async () => {
    const at = { repo: "acme/changes", number: 8 }
    await ended(at, {})
    const newest = await admin.run(beginRun({ ...at, head: "b".repeat(40) }))
    const other = await ended({ ...at, number: 9 }, {})
    const { body } = await get("/changes?repo=acme/changes")
    assert.deepStrictEqual(
      listOf(body["items"]).map(({ number, run }) => [number, Object(run).id]),
      [
        [9, other],
        [8, newest]
      ]
    )
    const page = (await get("/changes?repo=acme/changes&limit=1")).body
    assert.strictEqual(page["next_cursor"], other)
    const failed = (await get("/changes?repo=acme/changes&status=failed")).body
    assert.deepStrictEqual(failed["items"], [])
  })
})

describe("deliveries", () => {
  it("are selected by trigger, and counted by reason", async () => {
    const now = Date.now()
    const records = [
      ignored({ trigger: "counted", receivedAt: now }),
      ignored({ trigger: "counted", receivedAt: now, reason: "own_event" }),
      ignored({ trigger: "counted", receivedAt: now - 1, reason: "own_event" }),
      ignored({ trigger: "counted", receivedAt: 1, reason: "closed" })
    ]
    await admin.run(Receipts.use((receipts) => receipts.storeAll(records)))
    assert.lengthOf(await idsAt("/events?trigger=counted&provider=gitea"), 4)
    assert.deepStrictEqual(await idsAt("/events?trigger=counted&until=2000-01-01"), [records[3]?.id])
    const ids = records.map(({ id }) => id).toSorted()
    assert.deepStrictEqual(await idsAt("/events?trigger=counted&sort=received"), ids)
    const { next_cursor: after } = (await get("/events?trigger=counted&sort=received&limit=2")).body
    assert.deepStrictEqual(await idsAt(`/events?trigger=counted&sort=received&cursor=${String(after)}`), ids.slice(2))
    assert.deepStrictEqual(await idsAt("/events?trigger=counted&outcome=executed"), [])
    const { body } = await get("/events/reasons?trigger=counted")
    assert.deepStrictEqual(body["items"], [
      { decision: "ignored", reason: "own_event", count: 2, last_at: new Date(now).toISOString() },
      { decision: "ignored", reason: "draft", count: 1, last_at: new Date(now).toISOString() }
    ])
    const all = (await get("/events/reasons?trigger=counted&since=1970-01-01")).body
    assert.lengthOf(listOf(all["items"]), 3)
  })
})
