/**
 * Posts the comments of a review at a host; SummarySend.ts writes its summary.
 *
 * Hosts refuse a whole review because of one bad line and seldom name it, so a refused review is split in halves until the
 * refused comments are isolated; they are added to the summary, which was written before, and the others are published at their
 * lines. An interrupted operation is resumed: texts that already exist, identified by their markers, are not posted again.
 */
import { Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import { maxConflicts } from "../../domain/Publication.ts"
import type { InlineComment, ListedFinding, Operation, Publication } from "../../domain/Publication.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import type { ForgeClient, PendingPolicy } from "../../forge/Forge.ts"
import type { HostWrite, OwnText } from "../../forge/HostWrite.ts"
import { shorten } from "../text/Cut.ts"
import { unwritten } from "../channels/Channel.ts"
import type { Sent } from "../channels/Channel.ts"
import type { Labels } from "../Labels.ts"
import { toSearchText, parseMarkers, renderMarker, splitMarkers, textBelowMarkers } from "../Marker.ts"
import type { Marker } from "../Marker.ts"
import { makePendingPolicy } from "./PendingTexts.ts"
import { reconcile } from "./Reconcile.ts"
import { readFingerprint } from "./ChangedComments.ts"
import { headScope, summaryFp, summaryScope } from "../channels/Scopes.ts"
import { Records } from "../Records.ts"
import { gfm } from "../SafeText.ts"
import { icons } from "../text/View.ts"
import type { ExistingThread, ExistingThreads } from "../ExistingThreads.ts"
import { withNotes } from "./KeptNotes.ts"
import type { SummaryWords } from "./KeptNotes.ts"
import type { Writing } from "../../forge/WriteOwner.ts"

/** Maximum number of calls to isolate refused lines; the remaining comments then count as refused. */
const maxAttempts = 16

export type ReviewOperation = Extract<Operation, { readonly _tag: "Review" }>

export const requireNumber = (change: Change): Effect.Effect<number, ForgeError> =>
  change.target.number === undefined
    ? Effect.fail(
        new ForgeError({
          reason: "invalid",
          operation: "publish",
          why: { _tag: "NoNumber", kind: change.target.kind }
        })
      )
    : Effect.succeed(change.target.number)

/** Texts that may be on the change before a write. */
export interface EarlierTexts {
  readonly threads: ExistingThreads
  /** True if the host has no comments (`HasNoOthers`). */
  readonly hasNone: boolean
  /** Texts of earlier reviews and their comments, read once. */
  readonly texts: Effect.Effect<ReadonlyArray<OwnText>, ForgeError>
  /** True where the text of a review may be the summary. */
  readonly editsReviews: boolean
}

/** Returns the reader of the texts of earlier reviews, which reads them once. */
export const earlierTexts = (client: ForgeClient, change: Change): Effect.Effect<EarlierTexts["texts"]> =>
  Effect.cached(Effect.flatMap(requireNumber(change), (number) => client.reviewTexts(change.repo, number)))

type SummaryTexts = Pick<EarlierTexts, "editsReviews" | "texts">

/** Finds the summary with this marker: a comment below the change, or the text of a review. */
export const findSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  marker: Partial<Marker>,
  { editsReviews, texts }: SummaryTexts
) {
  const search = toSearchText({ ...marker, fp: summaryFp })
  const comment = yield* client.findComment(change.repo, yield* requireNumber(change), search)
  if (comment !== undefined || !editsReviews) return comment
  // A summary is published even if the reviews cannot be read.
  const readable = Effect.catchIf(
    texts,
    ({ reason }) => reason === "forbidden" || reason === "not_found",
    () => Effect.succeed([])
  )
  return (yield* readable).findLast(({ body }) => body.includes(search))
})

const isSummary = (text: OwnText): boolean => text.body.includes(toSearchText({ fp: summaryFp }))

/** Finds the existing parts of an operation: the fingerprints of its comments, and the text of the review itself. */
const findExisting = ({ texts }: Pick<EarlierTexts, "texts">, head: string) =>
  Effect.map(texts, (all) => {
    // A summary has the markers of comments that the host refused.
    const others = all.filter((text) => !isSummary(text))
    const marked = others.flatMap((text) => parseMarkers(text.body).map((marker) => ({ marker, text })))
    const ofHead = marked.filter(({ marker }) => marker.scope === headScope(head))
    return { marked, comments: new Set(ofHead.map(({ marker }) => marker.fp)) }
  })

/** Finds the fingerprints of comments that the host refused and the summary contains. */
const findInSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  { editsReviews, texts }: SummaryTexts
) {
  const number = yield* requireNumber(change)
  const search = toSearchText({ op: publication.operationId })
  const comment = yield* client.findComment(change.repo, number, search)
  const summary =
    comment !== undefined || !editsReviews
      ? comment
      : (yield* texts).find((text) => isSummary(text) && text.body.includes(search))
  const markers = parseMarkers(summary?.body ?? "").filter((marker) => marker.op === publication.operationId)
  return { summary, comments: new Set(markers.map((marker) => marker.fp)) }
})

export const findReview = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  operation: ReviewOperation,
  earlier: SummaryTexts
) {
  const { marked, comments } = yield* findExisting(earlier, operation.head)
  const own = marked.find(({ marker }) => marker.op === publication.operationId)
  const missing = operation.comments.filter((comment) => !comments.has(readFingerprint(comment)))
  const posted = operation.comments.flatMap((comment) => {
    const fp = readFingerprint(comment)
    return fp !== undefined && comments.has(fp) ? [fp] : []
  })
  if (missing.length === 0) return own && { ...own.text, posted }
  const refused = yield* findInSummary(client, change, publication, earlier)
  if (!missing.every((comment) => refused.comments.has(readFingerprint(comment)))) return undefined
  const written = own?.text ?? refused.summary
  return written && { ...written, posted }
})

/** Returns the comments of a review that have to be posted, and the fingerprints of those that the host has from the same head. */
export const listMissing = Effect.fnUntraced(function* (
  change: Change,
  publication: Publication,
  previous: Publication | undefined,
  earlier: EarlierTexts,
  operation: ReviewOperation
) {
  // Comments may exist that the records do not contain: of an interrupted attempt, of another installation, or from before the
  // records were lost.
  const mayExist =
    !earlier.hasNone &&
    (previous === undefined ||
      publication.status === "unknown" ||
      publication.attempts > 0 ||
      change.requestedBy !== undefined)
  const existing = mayExist ? (yield* findExisting(earlier, operation.head)).comments : new Set<string | undefined>()
  // A comment of an earlier head's review still exists at its line, or was dismissed: it is not posted again.
  const earlierFingerprints =
    operation.comments.length === 0 ? new Set<string>() : findEarlier(yield* earlier.threads, operation.comments)
  const pending = operation.comments.filter((comment) => {
    const fp = readFingerprint(comment)
    return !existing.has(fp) && (fp === undefined || !earlierFingerprints.has(fp))
  })
  return { pending, existing, mayExist }
})

export const sendReview = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  previous: Publication | undefined,
  earlier: EarlierTexts,
  operation: ReviewOperation,
  words: SummaryWords
) {
  const number = yield* requireNumber(change)
  const { existing, mayExist, pending } = yield* listMissing(change, publication, previous, earlier, operation)
  if (operation.comments.length > 0 && pending.length === 0) {
    const existingReview = mayExist ? yield* findReview(client, change, publication, operation, earlier) : undefined
    return existingReview ?? unwritten(publication.operationId, { _tag: "CommentsExist" })
  }
  const policy = makePendingPolicy(
    [operation.body, ...operation.comments.map(({ body }) => body)],
    publication.status === "unknown" || publication.attempts > 0
  )
  // The last attempt: the run names the reason of the host, and the problems are in the summary.
  const isLast = ({ reason }: ForgeError) =>
    reason === "forbidden" ||
    reason === "not_found" ||
    (reason === "conflict" && publication.attempts + 1 >= maxConflicts)
  const { write, refused, error } = yield* post(
    client,
    change,
    number,
    { ...operation, comments: pending },
    policy,
    isLast
  )
  const moving = addToSummary(client, change, number, publication, refused, words, earlier)
  if (error !== undefined) {
    if (refused.length > 0) yield* Effect.ignore(moving, { log: "Warn" })
    return yield* error
  }
  const moved = refused.length === 0 ? undefined : yield* moving
  const taken = pending
    .filter((comment) => !refused.includes(comment))
    .flatMap((comment) => readFingerprint(comment) ?? [])
  const resumed = [...existing].filter((fp) => fp !== undefined)
  const sent: Sent = write ?? moved ?? unwritten(publication.operationId, { _tag: "CommentsExist" })
  return { ...sent, posted: [...resumed, ...taken] }
})

interface Posted {
  readonly write: HostWrite | undefined
  readonly refused: ReadonlyArray<InlineComment>
  /** Reason for which the host refused what is left. */
  readonly error: ForgeError | undefined
}

/** Returns the fingerprints of comments that are open or were dismissed. */
const findEarlier = (threads: ReadonlyArray<ExistingThread>, comments: ReadonlyArray<InlineComment>) => {
  const found = comments.flatMap((comment) => {
    const fp = readFingerprint(comment)
    return fp === undefined ? [] : [{ fp }]
  })
  const reviewState = {
    found,
    present: new Set<string>(),
    analysed: new Set<string>(),
    changed: undefined,
    complete: false
  }
  const { open, dismissed } = reconcile(reviewState, threads)
  return new Set([...open.map((pair) => pair.found.fp), ...dismissed.map(({ fp }) => fp)])
}

/** Posts the comments in as few reviews as the host permits, up to an error that ends it: `isLast`. */
const post = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  review: ReviewOperation,
  pending: PendingPolicy,
  isLast: (error: ForgeError) => boolean
): Effect.fn.Return<Posted, ForgeError, Writing> {
  const { head, event, body } = review
  let write: HostWrite | undefined
  const refused: Array<InlineComment> = []
  const waiting: Array<ReadonlyArray<InlineComment>> = [review.comments]
  for (let attempt = 0; waiting.length > 0; attempt++) {
    const comments = waiting.shift() ?? []
    if (attempt >= maxAttempts) {
      refused.push(...comments)
      continue
    }
    const result = yield* Effect.result(
      client.createReview(change.repo, number, { head, event, body, comments, pending })
    )
    if (result._tag === "Success") {
      write ??= result.success
      refused.push(...result.success.refused)
      continue
    }
    const error = result.failure
    if (isLast(error)) return { write, refused: [...refused, ...comments, ...waiting.flat()], error }
    if (error.reason !== "invalid" || comments.length === 0) return yield* error
    if (comments.length === 1) refused.push(...comments)
    else {
      const middle = Math.ceil(comments.length / 2)
      waiting.unshift(comments.slice(0, middle), comments.slice(middle))
    }
  }
  return { write, refused, error: undefined }
})

/**
 * Returns a comment below its number in the list of the summary, without the severity and the title that the list has; undefined where it begins
 * with something else.
 */
const belowNumber = (
  visible: string,
  location: string,
  { name, number, severity }: ListedFinding,
  labels: Labels
): string | undefined => {
  const heading = `${icons[severity]} **${labels.severity[severity]}** · ${name}`
  return visible.startsWith(`${heading} · `) ? `**${number}** · ${location}${visible.slice(heading.length)}` : undefined
}

/** Adds refused comments to the channel's summary; without a summary they get a separate comment. */
const addToSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  publication: Publication,
  refused: ReadonlyArray<InlineComment>,
  words: SummaryWords,
  earlier: SummaryTexts
) {
  const scope = summaryScope(change.workspace, publication.channel, "")
  const summary =
    (yield* findSummary(client, change, { scope }, earlier)) ??
    (yield* client.findComment(change.repo, number, toSearchText({ op: publication.operationId })))
  const present = new Set(parseMarkers(summary?.body ?? "").map((marker) => marker.fp))
  const listed = summary === undefined ? [] : yield* (yield* Records).listed(publication)
  const byFinding = new Map(listed.map((one) => [one.fp, one]))
  const sections = refused
    .filter((comment) => !present.has(readFingerprint(comment)))
    .map((comment) => {
      const { visible, markers } = splitMarkers(comment.body)
      const location = `${gfm.codeSpan(comment.path)}:${comment.start === undefined ? "" : `${comment.start}-`}${comment.line}`
      const text = visible.replace(/^(`{3,})suggestion\S*$/gm, "$1text")
      const known = byFinding.get(readFingerprint(comment) ?? "")
      const numbered = known && belowNumber(text, location, known, words.labels)
      return { text: numbered ?? `${location} ${text}`, markers }
    })
  if (summary !== undefined && sections.length === 0) return summary
  const notes = textBelowMarkers(summary?.body ?? "") ?? ""
  const before = splitMarkers((summary?.body ?? "").slice(0, notes === "" ? undefined : -notes.length))
  const markers = [...before.markers, ...sections.flatMap((section) => section.markers)]
  const fixedMarkers = markers.length === 0 ? renderMarker({ op: publication.operationId }) : markers.join("\n")
  const added = [`**${words.labels.refused}**`, ...sections.map((section) => section.text)].join("\n\n")
  const room = Math.max(0, words.limit - fixedMarkers.length - added.length - 8)
  const text = shorten(before.visible, room)
  const whole = `${text}\n\n${shorten(added, words.limit - fixedMarkers.length - 8)}\n\n${fixedMarkers}`.trim()
  const body = withNotes(notes, whole, words)
  return yield* summary === undefined
    ? client.createComment(change.repo, number, body)
    : client.updateComment(change.repo, number, summary.hostId, body)
})
