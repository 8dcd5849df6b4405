/**
 * Does the operations of the review channel at a host.
 *
 * Hosts refuse a whole review for one bad line and seldom say which, so a refused review is halved until the refused comments stand
 * alone; they are added to the summary, which was written before, and the rest is published at its lines. An operation that
 * was interrupted half-way is taken up again: what already stands, known by its marker, is not posted a second time.
 */
import { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { InlineComment, Operation, Publication } from "../domain/Publication.ts"
import { ForgeError } from "../forge/Forge.ts"
import type { ForgeClient, HostWrite } from "../forge/Forge.ts"
import { shorten } from "./Cut.ts"
import { needle, parseMarkers, renderMarker, splitMarkers } from "./Marker.ts"
import { reconcile } from "./Reconcile.ts"
import type { Renderer } from "./Render.ts"
import { earlierSummaryScope, headScope, summaryFp, summaryScope } from "./Scopes.ts"
import { gfm } from "./SafeText.ts"
import type { StandingThread, StandingThreads } from "./StandingThreads.ts"
import type { Writing } from "../forge/WriteOwner.ts"

/** Calls spent on finding refused lines before the rest is taken as refused. */
const mostAttempts = 16

type ReviewOperation = Extract<Operation, { readonly _tag: "Review" }>
type SummaryOperation = Extract<Operation, { readonly _tag: "Summary" }>

export const numberOf = (change: Change): Effect.Effect<number, ForgeError> =>
  change.target.number === undefined
    ? Effect.fail(
        new ForgeError({
          reason: "invalid",
          operation: "publish",
          message: `a ${change.target.kind} has no number, so no review can be written on it`
        })
      )
    : Effect.succeed(change.target.number)

/** Nothing was written: stands for the id at the host. */
const unwritten = ({ operationId }: Publication): HostWrite => ({ hostId: operationId, url: undefined })

/** The summary with the first of these scopes that there is. */
const findSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  scopes: ReadonlyArray<string | undefined>
) {
  for (const scope of scopes) {
    const found = yield* client.findComment(change.repo, number, needle({ fp: summaryFp, scope }))
    if (found !== undefined) return found
  }
  return undefined
})

export const sendSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  operation: SummaryOperation,
  previous: Publication | undefined
) {
  const number = yield* numberOf(change)
  const [own] = parseMarkers(operation.body)
  const scopes =
    own === undefined ? [] : [own.scope, earlierSummaryScope(publication.targetKey, publication.channel, "")]
  const isSame = ({ operation: before }: Publication) =>
    before._tag === "Summary" && scopes.some((scope) => before.body.includes(needle({ fp: summaryFp, scope })))
  const isWritten = previous !== undefined && previous.hostId !== previous.operationId
  const known = isWritten && isSame(previous) ? previous.hostId : undefined
  const update = (hostId: string) => client.updateComment(change.repo, number, hostId, operation.body)
  // Another installation, or one before the records were lost, may have written it.
  const findOrCreate = Effect.flatMap(findSummary(client, change, number, scopes), (found) =>
    found !== undefined
      ? update(found.hostId)
      : operation.onlyUpdate === true
        ? Effect.succeed(unwritten(publication))
        : client.createComment(change.repo, number, operation.body)
  )
  if (known === undefined) return yield* findOrCreate
  return yield* Effect.catchIf(
    update(known),
    (error) => error.reason === "not_found",
    () => findOrCreate
  )
})

/** What stands of an operation: the fingerprints of its comments, and the text of the review itself. */
const standing = Effect.fnUntraced(function* (client: ForgeClient, change: Change, head: string) {
  const number = yield* numberOf(change)
  const texts = yield* client.reviewTexts(change.repo, number)
  const marked = texts.flatMap((text) => parseMarkers(text.body).map((marker) => ({ marker, text })))
  const here = marked.filter(({ marker }) => marker.scope === headScope(head))
  return { marked, comments: new Set(here.map(({ marker }) => marker.fp)) }
})

/** Fingerprints of comments that the host refused and the summary holds. */
const inSummary = Effect.fnUntraced(function* (client: ForgeClient, change: Change, publication: Publication) {
  const number = yield* numberOf(change)
  const found = yield* client.findComment(change.repo, number, needle({ op: publication.operationId }))
  const markers = parseMarkers(found?.body ?? "").filter((marker) => marker.op === publication.operationId)
  return { found, comments: new Set(markers.map((marker) => marker.fp)) }
})

const fingerprint = (comment: InlineComment): string | undefined => parseMarkers(comment.body).at(-1)?.fp

export const findReview = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  operation: ReviewOperation
) {
  const { marked, comments } = yield* standing(client, change, operation.head)
  const own = marked.find(({ marker }) => marker.op === publication.operationId)
  const missing = operation.comments.filter((comment) => !comments.has(fingerprint(comment)))
  if (missing.length === 0) return own?.text
  const summary = yield* inSummary(client, change, publication)
  return missing.every((comment) => summary.comments.has(fingerprint(comment)))
    ? (own?.text ?? summary.found)
    : undefined
})

export const sendReview = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  previous: Publication | undefined,
  earlier: StandingThreads,
  operation: ReviewOperation,
  renderer: Renderer
) {
  const number = yield* numberOf(change)
  // Comments may exist that the records do not know: of an interrupted attempt, of another installation, or from before they were lost.
  const mayStand =
    previous === undefined ||
    publication.status === "unknown" ||
    publication.attempts > 0 ||
    change.requestedBy !== undefined
  const already = mayStand ? (yield* standing(client, change, operation.head)).comments : new Set<string | undefined>()
  // What an earlier head's review said at a line still stands there, or was dismissed: it is not said again.
  const said = operation.comments.length === 0 ? new Set<string>() : saidBefore(yield* earlier, operation.comments)
  const wanted = operation.comments.filter((comment) => {
    const fp = fingerprint(comment)
    return !already.has(fp) && (fp === undefined || !said.has(fp))
  })
  if (operation.comments.length > 0 && wanted.length === 0) {
    const found = mayStand ? yield* findReview(client, change, publication, operation) : undefined
    return found ?? unwritten(publication)
  }
  const { write, refused } = yield* post(client, change, number, { ...operation, comments: wanted })
  const moved =
    refused.length === 0 ? undefined : yield* addToSummary(client, change, number, publication, refused, renderer)
  return write ?? moved ?? unwritten(publication)
})

interface Posted {
  readonly write: HostWrite | undefined
  readonly refused: ReadonlyArray<InlineComment>
}

/** Fingerprints of comments that stand open or were dismissed. */
const saidBefore = (threads: ReadonlyArray<StandingThread>, comments: ReadonlyArray<InlineComment>) => {
  const found = comments.flatMap((comment) => {
    const fp = fingerprint(comment)
    return fp === undefined ? [] : [{ fp }]
  })
  const here = { found, present: new Set<string>(), analysed: new Set<string>(), changed: undefined, complete: false }
  const { open, dismissed } = reconcile(here, threads)
  return new Set([...open.map((pair) => pair.found.fp), ...dismissed.map(({ fp }) => fp)])
}

/** Posts the comments in as few reviews as the host allows. */
const post = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  review: ReviewOperation
): Effect.fn.Return<Posted, ForgeError, Writing> {
  const { head, event, body } = review
  let write: HostWrite | undefined
  const refused: Array<InlineComment> = []
  const waiting: Array<ReadonlyArray<InlineComment>> = [review.comments]
  for (let attempt = 0; waiting.length > 0; attempt++) {
    const comments = waiting.shift() ?? []
    if (attempt >= mostAttempts) {
      refused.push(...comments)
      continue
    }
    const result = yield* client.createReview(change.repo, number, { head, event, body, comments }).pipe(
      Effect.catchIf(
        (error) => error.reason === "invalid" && comments.length > 0,
        () => Effect.succeed(undefined)
      )
    )
    if (result !== undefined) {
      write ??= result
      refused.push(...result.refused)
    } else if (comments.length === 1) refused.push(...comments)
    else {
      const middle = Math.ceil(comments.length / 2)
      waiting.unshift(comments.slice(0, middle), comments.slice(middle))
    }
  }
  return { write, refused }
})

/** Adds refused comments to the channel's summary; without one they get a comment of their own. */
const addToSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  publication: Publication,
  refused: ReadonlyArray<InlineComment>,
  renderer: Renderer
) {
  const { targetKey, channel } = publication
  const scopes = [summaryScope(change.workspace, channel, ""), earlierSummaryScope(targetKey, channel, "")]
  const summary =
    (yield* findSummary(client, change, number, scopes)) ??
    (yield* client.findComment(change.repo, number, needle({ op: publication.operationId })))
  const there = new Set(parseMarkers(summary?.body ?? "").map((marker) => marker.fp))
  const sections = refused
    .filter((comment) => !there.has(fingerprint(comment)))
    .map((comment) => {
      const { visible, markers } = splitMarkers(comment.body)
      const place = `${gfm.codeSpan(comment.path)}:${comment.start === undefined ? "" : `${comment.start}-`}${comment.line}`
      return { text: `${place} ${visible.replace(/^(`{3,})suggestion\S*$/gm, "$1text")}`, markers }
    })
  if (summary !== undefined && sections.length === 0) return summary
  const before = splitMarkers(summary?.body ?? "")
  const markers = [...before.markers, ...sections.flatMap((section) => section.markers)]
  const fixed = markers.length === 0 ? renderMarker({ op: publication.operationId }) : markers.join("\n")
  const added = sections.map((section) => section.text).join("\n\n")
  const room = Math.max(0, renderer.limit - fixed.length - added.length - 8)
  const kept = shorten(before.visible, room)
  const body = `${kept}\n\n${shorten(added, renderer.limit - fixed.length - 8)}\n\n${fixed}`.trim()
  return yield* summary === undefined
    ? client.createComment(change.repo, number, body)
    : client.updateComment(change.repo, number, summary.hostId, body)
})
