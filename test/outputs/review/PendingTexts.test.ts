/**
 * Reviews and drafts that only the account of the service sees: they are not published, texts of people in them are never submitted,
 * changed or deleted, and those of the service are written again for their own head.
 */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { Operation, Publication } from "../../../src/domain/Publication.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { renderMarker } from "../../../src/outputs/Marker.ts"
import { noRecords, Records } from "../../../src/outputs/Records.ts"
import { file, repoName, run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { getDrafts } from "../../harness/FakeGitlab.ts"
import { change, channel, finding, input } from "../Fixtures.ts"
import { makeChannelContext, orDie, publishAll } from "../Publishing.ts"
import { newTraffic } from "../../harness/Owners.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const kinds = {
  gitea: "gitea_pr_review",
  forgejo: "gitea_pr_review",
  github: "github_pr_review",
  gitlab: "gitlab_mr_review"
} as const
const findings = [20, 29].map((line) => finding(line, { file }, { path: file, side: "new", line }))

describe.each(ForgeKind.literals)("pending reviews on %s", (kind) => {
  let host: Host | undefined
  const start = async (): Promise<Host> => (host = await startHost(kind))
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  const given = (here: Host, head = here.pull.head, runId = "run-1") =>
    input(findings, { runId, change: { ...change, provider: kind }, head })
  const setup = (here: Host, history: Array<Publication> = []) => ({
    forge: here.forge,
    kind: table[kinds[kind]],
    channel: channel({ name: "review", kind: kinds[kind] }),
    history
  })
  const reviewRow = (here: Host): Publication => {
    const planned = setup(here)
      .kind.plan(given(here), setup(here).channel, { lineComments: true, summary: false })
      .find(({ operation }) => operation._tag === "Review")
    if (planned === undefined) throw new Error("no review")
    const { targetKey } = given(here)
    return {
      ...planned,
      id: planned.operationId,
      runId: "run-1",
      targetKey,
      channel: "review",
      status: "pending",
      position: 0,
      attempts: 0
    }
  }
  /** Sends the review once. */
  const send = (here: Host, more: Partial<Publication> = {}, recorded: Readonly<Record<string, Operation>> = {}) => {
    const to = makeChannelContext(setup(here), given(here), forgeTable[kind].client(here.forge.profile(), newTraffic()))
    const sent = orDie(setup(here).kind.send(to, { ...reviewRow(here), ...more }, undefined))
    return run(
      Effect.result(sent).pipe(
        Effect.provideService(Records, { ...noRecords, operation: (id) => Effect.succeed(recorded[id]) })
      )
    )
  }
  /** Leaves texts under the account of the service, or of another one, as its page or an interrupted request would. */
  const leave = (here: Host, texts: ReadonlyArray<string>, login = "aicr") => {
    const user = here.forge.user(login)
    const at = { path: file, side: "new", line: 20, startLine: undefined, hunk: "" } as const
    const comments = texts.map((body, i) => ({ ...at, id: 90_000 + i, body }))
    if (kind === "gitlab")
      getDrafts(here.pull).push(
        ...comments.map(({ id, body }) => ({ id, user, note: body, commit: here.pull.head, at }))
      )
    else
      here.pull.pendingReviews.push({
        id: 80_000,
        user,
        state: "PENDING",
        body: "",
        commit: here.pull.head,
        createdAt: new Date(0).toISOString(),
        comments
      })
  }
  const pending = (here: Host) =>
    kind === "gitlab"
      ? getDrafts(here.pull).map(({ note }) => note)
      : here.pull.pendingReviews.flatMap(({ comments }) => comments.map(({ body }) => body))
  const forget = (here: Host) => {
    getDrafts(here.pull).splice(0)
    here.pull.pendingReviews.splice(0)
  }
  const published = (here: Host) =>
    here.pull.reviews.flatMap(({ comments }) => comments.flatMap(({ body }) => /Message \d+/.exec(body) ?? [body]))

  const mark = (op: string) => renderMarker({ op: OperationId.make(op), fp: "f".repeat(32), scope: "b".repeat(16) })
  const other: Operation = {
    _tag: "Review",
    head: "b".repeat(40),
    event: "COMMENT",
    body: `Two problems.\n\n${mark("other")}`,
    comments: ["One", "Two"].map((text) => ({
      path: file,
      side: "new" as const,
      line: 20,
      body: `${text}\n\n${mark("other")}`
    }))
  }
  const [first = "", second = ""] = other.comments.map(({ body }) => body)

  it.each<readonly [string, ReadonlyArray<string>]>([
    ["a text of a person", ["My own remark"]],
    ["a text of a person that quotes a comment with its marker", [`> ${first.replace("\n", "\n> ")}\n\nI disagree`]],
    ["an own comment that a person edited", [`Really: ${first}`]],
    ["own comments and one of a person", [first, "My own remark", second]]
  ])("wait for %s, which does not change", async (_, texts) => {
    const here = await start()
    leave(here, texts)
    for (const attempts of [0, 1]) {
      const sent = await send(here, { attempts }, { other })
      expect(sent._tag === "Failure" && sent.failure.reason).toBe("pending_review")
      expect(pending(here)).toEqual(texts)
      expect(published(here)).toEqual([])
      expect(here.pull.comments).toEqual([])
    }
    forget(here)
    await publishAll(setup(here), given(here))
    expect(published(here).toSorted()).toEqual(["Message 20", "Message 29"])
  })

  it("discard what the service wrote for another head, and publish only this one", async () => {
    const here = await start()
    leave(here, [`${first}\r\n`, second])
    expect((await send(here, {}, { other }))._tag).toBe("Success")
    expect([published(here).toSorted(), pending(here)]).toEqual([["Message 20", "Message 29"], []])
  })

  it("wait for texts with a marker that no record confirms", async () => {
    const here = await start()
    leave(here, [first])
    const sent = await send(here)
    expect(sent._tag === "Failure" && sent.failure.reason).toBe("pending_review")
    expect(pending(here)).toEqual([first])
  })

  it("complete a part of the same review without a record", async () => {
    const here = await start()
    const { operation } = reviewRow(here)
    leave(here, operation._tag === "Review" ? operation.comments.slice(0, 1).map(({ body }) => body) : [])
    expect((await send(here, { status: "unknown" }))._tag).toBe("Success")
    expect([published(here).toSorted(), pending(here)]).toEqual([["Message 20", "Message 29"], []])
  })

  it("of other accounts are neither touched nor waited for", async () => {
    const here = await start()
    leave(here, ["A remark of dana"], "dana")
    await publishAll(setup(here), given(here))
    expect(pending(here)).toEqual(["A remark of dana"])
    expect(published(here).toSorted()).toEqual(["Message 20", "Message 29"])
  })

  it("are not read as published", async () => {
    const here = await start()
    leave(here, [first, second])
    expect(await run(here.client.reviewTexts(here.repo, here.pull.number))).toEqual([])
    expect(await run(here.client.threads.list(here.repo, here.pull.number))).toEqual([])
    expect(await run(here.client.verdicts?.requests(here.repo, 1) ?? Effect.succeed([]))).toEqual([])
  })

  it("cost no request while there are none, in the first review and in later ones", async () => {
    const here = await start()
    const history: Array<Publication> = []
    const reads = /\/(reviews|draft_notes)$/
    const count = async (runId: string, head: string) => {
      const from = here.forge.requests.length
      await publishAll(setup(here, history), given(here, head, runId))
      return here.forge.requests
        .slice(from)
        .filter(({ path }) => reads.test(path))
        .filter(({ method }) => method === "GET").length
    }
    // The texts and the threads of earlier reviews; at GitLab the drafts before they are published.
    const expected = { gitea: [2, 1], forgejo: [2, 1], github: [1, 0], gitlab: [1, 1] }
    const counted = [await count("run-1", here.pull.head)]
    const head = await here.forge.push(repoName, {
      branch: here.pull.headBranch,
      message: "more",
      files: { "more.txt": "more\n" }
    })
    // The comments of the first review are deleted, so that the second one writes again.
    for (const one of here.pull.reviews) one.comments.splice(0)
    counted.push(await count("run-2", head))
    expect(counted).toEqual(expected[kind])
  })
})
