/**
 * Executes one command of an authorised person. Returns the text of the reply, or the review to follow. Repeating it after a crash has no
 * second effect: queries read, a cancellation may be repeated, and a review is queued once per request.
 */
import { Duration, Effect, Schema } from "effect"
import { allows, permitsQuestions } from "../../src/chat/Authorise.ts"
import type { ChatPermission } from "../../src/chat/Authorise.ts"
import { parseRevision } from "../../src/chat/Command.ts"
import type { ChatCommand } from "../../src/chat/Command.ts"
import { joinParts } from "../../src/chat/PageLinks.ts"
import type { PageLinks } from "../../src/chat/PageLinks.ts"
import { listRepositories, resolveRepository } from "../../src/chat/Repositories.ts"
import type { ChatRepository } from "../../src/chat/Repositories.ts"
import type { ChatTexts } from "../../src/chat/Texts.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { chatCommands, personalCommands } from "../../src/domain/ChatRequest.ts"
import type { ChatOutcome } from "../../src/domain/ChatRequest.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { SafeText } from "../../src/outputs/SafeText.ts"
import { Operations } from "../../src/queue/operator/Operations.ts"
import type { CancelResult } from "../../src/queue/operator/Operations.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatRequest } from "../../src/store/ChatRequests.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { Statistics } from "../../src/store/Statistics.ts"
import { publishers } from "../publishing/ChangePublisher.ts"
import { describeTarget, listOpen, listReviews, mayRead, showDetail, showQueue, showStatus } from "./ChatQueries.ts"
import type { QueryContext } from "./ChatQueries.ts"
import { findChatChange, isReviewQueued, queueReview, queueRevision } from "./ChatReview.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

export interface Execution {
  readonly snapshot: Snapshot
  readonly permissions: ReadonlyArray<ChatPermission>
  readonly request: ChatRequest
  readonly texts: ChatTexts
  readonly safe: SafeText
  readonly links: PageLinks
}

export type Executed =
  | {
      readonly _tag: "Replied"
      readonly outcome: ChatOutcome
      readonly text: string
      /** Run whose findings the text lists. */
      readonly run?: Run | undefined
    }
  | {
      readonly _tag: "Queued"
      readonly workspace: string
      readonly eventId: string
      readonly entryId: string | undefined
      readonly text: string
    }

const minuteMillis = 60_000
const reviewLimits = { perActor: 5, perConversation: 20, waitingPerWorkspace: 100 } as const

const replied = (text: string, outcome: ChatOutcome = "succeeded", run?: Run): Executed => ({
  _tag: "Replied",
  outcome,
  text,
  run
})

/** Returns the reason for refusing another review now. */
const findLimit = Effect.fnUntraced(function* ({ request, texts }: Execution, workspace: string) {
  const requests = yield* ChatRequests
  const { connection, conversation, receivedAt, sender } = request
  const since = receivedAt - minuteMillis
  const statuses = ["queued", "running", "publishing", "succeeded", "partial", "failed"] as const
  const counted = { connection, since, command: "review", statuses } as const
  if ((yield* requests.count({ ...counted, sender })) >= reviewLimits.perActor) return texts.tooMany
  if ((yield* requests.count({ ...counted, conversation })) >= reviewLimits.perConversation) return texts.tooMany
  return (yield* requests.waiting(workspace)) >= reviewLimits.waitingPerWorkspace ? texts.queueFull : undefined
})

const review = Effect.fnUntraced(function* (execution: Execution, repository: ChatRepository, revision: string) {
  const { links, request, safe, snapshot, texts } = execution
  const change = yield* findChatChange(snapshot, repository, revision, request.sender)
  if (change === "not_routed") return replied(texts.notRouted, "rejected")
  const named = describeRevision(execution, repository, revision)
  if (change === "not_reviewed") return replied(texts.notReviewed(named), "rejected")
  const isUnreported = "_tag" in change
  const workspace = repository.workspace.id
  // After a crash the review may be in the queue already, and the limits were passed by others since.
  const isRepeated = yield* isReviewQueued(request, isUnreported ? { workspace } : { targetKey: targetKey(change) })
  const limit = isRepeated ? undefined : yield* findLimit(execution, workspace)
  if (limit !== undefined) return replied(limit, "rejected")
  const { entryId, eventId } = isUnreported
    ? { entryId: undefined, eventId: yield* queueRevision(request, repository, change) }
    : yield* queueReview(request, change, snapshot)
  const what = isUnreported ? named : describeTarget(change, safe)
  const text = joinParts("\n", texts.queued(what, request.id), links.toDelivery(eventId))
  return { _tag: "Queued", workspace, eventId, entryId, text } satisfies Executed
})

/** Names a revision, the number of a pull request as its host writes it. */
const describeRevision = (
  { safe, snapshot }: Pick<Execution, "safe" | "snapshot">,
  { repo, trigger }: ChatRepository,
  revision: string
): string => {
  const parsed = parseRevision(revision)
  const isPull = isForgeKind(snapshot.triggers.get(trigger)?.kind ?? "manual") && parsed._tag === "Pull"
  return safe.codeSpan(`${repo} ${isPull ? `#${parsed.number}` : revision}`)
}

/** Cancels everything that waits or runs of the revision, whatever started it. The reply is about what was found and ended. */
const cancel = Effect.fnUntraced(function* (execution: Execution, repository: ChatRepository, revision: string) {
  const { request, texts } = execution
  const open = yield* listOpen(repository, revision)
  const operations = yield* Operations
  const scheduler = (yield* WorkspaceScheduler.client)(repository.workspace.id)
  const reason: Reason = { _tag: "CancelledFromChat", type: request.sender.type, id: request.sender.id }
  const results: Array<CancelResult> = []
  for (const { id, isEntry } of open)
    results.push(yield* isEntry ? scheduler.CancelEntry({ entryId: id, reason }) : operations.cancel(id, reason))
  const count = (result: CancelResult) => results.filter((one) => one === result).length
  const what = describeRevision(execution, repository, revision)
  const [waiting, running] = [count("cancelled"), count("stopping")]
  return waiting + running === 0
    ? replied(texts.nothingToCancel(what), "rejected")
    : replied(texts.cancelled(what, waiting, running))
})

export const listObserved = Effect.fnUntraced(function* (permissions: ReadonlyArray<ChatPermission>) {
  if (!permissions.some(({ settings }) => settings.allow_all_repositories === true)) return []
  const projects = yield* (yield* Statistics).projects({ limit: 1000 })
  return projects.map(({ project }) => project).filter(({ deletedAt }) => deletedAt === undefined)
})

const listProjects = ({ repositories, safe, texts }: QueryContext): string =>
  repositories.length === 0
    ? texts.nothing
    : repositories
        .slice(0, 50)
        .map(({ alias, repo }) => `- ${safe.codeSpan(alias)} ${alias === repo ? "" : safe.plain(repo)}`.trimEnd())
        .join("\n")

/** Executes a command whose first argument names a repository. */
const onRepository = Effect.fnUntraced(function* (
  execution: Execution,
  context: QueryContext,
  command: ChatCommand,
  repository: ChatRepository
) {
  const [, second] = command.args
  switch (command.name) {
    case "review":
      return yield* review(execution, repository, second ?? "")
    case "cancel":
      return yield* cancel(execution, repository, second ?? "")
    case "commits": {
      const isBranch = (branch: string | undefined) => second === undefined || branch === second
      const list = listReviews(
        context,
        [repository],
        ({ headRef, target }) => target.number === undefined && isBranch(target.branch ?? headRef)
      )
      return replied(yield* list)
    }
    case "prs":
      return replied(
        yield* listReviews(
          context,
          [repository],
          ({ baseRef, target }) => target.kind === "pull_request" && (second === undefined || baseRef === second)
        )
      )
    case "prdetail":
    case "detail": {
      const revision = command.name === "detail" ? (second ?? "") : `#${(second ?? "").replace(/^[#!]/, "")}`
      const { run, text } = yield* showDetail(context, repository, revision)
      return replied(text, "succeeded", run)
    }
    default:
      return replied(yield* listReviews(context, [repository], () => true))
  }
})

/** Lists what the person may request. */
const listAllowed = ({ permissions }: Execution) => [
  ...chatCommands.filter((name) => permissions.some((one) => allows(one, name))),
  ...(permissions.some(permitsQuestions) ? ["ask" as const] : []),
  ...personalCommands
]

/** `claim`: uses up the id of the button that was pressed; false if another press used it. */
export const execute = Effect.fnUntraced(function* (
  execution: Execution,
  command: ChatCommand,
  claim: Effect.Effect<boolean, StoreError>
) {
  const { links, request, safe, snapshot, texts } = execution
  // The command and the repository have to be of one binding.
  const permissions = execution.permissions.filter((permission) => allows(permission, command.name))
  if (permissions.length === 0) return replied(texts.notAllowed(command.name), "rejected")
  const observed = yield* listObserved(permissions)
  const repositories = listRepositories(snapshot, permissions, observed)
  const context: QueryContext = { texts, safe, links, request, repositories }
  const [first] = command.args
  switch (command.name) {
    case "help":
      return replied(texts.help(listAllowed(execution)))
    case "chat-id":
      return replied(describeIds(execution))
    case "projects":
      return replied(listProjects(context))
    case "queue":
    case "running":
      return replied(yield* showQueue(context, command.name === "running"))
    case "status":
      return replied(yield* showStatus(context, first ?? ""))
    default:
      break
  }
  if (first === undefined) return replied(yield* listReviews(context, repositories, () => true))
  const resolved = resolveRepository(snapshot, permissions, observed, first)
  if (resolved._tag === "Unknown") return replied(texts.unknownRepository, "rejected")
  if (resolved._tag === "Ambiguous") return replied(texts.ambiguousRepository, "rejected")
  if (!(yield* claim)) return replied(texts.buttonUsed, "rejected")
  return yield* onRepository(execution, context, command, resolved.repository)
})

/** The publisher of the target may wait for its host. */
const dismissTimeout = Duration.seconds(30)

/** The dismissal is repeated after a while. */
class DismissalDelayed extends Schema.TaggedError<DismissalDelayed>()("DismissalDelayed", { message: Schema.String }) {}

/** Dismisses a finding. It needs the right to request reviews of the repository, and that of `review.dismissal`. */
export const dismiss = Effect.fnUntraced(function* (
  execution: Execution,
  { fp, runId }: { readonly fp: string; readonly runId: string },
  claim: Effect.Effect<boolean, StoreError>
) {
  const { request, safe, snapshot, texts } = execution
  const permissions = execution.permissions.filter((permission) => allows(permission, "review"))
  if (permissions.length === 0) return replied(texts.notAllowed("review"), "rejected")
  const repositories = listRepositories(snapshot, permissions, yield* listObserved(permissions))
  const run = yield* (yield* Runs).get(runId)
  const finding = run?.analysis?.findings.find(({ fingerprint }) => fingerprint === fp)
  if (run === undefined || finding === undefined || !mayRead({ repositories }, run.change))
    return replied(texts.notFound, "rejected")
  const publisherOf = yield* publishers
  const { connection, sender: person } = request
  const outcome = yield* publisherOf(run.targetKey)
    .Dismiss({ runId, fp, connection, person })
    .pipe(Effect.timeoutOrElse({ duration: dismissTimeout, orElse: () => Effect.succeed("unavailable" as const) }))
  if (outcome === "unavailable")
    return yield* new DismissalDelayed({ message: "the host or its publisher is unavailable" })
  const title = safe.line((finding.problem.title ?? finding.problem.message).slice(0, 200))
  if (outcome !== "dismissed") return replied(texts.notDismissed[outcome](title), "rejected")
  yield* Effect.logInfo("audit: finding dismissed from chat", {
    run_id: runId,
    fingerprint: fp,
    connection,
    sender: person.id
  })
  yield* claim
  return replied(texts.dismissed(title))
})

/** The only ids that an unauthorised person learns. */
export const describeIds = ({
  request: { conversation, sender },
  safe,
  texts
}: Pick<Execution, "request" | "safe" | "texts">) =>
  texts.ids(safe.codeSpan(`${sender.type} ${sender.id}`), safe.codeSpan(`${conversation.kind} ${conversation.id}`))
