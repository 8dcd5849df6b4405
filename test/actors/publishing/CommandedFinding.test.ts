/** Commands about a finding: which one it is, what is written to the host, and what people see at the comment. */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { executed, react as addReaction, unexecuted } from "../../../actors/publishing/CommandedChange.ts"
import { readOwnFinding, ruleByCommand } from "../../../actors/publishing/CommandedFinding.ts"
import { TargetHold } from "../../../actors/publishing/TargetHold.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change, CommentPlace } from "../../../src/domain/Change.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import { ForgeKind as Kinds } from "../../../src/domain/Kinds.ts"
import { renderMarker } from "../../../src/outputs/Marker.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Lessons } from "../../../src/store/Lessons.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { alone, changed, repoName, startHost, unpaced } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { testSnapshotWith } from "../../harness/ActorParts.ts"
import { fault } from "../../harness/FakeForge.ts"
import { getConversations } from "../../harness/FakeHostConversations.ts"
import { getThread } from "../../harness/FakeThreads.ts"

let host: Host

afterEach(async () => {
  host.forge.expectContract()
  await host.forge.stop()
})

/** Begins a host with a finding at a line, and a reply of a person to it. */
const begin = async (kind: ForgeKind, person: string): Promise<CommentPlace> => {
  host = await startHost(kind)
  const { client, forge, pull, repo } = host
  const body = `A finding\n\n${renderMarker({ op: OperationId.make("o"), fp: "fp-1" })}`
  const review = { head: pull.head, event: "COMMENT", body: "b", comments: [changed(body)], pending: alone } as const
  await Effect.runPromise(unpaced(client.createReview(repo, 1, review)))
  const comment = pull.reviews.at(-1)?.comments[0]
  if (comment === undefined) throw new Error("no comment")
  const id = forge.state.nextId()
  getThread(comment).answers.push({ id, user: forge.user(person), body: "dismiss", createdAt: forge.state.now() })
  const line = kind === "github" || kind === "gitlab"
  return {
    id: kind === "github" ? `line-${id}` : String(id),
    on: "pull_request",
    kind: line ? "line" : "general",
    ...(line ? { thread: kind === "github" ? String(comment.id) : `d${comment.id}` } : {})
  }
}

const subjectOf = (comment: CommentPlace | undefined) => {
  const workspace = testSnapshotWith("w", "t", { review: { output_language: "en" } })
    .current()
    .workspaces.get("w")
  if (workspace === undefined) throw new Error("no workspace")
  const change: Change = {
    provider: host.forge.kind,
    trigger: "t",
    workspace: "w",
    repo: { fullName: repoName },
    target: { kind: "pull_request", number: 1 }
  }
  return { client: host.client, change, comment, eventId: "event-1", number: 1, person: "olga", workspace }
}

const marked: Array<object> = []

/** The summary lists finding 7, and the findings that were dismissed and fixed. */
const summary = {
  listed: (["open", "dismissed", "fixed"] as const).map((state, index) => ({
    number: index + 7,
    fp: `fp-${state}`,
    state
  }))
}

const execute = (comment: CommentPlace | undefined, command: Parameters<typeof ruleByCommand>[3], count = 1) => {
  marked.length = 0
  const outputs = {
    mark: (_workspace: unknown, _change: unknown, finding: object) =>
      Effect.sync(() => {
        marked.push(finding)
        return count
      })
  } as unknown as Outputs["Service"]
  const outbox = { lastSent: () => Effect.succeed(summary) } as unknown as Outbox["Service"]
  const runs = { latestAnalysis: () => Effect.undefined } as unknown as Runs["Service"]
  // No review is on record, so that nothing is remembered.
  const lessons = {} as Lessons["Service"]
  const hold = new TargetHold(outbox, targetKey(subjectOf(comment).change))
  return Effect.runPromise(
    unpaced(
      ruleByCommand(hold, subjectOf(comment), "h9", command).pipe(
        Effect.provideService(Outputs, outputs),
        Effect.provideService(Outbox, outbox),
        Effect.provideService(Runs, runs),
        Effect.provideService(Lessons, lessons),
        Effect.provideService(ConfigStore, testSnapshotWith("w", "t"))
      )
    )
  )
}

const react = (subject: ReturnType<typeof subjectOf>) => Effect.runPromise(unpaced(addReaction(subject, "eyes")))

const reactions = () => getConversations(host.forge.repository(repoName)).reactions.map(({ content }) => content)

describe.each(Kinds.literals)("%s", (kind) => {
  it("decides about the finding of the thread", async () => {
    const place = await begin(kind, "olga")
    expect(await execute(place, { name: "dismiss", reason: "intended", text: "a test" })).toEqual(
      executed({ _tag: "FindingDismissed", name: "olga", reason: "intended, a test" })
    )
    expect(marked).toEqual([{ fp: "fp-1", head: "h9", by: "olga", state: "dismissed" }])
    expect(await execute(place, { name: "reopen" })).toEqual(executed({ _tag: "FindingReopened", name: "olga" }))
    expect(marked).toEqual([{ fp: "fp-1", head: "h9", by: "olga", state: "open" }])
    await react(subjectOf(place))
    expect(reactions()).toEqual(["eyes"])
  })

  it("decides about the finding with the number, also one without a comment", async () => {
    await begin(kind, "olga")
    expect(await execute(undefined, { name: "dismiss", number: 7 }, 0)).toMatchObject({ outcome: "executed" })
    expect(await execute(undefined, { name: "reopen", number: 8 }, 0)).toMatchObject({ outcome: "executed" })
    expect(marked).toEqual([{ fp: "fp-dismissed", head: "h9", by: "olga", state: "open" }])
    for (const number of [9, 10])
      for (const name of ["dismiss", "reopen"] as const)
        expect(await execute(undefined, { name, number })).toEqual(unexecuted({ _tag: "NoFindingNamed" }))
    expect(marked).toEqual([])
    // The same command has one comment.
    expect(host.pull.comments.map(({ body }) => body.split("\n")[0])).toEqual([
      "The summary lists no finding with the number 9 that is open or was dismissed."
    ])
  })

  it("finds no finding below the change, and in no thread of a person", async () => {
    await begin(kind, "olga")
    const { id } = host.forge.comment(host.pull, `dismiss ${renderMarker({ op: OperationId.make("o"), fp: "fp-2" })}`)
    const place: CommentPlace = {
      id: String(id),
      on: "pull_request",
      kind: "general",
      ...(kind === "gitlab" ? { thread: `d${id}` } : {})
    }
    const read = (comment: CommentPlace | undefined) => Effect.runPromise(unpaced(readOwnFinding(subjectOf(comment))))
    expect(await read(place)).toBeUndefined()
    expect(await read(undefined)).toBeUndefined()
    expect(await execute(place, { name: "dismiss" })).toEqual(unexecuted({ _tag: "NoFindingNamed" }))
    expect(marked).toEqual([])
  })

  it("goes on where the host refuses reactions", async () => {
    const place = await begin(kind, "olga")
    host.forge.fail(/reactions|award_emoji/, fault.forbidden, 5)
    await react(subjectOf(place))
    expect(reactions()).toEqual([])
  })
})
