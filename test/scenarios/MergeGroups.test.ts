/**
 * The merge queue of GitHub requests the checks of a group. A group with the patches of its pull request has its verdict, without a call of a
 * model; another one is reviewed. Nothing is written but the check of its head.
 */
import { generateKeyPairSync } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { countingEnv, readCounts, settledCounts, sumCounts } from "../harness/Counts.ts"
import { DownHost } from "../harness/DownHost.ts"
import { getChecks } from "../harness/FakeChecks.ts"
import { dropGroup, makeGroup, repeatGroup, reportGroup } from "../harness/FakeMergeQueue.ts"
import type { FakeGroup } from "../harness/FakeMergeQueue.ts"
import { review } from "../harness/FakeModel.ts"
import { getThread } from "../harness/FakeThreads.ts"
import { waitUntil } from "../harness/Wait.ts"

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" })
const repository = "team/one"

const folder = mkdtempSync(join(tmpdir(), "aicr-groups-"))
const counts = join(folder, "counts")

let host: DownHost
let maintainers: ChatPlatform
beforeAll(async () => {
  maintainers = await startChatPlatform()
  host = await DownHost.start("github", {
    trigger: { token_env: undefined, app: { app_id: 12345, private_key_env: "TEST_KEY" } },
    env: { ...adminEnv, ...countingEnv(counts), TEST_KEY: key.toString() },
    review: {
      status_fail_on: "high",
      verification: "off",
      labels: { reviewed_tag: "reviewed" },
      private: { channel: "maintainers" }
    },
    outputs: { channels: [{ name: "maintainers", kind: "feishu_bot", webhook_url: maintainers.url }] },
    mayWriteChecks: true
  })
  host.forge.renameSelf("aicr[bot]")
  // A later search would review the pull requests that no delivery reports.
  await waitFor(() => host.searchedAt() > 0)
}, 120_000)
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await maintainers.stop()
  rmSync(folder, { recursive: true, force: true })
})

const checksOf = ({ pull: { repository: at }, head }: Pick<FakeGroup, "head" | "pull">) =>
  getChecks(at).filter((check) => check.head === head)
const conclusions = (group: Pick<FakeGroup, "head" | "pull">) =>
  checksOf(group).map(({ conclusion, status }) => conclusion ?? status)
const waitFor = (condition: () => boolean) =>
  waitUntil(condition, { timeout: 60_000, describe: () => host.aicr.log.slice(-8000) })
const ends = (group: Pick<FakeGroup, "head" | "pull">, conclusion: string) =>
  waitFor(() => conclusions(group).at(-1) === conclusion)

/** A model that finds a problem in every file of these names, which is for maintainers only if it is about security. */
const findIn = (...names: ReadonlyArray<string>) => findAs({ severity: "high", category: "bug" }, names)
const findAs = (kind: object, names: ReadonlyArray<string>) =>
  host.model.script((request) =>
    review(
      names
        .filter((name) => request.text.includes(`${name}.ts`))
        .map((name) => ({
          file: `${name}.ts`,
          line: 1,
          ...kind,
          title: `Problem of ${name}`,
          message: "It is wrong.",
          quote: "export const version = 1"
        })),
      "Summary."
    )
  )

const reviewed = async (name: string, conclusion: string): Promise<DemoPull> => {
  const pull = await host.open(name)
  await host.forge.notify(pull, "opened")
  await ends({ pull, head: pull.head }, conclusion)
  // Until then its verdict is not one of a published round.
  await waitFor(() => host.runs().get(pull.head)?.at(-1) === "succeeded")
  return pull
}

const report = (group: FakeGroup, action: "checks_requested" | "destroyed", more: object = {}) =>
  host.forge.send(reportGroup(host.forge, group, action, more))

const queued = async (...given: Parameters<typeof makeGroup>): Promise<FakeGroup> => {
  const group = await makeGroup(...given)
  const { body, status } = await report(group, "checks_requested")
  expect([status, body]).toMatchObject([202, { accepted: true, target_kind: "merge_group" }])
  return group
}

const moveMain = (file: string, content: string) =>
  host.forge.push(repository, { branch: "main", message: file, files: { [file]: content } })

/** The comments, labels and reviews of a pull request. */
const shown = ({ comments, labels, reviews }: DemoPull) => ({ comments: [...comments], labels, reviews: [...reviews] })

it("a group with the reviewed patches has the verdict of its pull request, without a call and without a comment", async () => {
  const pull = await reviewed("clean", "success")
  await waitFor(() => pull.labels.length > 0)
  const before = shown(pull)
  await moveMain("other.ts", "export const other = 1\n")
  const calls = host.model.requests.length
  const requests = host.forge.requests.length
  const group = await queued([pull])
  await ends(group, "success")
  expect(conclusions(group)).toEqual(["success"])
  expect(host.model.requests).toHaveLength(calls)
  expect(shown(pull)).toEqual(before)
  // The check is created when the review begins. The head of the group and the rules are read, then the check is completed.
  const seen = host.forge.requests.slice(requests).filter(({ path }) => path.startsWith("/repos"))
  expect(
    seen.filter(({ method }) => method !== "GET").map(({ method, path }) => [method, path.replace(/\d+$/, "N")])
  ).toEqual([
    ["POST", "/repos/team/one/check-runs"],
    ["PATCH", "/repos/team/one/check-runs/N"]
  ])
  expect(seen.filter(({ method }) => method === "GET")).toHaveLength(3)

  // The story of the pull request has its groups.
  const admin = await AdminSession.open(host.aicr.url)
  const story = (await admin.get(`/story?repo=${repository}&number=${pull.number}`)).body
  expect(story).toMatchObject({
    status: { head: group.head, state: "success" },
    deliveries: [{ event: "pull_request" }, { event: "merge_group", decision: "queued" }],
    runs: [{ status: "succeeded" }, { status: "succeeded" }]
  })

  // The same delivery again starts nothing.
  const again = await report(group, "checks_requested")
  expect(again.body).toMatchObject({ accepted: false, reason: "already_reviewed" })
}, 240_000)

/** Statements and commits of the review of a group of two reviewed pull requests. */
const expected = { statements: 45, commits: 15 }
/** Scans of the queue read its entries, and share a scan if they are requested while the machine does something else. */
const isScan = (statement: string): boolean => /FROM details/.test(statement)

it("a group of several reviewed pull requests has the worst of their verdicts however they are merged, without a call", async () => {
  findIn("fails")
  const first = await reviewed("joined-one", "success")
  const second = await reviewed("joined-two", "success")
  const calls = host.model.requests.length
  // Only merges have the heads; rebased commits are assigned by the branches of the queue, which are read.
  for (const [how, reads] of [
    ["merge", 3],
    ["squash", 3],
    ["rebase", 4]
  ] as const) {
    await moveMain(`${how}.ts`, "export const moved = 1\n")
    const requests = host.forge.requests.length
    // What earlier reviews still write is not counted.
    await settledCounts(counts, await readCounts(counts))
    const earlier = await readCounts(counts)
    const group = await queued([first, second], undefined, how)
    await ends(group, "success")
    const requested = host.forge.requests
      .slice(requests)
      .filter(({ method, path }) => method === "GET" && path.startsWith("/repos"))
    expect([how, requested.length]).toEqual([how, reads])
    expect([how, Object(checksOf(group)[0]?.output).summary]).toEqual([
      how,
      expect.stringContaining(`- #${first.number}: passed\n- #${second.number}: passed`)
    ])
    const { commits, statements } = await settledCounts(counts, earlier)
    const read = Object.fromEntries(Object.entries(statements).filter(([text]) => !isScan(text)))
    expect([how, { statements: sumCounts(read), commits: sumCounts(commits) }]).toEqual([how, expected])
  }
  expect(host.model.requests).toHaveLength(calls)

  const failing = await reviewed("fails", "failure")
  const before = host.model.requests.length
  const mixed = await queued([failing, first], undefined, "rebase")
  await ends(mixed, "failure")
  expect(host.model.requests).toHaveLength(before)
  const { summary, annotations } = Object(checksOf(mixed)[0]?.output)
  expect(summary).toContain(`- #${failing.number}: not passed\n- #${first.number}: passed`)
  expect(annotations).toMatchObject([{ path: "fails.ts", title: "Problem of fails" }])
}, 240_000)

it("a problem fails the group with a remark, until a person dismisses it on the pull request", async () => {
  findIn("wrong")
  const pull = await reviewed("wrong", "failure")
  const calls = host.model.requests.length
  const first = await queued([pull])
  await ends(first, "failure")
  expect(Object(checksOf(first)[0]?.output).annotations).toMatchObject([
    { path: "wrong.ts", title: "Problem of wrong" }
  ])
  const [comment] = pull.reviews.flatMap(({ comments }) => comments)
  if (comment === undefined) throw new Error("no comment at the line")
  getThread(comment).thumbsDown.push(host.forge.user("dana"))
  await moveMain("later.ts", "export const later = 1\n")
  // The button of the check reviews the same group again, for people who may write.
  const stranger = await host.forge.send(repeatGroup(host.forge, first, "mallory"))
  expect(stranger.body).toMatchObject({ accepted: true, target_kind: "merge_group" })
  await waitFor(() => host.runs().get(first.head)?.at(-1) === "skipped")
  const pressed = await host.forge.send(repeatGroup(host.forge, first, "dana"))
  expect(pressed.body).toMatchObject({ accepted: true, target_kind: "merge_group" })
  await ends(first, "success")
  expect(conclusions(first)).toEqual(["failure", "success"])
  const second = await queued([pull])
  await ends(second, "success")
  expect(host.model.requests).toHaveLength(calls)
}, 240_000)

it("a group with other patches is reviewed: a merged file, and pull requests without a review", async () => {
  findIn()
  const lines = Array.from({ length: 9 }, (_, at) => `export const line${at} = ${at}`)
  await moveMain("merged.ts", `${lines.join("\n")}\n`)
  await host.forge.push(repository, {
    branch: "merged",
    from: "main",
    message: "merged",
    files: { "merged.ts": `${lines.join("\n").replace("line8 = 8", "line8 = 80")}\n` }
  })
  const pull = await host.forge.createPull(repository, { title: "merged", headBranch: "merged" })
  await host.forge.notify(pull, "opened")
  await waitFor(() => host.runs().get(pull.head)?.at(-1) === "succeeded")
  // The context of the changed line is another one.
  await moveMain("merged.ts", `${lines.join("\n").replace("line5 = 5", "line5 = 50")}\n`)
  const before = host.model.requests.length
  await ends(await queued([pull]), "success")
  expect(host.model.requests.length).toBeGreaterThan(before)

  const unread = await host.open("unread")
  findIn("unread")
  const calls = host.model.requests.length
  const first = await queued([pull, unread])
  await ends(first, "failure")
  expect(host.model.requests.length).toBeGreaterThan(calls)
  // The next group is merged with the first one, and has only its own pull request.
  const last = await reviewed("last", "success")
  const count = host.model.requests.length
  await ends(await queued([last], first.head), "success")
  expect(host.model.requests).toHaveLength(count)

  // What only the review of the group finds for maintainers fails it, and only they read it.
  const secret = await host.open("secret")
  findAs({ severity: "critical", category: "security" }, ["secret"])
  const failing = await queued([secret])
  await ends(failing, "failure")
  const check = JSON.stringify(checksOf(failing))
  expect(check).toContain("1 critical")
  expect(check).not.toContain("Problem of secret")
  expect(maintainers.got).toHaveLength(1)
  expect(maintainers.got[0]).toContain("Problem of secret")
  expect(maintainers.got[0]).not.toContain("/aicr dismiss")
  const written = host.forge.requests.filter(({ method }) => method !== "GET")
  expect(JSON.stringify(written)).not.toContain("Problem of secret")
  expect(shown(secret)).toEqual({ comments: [], labels: [], reviews: [] })
}, 240_000)

it("a group that leaves the queue ends while its review runs, and other branches and commits start none", async () => {
  let arrived: (() => void) | undefined
  const waiting = new Promise<void>((resolve) => (arrived = resolve))
  host.model.script(async () => {
    arrived?.()
    return new Promise(() => {})
  })
  const pull = await host.open("leaves")
  const group = await queued([pull])
  await waiting
  await ends(group, "in_progress")
  expect(conclusions(group)).toEqual(["in_progress"])
  const ended = await report(group, "destroyed")
  expect(ended.body).toMatchObject({ accepted: false, reason: "closed" })
  // An ended review does not count as passed.
  await ends(group, "action_required")
  expect(conclusions(group)).toEqual(["action_required"])

  host.model.script(review([], "No problems."))
  const calls = host.model.requests.length
  const foreign = await report(group, "checks_requested", { head_ref: "refs/heads/leaves" })
  expect(foreign.body).toMatchObject({ accepted: false, reason: "unsupported_action" })
  // A commit that the branch of the queue does not have, and a branch that is gone.
  const forged = { ...(await makeGroup([pull])), head: pull.head }
  await report(forged, "checks_requested")
  const gone = await makeGroup([pull], await host.forge.push(repository, { branch: "main", message: "m", files: {} }))
  await dropGroup(gone)
  await report(gone, "checks_requested")
  await waitFor(() => [forged, gone].every(({ head }) => host.runs().get(head)?.at(-1) === "skipped"))
  expect([conclusions(forged), conclusions(gone)]).toEqual([[], []])
  expect(host.model.requests).toHaveLength(calls)
  // The start of the service searches the host for missed changes once.
  expect(host.forge.requests.filter(({ path }) => path === "/search/issues")).toHaveLength(1)
  host.forge.expectContract()
}, 240_000)
