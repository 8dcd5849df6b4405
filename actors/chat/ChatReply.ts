/**
 * Sends the messages of a request: progress, which edits one message where the platform can, and the result. A result whose response is
 * missing is sent again only while the platform recognises its key; otherwise the request ends as `partial`, because a second message would
 * be worse than an unconfirmed one.
 */
import { Clock, Duration, Effect, Metric } from "effect"
import { createHash } from "node:crypto"
import type { ChatClient, ChatText } from "../../src/chat/ChatClient.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { chatRequests } from "../../src/observability/Metrics.ts"
import type { ChatRequest } from "../../src/store/ChatRequests.ts"
import { save } from "./ChatSteps.ts"

const maxAttempts = 8
const maxBackoffMillis = Duration.toMillis("5 minutes")
/** Longest wait that a platform may request: a day, after which its limits of a day are reset. */
const maxWaitMillis = Duration.toMillis("24 hours")
/** Attempts at a platform that is unavailable or limits requests: about five hours. */
const maxTransientAttempts = 60
/** Margin before a platform forgets a key. */
const keyMarginMillis = Duration.toMillis("2 minutes")

/** Returns the key of a message: at most 50 characters. */
const messageKey = ({ id }: ChatRequest, kind: "progress" | "result"): string =>
  createHash("sha256").update(`${id}:${kind}`).digest("hex").slice(0, 40)

const end = Effect.fnUntraced(function* (request: ChatRequest, delivered: boolean, error?: Reason) {
  const { result, sendingAt: _sending, ...facts } = request.facts
  const outcome = delivered ? (result?.outcome ?? "failed") : "partial"
  yield* Metric.update(Metric.withAttributes(chatRequests, { command: request.command ?? "none", outcome }), 1)
  yield* Effect.logInfo("chat request ended", {
    chat_request_id: request.id,
    connection: request.connection,
    command: request.command,
    outcome,
    ...(error === undefined ? {} : { error })
  })
  const reason = error ?? facts.reason
  return yield* save(request, {
    status: outcome,
    // The address for one reply is used up.
    facts: {
      ...facts,
      reply: {},
      ...(result === undefined ? {} : { result }),
      ...(reason === undefined ? {} : { reason })
    }
  })
})

const isTransient = ({ reason }: ForgeError): boolean => reason === "rate_limited" || reason === "unavailable"

const retry = Effect.fnUntraced(function* (request: ChatRequest, error: ForgeError, now: number) {
  const attempts = (request.facts.attempts ?? 0) + 1
  const isOver = attempts >= (isTransient(error) ? maxTransientAttempts : maxAttempts)
  yield* Effect.logWarning("chat message not sent", {
    chat_request_id: request.id,
    connection: request.connection,
    attempts,
    retried: !isOver,
    error: error.why
  })
  if (isOver) return yield* end(request, false, error.why)
  const backoff = Math.min(maxBackoffMillis, 1000 * 2 ** Math.min(attempts, 10))
  // A platform may name no time at all, or one that never comes.
  const wait = Math.min(Math.max(error.retryAfterMillis ?? 0, backoff), maxWaitMillis)
  const { sendingAt: sending, ...facts } = request.facts
  // A message that may have arrived keeps the time of its first send.
  const kept = error.reason === "unknown_outcome" && sending !== undefined ? { sendingAt: sending } : {}
  return yield* save(request, { status: "publishing", facts: { ...facts, ...kept, attempts, notBefore: now + wait } })
})

const toText = ({ facts }: ChatRequest, isRepeat: boolean): ChatText => ({
  text: facts.result?.text ?? "",
  buttons: (facts.result?.buttons ?? []).map(({ id, label }) => ({ id, label })),
  isFinal: true,
  isRepeat
})

/** Sends the result, in place of the progress message if there is one that can be edited. */
export const sendResult = Effect.fnUntraced(function* (client: ChatClient, request: ChatRequest) {
  const now = yield* Clock.currentTimeMillis
  const { notBefore = 0, progress, sendingAt } = request.facts
  if (notBefore > now) return request
  const isEdit = progress !== undefined && client.isEditable(progress, now)
  if (sendingAt !== undefined && !isEdit && now - sendingAt > client.keyMillis - keyMarginMillis)
    return yield* end(request, false, { _tag: "MessageNotConfirmed" })
  const facts = { ...request.facts, sendingAt: sendingAt ?? now }
  const sending = sendingAt === undefined ? yield* save(request, { status: "publishing", facts }) : request
  if (sending === undefined) return undefined
  const message = toText(sending, sendingAt !== undefined)
  const to = { ...sending, reply: sending.facts.reply }
  const sent =
    isEdit && client.edit !== undefined
      ? client.edit(to, progress, message)
      : client.send(to, message, messageKey(sending, "result"))
  return yield* Effect.matchEffect(sent, {
    onSuccess: () => end(sending, true),
    onFailure: (error) =>
      error.reason === "unknown_outcome" || isTransient(error)
        ? retry(sending, error, now)
        : end(sending, false, error.why)
  })
})

/** Reports progress of a review. A failure only delays it. */
export const sendProgress = Effect.fnUntraced(function* (client: ChatClient, request: ChatRequest) {
  const { progress, progressButtons = [], progressText, reply, ...facts } = request.facts
  if (progressText === undefined) return request
  // A platform that cannot edit gets progress once, as a card with buttons; one without cards gets only the result.
  const hasCard = progress === undefined && client.hasButtons && progressButtons.length > 0
  if (client.edit === undefined && !hasCard) return request
  if (progress !== undefined && !client.isEditable(progress, yield* Clock.currentTimeMillis)) return request
  const buttons = progressButtons.map(({ id, label }) => ({ id, label }))
  const message = { text: progressText, buttons, isFinal: false, isRepeat: false }
  const to = { ...request, reply }
  const sending =
    progress === undefined || client.edit === undefined
      ? client.send(to, message, messageKey(request, "progress"))
      : Effect.as(client.edit(to, progress, message), progress)
  const sent = yield* Effect.catch(sending, (error) =>
    Effect.as(Effect.logInfo("chat progress not sent", { chat_request_id: request.id, error: error.why }), progress)
  )
  return yield* save(request, {
    status: request.status,
    facts: { ...facts, reply, progressButtons, ...(sent === undefined ? {} : { progress: sent }) }
  })
})
