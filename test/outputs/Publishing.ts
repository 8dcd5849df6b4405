/**
 * Publishes as the service's publisher does with its outbox: rows in order, rows that follow from a row before the rows after it,
 * a lost response looked up before anything is sent again. Every failure costs the process its memory: the next step has a new
 * client.
 */
import { Effect, Redacted } from "effect"
import type { Result } from "effect"
import type { Channel as ChannelConfig } from "../../src/config/schema/Outputs.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { maxConflicts } from "../../src/domain/Publication.ts"
import type { Operation, Publication } from "../../src/domain/Publication.ts"
import { MemberFiles } from "../../src/chat/members/MemberFiles.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import type {
  ChannelKind,
  ChannelMissing,
  Planned,
  PublishInput,
  ChannelContext,
  RuledFinding,
  Sent
} from "../../src/outputs/channels/Channel.ts"
import { Records } from "../../src/outputs/Records.ts"
import type { TouchedComment } from "../../src/outputs/Records.ts"
import { noCache } from "../../src/store/Cache.ts"
import { run } from "../forge/Clients.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { newTraffic } from "../harness/Owners.ts"

export interface Setup {
  readonly forge: FakeForge
  readonly kind: ChannelKind
  readonly channel: ChannelConfig
  readonly parts?: { readonly lineComments: boolean; readonly summary: boolean }
  readonly credentials?: Readonly<Record<string, string>>
  readonly members?: MemberFiles["Service"]
  /** Rows of earlier runs, to which those of this one are added. */
  readonly history?: Array<Publication>
  /** The client of a process that continues; by default each review has a new one. */
  readonly client?: ForgeClient
  /** Kinds of operations that are sent; by default all. */
  readonly kinds?: ReadonlyArray<Operation["_tag"]>
  /** Deliveries about comments of the service. */
  readonly touched?: ReadonlyArray<TouchedComment>
}

const rowOf = (planned: Planned, channel: string, runId = "run-1"): Publication => ({
  id: planned.operationId,
  runId,
  targetKey: TargetKey.make("host:team/shop:pull_request:1"),
  channel,
  status: "pending",
  position: 0,
  attempts: 0,
  ...planned
})

export const makeChannelContext = (setup: Setup, given: PublishInput, client: ForgeClient): ChannelContext => ({
  client: Effect.succeed(client),
  change: given.change,
  reviewed: given.change,
  workspace: given.workspace,
  channel: setup.channel,
  credential: (_, name) => {
    const value = setup.credentials?.[name]
    return value === undefined ? undefined : Redacted.make(value)
  },
  cache: noCache,
  members: setup.members ?? MemberFiles.none
})

/** All channels exist in these tests. */
export const orDie = <A, R>(
  effect: Effect.Effect<A, ForgeError | ChannelMissing, R>
): Effect.Effect<A, ForgeError, R> => Effect.catchTag(effect, "ChannelMissing", Effect.die)

const final = ({ reason }: ForgeError, attempts: number): boolean =>
  ["unauthorized", "forbidden", "not_found", "invalid"].includes(reason) ||
  (reason === "conflict" && attempts >= maxConflicts)

/** Marks a finding at the host. Returns the number of its comments and issues that have the state. */
export const markOn = (
  setup: Setup,
  given: PublishInput,
  fp: string,
  state: RuledFinding["state"] = "dismissed"
): Promise<number> => {
  const context = makeChannelContext(
    setup,
    given,
    forgeTable[setup.forge.kind].client(setup.forge.profile(), newTraffic())
  )
  const marked = setup.kind.mark?.(context, {
    fp,
    head: given.head,
    by: state === "withdrawn" ? undefined : "ann",
    state
  })
  return run(orDie(marked ?? Effect.succeed(0)))
}

/** Every row as it ended, in the order of sending. */
export const publishAll = async (setup: Setup, given: PublishInput): Promise<ReadonlyArray<Publication>> => {
  const { kind, channel, forge } = setup
  const freshClient = () => forgeTable[forge.kind].client(forge.profile(), newTraffic())
  let client = setup.client ?? freshClient()
  const waiting = kind
    .plan(given, channel, setup.parts ?? { lineComments: true, summary: true })
    .filter(({ operation }) => setup.kinds?.includes(operation._tag) !== false)
    .map((planned) => rowOf(planned, channel.name, given.runId))
  const done: Array<Publication> = []
  const earlier = [...(setup.history ?? [])]
  const isOfKind = (tag: string) => (row: Publication) =>
    row.operation._tag === tag || (tag === "Review" && row.operation._tag === "Summary" && row.posted !== undefined)
  const lastSent = (tag: string) => earlier.findLast((row) => isOfKind(tag)(row) && row.status === "sent")
  while (waiting.length > 0) {
    let row: Publication | undefined = waiting.shift()
    if (row === undefined) break
    for (let attempts = 1; row.status === "pending"; attempts++) {
      if (attempts > 12) throw new Error(`${row.operation._tag} was not published within 12 attempts`)
      const current: Publication = { ...row, attempts: attempts - 1 }
      const to = makeChannelContext(setup, given, client)
      const sent: Result.Result<Sent, ForgeError> = await run(
        Effect.result(orDie(kind.send(to, current, lastSent(row.operation._tag)))).pipe(
          Effect.provideService(Records, {
            operation: () => Effect.undefined,
            reviews: () => Effect.succeed(earlier.filter(isOfKind("Review")).toReversed()),
            issues: () => Effect.succeed(earlier.filter(({ operation }) => operation._tag === "Issue").toReversed()),
            listed: () =>
              Effect.succeed([...earlier, ...done].findLast(({ listed }) => listed !== undefined)?.listed ?? []),
            touched: () => Effect.succeed(setup.touched ?? []),
            sentAt: ({ runId }) => Effect.succeed(Number(runId.replace("run-", "")))
          })
        )
      )
      const lost: boolean = sent._tag === "Failure" && sent.failure.reason === "unknown_outcome"
      if (sent._tag === "Failure") client = freshClient()
      const looked: Result.Result<Sent | undefined, ForgeError> | undefined = lost
        ? await run(Effect.result(orDie(kind.find(makeChannelContext(setup, given, client), current))))
        : undefined
      const answer: Sent | undefined =
        sent._tag === "Success" ? sent.success : looked?._tag === "Success" ? looked.success : undefined
      if (answer !== undefined) {
        row = {
          ...row,
          status: answer.nothingToDo === undefined ? "sent" : "nothing_to_do",
          error: answer.nothingToDo,
          hostId: answer.hostId,
          ignoredDismissals: answer.ignoredDismissals,
          posted: answer.posted,
          listed: answer.listed,
          reactions: answer.reactions
        }
        waiting.unshift(...(answer.next ?? []).map((planned) => rowOf(planned, channel.name, given.runId)))
      } else if (sent._tag === "Failure" && final(sent.failure, attempts)) {
        row = { ...row, status: "failed", error: sent.failure.why }
      }
    }
    done.push(row)
  }
  setup.history?.push(...done)
  return done
}
