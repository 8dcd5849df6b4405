/** Comments of people on reviews of Swarm: which are listed, what their threads are, and replies in them. */
import { Effect, Layer } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import type { SwarmQuestion } from "../../../src/domain/Change.ts"
import { targetKey, toWordsAbout } from "../../../src/domain/Change.ts"
import type { CommentReply } from "../../../src/domain/CommentReply.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { replyRows } from "../../../src/outputs/ReplyRows.ts"
import { layer } from "../../../src/outputs/swarm/ReadSwarm.ts"
import { HostTraffic } from "../../../src/forge/HostTraffic.ts"
import { SwarmConversations } from "../../../src/outputs/SwarmConversations.ts"
import { startFakeSwarm } from "../../harness/FakeSwarm.ts"
import type { FakeSwarm } from "../../harness/FakeSwarm.ts"
import { snapshotFrom } from "../FromDocument.ts"
import { makeChannel, makeDocument, problem, shelved, swarmPublisher, swarmSender } from "./PublishSwarm.ts"

let swarm: FakeSwarm
let publish: ReturnType<typeof swarmPublisher>
beforeEach(async () => {
  swarm = await startFakeSwarm()
  const versions = [{ change: 7, archiveChange: 71, pending: true }]
  swarm.reviews.push({ id: 70, changes: [7, 71], commits: [], state: "needsReview", versions })
  publish = swarmPublisher(makeDocument(makeChannel(swarm)))
  await publish(shelved, [problem(1, 5)])
})
afterEach(async () => {
  swarm.expectContract()
  await swarm.stop()
})

const settings = () => snapshotFrom(makeDocument(makeChannel(swarm)))
const run = <A>(use: (conversations: SwarmConversations["Service"]) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(SwarmConversations.use(use).pipe(Effect.provide(Layer.provide(layer, HostTraffic.layer))))
const list = (after: number) =>
  run((conversations) => {
    const [channel] = conversations.channels(settings())
    return channel === undefined ? Effect.die("no channel") : conversations.commentsAfter(channel, after)
  })
const questionAt = (comment: number): SwarmQuestion => ({
  _tag: "SwarmQuestion",
  channel: "swarm",
  review: "70",
  comment: String(comment),
  run: "run",
  target: shelved.target
})
const read = (comment: number) =>
  run((conversations) => {
    const workspace = settings().workspaces.get("game")
    return workspace === undefined ? Effect.die("no workspace") : conversations.read(workspace, questionAt(comment))
  })

it("comments of others are listed by one request, without those of the service, archived ones, and those on changelists", async () => {
  const reply = swarm.say("ada", 70, "Why?", 2)
  swarm.say("bob", 71, "@reviewer hello")
  const change = (id: number, more: object) => Object.assign(swarm.comments.find((one) => one.id === id) ?? {}, more)
  change(swarm.say("bob", 70, "Wrong review."), { flags: ["closed"] })
  change(swarm.say("bob", 70, "On a changelist."), { topic: "changes/7" })
  const before = swarm.requests.length
  const { account, comments, last } = await list(0)
  expect(swarm.requests.length - before).toBe(1)
  expect([account, last]).toEqual([swarm.user, 6])
  expect(comments.map(({ author, body, id, isReply, url }) => [author, body, id, isReply, url])).toEqual([
    ["ada", "Why?", String(reply), true, `${swarm.url}/reviews/70#comments`],
    ["bob", "@reviewer hello", "4", false, `${swarm.url}/reviews/71#comments`]
  ])
  expect(Math.abs((comments[0]?.createdAt ?? 0) - Date.now())).toBeLessThan(60_000)
  expect(await list(last)).toEqual({ account: swarm.user, comments: [], last })
})

it("a person who writes with the user of the service is a person", async () => {
  swarm.say(swarm.user, 70, "What did I mean?", 2)
  expect((await list(0)).comments.map(({ body }) => body)).toEqual(["What did I mean?"])
})

it("the thread of a problem is read up to the comment, whose finding its marker names", async () => {
  const [, ours] = swarm.comments
  const question = swarm.say("ada", 70, "Why?", 2)
  const answer = swarm.say("bob", 70, "Look at line 5.", question)
  swarm.say("ada", 70, "I see.", answer)
  swarm.say("eve", 70, "Elsewhere.")
  const thread = await read(answer)
  expect(thread.texts.map(({ author, isOurs }) => [author, isOurs])).toEqual([
    [swarm.user, true],
    ["ada", false],
    ["bob", false]
  ])
  expect(ours?.context).toMatchObject({ rightLine: 5 })
  expect(thread).toMatchObject({
    isOurThread: true,
    path: "src/main.c",
    line: 5,
    fingerprint: expect.stringMatching(/1$/)
  })
})

it("a thread below the summary is about no finding, a comment of its own is no thread of the service, and a copied marker shows nothing", async () => {
  const below = await read(swarm.say("ada", 70, "How many?", 1))
  expect(below).toMatchObject({ isOurThread: true, fingerprint: undefined })
  const alone = await read(swarm.say("ada", 70, "@reviewer hello"))
  expect(alone).toMatchObject({ isOurThread: false, texts: [{ author: "ada" }] })
  const forged = swarm.say("mallory", 70, swarm.comments[1]?.body ?? "")
  const copied = await read(swarm.say("ada", 70, "Why?", forged))
  expect(copied).toMatchObject({
    isOurThread: false,
    fingerprint: undefined,
    texts: [{ isOurs: false }, { isOurs: false }]
  })
})

it("an archived comment, and one that the review does not have, have no text", async () => {
  const gone = swarm.say("ada", 70, "Why?", 2)
  Object.assign(swarm.comments.find(({ id }) => id === gone) ?? {}, { flags: ["closed"] })
  expect((await read(gone)).texts).toEqual([])
  expect((await read(99)).texts).toEqual([])
})

const prepare = (comment: number, reply: Partial<CommentReply> = {}) => {
  const change = toWordsAbout(shelved, shelved.head ?? "", {
    author: "ada",
    id: `swarm-${comment}`,
    source: questionAt(comment)
  })
  const workspace = settings().workspaces.get("game")
  const place = change.target.comment
  if (place === undefined || workspace === undefined) throw new Error("no comment")
  const input = { runId: "run", targetKey: TargetKey.make(`k${comment}`), change, head: "7", workspace }
  const replied = { comment: place, question: "Why?", outcome: "replied", text: "Because of @bob.", ...reply } as const
  const [row] = replyRows(input, replied)
  if (row === undefined) throw new Error("no reply")
  return { row, send: async () => (await swarmSender(makeDocument(makeChannel(swarm)))(change, row))[0] }
}

it("a reply is written once into its thread, at the line of the thread, also if its response is lost", async () => {
  const { row, send } = prepare(swarm.say("ada", 70, "Why?", 2))
  expect(row).toMatchObject({ channel: "swarm", operation: { _tag: "Reply" } })
  let isLost = true
  swarm.decide = ({ method }) => {
    if (method === "GET" || !isLost) return undefined
    isLost = false
    return { kind: "lost" }
  }
  expect(await send()).toMatchObject({ status: "sent", hostId: "4", url: `${swarm.url}/reviews/70#comments` })
  const reply = swarm.comments.at(-1)
  expect(reply).toMatchObject({ user: swarm.user, taskState: "comment", context: { comment: 2, rightLine: 5 } })
  expect(reply?.body).toContain("Because of")
  expect(reply?.body).not.toContain("@bob")
  expect((await send()).status).toBe("nothing_to_do")
  expect(swarm.comments).toHaveLength(4)
  expect((await read(4)).texts.map(({ isOurs }) => isOurs)).toEqual([true, false, true])
})

it("a reply is a comment on the review where Swarm refuses the thread, and none is written if the comment is gone", async () => {
  const { send } = prepare(swarm.say("ada", 70, "Why?", 2))
  const refusal = { status: 400, body: { error: "Provided context could not be filtered." } }
  swarm.decide = ({ body, method }) =>
    method === "POST" && JSON.stringify(body).includes('"comment":') ? { kind: "answer", answer: refusal } : undefined
  expect((await send()).status).toBe("sent")
  expect(swarm.comments.at(-1)?.context).toBeUndefined()
  expect((await prepare(99).send()).status).toBe("nothing_to_do")
})

it("an objection that was right closes the task of the finding, once, and later reviews of the shelf keep it closed", async () => {
  const fingerprint = problem(1, 5).fingerprint
  const { row, send } = prepare(swarm.say("ada", 70, "Line 3 prevents it.", 2), { outcome: "withdrawn", fingerprint })
  // The publisher of the shelf sends it, so that all writes to the review are serial.
  expect(row).toMatchObject({ targetKey: targetKey(shelved), operation: { _tag: "Withdraw", fp: fingerprint } })
  let isLost = true
  swarm.decide = ({ method }) => {
    if (method === "GET" || !isLost) return undefined
    isLost = false
    return { kind: "lost" }
  }
  expect((await send()).status).toBe("sent")
  const comment = () => swarm.comments.find(({ id }) => id === 2)
  expect(comment()).toMatchObject({ taskState: "addressed", edits: 1 })
  expect(comment()?.body).toContain("**Withdrawn: an objection to it was right.**")
  expect((await send()).status).toBe("sent")
  expect(comment()?.edits).toBe(1)
  const found = [problem(1, 5), problem(2, 8)]
  await publish({ ...shelved, head: "7-ba9876543210" }, found)
  expect(comment()).toMatchObject({ taskState: "addressed", edits: 1 })
  expect(swarm.comments[0]?.body).toMatch(/~~.*~~ · withdrawn$/m)
})

it("an objection to a finding whose comment the review does not have any more is recorded as nothing to do", async () => {
  const other = problem(9, 5).fingerprint
  const { send } = prepare(swarm.say("ada", 70, "It is fine.", 2), { outcome: "withdrawn", fingerprint: other })
  expect((await send()).status).toBe("nothing_to_do")
})
