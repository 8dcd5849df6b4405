/**
 * A shelved changelist of Perforce, reported by the hook script to the real process: its review is written to Swarm, once, whatever dies in
 * between, and so are replies to people. The client of Perforce and the server of Swarm are fakes.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { afterEach, beforeEach, expect, it } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { startFakeSwarm } from "../harness/FakeSwarm.ts"
import type { FakeSwarm } from "../harness/FakeSwarm.ts"
import { callP4Hook, nodeDocument, readRows } from "../harness/HookedNode.ts"
import { NatsServer } from "../harness/Nats.ts"
import { freePort } from "../harness/FreePort.ts"
import { makeFakeDepot, p4Password, p4User } from "../harness/perforce/PerforceDepot.ts"
import type { FakeDepot } from "../harness/perforce/PerforceDepot.ts"
import { PostgresServer } from "../harness/Postgres.ts"
import { readReasonColumn } from "../harness/StoredReason.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Positions of the write that is interrupted, and whether Swarm executes it. */
const kills = [0, 1, 2].flatMap((position) => [
  { position, isStored: true },
  { position, isStored: false }
])
const chosenKills = process.env["AICR_TEST_HOST_KILLS"] === "all" ? kills : [kills[0], kills[2], kills[5]]

/** Freezes a publisher of two nodes too, in addition to killing one. */
const withFreeze = process.env["AICR_TEST_HOST_KILLS"] === "all"

interface World {
  readonly directory: string
  readonly depot: FakeDepot
  readonly model: FakeModel
  readonly swarm: FakeSwarm
  readonly aicr: AicrProcess
}
let world: World

const makeConfig = (parts: Omit<World, "aicr">, port: number) => ({
  ...nodeDocument(parts, port),
  review: { ...nodeDocument(parts, port).review, reflection: { enabled: true } },
  triggers: [
    {
      name: "depot",
      kind: "perforce",
      port: parts.depot.port,
      user: p4User,
      password_env: "TEST_PASSWORD",
      depot_path: "//Ace/..."
    }
  ],
  perforce: { client_path: parts.depot.program },
  workspaces: {
    root: join(parts.directory, "workspaces"),
    instances: { game: { source_repo: { trigger: "depot", repo: "game" } } }
  },
  outputs: {
    channels: [
      {
        name: "swarm",
        kind: "p4_swarm",
        base_url: parts.swarm.url,
        user: parts.swarm.user,
        ticket_env: "SWARM_TICKET",
        review_wait_seconds: 1,
        change_url_template: `${parts.swarm.url}/changes/{{change}}`
      }
    ],
    routes: { default: { line_comments: ["swarm"], summary: ["swarm"] } }
  }
})

const problemAt = (line: number, quote: string) => ({
  file: "src/main.c",
  line,
  severity: "high" as const,
  category: "bug",
  title: `Wrong value ${line}`,
  message: `The value in line ${line} is wrong.`,
  quote
})

/** Reads another file of the depot before it accepts an objection that names it. */
const replyTo = (text: string): Reply => {
  const reply = (input: object): Reply => ({ calls: [{ name: "reply", input }] })
  if (text.includes("This is nonsense"))
    return reply({ outcome: "withdrawn", text: "You are right.", quote: "no such line" })
  if (!text.includes("src/limits.h"))
    return reply({ outcome: "replied", text: "Because the sum of nothing is undefined." })
  const quote = "#define LIMIT 1"
  return text.includes(quote)
    ? reply({ outcome: "withdrawn", text: "You are right.", path: "src/limits.h", quote })
    : { calls: [{ name: "fetch_more_context", input: { path: "src/limits.h", reason: "to see the limit" } }] }
}

beforeEach(async () => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-scenario-swarm-"))
  const depot = makeFakeDepot()
  depot.submit("Start", {
    files: { "//Ace/main/src/main.c": "int a = 0;\nint b = 0;\n", "//Ace/main/src/limits.h": "#define LIMIT 1\n" }
  })
  const parts = {
    directory,
    depot,
    model: await startFakeModel((request) =>
      request.text.includes("Write the reply")
        ? replyTo(request.text)
        : request.text.includes("You check findings of a code review")
          ? {
              calls: [
                { name: "verdicts", input: { verdicts: [{ number: 1, verdict: "refute", reason: "See LIMIT." }] } }
              ]
            }
          : review(
              ["int a = 1;", "int b = 1;"].flatMap((quote, at) =>
                JSON.stringify(request).includes(quote) ? [problemAt(at + 1, quote)] : []
              )
            )
    ),
    swarm: await startFakeSwarm()
  }
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  writeFileSync(configFile, stringify(makeConfig(parts, port)))
  const url = `http://127.0.0.1:${port}`
  const env = { TEST_PASSWORD: p4Password, SWARM_TICKET: parts.swarm.ticket }
  world = { ...parts, aicr: new AicrProcess({ configFile, url, env }) }
})
afterEach(async () => {
  await world.aicr[Symbol.asyncDispose]()
  await world.depot[Symbol.asyncDispose]()
  await world.model.close()
  await world.swarm.stop()
  rmSync(world.directory, { recursive: true, force: true })
})

const trigger = (change: string) =>
  callP4Hook(world.aicr.url, world.directory, change, "ada", "ada-laptop", "//Ace/...")

const rows = (query: string) => readRows(world.directory, query)
const runs = () =>
  rows("SELECT status, reason FROM runs ORDER BY id").map(({ reason, status }) => ({
    status,
    reason: readReasonColumn(reason)
  }))
const allEnded = (count: number) =>
  waitUntil(
    () => {
      const found = runs()
      return found.length >= count && found.every(({ status }) => /^(succeeded|skipped|failed)$/.test(String(status)))
    },
    {
      timeout: 120_000,
      describe: () => `${count} runs ended: ${JSON.stringify(runs())}\n${world.aicr.log.slice(-6000)}`
    }
  )

const shelve = (files: string, change?: string) =>
  world.depot.shelve("Try", { files: { "//Ace/main/src/main.c": files } }, change)
const requestReview = (change: string, id: number) =>
  world.swarm.reviews.push({
    id,
    changes: [Number(change)],
    commits: [],
    state: "needsReview",
    versions: [{ change: Number(change), pending: true }],
    files: ["//Ace/main/src/main.c"]
  })
const comments = () =>
  world.swarm.comments.map(({ context, taskState }) => [
    context?.["file"] ?? "summary",
    context?.["rightLine"],
    taskState
  ])

it("the review of a shelf is written to Swarm, and the next one updates it", async () => {
  const { aicr, swarm } = world
  await aicr.start()
  const shelf = shelve("int a = 1;\nint b = 1;\n")
  requestReview(shelf, 70)
  await trigger(shelf)
  await allEnded(1)
  expect(runs()).toMatchObject([{ status: "succeeded" }])
  expect(comments()).toEqual([
    ["summary", undefined, "comment"],
    ["//Ace/main/src/main.c", 1, "open"],
    ["//Ace/main/src/main.c", 2, "open"]
  ])
  expect(swarm.comments[0]?.body).toContain(`${swarm.url}/changes/${shelf}`)
  shelve("int a = 0;\nint b = 1;\nint c = 0;\n", shelf)
  await trigger(shelf)
  await allEnded(2)
  expect(comments()).toEqual([
    ["summary", undefined, "comment"],
    ["//Ace/main/src/main.c", 1, "addressed"],
    ["//Ace/main/src/main.c", 2, "open"]
  ])
  expect(aicr.log).not.toContain(swarm.ticket)
  swarm.expectContract()
}, 240_000)

it("a shelf without a review in Swarm is reviewed, and its run has the reason for publishing nothing", async () => {
  const { aicr, swarm } = world
  await aicr.start()
  const shelf = shelve("int a = 1;\nint b = 1;\n")
  await trigger(shelf)
  await allEnded(1)
  expect(runs()).toMatchObject([
    { status: "skipped", reason: expect.stringContaining(`Swarm has no review of changelist ${shelf}`) }
  ])
  const reads = swarm.requests.length
  expect(reads).toBeLessThan(20)
  expect(swarm.comments).toEqual([])
}, 240_000)

it("a process that is killed at any write doubles no comment", async () => {
  const { aicr, swarm } = world
  await aicr.start()
  for (const { isStored, position } of chosenKills.filter((kill) => kill !== undefined)) {
    swarm.comments.length = 0
    swarm.reviews.length = 0
    const shelf = shelve("int a = 1;\nint b = 1;\n")
    requestReview(shelf, Number(shelf) + 100)
    let writes = 0
    let killed = false
    swarm.decide = ({ method }) => {
      if (method === "GET" || killed || writes++ !== position) return undefined
      killed = true
      return { kind: isStored ? "hung" : "cut" }
    }
    const before = runs().length
    await trigger(shelf)
    await waitUntil(() => killed, { timeout: 60_000, describe: () => `write ${position}: ${aicr.log.slice(-4000)}` })
    await aicr.kill()
    await aicr.start()
    await allEnded(before + 1)
    expect(comments()).toEqual([
      ["summary", undefined, "comment"],
      ["//Ace/main/src/main.c", 1, "open"],
      ["//Ace/main/src/main.c", 2, "open"]
    ])
  }
}, 480_000)

it("people and the service converse in Swarm, one reply each, also if the process is killed while it writes one", async () => {
  const { aicr, swarm } = world
  await aicr.start()
  const shelf = shelve("int a = 1;\nint b = 1;\n")
  requestReview(shelf, 70)
  swarm.say("mallory", 71, "@reviewer what is that?")
  await trigger(shelf)
  await allEnded(1)
  const [first, second] = swarm.comments.filter(({ taskState }) => taskState === "open")
  const [summary] = swarm.comments.filter(({ body, user }) => user === swarm.user && body.includes("Code review"))
  const own = () => swarm.comments.filter(({ body, user }) => user === swarm.user && body.includes("sum of nothing"))
  const polls = () =>
    swarm.requests.filter(({ method, path, query }) => method === "GET" && path === "/comments" && !query.has("topic"))
  expect(polls().length).toBeLessThanOrEqual(1)

  const why = swarm.say("ada", 70, "Why is that a problem?", first?.id)
  const mention = swarm.say("bob", 70, "@reviewer what does it do?")
  const about = swarm.say("bob", 70, "explain 2", summary?.id)
  // None of these gets a sentence: not addressed, of thanks, to another person, in a thread of people, and on a review without a comment of the service.
  const alone = swarm.say("eve", 70, "I do not like it.")
  swarm.say("ada", 70, "Thanks!", second?.id)
  swarm.say("ada", 70, "@bob and you?", second?.id)
  swarm.say("ada", 70, "Nor do I.", alone)
  swarm.say("mallory", 71, "@reviewer and this?")
  const isOfReply = (body: unknown) => JSON.stringify(body).includes("sum of nothing")
  let writes = 0
  const struck = Promise.withResolvers<void>()
  swarm.decide = ({ body, method }) => {
    // A model is called once more for a reply that was not on record. Each of the three is by the third write.
    if (method !== "POST" || !isOfReply(body) || writes++ !== 2) return undefined
    void aicr.kill().then(() => struck.resolve())
    return { kind: "hung" }
  }
  // The comments are read when the process starts, and once a minute.
  const before = polls().length
  await aicr.kill()
  await aicr.start()
  await struck.promise
  await aicr.start()
  await waitUntil(() => own().length === 3, { timeout: 60_000, describe: () => `replies: ${aicr.log.slice(-6000)}` })
  await waitUntil(() => rows("SELECT 1 FROM publications WHERE kind = 'Reply' AND status = 'sent'").length === 3, {
    timeout: 60_000,
    describe: () => `sent replies: ${aicr.log.slice(-6000)}`
  })
  const threads = own().map(({ context, topic }) => [topic, context?.["comment"], context?.["rightLine"]])
  expect(threads.toSorted()).toEqual(
    [
      ["reviews/70", first?.id, first?.context?.["rightLine"]],
      ["reviews/70", mention, undefined],
      ["reviews/70", summary?.id, undefined]
    ].toSorted()
  )
  expect([why, about].every((id) => swarm.comments.some((one) => one.id === id))).toBe(true)
  const asked = world.model.requests.filter(({ text }) => text.includes("Write the reply"))
  expect(asked).toHaveLength(3)
  expect(asked.filter(({ text }) => text.includes("The value in line 2 is wrong")).length).toBeGreaterThan(0)
  // One request for all comments at each start.
  expect(polls().length - before).toBe(2)
  // The fourth is the thanks, for which a host with reactions gets one.
  expect(rows("SELECT outcome FROM events WHERE event = 'swarm' AND outcome = 'executed'")).toHaveLength(4)

  // The code that proves the objection is in a file that the change does not touch. The finding is high, so that a second call confirms it.
  swarm.say("ada", 70, "src/limits.h makes it right.", second?.id)
  // Nothing proves this one, whatever the model accepts.
  swarm.say("ada", 70, "This is nonsense.", first?.id)
  await aicr.kill()
  await aicr.start()
  const summaryNow = () => swarm.comments.find(({ id }) => id === summary?.id)?.body ?? ""
  await waitUntil(() => /~~.*~~ · withdrawn/.test(summaryNow()), {
    timeout: 60_000,
    describe: () => `withdrawn: ${summaryNow()}\n${aicr.log.slice(-6000)}`
  })
  const closed = swarm.comments.find(({ id }) => id === second?.id)
  expect(closed?.taskState).toBe("addressed")
  expect(closed?.body).toContain("Withdrawn")
  expect(summaryNow()).toContain("1 problem found")
  await waitUntil(() => swarm.comments.some(({ body }) => body.startsWith("**Withdrawn.**")), {
    timeout: 60_000,
    describe: () => `the reply: ${aicr.log.slice(-6000)}`
  })
  expect(world.model.requests.filter(({ text }) => text.includes("You check findings of a code review"))).toHaveLength(
    1
  )
  await waitUntil(() => swarm.comments.some(({ body }) => body.startsWith("The finding stays: commit")), {
    timeout: 60_000,
    describe: () => `the refusal: ${aicr.log.slice(-6000)}`
  })
  expect(swarm.comments.find(({ id }) => id === first?.id)?.taskState).toBe("open")
  expect(rows("SELECT verdict FROM lessons").filter(({ verdict }) => verdict === "dismissed")).toHaveLength(1)
  swarm.expectContract()
}, 480_000)

it("of two nodes that publish, one writes: the other completes what a killed one began, and doubles no comment", async () => {
  const { directory, swarm } = world
  await using nats = await NatsServer.start()
  await using postgres = await PostgresServer.start()
  const shared = { TEST_POSTGRES: postgres.url, SVC_NATS_URL: nats.url, SVC_LOG_LEVEL: "info" }
  const makeNode = async (name: string, roles: string) => {
    const port = await freePort()
    const document = makeConfig(world, port)
    const configFile = join(directory, `${name}.yaml`)
    const storage = { ...document.storage, database: { kind: "postgres", postgres: { url_env: "TEST_POSTGRES" } } }
    writeFileSync(configFile, stringify({ ...document, queue: { kind: "nats" }, storage }))
    const secrets = { TEST_PASSWORD: p4Password, SWARM_TICKET: swarm.ticket }
    const env = { ...shared, ...secrets, SVC_NODE_NAME: name, SVC_ROLES: roles }
    return new AicrProcess({ configFile, url: `http://127.0.0.1:${port}`, env })
  }
  await using work = await makeNode("work", "ingress,actors,executor")
  await using first = await makeNode("first", "publisher")
  await using second = await makeNode("second", "publisher")
  await Promise.all([work, first, second].map((node) => node.start()))
  const logs = () => [work, first, second].map(({ log }) => log.slice(-3000)).join("\n---\n")

  const published = (node: AicrProcess): number => node.log.split('"msg":"published"').length
  /** Reports a shelf, and returns the node that has sent the first of its comments when the response to the second one is due. */
  const publishUntilSecond = async (id: number) => {
    swarm.comments.length = 0
    const shelf = shelve("int a = 1;\nint b = 1;\n")
    requestReview(shelf, id)
    let writes = 0
    swarm.decide = ({ method }) => (method === "GET" || writes++ !== 1 ? undefined : { kind: "hung" })
    const before = [first, second].map(published)
    await callP4Hook(work.url, directory, shelf, "ada", "ada-laptop", "//Ace/...")
    await waitUntil(() => writes > 1, { timeout: 60_000, describe: () => `a second write: ${logs()}` })
    const writers = [first, second].filter((node, at) => published(node) > (before[at] ?? 0))
    expect(writers).toHaveLength(1)
    return writers[0] ?? first
  }
  const whole = [
    ["summary", undefined, "comment"],
    ["//Ace/main/src/main.c", 1, "open"],
    ["//Ace/main/src/main.c", 2, "open"]
  ]
  const isSucceeded = async (count: number) => {
    const client = new Client({ connectionString: postgres.url })
    await client.connect()
    try {
      return (await client.query("SELECT id FROM runs WHERE status = 'succeeded'")).rowCount === count
    } finally {
      await client.end()
    }
  }
  const allSucceeded = (count: number) =>
    waitUntil(() => isSucceeded(count), { timeout: 60_000, describe: () => `${count} runs succeeded: ${logs()}` })

  const killed = await publishUntilSecond(90)
  await killed.kill()
  await allSucceeded(1)
  expect(comments()).toEqual(whole)

  if (!withFreeze) return
  await killed.start()
  const frozen = await publishUntilSecond(91)
  frozen.freeze()
  await allSucceeded(2)
  expect(comments()).toEqual(whole)
  frozen.thaw()
  // Once it responds, it has had its turn to send the rest.
  await waitUntil(async () => (await fetch(`${frozen.url}/healthz`).catch(() => undefined))?.status === 200, {
    describe: () => `the frozen node responds: ${logs()}`
  })
  swarm.decide = () => undefined
  const shelf = shelve("int a = 1;\nint b = 2;\n")
  requestReview(shelf, 92)
  await callP4Hook(work.url, directory, shelf, "ada", "ada-laptop", "//Ace/...")
  await allSucceeded(3)
  const topics = swarm.comments.map(({ topic }) => topic)
  expect(topics.toSorted()).toEqual(["reviews/91", "reviews/91", "reviews/91", "reviews/92", "reviews/92"])
}, 300_000)
