/** Commands in the thread of a finding: who may dismiss it, which finding it is, and what people see at the comment. */
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { dismissInThread, readOwnFinding } from "../../../actors/publishing/CommandedFinding.ts"
import type { Change, CommentPlace } from "../../../src/domain/Change.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import { ForgeKind as Kinds } from "../../../src/domain/Kinds.ts"
import { renderMarker } from "../../../src/outputs/Marker.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
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

const subjectOf = (comment: CommentPlace | undefined, person: string, dismissal: "maintainers" | "anyone") => {
  const workspace = testSnapshotWith("w", "t", { review: { dismissal } }).current().workspaces.get("w")
  if (workspace === undefined) throw new Error("no workspace")
  const change: Change = {
    provider: host.forge.kind,
    trigger: "t",
    workspace: "w",
    repo: { fullName: repoName },
    target: { kind: "pull_request", number: 1 }
  }
  return { client: host.client, change, comment, number: 1, person, workspace }
}

const dismissed: Array<object> = []

const dismiss = (
  comment: CommentPlace | undefined,
  person: string,
  mayWrite: boolean,
  dismissal: "maintainers" | "anyone" = "maintainers"
) => {
  dismissed.length = 0
  const outputs = {
    mayDismiss: (_workspace: unknown, { author }: Change, username: string) =>
      Effect.succeed(author?.username.toLowerCase() !== username.toLowerCase() && (mayWrite || dismissal === "anyone")),
    dismiss: (_workspace: unknown, _change: unknown, finding: object) =>
      Effect.sync(() => {
        dismissed.push(finding)
        return "dismissed" as const
      })
  } as unknown as Outputs["Service"]
  const command = { name: "dismiss", reason: "intended", text: "a test" } as const
  return Effect.runPromise(
    unpaced(
      dismissInThread(subjectOf(comment, person, dismissal), command).pipe(Effect.provideService(Outputs, outputs))
    )
  )
}

const reactions = () => getConversations(host.forge.repository(repoName)).reactions.map(({ content }) => content)

describe.each(Kinds.literals)("%s", (kind) => {
  it("dismisses the finding of the thread for a maintainer", async () => {
    const place = await begin(kind, "olga")
    expect(await dismiss(place, "olga", true)).toEqual({
      _tag: "FindingDismissed",
      name: "olga",
      reason: "intended, a test"
    })
    expect(dismissed).toEqual([{ fp: "fp-1", head: host.pull.head, by: "olga" }])
    expect(reactions()).toEqual(kind === "gitlab" ? ["eyes", "thumbsup"] : ["eyes", "+1"])
  })

  it("writes nothing for a person who may not dismiss, and for the author of the change", async () => {
    const place = await begin(kind, "mallory")
    const refused = (person: string) => ({ _tag: "MayNotDismiss", person })
    expect(await dismiss(place, "mallory", false)).toEqual(refused("mallory"))
    expect(await dismiss(place, "dana", true)).toEqual(refused("dana"))
    expect(await dismiss(place, "Dana", true, "anyone")).toEqual(refused("Dana"))
    expect(dismissed).toEqual([])
    expect(reactions()).toEqual([])
    expect(await dismiss(place, "mallory", false, "anyone")).toMatchObject({ _tag: "FindingDismissed" })
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
    const read = (comment: CommentPlace | undefined) =>
      Effect.runPromise(unpaced(readOwnFinding(subjectOf(comment, "olga", "maintainers"))))
    expect(await read(place)).toBeUndefined()
    expect(await read(undefined)).toBeUndefined()
    expect(await dismiss(place, "olga", true)).toEqual({ _tag: "NoFindingNamed" })
    expect(dismissed).toEqual([])
    expect(reactions()).toEqual(["confused"])
  })

  it("dismisses where the host refuses reactions", async () => {
    const place = await begin(kind, "olga")
    host.forge.fail(/reactions|award_emoji/, fault.forbidden, 5)
    expect(await dismiss(place, "olga", true)).toMatchObject({ _tag: "FindingDismissed" })
    expect(dismissed).toHaveLength(1)
  })
})
