/**
 * The words that get a reply, by their source:
 *
 * |                      | comment at the host                | objection of a program           | question from chat    | comment in Swarm                    |
 * |----------------------|------------------------------------|----------------------------------|-----------------------|-------------------------------------|
 * | turned off by        | `review.conversation`              | `review.conversation`            | its binding           | `review.conversation`               |
 * | who may get a reply  | `review.conversation.from`         | who has the token                | checked at admission  | everybody, unless `from` is writers |
 * | head                 | the newest                         | the newest                       | that of the review    | that of the review                  |
 * | finding              | that of its thread, or `explain N` | its own, whatever its words name | none                  | that of its thread, or `explain N`  |
 * | before a model       | –                                  | the head has the quoted code     | –                     | –                                   |
 * | who may dismiss      | its author                         | no one                           | no one                | no one                              |
 * | an objection counts  | below pull requests                | yes                              | no                    | yes                                 |
 * | a model reads code   | as all may who wrote               | as an outsider may               | no                    | as an outsider may                  |
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { readExplained } from "../../src/domain/AddressedComment.ts"
import { discussedKey } from "../../src/domain/Change.ts"
import type { Change, CommentPlace, Dispute, SwarmQuestion, WordSource } from "../../src/domain/Change.ts"
import type { FindingState } from "../../src/domain/FindingState.ts"
import type { TargetKey } from "../../src/domain/Keys.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { toChange } from "../../src/forge/Forge.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { Forges } from "../../src/forge/Forges.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import { SwarmConversations } from "../../src/outputs/SwarmConversations.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { CheckoutError } from "../../src/vcs/Checkout.ts"
import { resolveOnServer } from "../review/AnalyseChange.ts"
import { readWithCurrent } from "../review/HostCredential.ts"
import { routedWork } from "../review/ReviewSubject.ts"
import type { ReviewWork } from "../review/ReviewWork.ts"
import { noConversation, readConversation } from "./ReadConversation.ts"
import type { ReadConversation } from "./ReadConversation.ts"
import { decideReply } from "./ReplyDecision.ts"
import type { ReplyDecision } from "./ReplyDecision.ts"
import { findConverser } from "./ReplyRights.ts"
import type { Converser } from "./ReplyRights.ts"

/** Change, issue or commit that the words are about. */
export interface ReplySubject {
  /** The work with the workspace of the target branch. */
  readonly work: ReviewWork
  readonly head: string
  readonly base: string | undefined
  readonly title: string | undefined
  readonly baseRef: string | undefined
  /** The change whose code is read, with its author. */
  readonly change: Change
  /** Whether its findings have a state that an objection changes. */
  readonly hasStates: boolean
}

export interface ReplySource {
  readonly conversation: ReadConversation
  readonly decision: ReplyDecision
  /** Finding that the reply is about. */
  readonly fingerprint: string | undefined
  /** Its state in the summary, if the words name its number there. */
  readonly state: FindingState | undefined
  /** Key of the change, issue or commit that the words are about. */
  readonly subjectKey: TargetKey
  /** Returns the subject, or why there is none. */
  readonly readSubject: Effect.Effect<ReplySubject | Reason, ForgeError, Forges>
  /** Returns why the workspace replies to no such words. */
  readonly isOff: (workspace: Workspace) => Reason | undefined
  readonly findConverser: (workspace: Workspace, person: string) => Effect.Effect<Converser, ForgeError>
  /** Lists reviews with findings that the words may be about, newest first. */
  readonly listReviews: Effect.Effect<ReadonlyArray<Run>, StoreError, Runs>
  /** Returns the text of a file at a head; undefined if no more code is read than the review has on record. */
  readonly readFile:
    | ((head: string, path: string) => Effect.Effect<string | undefined, CheckoutError | ForgeError, Scope.Scope | Vcs>)
    | undefined
  /** Code that the head has to have before a model is called. */
  readonly claim: Pick<Dispute, "path" | "quote"> | undefined
  /** Whether the rights of people at the host count: of their author to dismiss findings, and of all who wrote to have code read. */
  readonly isOfPeople: boolean
}

/** Newest reviews of a change that are searched for the finding of a thread. */
const earlierRuns = 20
/** A longer file is not read from a server. */
const maxFileBytes = 1_000_000

const isOff = ({ review }: Workspace): Reason | undefined =>
  !review.comment_commands
    ? { _tag: "CommentCommandsOff" }
    : review.conversation.enabled
      ? undefined
      : { _tag: "ConversationOff" }

/** Reads from the host what a comment, or an objection of a program, is about. */
const readHostSubject = Effect.fnUntraced(function* (work: ReviewWork, client: ForgeClient, place: CommentPlace) {
  const { change } = work.entry
  const { author: _writer, source: _source, ...about } = change
  const { number } = change.target
  if (place.on !== "pull_request" || number === undefined) {
    const head = change.head ?? (yield* client.newestCommit(change.repo, {})) ?? ""
    const { baseRef, title } = change
    const discussed: Change = { ...about, target: { kind: "commit" } }
    return { work, head, base: undefined, title, baseRef, change: discussed, hasStates: false } satisfies ReplySubject
  }
  const pull = yield* client.pull(change.repo, number)
  const { base, baseRef, head, title } = pull
  const reviewed: Change = { ...about, ...toChange(pull), target: { kind: "pull_request", number } }
  const routed = routedWork(work, { _tag: "Review", change: reviewed, head, base })
  return "_tag" in routed
    ? routed
    : ({ work: routed, head, base, title, baseRef, change: reviewed, hasStates: true } satisfies ReplySubject)
})

/** The parts that a comment and an objection of a program have in common. */
const atHost = (work: ReviewWork, client: ForgeClient, place: CommentPlace) => {
  const subjectKey = discussedKey(work.entry.change)
  return {
    subjectKey,
    readSubject: readHostSubject(work, client, place),
    isOff,
    listReviews: Runs.use((runs) => runs.list({ targetKey: subjectKey, limit: earlierRuns })),
    readFile: (head: string, path: string) => client.file(work.entry.change.repo, head, path)
  }
}

/** Decides about a comment, and finds its finding: the one whose number in the summary of a target it names, or that of its thread. */
const readFinding = Effect.fnUntraced(function* (
  target: TargetKey,
  { comment, fingerprint }: ReadConversation,
  decision: ReplyDecision
): Effect.fn.Return<Pick<ReplySource, "decision" | "fingerprint" | "state">, StoreError, Outbox> {
  const number = decision._tag === "Reply" ? readExplained(comment?.body ?? "") : undefined
  if (number === undefined) return { decision, fingerprint, state: undefined }
  const summary = yield* (yield* Outbox).lastSent(target, "Summary", {})
  const named = summary?.listed?.find((one) => one.number === number)
  return named === undefined
    ? { decision: { _tag: "Unlisted", number }, fingerprint: undefined, state: undefined }
    : { decision, fingerprint: named.fp, state: named.state }
})

const readComment = Effect.fnUntraced(function* (work: ReviewWork, client: ForgeClient, place: CommentPlace) {
  const { change } = work.entry
  const conversation = yield* readConversation(client, change, place)
  const account = yield* Effect.orElseSucceed(client.self, () => undefined)
  const { thread: maxInThread } = work.workspace.review.conversation.limits
  const decision = decideReply({ ...conversation, account: account?.username, maxInThread })
  return {
    ...atHost(work, client, place),
    ...(yield* readFinding(discussedKey(change), conversation, decision)),
    conversation,
    findConverser: (workspace, person) => findConverser(client, change.repo, workspace, person),
    claim: undefined,
    isOfPeople: true
  } satisfies ReplySource
})

/** Returns a conversation of one text, which no host has. */
const converse = (author: string, { id }: CommentPlace, body: string): ReadConversation => {
  const comment = { id, author, isOurs: false, isBot: false, body }
  return { ...noConversation, comment, texts: [comment], isOurThread: true }
}

const readDispute = (work: ReviewWork, client: ForgeClient, place: CommentPlace, dispute: Dispute): ReplySource => {
  const { fingerprint, path, quote, reason } = dispute
  const said = converse(work.entry.change.author?.username ?? "", place, `${reason}\n\n${path}:\n${quote}`)
  return {
    ...atHost(work, client, place),
    conversation: { ...said, fingerprint, path },
    decision: { _tag: "Reply" },
    fingerprint,
    state: undefined,
    findConverser: () => Effect.succeed("writer"),
    claim: dispute,
    isOfPeople: false
  }
}

/** The parts of words about a review on record. */
const aboutReview = (work: ReviewWork, review: Run) => {
  const { base, change, head, targetKey: subjectKey } = review
  const subject = { work, head, base, title: change.title, baseRef: change.baseRef, change, hasStates: false }
  return { subjectKey, subject, listReviews: Effect.succeed([review]), claim: undefined, isOfPeople: false }
}

/** Returns the text of a file of a review on record, as the server of its version control system has it. */
const readOnServer = Effect.fnUntraced(function* (work: ReviewWork, review: Run, path: string) {
  const checkout = yield* (yield* Vcs).checkout(yield* resolveOnServer(review, work))
  return yield* checkout.file(path, "head", maxFileBytes)
})

/** Swarm names no rights of people, and shows no review to those without a user of the server. */
const findSwarmConverser = ({ review }: Workspace) =>
  Effect.succeed<Converser>(review.conversation.from === "writers" ? "refused" : "stranger")

/** Returns undefined if the review was removed. */
const readSwarmQuestion = Effect.fnUntraced(function* (work: ReviewWork, question: SwarmQuestion) {
  const review = yield* (yield* Runs).get(question.run)
  if (review === undefined) return undefined
  const { account, texts: shown, ...thread } = yield* (yield* SwarmConversations).read(work.workspace, question)
  const texts = shown.map((text) => ({ ...text, isBot: false }))
  const comment = texts.at(-1)
  const conversation: ReadConversation = { ...thread, comment, texts, isLocked: false }
  const { thread: maxInThread } = work.workspace.review.conversation.limits
  const { subject, ...about } = aboutReview(work, review)
  return {
    ...about,
    readSubject: Effect.succeed<ReplySubject>({ ...subject, hasStates: true }),
    readFile: (_head, path) => readOnServer(work, review, path),
    ...(yield* readFinding(review.targetKey, conversation, decideReply({ ...conversation, account, maxInThread }))),
    conversation,
    isOff,
    findConverser: findSwarmConverser
  } satisfies ReplySource
})

/** Returns undefined if the request or the review was removed. */
const readQuestion = Effect.fnUntraced(function* (
  work: ReviewWork,
  place: CommentPlace,
  { request: id, run: reviewed }: Extract<WordSource, { readonly _tag: "ChatQuestion" }>
) {
  const { facts } = (yield* (yield* ChatRequests).get(id)) ?? {}
  const review = yield* (yield* Runs).get(reviewed)
  if (facts?.question === undefined || review === undefined) return undefined
  const { subject, ...about } = aboutReview(work, review)
  return {
    ...about,
    readSubject: Effect.succeed<ReplySubject>(subject),
    readFile: undefined,
    conversation: { ...converse(work.entry.change.author?.username ?? "", place, facts.question), isOurThread: false },
    decision: { _tag: "Reply" },
    fingerprint: undefined,
    state: undefined,
    isOff: () => undefined,
    findConverser: () => Effect.succeed("writer")
  } satisfies ReplySource
})

/** Reads the words of an entry, at a host with a credential that it accepts; undefined if they were removed. */
export const readSource = Effect.fnUntraced(function* (work: ReviewWork) {
  const { source, target } = work.entry.change
  const { comment: place } = target
  if (place === undefined) return yield* Effect.die("a reply without a comment")
  if (source?._tag === "ChatQuestion") return yield* readQuestion(work, place, source)
  if (source?._tag === "SwarmQuestion") return yield* readSwarmQuestion(work, source)
  const forges = yield* Forges
  return yield* readWithCurrent(
    work.profile,
    Effect.fnUntraced(function* (readable) {
      const client = forges.client(readable)
      return source === undefined ? yield* readComment(work, client, place) : readDispute(work, client, place, source)
    })
  )
})
