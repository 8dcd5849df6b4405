/** The records of one pull request after deliveries of every kind. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { faults } from "../harness/FakeModel.ts"
import { honest, Installation, listStates } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const field = (name: string) => (record: Readonly<Record<string, unknown>>) => record[name]

it("records each delivery of a pull request with its facts and the decision of its response", async () => {
  await using at = await Installation.make({ queue: "sqlite", env: adminEnv })
  await at.aicr.start()
  const admin = await AdminSession.open(at.aicr.url)
  const analysing = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  at.model.script(async (request) => {
    analysing.resolve()
    await done.promise
    return honest(request)
  })
  const pull = await at.open("change")
  const sender = at.forge.user("erin")
  const opened = at.forge.delivery({ kind: "pull", pull, action: "opened", sender })
  const answers = [await at.forge.send(opened)]
  await analysing.promise
  answers.push(await at.forge.notify(pull, "reopened"))
  expect(await at.forge.send(opened)).toMatchObject({ body: { status: "duplicate" } })
  expect(await at.forge.send(opened)).toMatchObject({ body: { status: "duplicate" } })
  answers.push(await at.forge.notify(pull, "label_updated"))
  answers.push(await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "@bob nice", sender })))
  answers.push(await at.forge.send(at.forge.delivery({ kind: "comment", pull, body: "/aicr review", sender })))
  answers.push(await at.forge.notify(pull, "closed"))
  done.resolve()

  const path = `/events?repo=Team/One&number=${pull.number}`
  const records = await waitUntil(
    async () => {
      const items = (await admin.items(path)).toReversed()
      return items[0]?.["duplicates"] === 2 && items[1]?.["decision"] === "coalesced" ? items : undefined
    },
    { describe: () => at.aicr.log }
  )
  expect(records.map(field("decision"))).toEqual([
    "queued",
    "coalesced",
    "ignored",
    "ignored",
    Object(answers[4]?.body).status,
    "ignored"
  ])
  expect(records.map(({ id, reason }) => [id, reason])).toEqual(
    answers.map(({ body }) => [Object(body).event_id, Object(body).reason])
  )
  for (const record of records) {
    expect(record).toMatchObject({ repo: "team/one", number: pull.number, workspace: "team-one", trigger: "host-0" })
    expect(record).toMatchObject({ target_kind: "pull_request", author: "dana" })
  }
  for (const index of [0, 1, 2, 5]) expect(records[index]).toMatchObject({ head: pull.head, branch: "main" })
  expect(records[0]).toMatchObject({
    sender: "erin",
    rule: { _tag: "BoundBy", workspace: "team-one", repository: "team/one" }
  })
  expect(records[0]?.["duplicated_at"]).toBeTypeOf("string")
  expect(records[4]).toMatchObject({ command: "review", sender: "erin" })

  const since = String(records[3]?.["received_at"])
  expect(await admin.items(`${path}&since=${since}`)).toHaveLength(3)
  expect((await admin.items(`${path}&reason=closed`)).map(field("id"))).toEqual([records[5]?.["id"]])
  expect(await admin.items("/events?repo=team/one&number=999")).toEqual([])
  expect(await admin.items(`/events?repo=team/two&number=${pull.number}`)).toEqual([])
  expect(await admin.get("/events?number=first")).toMatchObject({ status: 400, body: { code: "invalid_payload" } })
})

it("returns the story of a pull request from its deliveries to its comments and errors", async () => {
  await using at = await Installation.make({ queue: "sqlite", env: adminEnv, attempts: 1 })
  at.model.script(faults.unauthorized())
  await at.aicr.start()
  const admin = await AdminSession.open(at.aicr.url)
  const pull = await at.open("change")
  const { body } = await at.forge.notify(pull, "opened")
  await waitUntil(() => listStates(pull).at(-1) === "failure", { describe: () => at.aicr.log })
  at.model.script(honest)
  await at.push("change", 2)
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  await at.settled()

  const story = (await admin.get(`/story?repo=team/one&number=${pull.number}`)).body
  expect(story).toMatchObject({
    repo: "team/one",
    partial: false,
    deliveries: [
      { id: Object(body).event_id, decision: "queued", outcome: "failed" },
      { decision: "queued", outcome: "executed" }
    ],
    entries: [{ status: "dead" }, { status: "done" }],
    runs: [
      {
        status: "failed",
        reason: { _tag: "ModelsFailed", reasons: [{ reason: { status: 401 } }, { _tag: "CheckKey" }] }
      },
      { status: "succeeded", findings: 1 }
    ]
  })
  const [, last] = Array.isArray(story["runs"]) ? story["runs"] : []
  const urls = Object(last).publications.flatMap(({ url }: { readonly url?: string }) => url ?? [])
  expect(urls).toContainEqual(expect.stringContaining("/team/one/"))
  const details = (await admin.get(`/runs/${Object(story["runs"])[0].id}`)).body
  expect(details["event_ids"]).toEqual([Object(body).event_id])
  const listed = await admin.items("/runs")
  expect(listed.map(({ event_ids }) => event_ids)).toContainEqual([Object(body).event_id])
  expect(await admin.get("/story?repo=team/one")).toMatchObject({ status: 400 })

  // Deliveries are kept for a shorter time than runs.
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { timeout: 10_000 })
  database.exec("DELETE FROM events")
  database.close()
  expect((await admin.get(`/story?repo=team/one&number=${pull.number}`)).body).toMatchObject({
    deliveries: [],
    runs: [{ status: "failed" }, { status: "succeeded" }]
  })
})

it("counts deliveries with a wrong signature by trigger", async () => {
  await using at = await Installation.make({ queue: "memory", env: adminEnv })
  await at.aicr.start()
  const admin = await AdminSession.open(at.aicr.url)
  const pull = await at.open("change")
  const delivery = at.forge.delivery({ kind: "pull", pull, action: "opened", sender: at.forge.user("dana") })
  const forged = { ...delivery, body: Buffer.from("{}") }
  for (const _ of [1, 2]) expect(await at.forge.send(forged)).toMatchObject({ status: 401 })
  const counts = () => admin.items("/rejected-signatures")
  await waitUntil(async () => (await counts()).length > 0, { describe: () => "the first are stored" })
  expect(await at.forge.send(forged)).toMatchObject({ status: 401 })
  await at.aicr.stop()
  await at.aicr.start()
  const again = await AdminSession.open(at.aicr.url)
  const items = await again.items("/rejected-signatures")
  expect(items.reduce((sum, { count }) => sum + Number(count), 0)).toBe(3)
  expect(items[0]).toMatchObject({ provider: "gitea", trigger: "host-0", addresses: { private: 0, public: 0 } })
  expect(items[0]?.["hour"]).toMatch(/:00:00\.000Z$/)
  expect(await again.items("/rejected-signatures?since=2999-01-01")).toEqual([])
})
