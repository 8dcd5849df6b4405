/**
 * Takes a request from chat one step further (states: src/domain/ChatRequest.ts). Each step loads, decides and saves with compare-and-set, so
 * that a step after a crash, or of another owner, continues or changes nothing.
 */
import { Clock, Effect, Metric, Semaphore } from "effect"
import { findPermissions } from "../../src/chat/Authorise.ts"
import type { ChatClient } from "../../src/chat/ChatClient.ts"
import { parseCommand } from "../../src/chat/Command.ts"
import type { ParsedCommand } from "../../src/chat/Command.ts"
import { findMemberships } from "../../src/chat/members/Memberships.ts"
import type { AwaitListing } from "../../src/chat/members/Memberships.ts"
import { joinParts, makePageLinks } from "../../src/chat/PageLinks.ts"
import { textsFor } from "../../src/chat/Texts.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import type { ChatOutcome, PersonalCommandName } from "../../src/domain/ChatRequest.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { chatRequests } from "../../src/observability/Metrics.ts"
import { safeTexts } from "../../src/outputs/SafeText.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import type { ChatButton, ChatChange, ChatFacts, ChatRequest } from "../../src/store/ChatRequests.ts"
import { DirectOptOuts } from "../../src/store/DirectOptOuts.ts"
import { describeIds, dismiss, execute } from "./ChatExecute.ts"
import type { Executed, Execution } from "./ChatExecute.ts"
import { admitQuestion, renderReason, toResult } from "./ChatAsk.ts"
import type { QuestionedReview } from "./ChatAsk.ts"
import { dismissButtons, makeButtons, requestButtons } from "./ChatButtons.ts"
import type { NewButton } from "./ChatButtons.ts"
import { readPress } from "./ChatPress.ts"
import type { Press, Pressed } from "./ChatPress.ts"
import { countProblems, describeFindings, describeTarget } from "./ChatQueries.ts"
import { findReviewState, queueReview } from "./ChatReview.ts"

/** Commands of one person per minute; further ones are closed without a message. */
const commandsPerMinute = 30
/** Messages to an unauthorised person per minute. */
const refusalsPerMinute = 2
/** Unsuccessful commands in a conversation per minute, above which unauthorised people get no message: a crowd would use up the limits of the platform. */
const quietConversation = 20
const minuteMillis = 60_000

export interface StepContext {
  readonly snapshot: Snapshot
  readonly client: ChatClient
  /** Runs the listing of a directory, which may take long, without holding up other requests. */
  readonly awaitListing: AwaitListing
}

/** Undefined: another owner has changed the request. */
type Stepped = ChatRequest | undefined

export const save = Effect.fnUntraced(function* (request: ChatRequest, change: ChatChange) {
  const now = yield* Clock.currentTimeMillis
  return yield* (yield* ChatRequests).change(request, change, now)
})

/** Ends a request without a message. */
export const close = (request: ChatRequest, reason: Reason) =>
  Effect.andThen(
    Metric.update(Metric.withAttributes(chatRequests, { command: request.command ?? "none", outcome: "rejected" }), 1),
    save(request, { status: "rejected", facts: { ...request.facts, reason } })
  )

/** Texts, the markup of the platform, and links to the dashboard. */
const toWords = ({ document: { review, server } }: Snapshot, { markup }: ChatClient) => {
  const [texts, safe] = [textsFor(review.output_language), safeTexts[markup]]
  return { texts, safe, links: makePageLinks(server, safe, texts.buttons.details) }
}

const toExecution = Effect.fnUntraced(function* (
  { awaitListing, client, snapshot }: StepContext,
  request: ChatRequest,
  now: number
) {
  const { connection } = request
  const memberships = yield* findMemberships(snapshot, connection, request, now, awaitListing)
  const execution: Execution = {
    snapshot,
    permissions: findPermissions(snapshot.document.im, connection, request, now, memberships),
    request,
    ...toWords(snapshot, client)
  }
  return execution
})

const publish = (
  request: ChatRequest,
  outcome: ChatOutcome,
  text: string,
  more: Partial<ChatFacts> & { readonly buttons?: ReadonlyArray<ChatButton> } = {}
) => {
  const { buttons, ...facts } = more
  const result = { outcome, text, ...(buttons === undefined ? {} : { buttons }) }
  return save(request, { status: "publishing", facts: { ...request.facts, ...facts, result } })
}

/** Counts the requests of the person within a minute, this one included. */
const countRecent = Effect.fnUntraced(function* ({ connection, id, receivedAt, sender }: ChatRequest) {
  return yield* (yield* ChatRequests).count({ connection, sender, since: receivedAt - minuteMillis, upTo: id })
})

const isCrowded = Effect.fnUntraced(function* ({ connection, conversation, id, receivedAt }: ChatRequest) {
  const statuses = ["accepted", "validating", "publishing", "rejected"] as const
  const counted = { connection, conversation, since: receivedAt - minuteMillis, statuses, upTo: id }
  return (yield* (yield* ChatRequests).count(counted)) > quietConversation
})

/** Returns the rights of the person. A card that is not known any more may be one of a direct conversation. */
const findRights = Effect.fnUntraced(function* (
  context: StepContext,
  request: ChatRequest,
  press: Press | undefined,
  now: number
) {
  const { conversation } = request
  if (press?.conversation !== undefined)
    return yield* toExecution(context, { ...request, conversation: press.conversation }, now)
  const execution = yield* toExecution(context, request, now)
  if (press === undefined || execution.permissions.length > 0) return execution
  return yield* toExecution(context, { ...request, conversation: { ...conversation, kind: "direct" } }, now)
})

const isAnyOurs = (client: ChatClient, mentions: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(mentions, client.isMention), (found) => found.includes(true))

const validate = Effect.fnUntraced(function* (context: StepContext, request: ChatRequest) {
  const now = yield* Clock.currentTimeMillis
  const { isAction, mention } = request.facts
  const isOurs = Array.isArray(mention) ? yield* isAnyOurs(context.client, mention) : true
  const press = isAction ? yield* readPress(request, now) : undefined
  const execution = yield* findRights(context, request, press, now)
  const parsed: Requested = isAction
    ? (press?.pressed ?? { _tag: "Unknown", word: "", usage: undefined })
    : parseCommand({ ...request, text: request.facts.text, mention }, () => isOurs)
  return yield* decide(context, execution, request, parsed)
})

type Requested = ParsedCommand | Pressed

/** Stores what a person decides about direct messages. Everyone who could get one may, so that it needs no binding. */
const decideDirect = Effect.fnUntraced(function* (
  { permissions, texts }: Execution,
  request: ChatRequest,
  name: PersonalCommandName
) {
  const { connection, receivedAt, sender } = request
  const optOuts = yield* DirectOptOuts
  yield* name === "stop" ? optOuts.add(connection, sender, receivedAt) : optOuts.remove(connection, sender)
  yield* Effect.logInfo("audit: direct messages changed by their recipient", {
    chat_request_id: request.id,
    connection,
    sender: sender.id,
    command: name
  })
  const named = yield* save(request, { status: "validating", command: name, facts: request.facts })
  if (named === undefined) return undefined
  const isQuiet = permissions.length === 0 && (yield* isTooOften(request))
  if (isQuiet) return yield* close(named, { _tag: "TooManyCommands" })
  return yield* publish(named, "succeeded", texts.direct[name])
})

/** Returns whether a person without rights gets no further message now. */
const isTooOften = Effect.fnUntraced(function* (request: ChatRequest) {
  return (yield* countRecent(request)) > refusalsPerMinute || (yield* isCrowded(request))
})

const decide = Effect.fnUntraced(function* (
  context: StepContext,
  execution: Execution,
  request: ChatRequest,
  parsed: Requested
) {
  const { permissions, texts } = execution
  if (parsed._tag === "NotForUs") return yield* close(request, { _tag: "NotForThisBot" })
  if (parsed._tag === "Personal") return yield* decideDirect(execution, request, parsed.name)
  const named = parsed._tag === "Command" ? parsed.command : undefined
  if (permissions.length === 0) {
    const isQuiet = yield* isTooOften(request)
    yield* Effect.logWarning("audit: chat command refused, its sender has no binding", {
      chat_request_id: request.id,
      connection: request.connection,
      sender: request.sender.id,
      command: named?.name
    })
    if (isQuiet) return yield* close(request, { _tag: "SenderNotAuthorised" })
    const text = `${texts.notAuthorised}\n${describeIds(execution)}`
    return yield* publish(request, "rejected", text, { reason: { _tag: "SenderNotAuthorised" } })
  }
  if (parsed._tag === "Unknown") {
    const text = request.facts.isAction
      ? texts.buttonUsed
      : parsed.usage === undefined
        ? texts.unknownCommand
        : texts.usage(parsed.usage)
    return yield* publish(request, "rejected", text, { reason: { _tag: "NotACommand" } })
  }
  return yield* run(context, execution, request, parsed)
})

type Work = Exclude<Requested, { readonly _tag: "NotForUs" | "Personal" | "Unknown" }>

/** One review or question at a time is admitted on a node, so that requests that arrive together do not pass the same limit. */
const admission = Semaphore.makeUnsafe(1)

/** The command is saved before it is executed: limits count it, and `status` shows it. */
const run = Effect.fnUntraced(function* (context: StepContext, execution: Execution, request: ChatRequest, work: Work) {
  const binding = execution.permissions.map((one) => one.binding).join(", ")
  const command = work._tag === "Command" ? work.command : undefined
  const args = work._tag === "Question" ? [work.alias, work.revision] : [...(command?.args ?? [])]
  const name = work._tag === "Question" ? "ask" : command?.name
  const named = yield* save(request, {
    status: "validating",
    command: name,
    facts: { ...request.facts, args, binding, ...(work._tag === "Question" ? { question: work.question } : {}) }
  })
  if (named === undefined) return undefined
  const executing = runNamed(context, { ...execution, request: named }, work)
  return yield* name === "review" || name === "ask" ? admission.withPermits(1)(executing) : executing
})

/** Uses up the id of the button that was pressed. */
const claimButton = ({ facts, id, receivedAt }: ChatRequest) =>
  Effect.flatMap(ChatRequests, (requests) =>
    facts.isAction ? requests.useAction(facts.text, id, receivedAt) : Effect.succeed(true)
  )

const queueQuestion = Effect.fnUntraced(function* (execution: Execution, question: QuestionedReview) {
  const { request, texts } = execution
  const admitted = yield* admitQuestion(execution, question)
  if (admitted._tag === "Refused") return yield* publish(request, "rejected", admitted.text)
  const { change, runId } = admitted
  const { entryId, eventId } = yield* queueReview(request, change, execution.snapshot)
  const queued = { runId, eventId, ...(entryId === undefined ? {} : { entryId }), progressText: texts.thinking }
  return yield* save(request, { status: "queued", facts: { ...request.facts, ...queued } })
})

const runNamed = Effect.fnUntraced(function* (context: StepContext, execution: Execution, work: Work) {
  const { request: named, texts } = execution
  if (work._tag === "Question") return yield* queueQuestion(execution, work)
  const requests = yield* ChatRequests
  const claim = Effect.provideService(claimButton(named), ChatRequests, requests)
  const executed: Executed =
    work._tag === "Dismiss" ? yield* dismiss(execution, work, claim) : yield* execute(execution, work.command, claim)
  const buttonsOf = (buttons: ReadonlyArray<NewButton>) =>
    context.client.hasButtons && buttons.length > 0 ? makeButtons(named, buttons) : Effect.succeed([])
  if (executed._tag === "Replied") {
    const buttons = yield* buttonsOf(dismissButtons(executed.run, texts))
    return yield* publish(named, executed.outcome, executed.text, buttons.length > 0 ? { buttons } : {})
  }
  const { entryId, eventId, text, workspace } = executed
  const progressButtons = yield* buttonsOf(requestButtons(named, texts, ["cancel"]))
  return yield* save(named, {
    status: "queued",
    workspace,
    facts: {
      ...named.facts,
      eventId,
      progressText: text,
      progressButtons,
      ...(entryId === undefined ? {} : { entryId })
    }
  })
})

const follow = Effect.fnUntraced(function* (context: StepContext, request: ChatRequest) {
  const state = yield* findReviewState(request)
  const words = toWords(context.snapshot, context.client)
  const { links, safe, texts } = words
  const what = safe.codeSpan((request.facts.args ?? []).join(" "))
  if (state._tag === "Waiting" || (request.command === "ask" && state._tag === "Running")) return request
  if (state._tag === "Routed") {
    const { entryId, eventId } = state
    const facts = { ...request.facts, eventId, ...(entryId === undefined ? {} : { entryId }) }
    return yield* save(request, { status: request.status, facts })
  }
  if (state._tag !== "Ended")
    return request.status === "running"
      ? request
      : yield* save(request, {
          status: "running",
          facts: {
            ...request.facts,
            progressText: joinParts("\n", texts.running(what, request.id), links.toDelivery(request.facts.eventId))
          }
        })
  const { outcome, run: ended, why } = state
  if (request.command === "ask") {
    const { outcome: result, text, ...more } = yield* toResult(request, state, words)
    return yield* publish(request, result, text, more)
  }
  const shown = ended === undefined ? what : describeTarget(ended.change, safe)
  const link = ended === undefined ? links.toDelivery(request.facts.eventId) : links.toRun(ended.id)
  const text =
    outcome === "expired"
      ? joinParts("\n", texts.expired(shown), link)
      : ended !== undefined && (outcome === "succeeded" || outcome === "partial")
        ? // The link precedes the problems, of which a short message has only the first ones.
          texts.succeeded(
            shown,
            joinParts("\n", link, countProblems(ended, texts), describeFindings(ended, { safe, texts }))
          )
        : joinParts("\n", texts.ended(shown, renderReason(why, { safe, texts })), link)
  const offered = [...requestButtons(request, texts, ["again", "details"]), ...dismissButtons(ended, texts)]
  return yield* publish(request, outcome, text, {
    ...(context.client.hasButtons ? { buttons: yield* makeButtons(request, offered) } : {}),
    // A success needs no reason.
    ...(outcome === "succeeded" ? {} : { reason: why }),
    ...(ended === undefined ? {} : { runId: ended.id })
  })
})

/** Takes one step; returns the changed request, or the same one if it waits. Sending is in ChatReply.ts. */
export const step = Effect.fnUntraced(function* (context: StepContext, request: ChatRequest) {
  switch (request.status) {
    case "accepted":
      return (yield* (yield* countRecent(request)) > commandsPerMinute
        ? close(request, { _tag: "TooManyCommands" })
        : save(request, { status: "validating" })) satisfies Stepped
    case "validating":
      return (yield* validate(context, request)) satisfies Stepped
    case "queued":
    case "running":
      return (yield* follow(context, request)) satisfies Stepped
    default:
      return request
  }
})
