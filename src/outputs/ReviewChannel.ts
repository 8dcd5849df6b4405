/**
 * Reviews on a pull request, for every host: one managed summary comment, and reviews that carry at most 30 inline comments each.
 *
 * The summary comes first, so that a comment that the host will not take at its line has a place to go. Hosts refuse a whole
 * review for one bad line and seldom say which, so a refused review is halved until the refused comments stand alone; they are
 * added to the summary and the rest is published at its lines. An operation that was interrupted half-way is taken up again:
 * what already stands, known by its marker, is not posted a second time.
 */
import { Effect } from "effect"
import { severityRank } from "../domain/Kinds.ts"
import type { Change } from "../domain/Change.ts"
import type { InlineComment, Operation, Publication } from "../domain/Publication.ts"
import type { Finding } from "../domain/Problem.ts"
import { ForgeError } from "../forge/Forge.ts"
import type { ForgeClient, HostWrite } from "../forge/Forge.ts"
import type { ChannelKind, PublishInput } from "./Channel.ts"
import { codeSpan } from "./SafeText.ts"
import { needle, parseMarkers, renderMarker, splitMarkers } from "./Marker.ts"
import { publishesClean } from "./NoProblems.ts"
import { digest, operationId } from "./OperationId.ts"
import { renderProblem, renderReviewBody, renderSummary } from "./Render.ts"
import type { Renderer } from "./Render.ts"

/** Comments of one review call (decisions section 8). */
const mostPerReview = 30
/** Calls spent on finding refused lines before the rest is taken as refused. */
const mostAttempts = 16
const summaryFp = "summary"

type ReviewOperation = Extract<Operation, { readonly _tag: "Review" }>
type SummaryOperation = Extract<Operation, { readonly _tag: "Summary" }>

/** Where an inline comment belongs: the same problem on another head is another comment. */
const headScope = (head: string): string => head.slice(0, 16)

const inlineOf = (finding: Finding, body: string): ReadonlyArray<InlineComment> =>
  finding.anchor === undefined ? [] : [{ ...finding.anchor, body }]

export const reviewChannel = (renderer: Renderer): ChannelKind => ({
  plan: (input, channel, parts) => {
    const { analysis, head, workspace } = input
    const least = severityRank(channel.min_severity ?? "info")
    const shown = analysis.findings
      .filter((finding) => severityRank(finding.problem.severity) >= least)
      .toSorted((a, b) => severityRank(b.problem.severity) - severityRank(a.problem.severity))
    const hidden = analysis.findings.length - shown.length
    if (shown.length === 0 && !publishesClean(workspace.outputs, channel, analysis)) return []

    const lines = parts.lineComments && channel.review_mode !== "comment"
    const inline = lines
      ? shown
          .filter((finding) => finding.anchor !== undefined)
          .slice(0, channel.max_comments ?? Number.POSITIVE_INFINITY)
      : []
    const operations: Array<{ readonly operationId: string; readonly operation: Operation }> = []

    // A comment that only the review could hold must not be lost where the route gives this channel no summary.
    if (parts.summary || inline.length < shown.length) {
      const op = operationId(input, channel.name, "Summary", 0)
      const scope = summaryScope(input, channel.name, channel.review_update_strategy === "always_new" ? op : "")
      const body = renderSummary(input, channel, { shown, inline, hidden }, { op, fp: summaryFp, scope }, renderer)
      operations.push({ operationId: op, operation: { _tag: "Summary", head, body } })
    }

    const event = shown.length > 0 ? (channel.review_event ?? "COMMENT") : "COMMENT"
    const postsClean = lines && shown.length === 0 && !workspace.review.skip_lgtm
    const reviews = Math.max(Math.ceil(inline.length / mostPerReview), postsClean ? 1 : 0)
    for (let part = 0; part < reviews; part++) {
      const some = inline.slice(part * mostPerReview, (part + 1) * mostPerReview)
      const op = operationId(input, channel.name, "Review", part)
      const comments = some.flatMap((finding) => {
        const marker = { op, fp: finding.fingerprint, scope: headScope(head) }
        return inlineOf(finding, renderProblem(input, channel, finding, marker, renderer))
      })
      const body = renderReviewBody(input, some.length, { op }, renderer)
      operations.push({ operationId: op, operation: { _tag: "Review", head, event, body, comments } })
    }
    return operations
  },

  send: (client, change, publication, previous) => {
    const { operation } = publication
    switch (operation._tag) {
      case "Review":
        return sendReview(client, change, publication, operation, renderer)
      case "Summary":
        return sendSummary(client, change, operation, previous)
      case "Status": {
        const { head, state, description, url } = operation
        return client.setStatus(change.repo, head, { state, description, url })
      }
    }
  },

  find: (client, change, publication) => {
    const { operation } = publication
    switch (operation._tag) {
      case "Review":
        return findReview(client, change, publication, operation)
      case "Summary":
        return Effect.flatMap(numberOf(change), (number) =>
          client.findComment(change.repo, number, needle({ op: publication.operationId }))
        )
      case "Status":
        // A status can be set again: the newest of a context counts.
        return Effect.succeed(undefined)
    }
  }
})

const summaryScope = (input: PublishInput, channel: string, own: string): string =>
  digest(input.targetKey, channel, own).slice(0, 16)

const numberOf = (change: Change): Effect.Effect<number, ForgeError> =>
  change.target.number === undefined
    ? Effect.fail(
        new ForgeError({
          reason: "invalid",
          operation: "publish",
          message: `a ${change.target.kind} has no number, so no review can be written on it`
        })
      )
    : Effect.succeed(change.target.number)

const sendSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  operation: SummaryOperation,
  previous: Publication | undefined
) {
  const number = yield* numberOf(change)
  const [own] = parseMarkers(operation.body)
  const here = own === undefined ? "" : needle({ fp: own.fp, scope: own.scope })
  const create = client.createComment(change.repo, number, operation.body)
  const known =
    previous?.operation._tag === "Summary" && previous.operation.body.includes(here) ? previous.hostId : undefined
  if (known !== undefined) {
    return yield* client.updateComment(change.repo, number, known, operation.body).pipe(
      Effect.catchIf(
        (error) => error.reason === "not_found",
        () => create
      )
    )
  }
  // Another installation, or one before the records were lost, may have written it.
  const found = yield* client.findComment(change.repo, number, here)
  return yield* found === undefined ? create : client.updateComment(change.repo, number, found.hostId, operation.body)
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

const findReview = Effect.fnUntraced(function* (
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

const sendReview = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  operation: ReviewOperation,
  renderer: Renderer
) {
  const number = yield* numberOf(change)
  // A first attempt for a head that nobody asked for again has nothing standing: the look at the host is saved.
  const mayStand = publication.attempts > 0 || change.requestedBy !== undefined
  const already = mayStand ? (yield* standing(client, change, operation.head)).comments : new Set<string | undefined>()
  const wanted = operation.comments.filter((comment) => !already.has(fingerprint(comment)))
  if (operation.comments.length > 0 && wanted.length === 0) {
    const found = yield* findReview(client, change, publication, operation)
    return found ?? { hostId: publication.operationId, url: undefined }
  }
  const { write, refused } = yield* post(client, change, number, { ...operation, comments: wanted })
  const moved =
    refused.length === 0 ? undefined : yield* addToSummary(client, change, number, publication, refused, renderer)
  return write ?? moved ?? { hostId: publication.operationId, url: undefined }
})

interface Posted {
  readonly write: HostWrite | undefined
  readonly refused: ReadonlyArray<InlineComment>
}

/** Posts the comments in as few reviews as the host allows. */
const post = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  review: ReviewOperation
): Effect.fn.Return<Posted, ForgeError> {
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
  const scope = digest(publication.targetKey, publication.channel, "").slice(0, 16)
  const summary =
    (yield* client.findComment(change.repo, number, needle({ fp: summaryFp, scope }))) ??
    (yield* client.findComment(change.repo, number, needle({ op: publication.operationId })))
  const there = new Set(parseMarkers(summary?.body ?? "").map((marker) => marker.fp))
  const sections = refused
    .filter((comment) => !there.has(fingerprint(comment)))
    .map((comment) => {
      const { visible, markers } = splitMarkers(comment.body)
      const place = `${codeSpan(comment.path)}:${comment.start === undefined ? "" : `${comment.start}-`}${comment.line}`
      return { text: `${place} ${visible.replace(/^(`{3,})suggestion\S*$/gm, "$1")}`, markers }
    })
  if (summary !== undefined && sections.length === 0) return summary
  const before = splitMarkers(summary?.body ?? "")
  const markers = [...before.markers, ...sections.flatMap((section) => section.markers)]
  const fixed = markers.length === 0 ? renderMarker({ op: publication.operationId }) : markers.join("\n")
  const added = sections.map((section) => section.text).join("\n\n")
  const room = Math.max(0, renderer.limit - fixed.length - added.length - 8)
  const body =
    `${before.visible.slice(0, room)}\n\n${added.slice(0, renderer.limit - fixed.length - 8)}\n\n${fixed}`.trim()
  return yield* summary === undefined
    ? client.createComment(change.repo, number, body)
    : client.updateComment(change.repo, number, summary.hostId, body)
})
